import { AiAgent, type AiAgentConfig } from '@aiagent/client'
import { createEmulator, type EmulatorOptions } from '@aiagent/emulator'
import { configure } from '@testing-library/react'
import { isConnected } from '../is-connected.ts'

// On a busy machine a conversation may take longer to open than the usual second.
configure({ asyncUtilTimeout: 15_000 })

/** A service in this process, and agents of it. It repeats what it hears. */
export function setUpAgents(options: EmulatorOptions = {}) {
  const emulator = createEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }), ...options })
  const { fetch, WebSocket, world, control } = emulator
  const logged: string[] = []
  const log = (...parts: unknown[]) => void logged.push(parts.join(' '))
  const quiet = { debug() {}, info() {}, warn: log, error: log }
  const newAgent = (config: Partial<AiAgentConfig> = {}) =>
    new AiAgent(
      { id: 'help', endpoint: emulator.origin, baseReconnectDelay: 1, ...config },
      { fetch, WebSocket, console: quiet },
    )
  /** Calls that create a session, opened chat connections, and texts of the user. */
  const counts = () => ({
    sessionCalls: control.requests().filter(({ method, path }) => method === 'POST' && path.endsWith('/session'))
      .length,
    sockets: control.requests().filter(({ status }) => status === 101).length,
    texts: [...world.sessions.keys()].flatMap(id =>
      control.frames(id).flatMap(({ message }) => (message?.persona === 'customer' ? [message.content] : [])),
    ),
  })
  return { emulator, isOpen: () => isConnected(emulator), newAgent, counts, logged }
}
