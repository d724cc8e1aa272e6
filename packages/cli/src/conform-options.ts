import type { LogThreshold } from './log-threshold.ts'
import { COMMON, type CommandSpec, ENDPOINT, TOKEN } from './option-parts.ts'
import type { Values } from './option-values.ts'

/** Options of `aiagent conform`. */
export interface ConformOptions {
  /** Address of the deployment. Without it, an emulator is started. */
  endpoint?: string
  agent: string
  token?: string
  /** A question that the agent answers. */
  question: string
  timeoutMs: number
  json: boolean
  /** File for the report in the form of JUnit. */
  junit?: string
  logLevel: LogThreshold
}

export const CONFORM_SPEC = {
  summary: 'Ask a deployment whether it keeps the rules of the protocol',
  description: [
    'Runs the scenarios that any deployment can be asked, and prints a matrix of the rules. Names the rules that need the emulator.',
    'Creates some 20 sessions, and asks the question in most of them. Exits with 1 if a rule is violated.',
  ],
  options: {
    endpoint: ENDPOINT,
    agent: { type: 'string', value: '<id>', help: 'id of the agent (default: help)' },
    token: TOKEN,
    question: { type: 'string', value: '<text>', help: 'a question that the agent answers (default: Hello)' },
    timeout: { type: 'string', value: '<seconds>', help: 'time limit of an answer (default: 20)' },
    json: { type: 'boolean', help: 'print JSON' },
    junit: { type: 'string', value: '<file>', help: 'write a report in the form of JUnit' },
    ...COMMON,
  },
  examples: [['aiagent conform --endpoint https://agents.example.com --junit report.xml', 'in a CI']],
} as const satisfies CommandSpec

/** Reads the options of `aiagent conform`. */
export function conformOptions(values: Values, env: Readonly<Record<string, string | undefined>>): ConformOptions {
  const endpoint = values.text('endpoint')
  const token = values.text('token') ?? (env['AIAGENT_TOKEN'] || undefined)
  const junit = values.text('junit')
  return {
    ...(endpoint !== undefined && { endpoint }),
    agent: values.text('agent') ?? 'help',
    ...(token !== undefined && { token }),
    question: values.text('question') ?? 'Hello',
    timeoutMs: (values.number('timeout', { above: 0, max: 600 }) ?? 20) * 1000,
    json: values.flag('json'),
    ...(junit !== undefined && { junit }),
    logLevel: values.logLevel(),
  }
}
