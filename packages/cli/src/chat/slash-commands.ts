import type { AiAgent } from '@aiagent/client'
import { formatAnswer, formatLine, oneLine, type Style } from '../output.ts'

export interface SlashCommandParts {
  agent: AiAgent
  style: Style
  sessionId(): string | undefined
  print(text: string): void
  reconnect(): Promise<void>
  quit(): void
}

interface SlashCommand {
  readonly help: string
  run(parts: SlashCommandParts): void | Promise<void>
}

const STATE_WORDS = {
  IDLE: 'not connected yet',
  CONNECTING: 'connecting',
  CONNECTED: 'connected',
  RECONNECTING: 'connection lost, trying again',
  CLOSED: 'closed; /reconnect opens it again',
} as const

const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  help: {
    help: 'show this list',
    run: ({ print }) =>
      print(
        [
          ...Object.entries(COMMANDS).map(([name, { help }]) => `  ${`/${name}`.padEnd(12)} ${help}`),
          '  A number sends the option that stands behind it. Two slashes at the start send a text that begins with one.',
        ].join('\n'),
      ),
  },
  state: {
    help: 'show the connection, the session and what waits',
    run: ({ agent, sessionId, print }) =>
      print(
        [
          `  Connection: ${STATE_WORDS[agent.getState()]}`,
          `  Session:    ${oneLine(sessionId() ?? 'none')}`,
          `  Waiting:    ${agent.getQueueSize()} to be sent`,
        ].join('\n'),
      ),
  },
  transcript: {
    help: 'show what was said so far',
    run: ({ agent, style, print }) => {
      const said = agent
        .getTranscript()
        .filter(({ message }) => message.persona === 'customer' || message.persona === 'agent')
      const lines = said.map(({ message, direction }) =>
        direction === 'sent'
          ? formatLine('You', message.content ?? '', style)
          : formatAnswer(message.from ?? 'Agent', message.content ?? '', style),
      )
      if (lines.length > 0) lines.forEach(print)
      else print(style.dim('There are no messages yet.'))
    },
  },
  reconnect: { help: 'close the connection and open it again', run: ({ reconnect }) => reconnect() },
  quit: { help: 'leave; Ctrl-D and Ctrl-C on an empty line do the same', run: ({ quit }) => quit() },
}

/** The slash commands that begin like a line. */
export function completeSlashCommand(beginning: string): string[] {
  return Object.keys(COMMANDS)
    .map(name => `/${name}`)
    .filter(command => beginning.startsWith('/') && command.startsWith(beginning))
}

/** Runs a slash command. Prints a warning if it is unknown. */
export async function runSlashCommand(name: string, parts: SlashCommandParts): Promise<void> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command) await command.run(parts)
  else parts.print(parts.style.warning(`Unknown command /${name}. Type /help for a list.`))
}
