import { parseArgs } from 'node:util'
import { LOG_THRESHOLDS, type LogThreshold } from './log-threshold.ts'
import { COMMANDS, type CommandName, commandHelp, programHelp } from './option-specs.ts'

export interface ChatOptions {
  /** Absent: an emulator is started. */
  endpoint?: string
  agent: string
  token?: string
  session?: string
  context: Record<string, string>
  knowledge?: string
  answerTimeoutMs: number
  /** False forbids colours; true leaves the choice to the terminal. */
  color: boolean
  logLevel: LogThreshold
}

export interface EmulateOptions {
  port: number
  host: string
  tls: boolean
  knowledge?: string
  seed?: number
  tokenLifeSeconds?: number
  replyDelayMs?: number
  /** File with a schedule of faults. */
  faults?: string
  logLevel: LogThreshold
}

/** A command line, understood. */
export type CommandLine =
  | { command: 'help'; text: string }
  | { command: 'version' }
  | { command: 'chat'; options: ChatOptions }
  | { command: 'emulate'; options: EmulateOptions }

/** The command line cannot be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** Where the user finds what is right. */
  readonly hint: string

  constructor(message: string, command?: CommandName) {
    super(message)
    this.hint = `See aiagent ${command ? `${command} ` : ''}--help.`
  }
}

/** Beyond this a timer of the platform would fire at once. */
const LONGEST_TIMEOUT_SECONDS = 2_000_000

/**
 * Reads what stands after the program's name.
 *
 * @param env AIAGENT_TOKEN and NO_COLOR are read from it
 * @throws {UsageError} when it cannot be understood
 */
export function parseCommandLine(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): CommandLine {
  const [first, ...rest] = args
  if (first === undefined) throw new UsageError(`A command is missing: ${Object.keys(COMMANDS).join(' or ')}.`)
  if (first === '--help' || first === '-h' || first === 'help') return { command: 'help', text: helpFor(rest[0]) }
  if (first === '--version' || first === '-v') return { command: 'version' }
  if (!isCommand(first))
    throw new UsageError(
      first.startsWith('-')
        ? `Unknown option ${first}; options stand after the command.`
        : `Unknown command "${first}"; there are ${Object.keys(COMMANDS).join(' and ')}.`,
    )
  const values = new Values(first, rest)
  if (values.flag('help')) return { command: 'help', text: commandHelp(first) }
  return first === 'chat'
    ? { command: 'chat', options: chatOptions(values, env) }
    : { command: 'emulate', options: emulateOptions(values) }
}

function helpFor(name: string | undefined): string {
  return name !== undefined && isCommand(name) ? commandHelp(name) : programHelp()
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name)
}

function chatOptions(values: Values, env: Readonly<Record<string, string | undefined>>): ChatOptions {
  const endpoint = values.text('endpoint')
  const token = values.text('token') ?? (env.AIAGENT_TOKEN || undefined)
  const session = values.text('session')
  const knowledge = values.text('knowledge')
  if (endpoint !== undefined && knowledge !== undefined)
    throw values.error(
      '--knowledge is for the emulator that chat starts when there is no --endpoint. Give one of the two',
    )
  return {
    ...(endpoint !== undefined && { endpoint }),
    agent: values.text('agent') ?? 'help',
    ...(token !== undefined && { token }),
    ...(session !== undefined && { session }),
    context: values.pairs('context'),
    ...(knowledge !== undefined && { knowledge }),
    answerTimeoutMs: (values.number('answer-timeout', { above: 0, max: LONGEST_TIMEOUT_SECONDS }) ?? 30) * 1000,
    color: !values.flag('no-color') && !env.NO_COLOR,
    logLevel: values.logLevel(),
  }
}

function emulateOptions(values: Values): EmulateOptions {
  const knowledge = values.text('knowledge')
  const seed = values.number('seed', { whole: true })
  const tokenLifeSeconds = values.number('token-life', { above: 0 })
  const faults = values.text('faults')
  const replyDelayMs = values.number('reply-delay', { min: 0, max: LONGEST_TIMEOUT_SECONDS * 1000 })
  return {
    port: values.number('port', { whole: true, min: 0, max: 65_535 }) ?? 8600,
    host: values.text('host') ?? '127.0.0.1',
    tls: values.flag('tls'),
    ...(knowledge !== undefined && { knowledge }),
    ...(seed !== undefined && { seed }),
    ...(tokenLifeSeconds !== undefined && { tokenLifeSeconds }),
    ...(replyDelayMs !== undefined && { replyDelayMs }),
    ...(faults !== undefined && { faults }),
    logLevel: values.logLevel(),
  }
}

interface NumberRule {
  whole?: boolean
  min?: number
  max?: number
  /** Like `min`, with itself excluded. */
  above?: number
}

/** The options of one command as they were typed, checked as they are read. */
class Values {
  readonly #command: CommandName
  readonly #values: Readonly<Record<string, unknown>>

  constructor(command: CommandName, args: readonly string[]) {
    this.#command = command
    try {
      const { options } = COMMANDS[command]
      this.#values = parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values
    } catch (error) {
      throw this.error(parseProblem(error))
    }
  }

  error(message: string): UsageError {
    return new UsageError(`${message}.`, this.#command)
  }

  flag(name: string): boolean {
    return this.#values[name] === true
  }

  text(name: string): string | undefined {
    const value = this.#values[name]
    if (typeof value !== 'string') return undefined
    if (value.trim() === '') throw this.error(`--${name} is empty`)
    return value
  }

  number(name: string, { whole = false, min = -Infinity, max = Infinity, above }: NumberRule): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = Number(text)
    const fits = Number.isFinite(value) && (!whole || Number.isInteger(value)) && value >= min && value <= max
    if (fits && (above === undefined || value > above)) return value
    const range =
      above !== undefined
        ? ` above ${above}`
        : min === -Infinity
          ? ''
          : max === Infinity
            ? ` from ${min} up`
            : ` from ${min} to ${max}`
    throw this.error(`--${name} must be a ${whole ? 'whole ' : ''}number${range}, not "${text}"`)
  }

  pairs(name: string): Record<string, string> {
    const given = this.#values[name]
    const pairs: [string, string][] = []
    for (const text of Array.isArray(given) ? given.map(String) : []) {
      const equals = text.indexOf('=')
      if (equals < 1) throw this.error(`--${name} takes NAME=VALUE, not "${text}"`)
      pairs.push([text.slice(0, equals), text.slice(equals + 1)])
    }
    return Object.fromEntries(pairs)
  }

  logLevel(): LogThreshold {
    const name = this.text('log-level') ?? 'silent'
    const found = LOG_THRESHOLDS.find(threshold => threshold.name === name.toLowerCase())
    if (found) return found
    throw this.error(`--log-level must be one of ${LOG_THRESHOLDS.map(each => each.name).join(', ')}, not "${name}"`)
  }
}

/** What Node says about a command line, without its advice on positional arguments. */
function parseProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `Unknown option ${/'(.+?)'/.exec(message)?.[1] ?? ''}`.trim()
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL')
    return `Unexpected argument ${/'(.+?)'/.exec(message)?.[1] ?? ''}`.trim()
  const option = /--[\w-]+/.exec(message)?.[0]
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' && option !== undefined)
    return message.includes('does not take') ? `${option} takes no value` : `${option} needs a value`
  return message.split(/[.\n]/)[0] ?? message
}
