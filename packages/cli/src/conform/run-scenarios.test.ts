import { createEmulator, type EmulatorOptions } from '@aiagent/emulator'
import { describe, expect, it } from 'vitest'
import { type Broken, environmentOf } from '../../test/broken-service.ts'
import { BROKEN } from '../../test/broken-services.ts'
import { type Bench, NotApplicable } from './bench.ts'
import { type ConformReport, runScenarios } from './run-scenarios.ts'
import { type ConformScenario, SCENARIOS } from './scenarios.ts'

const NEVER = new AbortController().signal

/** Runs scenarios in process against a service, broken or not. */
async function judge(scenarios: readonly ConformScenario[], broken: Partial<Broken> = {}): Promise<ConformReport> {
  const reply = ({ text }: { text: string }) => ({ content: `You said ${text.slice(0, 20)}.` })
  await using emulator = createEmulator({ reply, ...broken.service })
  if (broken.fault) emulator.faults.add(broken.fault)
  const token = broken.options?.agentId && emulator.control.issueToken({ subject: 'customer' })
  const options = {
    endpoint: emulator.origin,
    agentId: 'help',
    question: 'Hello',
    timeoutMs: 10_000,
    environment: environmentOf(emulator, broken),
    ...(token && { token }),
    ...broken.options,
  }
  const changed = scenarios.map(scenario => ({
    ...scenario,
    run: async (bench: Bench) => {
      await broken.library?.(bench, emulator)
      return scenario.run(bench)
    },
  }))
  return await runScenarios(changed, options, NEVER)
}

describe('runScenarios() of a service that keeps the rules', () => {
  it('[REL-191] finds no violation, with and without a login', async () => {
    const service = { settings: { capabilities: ['receipts', 'resume'] } } satisfies EmulatorOptions
    const [open, login] = await Promise.all([
      judge(SCENARIOS, { service }),
      judge(SCENARIOS, { service, options: { agentId: 'account' } }),
    ])
    const not = ({ scenarios }: ConformReport, passed = 'passed') =>
      scenarios.filter(({ outcome }) => outcome !== passed).map(({ rules, reason }) => `${rules[0]}: ${reason}`)
    expect(not(open)).toEqual(['OWN-06: the agent needs no login'])
    expect(not(login)).toEqual(['AUTH-02: a token was passed', 'FLOW-06: the agent needs a login'])
  })
})

describe('runScenarios() of a service that breaks a rule', () => {
  it.concurrent.for(BROKEN)('[REL-191] "$scenario …" fails for a service that $what', async (broken, { expect }) => {
    const concerned = SCENARIOS.filter(({ title }) => title.startsWith(broken.scenario))
    expect(concerned).toHaveLength(1)
    const { scenarios } = await judge(concerned, broken)
    expect(scenarios).toMatchObject([{ outcome: 'failed', reason: expect.stringMatching(broken.says) }])
  })

  it('[REL-191] has a broken service for each scenario', () => {
    const isBroken = ({ title }: ConformScenario) => BROKEN.some(({ scenario }) => title.startsWith(scenario))
    expect(SCENARIOS.filter(scenario => !isBroken(scenario))).toEqual([])
  })
})

describe('the worst result of a rule', () => {
  const passing: ConformScenario = { rules: ['X'], title: 'passes', run: async () => {} }
  const skipping: ConformScenario = {
    ...passing,
    run: async () => {
      throw new NotApplicable('it does not apply')
    },
  }
  const failing: ConformScenario = {
    ...passing,
    run: async () => {
      throw new Error('It is broken.')
    },
  }

  it.each([
    { of: 'skipped and passed', scenarios: [skipping, passing], outcome: 'passed' },
    { of: 'passed and skipped', scenarios: [passing, skipping], outcome: 'passed' },
    { of: 'skipped and failed', scenarios: [skipping, failing], outcome: 'failed' },
    { of: 'failed and passed', scenarios: [failing, passing], outcome: 'failed' },
    { of: 'skipped alone', scenarios: [skipping], outcome: 'skipped' },
  ])('[ADOPT-05] of $of is $outcome', async ({ scenarios, outcome }) => {
    expect((await judge(scenarios)).rules).toEqual({ X: outcome })
  })
})
