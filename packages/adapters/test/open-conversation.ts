import { AiAgent, type AiAgentConfig, type Environment } from '@aiagent/client'
import { createEmulator } from '@aiagent/emulator'
import { type ConversationViewOptions, createConversationView } from '@aiagent/view'
import type { AnswerChunk } from '../src/ai-sdk.ts'

const reply = ({ text }: { text: string }) =>
  text === 'options'
    ? [
        { content: 'One moment.', messageData: { sources: [{ title: 'Manual', url: 'https://docs.example.test/' }] } },
        { content: 'Which one?', role: 'follow up question agent', messageData: { options: ['Red', 'Blue'] } },
      ]
    : { content: `You said: ${text}` }

/** An agent with a view that is connected, and its service. */
export async function open(
  config: Partial<AiAgentConfig> = {},
  environment: Partial<Environment> = {},
  emulator = createEmulator({ reply }),
  isStarted = true,
  viewOptions: ConversationViewOptions = {},
) {
  const { fetch, WebSocket, origin } = emulator
  const agent = new AiAgent(
    { id: 'help', endpoint: origin, enableLogging: false, baseReconnectDelay: 1, maxReconnectDelay: 1, ...config },
    { fetch, WebSocket, ...environment },
  )
  const view = createConversationView(agent, viewOptions)
  if (isStarted) await view.start()
  const session = () => [...emulator.world.sessions.keys()].at(-1) ?? ''
  const history = () =>
    emulator.world.sessions
      .get(session())
      ?.history.entries()
      .map(({ content }) => content)
  const close = async () => {
    await view.destroy()
    await agent.destroy()
    emulator.close()
  }
  return { emulator, agent, view, session, history, close }
}

/** Reads a stream to its end. */
export async function chunksOf(stream: ReadableStream<AnswerChunk>): Promise<AnswerChunk[]> {
  const chunks: AnswerChunk[] = []
  const reader = stream.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value)
  return chunks
}

/** What `useChat()` passes to a transport for a new message. */
export const ask = (text: string, abortSignal?: AbortSignal) => ({
  trigger: 'submit-message' as const,
  messages: [{ parts: [{ type: 'text', text }] }],
  abortSignal,
})
