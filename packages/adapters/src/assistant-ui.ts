/**
 * The conversation for assistant-ui, as the store of its external runtime.
 *
 * @module
 */
import type { ConversationMessage, ConversationView } from '@aiagent/view'
import { type PublishedMessage, withoutSession } from './published-message.ts'

export type { PublishedMessage } from './published-message.ts'

/** A message in the form of assistant-ui's `ThreadMessageLike`. */
export interface AssistantUiMessage {
  /** Id of the message in the conversation view. */
  readonly id: string
  /** `assistant` for every message that the user did not write. */
  readonly role: 'user' | 'assistant'
  /** Time of the message. */
  readonly createdAt: Date
  /** The reasoning where there is some, the text, and the sources that have an address. */
  readonly content: readonly (
    | { readonly type: 'reasoning'; readonly text: string }
    | { readonly type: 'text'; readonly text: string }
    | {
        readonly type: 'source'
        readonly sourceType: 'url'
        readonly id: string
        readonly url: string
        readonly title: string
      }
  )[]
  /** Always complete, since the service sends no partial answers. Absent for messages of the user. */
  readonly status?: { readonly type: 'complete'; readonly reason: 'stop' }
  /** The user's rating, and the message of the view for components of the host. */
  readonly metadata: {
    readonly submittedFeedback?: { readonly type: 'positive' | 'negative' }
    /** `message` is the message of the view, with delivery, options, hand-over, workflow and data. */
    readonly custom: { readonly message: PublishedMessage }
  }
}

/** What `useExternalStoreRuntime()` of assistant-ui takes. */
export interface AssistantUiStore {
  /** The messages of the view, oldest first, without the marks of a live desk: `view.getSnapshot().desk` has its state. */
  readonly messages: readonly ConversationMessage[]
  /** Converts a message of the view; assistant-ui caches the result for each message. */
  readonly convertMessage: (message: ConversationMessage) => AssistantUiMessage
  /** True while the agent works on an answer. */
  readonly isRunning: boolean
  /** True while a portal, an agent or a profile has to be selected, or the user has to sign in. */
  readonly isSendDisabled: boolean
  /** Options of the last question that waits for an answer. Empty if there is none. */
  readonly suggestions: readonly { readonly prompt: string }[]
  /** Sends the text that the user wrote. Rejects for parts other than text, and as `ConversationView.send()`. */
  readonly onNew: (message: { readonly content: readonly object[] }) => Promise<void>
  /** Adapters of assistant-ui: `feedback` rates a message in the service. */
  readonly adapters: {
    readonly feedback: {
      readonly submit: (feedback: {
        readonly message: { readonly id: string }
        readonly type: 'positive' | 'negative'
      }) => void
    }
  }
}

/**
 * The conversation as an external store of assistant-ui: options are suggestions, ratings are feedback. Call it with each
 * rendering, after subscribing to the view.
 *
 * @example
 * useSyncExternalStore(view.subscribe, view.getSnapshot, view.getServerSnapshot)
 * const runtime = useExternalStoreRuntime(toExternalStore(view))
 */
export function toExternalStore(view: ConversationView): AssistantUiStore {
  const { messages, isWorking, gate, needsLogin } = view.getSnapshot()
  const question = messages.findLast(({ canChoose }) => canChoose)
  return {
    messages: messages.some(({ mark }) => mark) ? messages.filter(({ mark }) => !mark) : messages,
    convertMessage,
    isRunning: isWorking,
    isSendDisabled: gate !== undefined || needsLogin,
    suggestions: question?.options.map(prompt => ({ prompt })) ?? [],
    async onNew({ content }) {
      const parts = content.map(textOf)
      if (parts.includes(undefined)) throw new Error('Only text can be sent: the service takes no files.')
      await view.send(parts.join('\n'))
    },
    adapters: {
      feedback: {
        // A failure is the error of the snapshot.
        submit: ({ message, type }) => void view.rate(message.id, type === 'positive' ? 'up' : 'down').catch(() => {}),
      },
    },
  }
}

function convertMessage(message: ConversationMessage): AssistantUiMessage {
  const { id, author, time, content, sources, rating, reasoning } = message
  return {
    id,
    role: author === 'user' ? 'user' : 'assistant',
    createdAt: new Date(time),
    content: [
      ...(reasoning ? [{ type: 'reasoning', text: reasoning } as const] : []),
      { type: 'text', text: content },
      ...sources.flatMap(({ title, url }, index) =>
        url ? [{ type: 'source', sourceType: 'url', id: `${id}-${index}`, url, title } as const] : [],
      ),
    ],
    ...(author !== 'user' && { status: { type: 'complete', reason: 'stop' } as const }),
    metadata: {
      ...(rating && { submittedFeedback: { type: rating === 'up' ? 'positive' : 'negative' } as const }),
      custom: { message: withoutSession(message) },
    },
  }
}

function textOf(part: object): string | undefined {
  return 'type' in part && part.type === 'text' && 'text' in part && typeof part.text === 'string'
    ? part.text
    : undefined
}
