import { readFile } from 'node:fs/promises'
import { type CommandLine, parseCommandLine } from './command-line.ts'
import { EXIT } from './exit-codes.ts'
import { Interruption, type Io } from './io.ts'
import { UsageError } from './option-values.ts'
import { writeEntry } from './terminal-text.ts'

/**
 * Runs one command line.
 *
 * @param args the arguments of the program
 * @returns the exit code, one of `EXIT`
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  let commandLine: CommandLine
  try {
    commandLine = parseCommandLine(args, io.env)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    writeEntry(io.stderr, `aiagent: ${error.message}`)
    writeEntry(io.stderr, error.hint)
    return EXIT.USAGE
  }
  try {
    return await dispatch(commandLine, io)
  } catch (error) {
    const reason: unknown = io.interrupted.reason
    if (io.interrupted.aborted) return reason instanceof Interruption ? reason.exitCode : EXIT.FAILURE
    const { explainFailure } = await import('./failure.ts')
    const detailed = 'options' in commandLine && commandLine.options.logLevel.showsStacks
    writeEntry(io.stderr, `aiagent: ${explainFailure(error)}`)
    if (detailed) withCauses(error).forEach(text => writeEntry(io.stderr, text))
    return EXIT.FAILURE
  }
}

/** Each command imports its own modules, so that `--help` is fast. */
async function dispatch(commandLine: CommandLine, io: Io): Promise<number> {
  switch (commandLine.command) {
    case 'help':
      io.stdout.write(commandLine.text)
      return EXIT.SUCCESS
    case 'version':
      io.stdout.write(`${await readVersion()}\n`)
      return EXIT.SUCCESS
    case 'completions': {
      const { completionScript } = await import('./completions.ts')
      io.stdout.write(completionScript(commandLine.shell))
      return EXIT.SUCCESS
    }
    case 'chat': {
      const { chat } = await import('./commands/chat.ts')
      return chat(commandLine.options, io)
    }
    case 'token': {
      const { token } = await import('./commands/token.ts')
      return token(commandLine.options, io)
    }
    case 'emulate': {
      const { emulate } = await import('./commands/emulate.ts')
      return emulate(commandLine.options, io)
    }
    case 'replay': {
      const { replay } = await import('./commands/replay.ts')
      return replay(commandLine.options, io)
    }
    case 'doctor': {
      const { doctor } = await import('./commands/doctor.ts')
      return doctor(commandLine.options, io)
    }
    case 'conform': {
      const { conform } = await import('./commands/conform.ts')
      return conform(commandLine.options, io)
    }
    case 'test': {
      const { test } = await import('./commands/test.ts')
      return test(commandLine.options, io)
    }
    default:
      return commandLine satisfies never
  }
}

async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  return String((manifest as { version: unknown }).version)
}

/** The stack of an error, and of each cause. */
function withCauses(error: unknown): string[] {
  const stacks: string[] = []
  for (let cause = error; cause !== undefined; cause = cause instanceof Error ? cause.cause : undefined)
    stacks.push(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause))
  return stacks.map((stack, index) => (index === 0 ? stack : `Caused by: ${stack}`))
}
