import type { AiAgent } from '@aiagent/client'
import { explainFailure, type FailureSetting } from '../failure.ts'
import { formatAgentMessage, oneLine, optionsOf, type Style } from '../output.ts'
import { maskedNote } from './masked-note.ts'
import type { Screen } from './screen.ts'
import { runSlashCommand, type SlashCommandParts } from './slash-commands.ts'

export interface TerminalChatOptions {
  agent: AiAgent
  screen: Screen
  style: Style
  setting: FailureSetting
  sessionId(): string | undefined
  /** Closes the connection and opens it again. */
  reconnect(): Promise<void>
  /** Aborts the chat. */
  interrupted: AbortSignal
}

/** Runs the chat in the terminal until the user exits. The agent must be connected. */
export function chatInTerminal(options: TerminalChatOptions): Promise<void> {
  const { agent, screen, style, setting, interrupted } = options
  const print = (text: string) => screen.print(text)
  /** Options of the last message with options. A number selects one until the next message is sent. */
  let offered: string[] = []

  agent.on('heartbeat', ({ payload }) => screen.setStatus(style.dim(`${oneLine(payload.from.name)} is typing…`)))
  agent.on('agentMessage', ({ payload: { from, message } }) => {
    screen.setStatus(undefined)
    const options = optionsOf(message)
    if (options.length > 0) offered = options
    print(formatAgentMessage(from.name, message, style))
  })
  agent.on('errorMessage', () => screen.setStatus(undefined))
  agent.on('stateChanged', () => screen.setStatus(undefined))

  const send = async (text: string) => {
    offered = []
    if (agent.getState() === 'CLOSED')
      return print(style.warning('Not sent: the conversation is closed. Use /reconnect to open it again.'))
    if (agent.getState() !== 'CONNECTED')
      print(style.dim('Not connected: the message is queued until the connection is back.'))
    maskedNote(agent, text, style).forEach(print)
    await agent.send(text)
  }
  const parts: SlashCommandParts = { ...options, print, quit: () => screen.close() }
  const enter = async (line: string) => {
    const text = line.trim()
    if (text === '') return
    if (text.startsWith('//')) return send(text.slice(1))
    if (text.startsWith('/')) return runSlashCommand(text.slice(1).toLowerCase(), parts)
    const option = /^\d+$/.test(text) ? offered[Number(text) - 1] : undefined
    if (option !== undefined) print(style.dim(`  → ${oneLine(option)}`))
    return send(option ?? text)
  }
  return new Promise(resolve => {
    const leave = () => screen.close()
    interrupted.addEventListener('abort', leave, { once: true })
    screen.open({
      onLine: line => {
        enter(line).catch(error => print(style.warning(explainFailure(error, setting))))
      },
      onClose: () => {
        interrupted.removeEventListener('abort', leave)
        const unsent = agent.getQueueSize()
        if (unsent > 0)
          print(style.warning(`Not sent: ${unsent === 1 ? 'one queued message' : `${unsent} queued messages`}.`))
        resolve()
      },
    })
  })
}
