/** One option of a command: how it is parsed, and its line in the help. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  /** One letter that does the same. */
  readonly short?: string
  readonly multiple?: boolean
  /** Placeholder of the value in the help. */
  readonly value?: string
  /** The only values that it takes, for completions; absent where any value is allowed. */
  readonly choices?: readonly string[]
  readonly help: string
}

/** One command: its options and its help. */
export interface CommandSpec {
  readonly summary: string
  readonly description: readonly string[]
  readonly options: Readonly<Record<string, OptionSpec>>
  /** What the command takes before its options: one of these words. */
  readonly words?: readonly string[]
  /** Whether it takes files before its options. */
  readonly takesFiles?: boolean
  /** Command lines with a comment each. */
  readonly examples: readonly (readonly [string, string])[]
}

/** Options of every command. */
export const COMMON = {
  'log-level': {
    type: 'string',
    value: '<level>',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    help: 'trace, debug, info, warn, error or silent; trace and debug include stack traces (default: silent)',
  },
  help: { type: 'boolean', short: 'h', help: 'show this help' },
} as const satisfies CommandSpec['options']

/** Address of the deployment. */
export const ENDPOINT = {
  type: 'string',
  value: '<url>',
  help: 'address of the deployment (default: start an emulator)',
} as const satisfies OptionSpec

/** The token of a command that examines or tests a deployment. */
export const TOKEN = {
  type: 'string',
  value: '<token>',
  help: 'access token of a user; prefer the variable AIAGENT_TOKEN, which other users cannot see',
} as const satisfies OptionSpec
