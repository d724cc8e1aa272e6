// What the commands of this repository share: `--help`, and one line for what they do not understand.
import { parseArgs } from 'node:util'

/** One option of a command. */
interface CommandOption {
  readonly type: 'string' | 'boolean'
  /** What the option does, without its default. */
  readonly help: string
  /** Name of the value in the help. @default 'N' */
  readonly value?: string
  readonly default?: string
  readonly multiple?: true
}

type CommandOptions = Readonly<Record<string, CommandOption>>

/** What a command understands. */
interface Command<Options extends CommandOptions> {
  /** Name of the script in package.json. */
  readonly name: string
  /** What the command does, in one sentence. */
  readonly about: string
  readonly options: Options
  /** What the words without dashes are; without it there may be none. */
  readonly words?: { readonly name: string; readonly help: string }
}

/** The value of an option: false and an empty list stand for options that are not given. */
type Value<Option> = Option extends { type: 'boolean' }
  ? boolean
  : Option extends { multiple: true }
    ? readonly string[]
    : Option extends { default: string }
      ? string
      : string | undefined

interface Parsed<Options extends CommandOptions> {
  readonly values: { readonly [Name in keyof Options]: Value<Options[Name]> }
  readonly words: readonly string[]
}

/** Thrown for what a command does not understand. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * What `read` makes of the command line. With `--help` the process prints the options and ends with code 0; what the
 * command does not understand is one line, and code 2.
 */
export function readCommandLine<const Options extends CommandOptions, T = void>(
  command: Command<Options>,
  read: (parsed: Parsed<Options>) => T = () => undefined as T,
): T {
  const args = process.argv.slice(2)
  if (args.includes('--help') || args.includes('-h')) {
    console.log(describeCommand(command))
    process.exit(0)
  }
  try {
    return read(parseCommandLine(command, args))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`${error.message} See npm run ${command.name} -- --help.`)
    process.exit(2)
  }
}

/** @throws {UsageError} for an unknown option, and for a missing or needless value */
export function parseCommandLine<const Options extends CommandOptions>(
  command: Command<Options>,
  args: readonly string[],
): Parsed<Options> {
  try {
    const options: CommandOptions = command.options
    const { values, positionals } = parseArgs({ args: [...args], options, strict: true, allowPositionals: true })
    const [word] = positionals
    if (word !== undefined && !command.words) throw new UsageError(`Unexpected argument "${word}".`)
    const complete = Object.entries(options).map(([name, { type, multiple }]) => {
      const absent = type === 'boolean' ? false : multiple ? [] : undefined
      return [name, values[name] ?? absent]
    })
    return { values: Object.fromEntries(complete) as Parsed<Options>['values'], words: positionals }
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof TypeError)) throw error
    // Node explains how to pass what looks like an option in further sentences.
    const reason = `${error.message.split(/\.\s|\n/)[0]?.replace(/\.$/, '')}.`
    if (!('code' in error && error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')) throw new UsageError(reason)
    const known = [...Object.keys(command.options), 'help'].map(name => `--${name}`)
    throw new UsageError(`${reason} The options are: ${known.join(', ')}.`)
  }
}

/** @throws {UsageError} unless the text is a whole number of at least `least` */
export function wholeNumber(name: string, text: string, least = 0): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
  throw new UsageError(`--${name} must be a whole number${least > 0 ? ` from ${least} up` : ''}, not "${text}".`)
}

/** The help of a command. */
export function describeCommand({ name, about, options, words }: Command<CommandOptions>): string {
  const rows: (readonly [string, string])[] = words ? [[words.name, words.help]] : []
  for (const [option, { type, value = 'N', help, default: initial, multiple }] of Object.entries(options)) {
    const usual = initial === undefined ? '' : `. Default: ${initial}`
    rows.push([
      type === 'string' ? `--${option} ${value}` : `--${option}`,
      `${help}${multiple ? ', repeatable' : ''}${usual}`,
    ])
  }
  rows.push(['--help', 'prints this'])
  const width = Math.max(...rows.map(([term]) => term.length))
  const usage = `npm run ${name} -- ${words ? `[${words.name} …] ` : ''}[options]`
  return [`${about}\n\n${usage}\n`, ...rows.map(([term, help]) => `  ${term.padEnd(width)}  ${help}`)].join('\n')
}
