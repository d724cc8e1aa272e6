import { readFile } from 'node:fs/promises'
import { type CommandLine, parseCommandLine } from './command-line.ts'
import { Interruption, type Io } from './io.ts'
import { UsageError } from './option-values.ts'

/**
 * Runs one command line to its end.
 *
 * @param args what stands after the program's name
 * @returns the exit code: 0 when all went well, 1 when something failed, 2 when the command line cannot be understood
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  let commandLine: CommandLine
  try {
    commandLine = parseCommandLine(args, io.env)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.stderr.write(`aiagent: ${error.message}\n${error.hint}\n`)
    return 2
  }
  try {
    return await dispatch(commandLine, io)
  } catch (error) {
    const reason: unknown = io.interrupted.reason
    if (io.interrupted.aborted) return reason instanceof Interruption ? reason.exitCode : 1
    const { explainFailure } = await import('./failure.ts')
    const detailed = 'options' in commandLine && commandLine.options.logLevel.showsStacks
    io.stderr.write(`aiagent: ${explainFailure(error)}\n`)
    if (detailed) io.stderr.write(`${withCauses(error)}\n`)
    return 1
  }
}

/** What is heavy is imported by the command that needs it, so that `--help` answers at once. */
async function dispatch(commandLine: CommandLine, io: Io): Promise<number> {
  switch (commandLine.command) {
    case 'help':
      io.stdout.write(commandLine.text)
      return 0
    case 'version':
      io.stdout.write(`${await readVersion()}\n`)
      return 0
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
    default:
      return commandLine satisfies never
  }
}

async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  return String((manifest as { version: unknown }).version)
}

function withCauses(error: unknown): string {
  const lines: string[] = []
  for (let cause = error; cause !== undefined; cause = cause instanceof Error ? cause.cause : undefined)
    lines.push(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause))
  return lines.join('\nCaused by: ')
}
