import { parseArgs } from 'node:util'
import { LOG_THRESHOLDS, type LogThreshold } from './log-threshold.ts'
import type { CommandSpec } from './option-parts.ts'

/** Thrown when the command line is invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** Names the help to read. */
  readonly hint: string

  constructor(message: string, command?: string) {
    super(message)
    this.hint = `See aiagent ${command ? `${command} ` : ''}--help.`
  }
}

interface NumberRule {
  whole?: boolean
  min?: number
  max?: number
  /** Exclusive minimum. */
  above?: number
}

/** The options of one command. Each is checked when it is read. */
export class Values {
  readonly #command: string
  readonly #values: Readonly<Record<string, unknown>>

  constructor(command: string, options: CommandSpec['options'], args: readonly string[]) {
    this.#command = command
    try {
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
        ? ` above ${above}${max === Infinity ? '' : ` and up to ${max}`}`
        : min === -Infinity
          ? ''
          : max === Infinity
            ? ` from ${min} up`
            : ` from ${min} to ${max}`
    throw this.error(`--${name} must be a ${whole ? 'whole ' : ''}number${range}, not "${text}"`)
  }

  /** A list separated by commas. */
  list(name: string): string[] | undefined {
    const parts = this.text(name)
      ?.split(',')
      .map(part => part.trim())
      .filter(Boolean)
    if (parts?.length === 0) throw this.error(`--${name} is empty`)
    return parts
  }

  pairs(name: string): Record<string, string> {
    const given = this.#values[name]
    const pairs: [string, string][] = []
    for (const text of Array.isArray(given) ? given.map(String) : []) {
      const equals = text.indexOf('=')
      if (equals < 1) throw this.error(`--${name} takes <name=value>, not "${text}"`)
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

/** The message of a parser error, without Node's advice on positional arguments. */
function parseProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return `Unknown option ${shown(/'(.+?)'/.exec(message)?.[1] ?? '')}`.trim()
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL')
    return `Unexpected argument ${shown(/'(.+?)'/.exec(message)?.[1] ?? '')}`.trim()
  const option = /--[\w-]+/.exec(message)?.[0]
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' && option !== undefined)
    return message.includes('does not take') ? `${option} takes no value` : `${option} needs a value`
  return message.split(/[.\n]/)[0] ?? message
}

/** A typed word for an error message. A long one is cut: it may be a token in the wrong place. */
export function shown(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN / 4)}…` : text
}

const LONGEST_SHOWN = 32
