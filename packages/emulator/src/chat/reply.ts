import type { OpenRecord, ServerMessageData } from '@aiagent/protocol'

/** The user's message, and the known facts of the conversation. */
export interface ReplyRequest {
  /** The user's message. */
  text: string
  /** Attributes of the session's context. */
  context: Readonly<Record<string, unknown>>
  /** Earlier messages of the session, oldest first, without the present one. */
  history: ReadonlyArray<{ from: 'customer' | 'agent'; content: string }>
  /** A number from 0 (included) to 1 (excluded), from the emulator's seed. */
  random: () => number
  /** Addresses of a live chat, for an answer that hands over. */
  escalation: { liveDomain: string; entrypointUrl: string }
  /** Whether colleagues answer at present, as the setting `desk` says. */
  isDeskOpen: boolean
}

/** One answer frame of the agent. `role` defaults to the customer-support role. */
export interface Answer {
  /** The text, as Markdown. */
  content: string
  /** Role of the frame. @default 'customer-support' */
  role?: string
  /** Data of the frame, such as sources, options and escalation. */
  messageData?: OpenRecord<ServerMessageData>
}

/** Answers a message of the user with one frame or several. An empty list sends no answer. */
export type Reply = (request: ReplyRequest) => Answer | readonly Answer[] | Promise<Answer | readonly Answer[]>
