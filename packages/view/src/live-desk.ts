import type { ConversationEscalation, ConversationMessage } from './conversation-message.ts'

/** What a live desk reports. */
export interface LiveDeskMessage {
  /**
   * The colleague's text, of which 100,000 characters are kept. Without it the item only says that other values of the desk may have
   * changed.
   */
  readonly text?: string | undefined
  /** Id of the message at the desk: a message whose id was shown is not shown again. @default never the same */
  readonly id?: string | undefined
  /** Milliseconds since the epoch. @default now */
  readonly time?: number | undefined
}

/**
 * A chat with a colleague, which the host app connects: usually a few lines around the SDK of a vendor. `typing`, `name` and `handle` are
 * read when the desk opens, after each item of `messages`, and after each `send()`.
 */
export interface LiveDesk {
  /**
   * Sends text of the user, which is masked. A promise that rejects, or does not settle for 30 seconds, marks the message as `unknown`; the
   * desk stays open.
   */
  send(text: string): void | Promise<void>
  /**
   * What arrives: texts of the colleague, or objects. Yield `{}` where only `typing`, `name` or `handle` have changed. The desk closes when
   * the iterable ends, and with an error when it throws.
   */
  readonly messages: AsyncIterable<string | LiveDeskMessage>
  /** Whether the colleague is writing. @default false */
  readonly typing?: boolean | undefined
  /**
   * Name of the colleague, once one has joined: until then the user waits. Another name is another colleague, who joins; `null` says that the
   * colleague has left and the user waits for another one, and undefined that nothing has changed. A colleague without a name has joined with
   * the first text or with `typing`.
   */
  readonly name?: string | null | undefined
  /** Identifies the chat, so that the next page can open it again. @default the chat ends with the page */
  readonly handle?: string | undefined
  /** Resolves when the colleague has left; a rejection closes the desk with an error. */
  readonly ended: Promise<void>
  /** Ends the chat: the user goes back to the agent, starts a new conversation, or signs out. */
  end(): void | Promise<void>
}

/** A message of the conversation before a live desk: masked for the user, without the id of its session, and without further data. */
export type LiveDeskContext = Omit<ConversationMessage, 'sessionId' | 'data'>

/** How a live desk is opened. */
export interface LiveDeskOptions {
  /**
   * The conversation so far, for the colleague: the messages of the present session as the view shows them, but for those of the user
   * that were not sent.
   *
   * @default left out, where the view has the option `passesConversation: false`
   */
  readonly conversation?: readonly LiveDeskContext[]
  /** Handle of the desk that the page before had open. @default a new chat is opened */
  readonly handle?: string
  /**
   * Aborted when the desk closes for any reason: also at a sign-out, when the user is another one, and when the agent or the view is
   * destroyed. Release the connection then.
   */
  readonly signal: AbortSignal
}

/**
 * Opens a live desk for an escalation of the agent.
 *
 * @returns undefined where there is none, for example out of hours: the conversation continues with the agent
 */
export type OpenLiveDesk = (escalation: ConversationEscalation, options: LiveDeskOptions) => LiveDesk | undefined

/** The chat with a colleague, while it is open. */
export interface ConversationDesk {
  /** Whether it is open in another tab: nothing can be sent here. */
  readonly isElsewhere: boolean
  /**
   * When the user began to wait for a colleague, in milliseconds since the epoch. Undefined once one has joined, and where it is open in
   * another tab.
   */
  readonly waitingSince: number | undefined
  /** Name of the colleague, once it is known. */
  readonly name: string | undefined
  /** Whether the colleague is writing. */
  readonly isTyping: boolean
}
