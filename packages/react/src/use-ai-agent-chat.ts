import type { ConversationMessage, ConversationSnapshot, ConversationView } from '@aiagent/client/view'
import { useMemo } from 'react'
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

/** A message in the form of the AI SDK. It stays the same object until the message changes. */
export interface AiAgentChatMessage {
  id: string
  role: 'user' | 'assistant'
  /** The message of the view, with time, delivery and rating. */
  metadata: ConversationMessage
  parts: AiAgentChatPart[]
}

/** `submitted`: the agent is working on an answer. There are no partial answers, so it is never `streaming`. */
export type AiAgentChatStatus = 'submitted' | 'streaming' | 'ready' | 'error'

/** A member of the AI SDK's chat for which the service has no message. */
export class NotSupportedError extends Error {
  override readonly name = 'NotSupportedError'
  /** Stable code. */
  readonly code = 'not_supported'

  /** @param member name of the member */
  constructor(member: string) {
    super(`${member}() is not possible: the service of hosted agents has no message for it.`)
  }
}

/** What the components of the AI SDK's `useChat()` expect, with a conversation of this library behind it. */
export interface AiAgentChat {
  /** Names the conversation for components that keep several apart: always `conversation`. */
  readonly id: string
  messages: AiAgentChatMessage[]
  status: AiAgentChatStatus
  error: Error | undefined
  /**
   * Sends text, or queues it until the chat is open.
   *
   * @throws {NotSupportedError} for files, and for a message with the `messageId` of another, which it would replace
   */
  sendMessage: (message?: {
    text?: string | undefined
    parts?: readonly object[] | undefined
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
  /** @throws {NotSupportedError} always: the messages are those of the service */
  setMessages: () => void
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
  const members = useMemo(() => membersOf(view), [view])
  const { error, isWorking } = snapshot
  const isFailed = error !== undefined && error.remedy !== 'wait'
  return {
    ...members,
    messages,
    snapshot,
    view,
    error: isFailed ? asError(error.error) : undefined,
    status: isFailed ? 'error' : isWorking ? 'submitted' : 'ready',
  }
}

type Members = Omit<AiAgentChat, 'messages' | 'snapshot' | 'error' | 'status' | 'view'>

function membersOf(view: ConversationView): Members {
  const reject = (member: string) => async () => {
    throw new NotSupportedError(member)
  }
  return {
    id: 'conversation',
    async sendMessage({ text, parts = [], files, messageId } = {}) {
      const hasFiles = files !== undefined || parts.some(part => !isText(part))
      if (hasFiles || messageId !== undefined) throw new NotSupportedError('sendMessage')
      await view.send(text ?? parts.flatMap(part => (isText(part) ? part.text : [])).join('\n'))
    },
    clearError: view.clearError,
    resumeStream: async () => {},
    stop: reject('stop'),
    regenerate: reject('regenerate'),
    setMessages() {
      throw new NotSupportedError('setMessages')
    },
    addToolResult: reject('addToolResult'),
    addToolOutput: reject('addToolOutput'),
    addToolApprovalResponse: reject('addToolApprovalResponse'),
    experimental_queuedMessages: [],
    experimental_removeQueuedMessage: id => void view.cancel(id),
    experimental_sendQueuedMessageNow: reject('experimental_sendQueuedMessageNow'),
  }
}

/** Converted messages, so that a message that does not change stays the same object. */
const converted = new WeakMap<ConversationMessage, AiAgentChatMessage>()

function chatMessage(message: ConversationMessage): AiAgentChatMessage {
  const known = converted.get(message)
  if (known) return known
  const { id, author, content, sources, options, chosenOption, canChoose, escalation } = message
  const parts: AiAgentChatPart[] = [{ type: 'text', text: content, state: 'done' }]
  for (const [index, { title, url }] of sources.entries())
    if (url) parts.push({ type: 'source-url', sourceId: `${id}-${index}`, url, title })
  if (options.length) parts.push({ type: 'data-options', data: { options, chosenOption, canChoose } })
  if (escalation) parts.push({ type: 'data-escalation', data: escalation })
  const made: AiAgentChatMessage = { id, role: author === 'user' ? 'user' : 'assistant', metadata: message, parts }
  converted.set(message, made)
  return made
}

function isText(part: object): part is { type: 'text'; text: string } {
  return 'type' in part && part.type === 'text' && 'text' in part && typeof part.text === 'string'
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
