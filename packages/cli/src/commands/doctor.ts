import { type DoctorFinding, type DoctorReport, runDoctor } from '@aiagent/client/doctor'
import type { DoctorCommandOptions } from '../doctor-options.ts'
import { EXIT } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { oneLine } from '../output.ts'
import { startEmulator } from '../start-emulator.ts'
import { printableJson, writeEntry } from '../terminal-text.ts'

/** The exit code of each result. */
const EXIT_CODE: Readonly<Record<DoctorReport['status'], number>> = {
  passed: EXIT.SUCCESS,
  warning: EXIT.WARNINGS,
  failed: EXIT.FAILURE,
}

const MARK: Readonly<Record<DoctorFinding['status'], string>> = {
  passed: 'ok',
  warning: 'warning',
  failed: 'FAILED',
  skipped: '-',
}

/**
 * Examines a deployment, and prints a line for each check, and for all that were skipped for one reason.
 *
 * @returns the exit code: 0, 3 after warnings, 1 after a failure
 */
export async function doctor(options: DoctorCommandOptions, io: Io): Promise<number> {
  const { json, endpoint, agent, token, ask, idleSeconds, timeoutMs } = options
  const server = endpoint === undefined ? await startEmulator() : undefined
  try {
    const report = await runDoctor({
      endpoint: endpoint ?? server?.url ?? '',
      agent,
      idleSeconds,
      timeoutMs,
      ...(token !== undefined && { token }),
      ...(ask !== undefined && { ask }),
      signal: io.interrupted,
      onFinding: finding => {
        if (!json && finding.status !== 'skipped') writeEntry(io.stdout, describe(finding))
      },
    })
    if (json) io.stdout.write(`${printableJson(report)}\n`)
    else for (const line of [...skippedLines(report), summary(report)]) writeEntry(io.stdout, line)
    return EXIT_CODE[report.status]
  } finally {
    await server?.close()
  }
}

function describe({ check, status, text, code, remedy }: DoctorFinding): string {
  const line = `${MARK[status].padEnd(8)}${check.padEnd(11)}${oneLine(text)}`
  return code === undefined ? line : `${line}\n  ${code}: ${remedy ?? ''}`
}

/** A line for each reason, with the checks that were skipped for it. Those that wait for others wait for the first failure. */
function skippedLines({ findings }: DoctorReport): string[] {
  const byReason = new Map<string, DoctorFinding[]>()
  for (const finding of findings) {
    if (finding.status !== 'skipped') continue
    const reason = finding.text.endsWith('comes first.') ? 'order' : finding.text
    byReason.set(reason, [...(byReason.get(reason) ?? []), finding])
  }
  return [...byReason.values()].map(all => {
    const checks = all.map(({ check }) => check).join(', ')
    // The command has the options of the doctor with two dashes.
    const text = oneLine(all[0]?.text ?? '').replace(/\(option (\w+)\)/, '(--$1)')
    return `${MARK.skipped.padEnd(8)}${checks.padEnd(10)} ${text}`
  })
}

function summary({ status, findings }: DoctorReport): string {
  const count = (which: DoctorFinding['status']) => findings.filter(each => each.status === which).length
  if (status === 'passed') return 'The deployment works.'
  return `${count('failed')} failed, ${count('warning')} with warnings, ${count('passed')} passed.`
}
