import { writeFile } from 'node:fs/promises'
import { ApiError, ApiHelper } from '@aiagent/client'
import { NEEDS, type Need } from '../conform/rules.ts'
import { type ConformReport, type ConformResult, runScenarios } from '../conform/run-scenarios.ts'
import { SCENARIOS } from '../conform/scenarios.ts'
import type { ConformOptions } from '../conform-options.ts'
import { EXIT } from '../exit-codes.ts'
import { CommandFailure, explainFailure } from '../failure.ts'
import type { Io } from '../io.ts'
import { junitReport } from '../reports/junit.ts'
import { startEmulator } from '../start-emulator.ts'
import { printableJson, writeEntry } from '../terminal-text.ts'

const MARK = { passed: 'ok', failed: 'FAILED', skipped: '-' } as const

/**
 * Asks a deployment the scenarios that any deployment can be asked, and prints a matrix of the rules.
 *
 * @returns the exit code: 1 when a rule is violated
 * @throws {CommandFailure} when no deployment answers at the address: that says nothing about the rules
 */
export async function conform(options: ConformOptions, io: Io): Promise<number> {
  const { endpoint, json, junit, agent, token, question, timeoutMs } = options
  const server = endpoint === undefined ? await startEmulator() : undefined
  try {
    if (endpoint !== undefined) await reach(endpoint, io)
    const target = { endpoint: endpoint ?? server?.url ?? '', agentId: agent, question, timeoutMs }
    const given = { ...target, ...(token !== undefined && { token }) }
    const show = (result: ConformResult) => writeEntry(io.stdout, describe(result))
    const report = await runScenarios(SCENARIOS, given, io.interrupted, json ? undefined : show)
    if (json) io.stdout.write(`${printableJson(report)}\n`)
    else for (const line of matrix(report)) writeEntry(io.stdout, line)
    if (junit !== undefined) await writeFile(junit, toJunit(report))
    return Object.values(report.rules).includes('failed') ? EXIT.FAILURE : EXIT.SUCCESS
  } finally {
    await server?.close()
  }
}

/** An answer with an error status is for the scenarios to judge. */
async function reach(endpoint: string, { interrupted }: Io): Promise<void> {
  try {
    await ApiHelper.getDeploymentInfo(endpoint, undefined, { signal: interrupted })
  } catch (error) {
    interrupted.throwIfAborted()
    if (error instanceof ApiError && error.reason === 'status') return
    throw new CommandFailure(explainFailure(error, { endpoint }), { cause: error })
  }
}

function describe({ title, outcome, reason }: ConformResult): string {
  const line = `${MARK[outcome].padEnd(8)}${title}`
  return reason === undefined ? line : `${line}\n  ${reason}`
}

function matrix({ rules, needEmulator }: ConformReport): string[] {
  const entries = Object.entries(rules)
  const count = (outcome: ConformResult['outcome']) => entries.filter(([, each]) => each === outcome).length
  const needs = (need: Need) => Object.entries(needEmulator).flatMap(([id, each]) => (each === need ? [id] : []))
  return [
    '',
    'Rules:',
    ...entries.sort().map(([id, outcome]) => `  ${id.padEnd(9)}${MARK[outcome]}`),
    '',
    'Not asked, since a deployment cannot be asked:',
    ...(Object.keys(NEEDS) as Need[]).map(
      need => `  ${needs(need).length} rules: ${NEEDS[need]}. ${needs(need).join(', ')}`,
    ),
    '',
    `Rules that hold: ${count('passed')}, violated: ${count('failed')}, not applicable: ${count('skipped')}.`,
  ]
}

function toJunit({ scenarios }: ConformReport): string {
  const cases = scenarios.flatMap(({ rules, title, outcome, reason, ms }) =>
    rules.map(id => ({
      suite: id,
      name: title,
      seconds: ms / 1000 / rules.length,
      outcome,
      ...(reason !== undefined && { message: reason }),
    })),
  )
  return junitReport('aiagent conform', cases)
}
