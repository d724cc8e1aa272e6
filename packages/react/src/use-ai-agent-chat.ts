import type { ConversationMessage, ConversationSnapshot, ConversationView } from '@aiagent/view'
import { useMemo } from 'react'
import { once } from './once.ts'
import { useConversationView } from './provider.ts'
import { useConversation } from './use-conversation.ts'

/** A part of a message in the form of the AI SDK. */
export type AiAgentChatPart =
  | { type: 'text'; text: string; state: 'done' }
  | { type: 'source-url'; sourceId: string; url: string; title: string }
  /** Suggested answers: take one with `view.choose()`. */
  | { type: 'data-options'; data: Pick<ConversationMessage, 'options' | 'chosenOption' | 'canChoose'> }
  /** A hand-over to a human. */
  | { type: 'data-escalation'; data: NonNullable<ConversationMessage['escalation']> }
  /** A colleague continues at a live desk from here on, or has left it. Such a message has no text. */
  | { type: 'data-desk'; data: Pick<ConversationMessage, 'mark' | 'authorName'> }

/** A message in the form of the AI SDK. It stays the same object until the message changes. */
export interface AiAgentChatMessage {
  /** Id of the message in the conversation view. */
  id: string
  /** `assistant` for every message that the user did not write. */
  role: 'user' | 'assistant'
  /** The message of the view, with time, delivery and rating. */
  metadata: ConversationMessage
  /** The text, followed by sources, options and hand-over where the message has them. */
  parts: AiAgentChatPart[]
}

/**
 * `submitted`: a message waits to be sent, as during an outage, or the agent is working on an answer. There are no partial answers,
 * so it is never `streaming`.
 */
export type AiAgentChatStatus = 'submitted' | 'streaming' | 'ready' | 'error'

/** A member of the AI SDK's chat for which the service has no message. */
export class NotSupportedError extends Error {
  /** Name of the class, for logs. */
  override readonly name = 'NotSupportedError'
  /** Stable code. */
  readonly code = 'not_supported'

  /** @param member name of the member */
  constructor(member: string) {
    super(`${member}() is not supported: the service has no message for it.`)
  }
}

/** What the components of the AI SDK's `useChat()` expect, with a conversation of this library behind it. */
export interface AiAgentChat {
  /** Names the conversation for components that keep several apart: the same as long as the provider has the same agent. */
  readonly id: string
  /** The visible messages, oldest first; the same array until one of them changes. */
  messages: AiAgentChatMessage[]
  /** `error` while there is an `error`, `submitted` while a message waits or the agent works on an answer, else `ready`. */
  status: AiAgentChatStatus
  /** The last failure, unless the agent is trying again by itself. */
  error: Error | undefined
  /**
   * Sends text, or queues it until the chat is open. Clears the error.
   *
   * @throws {NotSupportedError} for files, without a message, and for one with the `messageId` of another, which it would replace
   */
  sendMessage: (message?: {
    text?: string | undefined
    parts?: readonly { type?: unknown; text?: unknown }[] | undefined
    files?: unknown
    messageId?: string | undefined
  }) => Promise<void>
  /** Hides the error until the next one. */
  clearError: () => void
  /** Does nothing: the agent resumes by itself. */
  resumeStream: () => Promise<void>
  /** @throws {NotSupportedError} always: an answer cannot be stopped */
  stop: () => Promise<void>
  /** @throws {NotSupportedError} always: an answer cannot be asked for again */
  regenerate: () => Promise<void>
  /** @throws {NotSupportedError} unless it changes nothing: the messages are those of the service */
  setMessages: (messages: readonly object[] | ((messages: AiAgentChatMessage[]) => readonly object[])) => void
  /** @throws {NotSupportedError} always: agents have no tools in the client */
  addToolResult: () => Promise<void>
  /** @throws {NotSupportedError} always: agents have no tools in the client */
  addToolOutput: () => Promise<void>
  /** @throws {NotSupportedError} always: agents have no tools in the client */
  addToolApprovalResponse: () => Promise<void>
  /** Always empty: queued messages are among `messages`, with `metadata.delivery` as `queued`. */
  experimental_queuedMessages: AiAgentChatMessage[]
  /** Takes a queued message back. */
  experimental_removeQueuedMessage: (id: string) => void
  /** @throws {NotSupportedError} always: queued messages leave in order, as soon as the chat is open */
  experimental_sendQueuedMessageNow: (id: string) => Promise<void>
  /** The snapshot of the view: connection, unread count, hand-over and more. */
  readonly snapshot: ConversationSnapshot
  /** The view, for options, ratings, login and the other actions. */
  readonly view: ConversationView
}

/**
 * The conversation in the form that `useChat()` of the AI SDK returns, for components made for it. Messages that nobody asked
 * for, such as those of a human, simply appear.
 */
export function useAiAgentChat(): AiAgentChat {
  const view = useConversationView()
  const snapshot = useConversation()
  const messages = useMemo(() => snapshot.messages.map(chatMessage), [snapshot.messages])
  const isWaiting = snapshot.isWorking || snapshot.messages.some(isUnsent)
  const failure = snapshot.error?.remedy === 'wait' ? undefined : snapshot.error
  return {
    ...membersOf(view),
    messages,
    snapshot,
    view,
    error: failure && asError(failure.error),
    status: failure ? 'error' : isWaiting ? 'submitted' : 'ready',
  }
}

type Members = Omit<AiAgentChat, 'messages' | 'snapshot' | 'error' | 'status' | 'view'>

let count = 0

/** The functions of each view, so that they stay the same. */
const membersOf = /* @__PURE__ */ once((view: ConversationView): Members => {
  const reject = (member: string) => async () => {
    throw new NotSupportedError(member)
  }
  return {
    id: `conversation-${++count}`,
    async sendMessage(message) {
      const { text, parts = [], files, messageId } = message ?? { messageId: '' }
      const texts = parts.map(textOf)
      if (files || messageId !== undefined || texts.includes(undefined)) throw new NotSupportedError('sendMessage')
      view.clearError()
      await view.send(text ?? texts.join('\n'))
    },
    clearError: view.clearError,
    resumeStream: async () => {},
    stop: reject('stop'),
    regenerate: reject('regenerate'),
    setMessages(change) {
      const before = view.getSnapshot().messages.map(chatMessage)
      const after = typeof change === 'function' ? change(before) : change
      if (after.length !== before.length || after.some((message, index) => message !== before[index]))
        throw new NotSupportedError('setMessages')
    },
    addToolResult: reject('addToolResult'),
    addToolOutput: reject('addToolOutput'),
    addToolApprovalResponse: reject('addToolApprovalResponse'),
    experimental_queuedMessages: [],
    experimental_removeQueuedMessage: view.cancel,
    experimental_sendQueuedMessageNow: reject('experimental_sendQueuedMessageNow'),
  }
})

/** A message that does not change stays the same object. */
const chatMessage = /* @__PURE__ */ once((metadata: ConversationMessage): AiAgentChatMessage => {
  const { id, author, authorName, mark, content, sources, options, chosenOption, canChoose, escalation } = metadata
  return {
    id,
    role: author === 'user' ? author : 'assistant',
    metadata,
    parts: [
      mark ? { type: 'data-desk', data: { mark, authorName } } : { type: 'text', text: content, state: 'done' },
      ...sources.flatMap(({ title, url }, index) =>
        url ? [{ type: 'source-url', sourceId: `${id}-${index}`, url, title } as const] : [],
      ),
      ...(options.length ? [{ type: 'data-options', data: { options, chosenOption, canChoose } } as const] : []),
      ...(escalation ? [{ type: 'data-escalation', data: escalation } as const] : []),
    ],
  }
})

function isUnsent({ author, delivery }: ConversationMessage): boolean {
  return author === 'user' && (delivery === 'queued' || delivery === 'sending')
}

/** Text of a part; undefined for other parts. */
function textOf(part: { type?: unknown; text?: unknown }): string | undefined {
  return part.type === 'text' && typeof part.text === 'string' ? part.text : undefined
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
