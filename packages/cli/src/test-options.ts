import type { LogThreshold } from './log-threshold.ts'
import { COMMON, type CommandSpec, TOKEN } from './option-parts.ts'
import type { Values } from './option-values.ts'

/** Options of `aiagent test`. */
export interface TestOptions {
  /** Files with talks, and folders of them. */
  files: readonly string[]
  /** Address of the deployment. Without it, an emulator answers in this process. */
  endpoint?: string
  agent: string
  token?: string
  /** Folder of articles for the emulator. */
  knowledge?: string
  /** Recording that answers in place of an agent. */
  trace?: string
  /** How many talks run at once. */
  jobs: number
  /** How often each talk runs. */
  repeat: number
  timeoutMs: number
  settleMs: number
  bless: boolean
  json: boolean
  /** File for the report in the form of JUnit. */
  junit?: string
  logLevel: LogThreshold
}

export const TEST_SPEC = {
  summary: 'Hold test conversations with an agent',
  description: [
    'Takes the files first: aiagent test talks/*.md --endpoint https://agents.example.com. A folder stands for its Markdown files.',
    'A talk is a dialogue with expectations, in Markdown. Exits with 1 if an expectation does not hold.',
  ],
  takesFiles: true,
  options: {
    endpoint: {
      type: 'string',
      value: '<url>',
      help: 'address of the deployment (default: an emulator in this process)',
    },
    agent: { type: 'string', value: '<id>', help: 'id of the agent, where a talk names none (default: help)' },
    token: TOKEN,
    knowledge: { type: 'string', value: '<dir>', help: 'folder of articles for the emulator (default: a help centre)' },
    trace: { type: 'string', value: '<file>', help: 'judge a recording with texts in place of an agent' },
    jobs: { type: 'string', value: '<number>', help: 'how many talks run at once (default: 4)' },
    repeat: {
      type: 'string',
      value: '<number>',
      help: 'how often each talk runs, to find unsteady answers (default: 1)',
    },
    timeout: { type: 'string', value: '<seconds>', help: 'time limit of an answer (default: 30)' },
    settle: {
      type: 'string',
      value: '<seconds>',
      help: 'silence that ends the turn of the agent (default: 1; with the emulator 0.05)',
    },
    bless: { type: 'boolean', help: 'write the answers that were seen into the files' },
    json: { type: 'boolean', help: 'print JSON' },
    junit: { type: 'string', value: '<file>', help: 'write a report in the form of JUnit' },
    ...COMMON,
  },
  examples: [
    ['aiagent test talks/*.md --endpoint https://agents.example.com', 'test a deployment'],
    ['aiagent test talks --knowledge ./articles --bless', 'write what the emulator answers'],
  ],
} as const satisfies CommandSpec

/** Reads the options of `aiagent test`. */
export function testOptions(
  values: Values,
  files: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): TestOptions {
  if (files.length === 0) throw values.error('The files with the talks are missing: aiagent test <files>')
  const endpoint = values.text('endpoint')
  const token = values.text('token') ?? (env['AIAGENT_TOKEN'] || undefined)
  const junit = values.text('junit')
  const knowledge = values.text('knowledge')
  const trace = values.text('trace')
  if (trace !== undefined && (endpoint !== undefined || knowledge !== undefined))
    throw values.error('--trace needs no agent. Use it without --endpoint and --knowledge')
  if (endpoint !== undefined && knowledge !== undefined)
    throw values.error('--knowledge applies to the emulator. Use either --knowledge or --endpoint')
  const repeat = values.number('repeat', { whole: true, min: 1, max: 1_000_000 }) ?? 1
  const bless = values.flag('bless')
  if (bless && repeat > 1) throw values.error('Use either --bless or --repeat')
  if (bless && trace !== undefined) throw values.error('--bless needs an agent: a recording has no sources and options')
  return {
    files,
    ...(endpoint !== undefined && { endpoint }),
    agent: values.text('agent') ?? 'help',
    ...(token !== undefined && { token }),
    ...(knowledge !== undefined && { knowledge }),
    ...(trace !== undefined && { trace }),
    jobs: values.number('jobs', { whole: true, min: 1, max: 1000 }) ?? 4,
    repeat,
    timeoutMs: (values.number('timeout', { above: 0, max: 600 }) ?? 30) * 1000,
    settleMs: (values.number('settle', { above: 0, max: 60 }) ?? (endpoint === undefined ? 0.05 : 1)) * 1000,
    bless,
    json: values.flag('json'),
    ...(junit !== undefined && { junit }),
    logLevel: values.logLevel(),
  }
}
