import type { AiAgent } from '@aiagent/client'
import { type ConversationMessage, createConversationView } from '@aiagent/client/view'

/** A part of the stream of an answer, in the form of the AI SDK's `UIMessageChunk`. */
export type AnswerChunk =
  | { type: 'start' | 'start-step' | 'finish-step' | 'finish' }
  | { type: 'text-start' | 'text-end'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'source-url'; sourceId: string; url: string; title: string }
  | { type: 'data-options'; data: { options: readonly string[] } }
  | { type: 'data-escalation'; data: NonNullable<ConversationMessage['escalation']> }
  | { type: 'error'; errorText: string }
  | { type: 'abort' }

/** Options of {@link createChatTransport}. */
export interface ChatTransportOptions {
  /** Silence after which an answer counts as complete, in milliseconds: an agent may answer in several messages. @default 1000 */
  quietMs?: number
  /** Longest wait for an answer, in milliseconds; then the stream ends with an error. @default 120_000 */
  timeoutMs?: number
  /** Receives each message of the agent that belongs to no stream. Add it with `setMessages()`, or it is not shown. */
  onUnasked?: (message: ConversationMessage) => void
}

/** A `ChatTransport` of the AI SDK. */
export interface AgentChatTransport {
  sendMessages(options: {
    trigger: 'submit-message' | 'regenerate-message'
    messages: readonly { readonly parts: readonly object[] }[]
    abortSignal: AbortSignal | undefined
  }): Promise<ReadableStream<AnswerChunk>>
  /** Resolves with null: the agent resumes by itself, and `onUnasked` has what comes later. */
  reconnectToStream(): Promise<null>
  /** Ends the transport; the agent lives on. */
  close(): void
}

/**
 * A transport for `useChat()` of the AI SDK. One message of the user becomes one stream, which ends when the agent has been
 * silent for a while.
 */
export function createChatTransport(
  agent: AiAgent,
  { quietMs = 1_000, timeoutMs = 120_000, onUnasked }: ChatTransportOptions = {},
): AgentChatTransport {
  const view = createConversationView(agent, { platform: { isVisible: () => false } })
  const seen = new Set(view.getSnapshot().messages.map(({ id }) => id))
  let take: ((message: ConversationMessage) => void) | undefined
  view.subscribe(() => {
    for (const message of view.getSnapshot().messages) {
      if (seen.has(message.id)) continue
      seen.add(message.id)
      if (message.author === 'agent') (take ?? onUnasked)?.(message)
    }
  })

  return {
    async sendMessages({ trigger, messages, abortSignal }) {
      if (trigger !== 'submit-message') throw notSupported('an answer cannot be asked for again')
      const parts = messages.at(-1)?.parts.map(textOf) ?? []
      if (parts.length === 0 || parts.includes(undefined)) throw notSupported('only text can be sent')
      abortSignal?.throwIfAborted()
      let end = (_last: AnswerChunk) => {}
      let release = () => {}
      const stream = new ReadableStream<AnswerChunk>({
        start(controller) {
          let timer = setTimeout(() => end({ type: 'error', errorText: 'No answer came in time.' }), timeoutMs)
          const settle = () => {
            if (view.getSnapshot().isWorking) timer = setTimeout(settle, quietMs)
            else end({ type: 'finish' })
          }
          const receive = (message: ConversationMessage) => {
            for (const chunk of chunksOf(message)) controller.enqueue(chunk)
            clearTimeout(timer)
            timer = setTimeout(settle, quietMs)
          }
          const abort = () => end({ type: 'abort' })
          release = () => {
            end = () => {}
            clearTimeout(timer)
            abortSignal?.removeEventListener('abort', abort)
            if (take === receive) take = undefined
          }
          end = last => {
            release()
            controller.enqueue(last)
            controller.close()
          }
          take = receive
          abortSignal?.addEventListener('abort', abort)
          controller.enqueue({ type: 'start' })
        },
        cancel: () => release(),
      })
      try {
        await agent.send(parts.join('\n'))
      } catch (error) {
        end({ type: 'error', errorText: error instanceof Error ? error.message : String(error) })
      }
      return stream
    },
    reconnectToStream: async () => null,
    close: () => view.destroy(),
  }
}

function chunksOf({ id, content, sources, options, escalation }: ConversationMessage): AnswerChunk[] {
  return [
    { type: 'start-step' },
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: content },
    { type: 'text-end', id },
    ...sources.flatMap<AnswerChunk>(({ title, url }, index) =>
      url ? [{ type: 'source-url', sourceId: `${id}-${index}`, url, title }] : [],
    ),
    ...(options.length ? [{ type: 'data-options', data: { options } } as const] : []),
    ...(escalation ? [{ type: 'data-escalation', data: escalation } as const] : []),
    { type: 'finish-step' },
  ]
}

function textOf(part: object): string | undefined {
  return 'type' in part && part.type === 'text' && 'text' in part && typeof part.text === 'string'
    ? part.text
    : undefined
}

function notSupported(why: string): Error {
  return Object.assign(new Error(`The transport cannot do this: ${why}.`), { code: 'not_supported' })
}
