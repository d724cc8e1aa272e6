import { spawn } from 'node:child_process'

/** A program with its arguments. */
export type Command = readonly [file: string, ...args: string[]]

export interface BrowserSetting {
  /** The variable BROWSER lists the browsers to try. */
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
}

/**
 * The commands that may open an address in the user's browser, in the order to try them.
 *
 * BROWSER is a list of commands, separated by colons (on Windows by semicolons, since paths contain colons). `%s` is
 * replaced by the address; without it, the address is the last argument.
 */
export function browserCommands(address: string, { env, platform }: BrowserSetting): Command[] {
  const chosen = env.BROWSER?.trim()
  const separator = platform === 'win32' ? ';' : ':'
  const own = chosen ? chosen.split(separator).flatMap(text => ownCommands(text.trim(), address)) : []
  return [...own, systemCommand(address, platform)]
}

function systemCommand(address: string, platform: NodeJS.Platform): Command {
  if (platform === 'darwin') return ['open', address]
  // `start` is a command of the shell, which would interpret & and % in an address.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address]
  return ['xdg-open', address]
}

function ownCommands(text: string, address: string): Command[] {
  if (text === '') return []
  const [file = '', ...args] = text.split(/\s+/)
  const split: Command = args.includes('%s')
    ? [file, ...args.map(arg => (arg === '%s' ? address : arg))]
    : [file, ...args, address]
  // The blanks may be part of the program's path.
  return args.length > 0 && !args.includes('%s') ? [[text, address], split] : [split]
}

/** Starts the first command that exists. Resolves with whether one did; does not wait for its end. */
export async function openBrowser(commands: readonly Command[]): Promise<boolean> {
  for (const command of commands) if (await start(command)) return true
  return false
}

function start([file, ...args]: Command): Promise<boolean> {
  return new Promise(resolve => {
    // A separate process group without streams: Ctrl-C must not end the browser, and it must not write here.
    const child = spawn(file, args, { detached: true, stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
