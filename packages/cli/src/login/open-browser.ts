import { spawn } from 'node:child_process'

/** A program with its arguments. */
export type Command = readonly [file: string, ...args: string[]]

export interface BrowserSetting {
  /** Its BROWSER names the browsers to try. */
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
}

/**
 * The commands that may show an address in the person's browser, in the order they are to be tried.
 *
 * BROWSER is a list of commands, separated by colons (but not on Windows, where colons stand in paths); `%s` stands for
 * the address, which otherwise comes last.
 */
export function browserCommands(address: string, { env, platform }: BrowserSetting): Command[] {
  const chosen = env.BROWSER?.trim()
  const separator = platform === 'win32' ? ';' : ':'
  const own = chosen ? chosen.split(separator).flatMap(text => ownCommands(text.trim(), address)) : []
  return [...own, systemCommand(address, platform)]
}

function systemCommand(address: string, platform: NodeJS.Platform): Command {
  if (platform === 'darwin') return ['open', address]
  // `start` belongs to a shell, which would read the & and % of an address as its own.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address]
  return ['xdg-open', address]
}

function ownCommands(text: string, address: string): Command[] {
  if (text === '') return []
  const [file = '', ...args] = text.split(/\s+/)
  const split: Command = args.includes('%s')
    ? [file, ...args.map(arg => (arg === '%s' ? address : arg))]
    : [file, ...args, address]
  // The blanks may also stand in the program's own path.
  return args.length > 0 && !args.includes('%s') ? [[text, address], split] : [split]
}

/** Starts the first of the commands that is there. Returns whether one was; what becomes of it is not watched. */
export async function openBrowser(commands: readonly Command[]): Promise<boolean> {
  for (const command of commands) if (await start(command)) return true
  return false
}

function start([file, ...args]: Command): Promise<boolean> {
  return new Promise(resolve => {
    // A process of its own: Ctrl-C in this terminal is not meant for it, nor may it write here.
    const child = spawn(file, args, { detached: true, stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
