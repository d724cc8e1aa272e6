import { type FeedbackRating, isJsonObject, PERSONA, ROLE } from '@aiagent/protocol'
import type { Message, MessageObject } from '../outbox/message.ts'

/** What every helper takes beside its own part. */
export interface MessageHelperParams {
  /** The sender's id for the message; `send()` makes one otherwise. */
  messageId?: string
  from?: string
  to?: string
}

/** What `createContextMessage()` takes. */
export interface ContextMessageParams extends MessageHelperParams {
  /** Attributes by name: plain values, or `{ value, type, description, notInLLM }`. */
  context: Record<string, unknown>
}
/** What `createFeedbackMessage()` takes. */
export interface FeedbackMessageParams extends MessageHelperParams {
  /** Thumb up or down. */
  rating: FeedbackRating
  /** `messageId` of the answer that is rated. */
  answerMessageId: string
}
/** What `createEscalationMessage()` takes. */
export interface EscalationMessageParams extends MessageHelperParams {
  /** What happened to the hand-over; its shape is the host's. */
  escalationEvent: unknown
}
/** What `createAgentMessage()` takes. */
export interface AgentMessageParams extends MessageHelperParams {
  content: string
  /** @default 'customer' */
  persona?: string
  /** @default 'human' */
  role?: string
}
/** What `createGracefulDisconnectMessage()` takes. */
export type GracefulDisconnectParams = MessageHelperParams
/** What `createTokenMessage()` takes. */
export interface TokenMessageParams extends MessageHelperParams {
  token: string
}

/** Attributes that join the session's context. `send()` merges them into the stored context as well. */
export function createContextMessage({ context, ...ids }: ContextMessageParams): MessageObject {
  return { ...ids, persona: PERSONA.SYSTEM, role: ROLE.CONTEXT, messageData: { context } }
}

/** Whether a message carries attributes of the context. */
export function isContextMessage(
  message: Message,
): message is Message & { messageData: { context: Record<string, unknown> } } {
  return (
    message.persona === PERSONA.SYSTEM && message.role === ROLE.CONTEXT && isJsonObject(message.messageData?.context)
  )
}

/** A thumb up or down for one answer. */
export function createFeedbackMessage({ rating, answerMessageId, ...ids }: FeedbackMessageParams): MessageObject {
  return {
    ...ids,
    persona: PERSONA.SYSTEM,
    role: ROLE.FEEDBACK,
    messageData: { feedback: { rating, answerMessageId } },
  }
}

/** Tells the service what happened to a hand-over. */
export function createEscalationMessage({ escalationEvent, ...ids }: EscalationMessageParams): MessageObject {
  return { ...ids, persona: PERSONA.SYSTEM, role: ROLE.ESCALATION, messageData: { escalationEvent } }
}

/** A message to the agent: of the person who talks to it, unless persona and role say otherwise. */
export function createAgentMessage({ content, persona, role, ...ids }: AgentMessageParams): MessageObject {
  return { ...ids, persona: persona ?? PERSONA.CUSTOMER, role: role ?? ROLE.HUMAN, content }
}

/** Says goodbye. `disconnect()` sends it by itself. */
export function createGracefulDisconnectMessage(ids: GracefulDisconnectParams = {}): MessageObject {
  return { ...ids, persona: PERSONA.SYSTEM, role: ROLE.GRACEFUL_DISCONNECT }
}

/** An access token. The agent sends it by itself; see `updateAccessToken()`. */
export function createTokenMessage({ token, ...ids }: TokenMessageParams): MessageObject {
  return { ...ids, persona: PERSONA.METADATA, role: ROLE.TOKEN, messageData: { token } }
}
