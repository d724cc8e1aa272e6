import type {
  AgentListItem,
  Explanation,
  FeedbackRating,
  OperationOptions,
  PendingChoice,
  Portal,
  UserProfile,
} from '@aiagent/client'
import type { ConversationError, ConversationRemedy } from './conversation-error.ts'
import type { ConversationEscalation, ConversationMessage } from './conversation-message.ts'
import type { ConversationFormat, ExportOptions } from './export-conversation.ts'
import type { ConversationDesk, OpenLiveDesk } from './live-desk.ts'
import type { ViewPlatform } from './view-platform.ts'

/**
 * State of the conversation's connection.
 *
 * - `idle`: nothing has started, or the agent was left: `start()`
 * - `initializing`: `initialize()` runs
 * - `choosing`: portal, agent or profile must be selected: see `gate`
 * - `connecting`, `connected`
 * - `reconnecting`: the next attempt follows at `retryAt`
 * - `closed`: the chat has ended: `retry()` connects again
 * - `failed`: `initialize()` failed; `remedy` says what helps
 */
export type ConversationConnectionState =
  | 'idle'
  | 'initializing'
  | 'choosing'
  | 'connecting'
  | 'connected'
  | 'reconnecting'
  | 'closed'
  | 'failed'

/** What to say about the connection. */
export interface ConversationConnection {
  /** State of the connection, or of the start before it. */
  readonly state: ConversationConnectionState
  /**
   * When the next attempt follows, in milliseconds since the epoch: while `reconnecting`, and during a wait that the service has asked
   * for while `initializing` or `connecting`.
   */
  readonly retryAt: number | undefined
  /** Whether the service has asked for the wait until {@link retryAt} (`Retry-After`): offer no `retry()` meanwhile. */
  readonly isWaitAsked: boolean
  /** Whether the device has no network, for all it knows. */
  readonly isOffline: boolean
  /** Whether a message was written to an open connection and nothing has arrived for 15 s. */
  readonly isSilent: boolean
  /** What helps in this state. */
  readonly remedy: ConversationRemedy
}

/** Where the present session of a conversation begins: the agent knows nothing of what is above. Say it there, once. */
export interface ConversationSession {
  /** Id of the last message above. Undefined where nothing is above: `hasExpired` is true then. */
  readonly after: string | undefined
  /** Whether the service no longer had the conversation of the previous page, with `resume`. */
  readonly hasExpired: boolean
}

/**
 * All that a user interface shows of a conversation, at one moment. It is frozen, and so are its messages and lists; whatever
 * has not changed since the snapshot before is the same object.
 */
export interface ConversationSnapshot {
  /** The visible messages in order: of the user, the agent and, with a live desk, the colleague. */
  readonly messages: readonly ConversationMessage[]
  /**
   * Where the present session begins, if the conversation did not begin with it: after the service has forgotten or ended the previous one,
   * or after `restart()`. Until the transcript is cleared, and on this page only.
   */
  readonly newSession: ConversationSession | undefined
  /** Whether the agent is working on an answer. */
  readonly isWorking: boolean
  /** State of the connection, and what helps. */
  readonly connection: ConversationConnection
  /** The choice that waits for the user: the gate with its choices. Answer it with `select()`. */
  readonly gate: PendingChoice | undefined
  /** Whether the user must sign in: offer `login()`. It stays true until the sign-in is complete. */
  readonly needsLogin: boolean
  /** The last hand-over to a human. It stays until the conversation is restarted or cleared. */
  readonly escalation: ConversationEscalation | undefined
  /** The chat with a colleague, while one is open in this tab or in another one; see the option `escalate`. */
  readonly desk: ConversationDesk | undefined
  /**
   * Number of messages of the agent and of a colleague since `markRead()`. Those from before a reload count as read, but for those of
   * the agent with `keepsUnread`; `markRead()` in another tab counts for those of the agent, which it shows too.
   */
  readonly unread: number
  /** Text that the user is writing. */
  readonly draft: string
  /** The last error, until the conversation goes on. */
  readonly error: ConversationError | undefined
}

/** Something to select at a gate. */
export type ConversationChoice = Portal | AgentListItem | UserProfile

/**
 * A step of a conversation, for statistics: without texts, and without ids of persons, sessions and messages. `time` is in milliseconds since
 * the epoch, `afterMs` a duration in milliseconds.
 *
 * - `opened`: a new conversation is open, once for each. Before a sign-in and a choice there is none.
 * - `first_message`: the first message of the user, once for each conversation; `afterMs` it was opened
 * - `answered`: the first message of the agent after one of the user; `afterMs` that one
 * - `rated`: the user has rated an answer, or has changed the rating
 * - `escalated`: the agent has handed the conversation over to a human
 */
export type ConversationSignal =
  | { readonly name: 'opened'; readonly time: number }
  | { readonly name: 'first_message'; readonly time: number; readonly afterMs: number }
  | { readonly name: 'answered'; readonly time: number; readonly afterMs: number }
  | { readonly name: 'rated'; readonly time: number; readonly rating: FeedbackRating }
  | { readonly name: 'escalated'; readonly time: number; readonly type: ConversationEscalation['type'] }

/** Called with each signal. */
export type SignalListener = (signal: ConversationSignal) => void

/** Options of a view. */
export interface ConversationViewOptions {
  /**
   * Called by `login()` before anything else, for hosts that sign their users in themselves: it obtains a token and passes it
   * to the agent, for example with `updateAccessToken()`.
   */
  onLogin?: () => unknown
  /**
   * Whether `start()` and `retry()` may ask the user to sign in, in a popup or by leaving the page. With false, `needsLogin` is
   * set instead, and only `login()` asks.
   *
   * @default true
   */
  interactive?: boolean
  /**
   * Opens a chat with a colleague, which continues in the same list. Called when the agent hands the conversation over, in the tab in which
   * the user wrote last, and after a reload with the handle of the desk that was open.
   *
   * While the desk is open, `send()` goes to it, masked as text to the service is. Its messages and its handle are stored with the session.
   * The views of one agent that have this option share one desk, which the function of the first one opens.
   *
   * @default a hand-over is shown as ways to a human
   */
  escalate?: OpenLiveDesk
  /**
   * Whether `escalate` gets the conversation with the agent, so that the user need not repeat it: `conversation` of its options.
   *
   * @default true
   */
  passesConversation?: boolean
  /**
   * Whether messages of the agent stay unread over a reload, with `resume`, also those that arrive meanwhile: all since `markRead()` or
   * the user's last message.
   *
   * @default false
   */
  keepsUnread?: boolean
  /** Parts of the platform to replace. */
  platform?: Partial<ViewPlatform>
}

/**
 * A conversation as a user interface needs it: one snapshot, a subscription, and actions. Every member can be used without its
 * object. An action that fails rejects, and its error is `snapshot.error` too; an aborted one only rejects. An action belongs to the
 * user who began it: once that user has left, by `logout()` or a change of the user, it rejects with code ABORTED and has no further
 * effect. A change of the user does not end `login()`, which may have caused it.
 */
export interface ConversationView {
  /** Calls back after each change: once for all changes of a frame, or of a microtask in a hidden page. Returns the undo. */
  readonly subscribe: (listener: () => void) => () => void
  /** The present snapshot; the same object until something changes. */
  readonly getSnapshot: () => ConversationSnapshot
  /** The snapshot of an agent that has done nothing yet, for server rendering and hydration; always the same object. */
  readonly getServerSnapshot: () => ConversationSnapshot
  /**
   * Initializes the agent and connects. Stops at a choice that waits for the user; `select()` continues. While a user is being
   * signed out it waits for that first.
   */
  readonly start: () => Promise<void>
  /**
   * Leaves the chat, for a user interface that is closed and may open again: the connection closes, and what `start()`, `select()`
   * and `login()` have begun does not open it any more. Messages, draft and queue are kept: `start()` continues the conversation.
   */
  readonly leave: () => Promise<void>
  /**
   * Sends a message, or queues it until the chat is open. Clears the draft if it is the same text. While a live desk is open, it goes to
   * the colleague.
   *
   * @param text without it, the draft is sent
   * @returns id of the message
   * @throws {MessageError} as `AiAgent.send()`; reason `invalid` for blank text, and while a live desk is open in another tab
   */
  readonly send: (text?: string) => Promise<string>
  /**
   * Sends an option of a message as the user's answer. Resolves with the id of the new message.
   *
   * @throws {MessageError} reason `invalid` for an option that the message does not have, or not any more
   */
  readonly choose: (messageId: string, option: string) => Promise<string>
  /** Selects one of the choices of `snapshot.gate`, and connects when nothing else has to be selected. */
  readonly select: (choice: ConversationChoice) => Promise<void>
  /**
   * Rates a message.
   *
   * @throws {MessageError} reason `invalid` for a message that cannot be rated
   */
  readonly rate: (messageId: string, rating: FeedbackRating) => Promise<void>
  /**
   * Sends a `failed` or `unknown` message again, one from before `restart()` in the present conversation; without an id, starts or
   * connects again, at once where the agent waits for its next attempt.
   *
   * @throws {MessageError} reason `invalid` for a message in another state, and for one to a live desk that has closed
   */
  readonly retry: (messageId?: string) => Promise<void>
  /** Takes a queued message back: the options that it took wait again. Returns whether it was still queued. */
  readonly cancel: (messageId: string) => boolean
  /**
   * Signs the user in, and connects. Call it within a click: a popup needs one. A second call opens the window again, and ends the
   * first; the signal ends it too, and ignores a later answer of the window. Offer both: a page cannot always know that the
   * user has closed the window.
   */
  readonly login: (options?: OperationOptions) => Promise<void>
  /**
   * Asks for a colleague again: calls `escalate` with the hand-over of a message. Resolves with whether a chat is open then.
   *
   * @throws {MessageError} reason `invalid` for a message without a hand-over, without `escalate`, and while a chat with a colleague is open
   *   in another tab
   */
  readonly openDesk: (messageId: string) => Promise<boolean>
  /** Ends the chat with a colleague that is open in this tab: the agent continues. */
  readonly endDesk: () => void
  /**
   * Starts a new conversation, in a new session. The messages of the former stay above it on this page, to read: see `newSession`. To
   * remove them too, call `AiAgent.clearTranscript()`.
   */
  readonly restart: () => Promise<void>
  /** Sets the draft, and notifies at once, as inputs that a framework controls need it. */
  readonly setDraft: (text: string) => void
  /** Removes the error from the snapshot. */
  readonly clearError: () => void
  /** Sets `unread` to 0, with `tabs: 'share'` in all tabs. */
  readonly markRead: () => void
  /** What the agent does or waits for at this moment, as `AiAgent.explain()`. */
  readonly explain: () => Promise<Explanation>
  /**
   * The conversation as text, as Markdown, or as JSON: masked as it was sent. The code for it loads with the first call.
   *
   * @param options words in the language of the user, and the time zone
   * @throws {RangeError} when the time zone is unknown
   */
  readonly export: (format: ConversationFormat, options?: ExportOptions) => Promise<string>
  /**
   * Calls back with each step of the conversation, for statistics: see {@link ConversationSignal}. Returns the undo. The code for it loads
   * with the first listener, which is best added before `start()`. With `resume` a step is not reported again after a reload; of tabs
   * that share the conversation, one reports. What a listener throws is logged.
   */
  readonly onSignal: (listener: SignalListener) => () => void
  /**
   * Ends the view: no listener and no timer is left. The agent lives on. Resolves when the draft and the ratings are stored: to
   * end the agent too, wait for it.
   */
  readonly destroy: () => Promise<void>
}
