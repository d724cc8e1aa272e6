/**
 * The conversation for `useChat()` of the AI SDK: a transport, and messages in its form.
 *
 * @module
 */
import type { AiAgent } from '@aiagent/client'
import { type ConversationMessage, createConversationView } from '@aiagent/view'
import { type PublishedMessage, withoutSession } from './published-message.ts'

/** A part of a message in the form of the AI SDK, beside its text. */
export type AnswerPart =
  /** What the workflow of the message expects next, and the fields of its data that no other part has. */
  | {
      type: 'data-workflow'
      data: Partial<Pick<ConversationMessage, 'workflow' | 'input'>> & Pick<ConversationMessage, 'data'>
    }
  | { type: 'source-url'; sourceId: string; url: string; title: string }
  /** Suggested answers: send one as the next message. */
  | { type: 'data-options'; data: Pick<ConversationMessage, 'options' | 'chosenOption' | 'canChoose'> }
  /** A hand-over to a human. */
  | { type: 'data-escalation'; data: NonNullable<ConversationMessage['escalation']> }
  /** A colleague continues at a live desk from here on, or has left it. Such a message has no text. */
  | { type: 'data-desk'; data: Pick<ConversationMessage, 'mark' | 'authorName'> }
  /** Id of the message in a conversation view, to rate it with `rate()`. */
  | { type: 'data-message'; data: Pick<ConversationMessage, 'id' | 'canRate' | 'time' | 'authorName'> }

/** A part of the stream of an answer, in the form of the AI SDK's `UIMessageChunk`. */
export type AnswerChunk =
  | { type: 'start' | 'start-step' | 'finish-step' | 'finish' }
  | { type: 'text-start' | 'text-end'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'reasoning-delta'; id: string; delta: string }
  | AnswerPart
  | { type: 'error'; errorText: string }
  | { type: 'abort' }

/** A message in the form of the AI SDK's `UIMessage`. */
export interface AgentChatMessage {
  /** Id of the message in the conversation view; pass it to `rate()`. */
  id: string
  /** `assistant` for every message that the user did not write, also for those of a human of the service. */
  role: 'user' | 'assistant'
  /** The message of the view, with time, delivery and rating. */
  metadata: PublishedMessage
  /** Reasoning, text, sources, options, hand-over, workflow and rating, where the message has them. */
  parts: ({ type: 'text' | 'reasoning'; text: string; state: 'done' } | AnswerPart)[]
}

/** Options of {@link createChatTransport}. */
export interface ChatTransportOptions {
  /** Silence after which an answer counts as complete, in milliseconds: an agent may answer in several messages. @default 1000 */
  quietMs?: number
  /** Longest wait for an answer, in milliseconds; then the stream ends with an error. @default 120_000 */
  timeoutMs?: number
  /**
   * Receives each new message of the agent that belongs to no stream. Show it with {@link toChatMessage}. Messages from before
   * a reload are not passed.
   */
  onUnasked?: (message: ConversationMessage) => void
}

export type { PublishedMessage } from './published-message.ts'

/** A `ChatTransport` of the AI SDK. */
export interface AgentChatTransport {
  /**
   * Sends the last message as text, and streams its answer. The stream of an earlier message ends: its answer belongs to this
   * one.
   *
   * @throws an error with the code `not_supported` for anything but a new message of text
   */
  sendMessages(options: {
    trigger: 'submit-message' | 'regenerate-message'
    messageId?: string | undefined
    messages: readonly { readonly parts: readonly object[] }[]
    abortSignal: AbortSignal | undefined
  }): Promise<ReadableStream<AnswerChunk>>
  /** Resolves with null: the agent resumes by itself, and `onUnasked` has what comes later. */
  reconnectToStream(): Promise<null>
  /** Ends the transport and the stream that is open; the agent lives on. */
  close(): void
}

/** The answer that is being streamed. */
interface OpenAnswer {
  /** Id of the message that it answers, once that is known. */
  id?: string
  take(message: ConversationMessage): void
  end(last: AnswerChunk): void
}

/**
 * A transport for `useChat()` of the AI SDK. One message of the user becomes one stream, which ends when the agent has been
 * silent for a while, with an error when the service reports one, the message cannot be sent, or the chat ends or is restarted, and
 * with `abort` when the user leaves or takes the message back.
 */
export function createChatTransport(
  agent: AiAgent,
  { quietMs = 1_000, timeoutMs = 120_000, onUnasked }: ChatTransportOptions = {},
): AgentChatTransport {
  const view = createConversationView(agent, { platform: { isVisible: () => false } })
  const seen = new Set(view.getSnapshot().messages.map(({ id }) => id))
  let open: OpenAnswer | undefined
  let isClosed = false
  let { state } = view.getSnapshot().connection

  const update = () => {
    const { messages, connection } = view.getSnapshot()
    for (const message of messages) {
      if (seen.has(message.id)) continue
      seen.add(message.id)
      if (message.author === 'user' || message.mark) continue
      try {
        if (open) open.take(message)
        else onUnasked?.(message)
      } catch (error) {
        agent.logger.error('`onUnasked` of a chat transport failed.', error)
      }
    }
    if (connection.state === state) return
    state = connection.state
    if (state === 'closed' || state === 'failed') open?.end({ type: 'error', errorText: 'The chat has ended.' })
  }
  const undo = [
    view.subscribe(update),
    agent.subscribe('transcriptRestored', ({ payload }) => {
      for (const { id } of payload.entries) seen.add(id)
    }),
    agent.subscribe('transcriptCleared', () => open?.end({ type: 'abort' })),
    agent.subscribe('errorMessage', ({ payload }) => open?.end({ type: 'error', errorText: payload.error.message })),
    agent.subscribe('deliveryUpdate', ({ payload }) => {
      if (payload.id !== open?.id) return
      if (payload.state === 'cancelled') open.end({ type: 'abort' })
      else if (payload.state === 'failed') open.end({ type: 'error', errorText: 'The message was not sent.' })
    }),
    agent.subscribe('phaseChanged', ({ payload }) => {
      if (payload.at === 'leaving') open?.end({ type: 'abort' })
    }),
  ]

  /** Opens the stream of the next answer. */
  const stream = (isQueued: () => boolean, signal: AbortSignal | undefined) => {
    let release = () => {}
    return new ReadableStream<AnswerChunk>({
      start(controller) {
        let timer = setTimeout(() => answer.end({ type: 'error', errorText: 'No answer came in time.' }), timeoutMs)
        const settle = () => {
          if (view.getSnapshot().isWorking || isQueued()) timer = setTimeout(settle, quietMs)
          else answer.end({ type: 'finish' })
        }
        const abort = () => answer.end({ type: 'abort' })
        const answer: OpenAnswer = {
          take(message) {
            for (const chunk of chunksOf(message)) controller.enqueue(chunk)
            clearTimeout(timer)
            timer = setTimeout(settle, quietMs)
          },
          end(last) {
            if (open !== answer) return
            release()
            controller.enqueue(last)
            controller.close()
          },
        }
        release = () => {
          if (open === answer) open = undefined
          clearTimeout(timer)
          signal?.removeEventListener('abort', abort)
        }
        open?.end({ type: 'finish' })
        open = answer
        signal?.addEventListener('abort', abort)
        controller.enqueue({ type: 'start' })
      },
      cancel: () => release(),
    })
  }

  return {
    async sendMessages({ trigger, messageId, messages, abortSignal }) {
      if (isClosed) throw new Error('The transport is closed.')
      if (trigger !== 'submit-message') throw notSupported('an answer cannot be asked for again')
      if (messageId !== undefined) throw notSupported('a message cannot be replaced')
      const parts = messages.at(-1)?.parts.map(textOf) ?? []
      if (parts.length === 0 || parts.includes(undefined)) throw notSupported('only text can be sent')
      abortSignal?.throwIfAborted()
      let own: OpenAnswer | undefined
      const answer = stream(() => agent.delivery(own?.id ?? '')?.state === 'queued', abortSignal)
      own = open
      try {
        const id = await agent.send(parts.join('\n'))
        if (own) own.id = id
      } catch (error) {
        own?.end({ type: 'error', errorText: error instanceof Error ? error.message : String(error) })
      }
      return answer
    },
    reconnectToStream: async () => null,
    close() {
      isClosed = true
      open?.end({ type: 'abort' })
      for (const stop of undo) stop()
      void view.destroy()
    },
  }
}

/** A message of a conversation view in the form of the AI SDK, for `setMessages()`: history, unasked messages, ratings. */
export function toChatMessage(message: ConversationMessage): AgentChatMessage {
  const { id, author, content, reasoning } = message
  return {
    id,
    role: author === 'user' ? 'user' : 'assistant',
    metadata: withoutSession(message),
    parts: [
      ...(reasoning ? [{ type: 'reasoning', text: reasoning, state: 'done' } as const] : []),
      ...(message.mark ? [] : [{ type: 'text', text: content, state: 'done' } as const]),
      ...partsOf(message),
    ],
  }
}

function chunksOf(message: ConversationMessage): AnswerChunk[] {
  const { id, content, reasoning } = message
  const reasoned = `${id}-reasoning`
  return [
    { type: 'start-step' },
    ...(reasoning
      ? ([
          { type: 'reasoning-start', id: reasoned },
          { type: 'reasoning-delta', id: reasoned, delta: reasoning },
          { type: 'reasoning-end', id: reasoned },
        ] as const)
      : []),
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: content },
    { type: 'text-end', id },
    ...partsOf(message),
    { type: 'finish-step' },
  ]
}

function partsOf(message: ConversationMessage): AnswerPart[] {
  const { id, author, sources, options, chosenOption, canChoose, escalation, canRate, time, authorName } = message
  const { mark, workflow, input, data } = message
  if (author === 'user') return []
  if (mark) return [{ type: 'data-desk', data: { mark, authorName } }]
  return [
    ...sources.flatMap<AnswerPart>(({ title, url }, index) =>
      url ? [{ type: 'source-url', sourceId: `${id}-${index}`, url, title }] : [],
    ),
    ...(options.length ? [{ type: 'data-options', data: { options, chosenOption, canChoose } } as const] : []),
    ...(escalation ? [{ type: 'data-escalation', data: escalation } as const] : []),
    ...(workflow || input || Object.keys(data).length
      ? [{ type: 'data-workflow', data: { ...(workflow && { workflow }), ...(input && { input }), data } } as const]
      : []),
    { type: 'data-message', data: { id, canRate, time, authorName } },
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
