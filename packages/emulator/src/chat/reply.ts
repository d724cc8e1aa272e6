import type { OpenRecord, ServerMessageData } from '@aiagent/protocol'

/** The user's message, and the known facts of the conversation. */
export interface ReplyRequest {
  text: string
  context: Readonly<Record<string, unknown>>
  history: ReadonlyArray<{ from: 'customer' | 'agent'; content: string }>
  random: () => number
  escalation: { liveDomain: string; entrypointUrl: string }
}

/** One answer frame of the agent. `role` defaults to the customer-support role. */
export interface Answer {
  content: string
  role?: string
  messageData?: OpenRecord<ServerMessageData>
}

export type Reply = (request: ReplyRequest) => Answer | readonly Answer[] | Promise<Answer | readonly Answer[]>
