import type { LogThreshold } from './log-threshold.ts'
import { COMMON, type CommandSpec, ENDPOINT, TOKEN } from './option-parts.ts'
import type { Values } from './option-values.ts'

/** Options of `aiagent doctor`. */
export interface DoctorCommandOptions {
  /** Address of the deployment. Without it, an emulator is started. */
  endpoint?: string
  agent: string
  token?: string
  /** A question that is sent to the agent. */
  ask?: string
  /** How long the chat stays idle, in seconds. */
  idleSeconds: number
  timeoutMs: number
  json: boolean
  logLevel: LogThreshold
}

export const DOCTOR_SPEC = {
  summary: 'Find out why a deployment does not work',
  description: [
    'Examines endpoint, clock, token, agent, session and chat, step by step, and says what is wrong and what helps.',
    'Creates one session. Prints no token and no session id. Exits with 0, with 3 after warnings, or with 1 after a failure.',
  ],
  options: {
    endpoint: ENDPOINT,
    agent: { type: 'string', value: '<id>', help: 'id of the agent (default: help)' },
    token: TOKEN,
    ask: { type: 'string', value: '<text>', help: 'question to the agent, to see that frames pass (default: none)' },
    idle: { type: 'string', value: '<seconds>', help: 'keep the chat idle, to find proxies that cut it (default: 0)' },
    timeout: { type: 'string', value: '<seconds>', help: 'time limit of each step (default: 10)' },
    json: { type: 'boolean', help: 'print JSON' },
    ...COMMON,
  },
  examples: [
    ['aiagent doctor --endpoint https://agents.example.com', 'examine a deployment'],
    ['aiagent doctor --endpoint https://agents.example.com --ask Hello --idle 120', 'with the chat, and its proxies'],
  ],
} as const satisfies CommandSpec

/** Reads the options of `aiagent doctor`. */
export function doctorOptions(values: Values, env: Readonly<Record<string, string | undefined>>): DoctorCommandOptions {
  const endpoint = values.text('endpoint')
  const token = values.text('token') ?? (env['AIAGENT_TOKEN'] || undefined)
  const ask = values.text('ask')
  return {
    ...(endpoint !== undefined && { endpoint }),
    agent: values.text('agent') ?? 'help',
    ...(token !== undefined && { token }),
    ...(ask !== undefined && { ask }),
    idleSeconds: values.number('idle', { min: 0, max: 86_400 }) ?? 0,
    timeoutMs: (values.number('timeout', { above: 0, max: 600 }) ?? 10) * 1000,
    json: values.flag('json'),
    logLevel: values.logLevel(),
  }
}
