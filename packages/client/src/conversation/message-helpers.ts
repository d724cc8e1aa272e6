import { type FeedbackRating, isJsonObject, PERSONA, ROLE } from '@aiagent/protocol'
import type { Message, MessageObject } from '../log/message.ts'

/** Common options of every helper. */
export interface MessageHelperParams {
  /** The sender's id of the message. @default created by `send()` */
  messageId?: string
  /** Name of the sender, for the transcript. Local: it is not sent. */
  from?: string
  /** Name of the recipient, for the transcript. Local: it is not sent. */
  to?: string
}

/** Options of `createContextMessage()`. */
export interface ContextMessageParams extends MessageHelperParams {
  /** Attributes by name: plain values, or `{ value, type, description, notInLLM }`. */
  context: Record<string, unknown>
}
/** Options of `createFeedbackMessage()`. */
export interface FeedbackMessageParams extends MessageHelperParams {
  /** Thumb up or down. */
  rating: FeedbackRating
  /** `messageId` of the answer that is rated. */
  answerMessageId: string
}
/** Options of `createEscalationMessage()`. */
export interface EscalationMessageParams extends MessageHelperParams {
  /** The outcome of the escalation; the host defines its shape. */
  escalationEvent: unknown
}
/** Options of `createAgentMessage()`. */
export interface AgentMessageParams extends MessageHelperParams {
  /** The text. */
  content: string
  /** @default 'customer' */
  persona?: string
  /** @default 'human' */
  role?: string
}
/** Options of `createGracefulDisconnectMessage()`. */
export type GracefulDisconnectParams = MessageHelperParams
/** Options of `createTokenMessage()`. */
export interface TokenMessageParams extends MessageHelperParams {
  /** The access token. It never enters the transcript or a log. */
  token: string
}

/** Attributes for the session's context. `send()` merges them into the stored context as well. */
export function createContextMessage({ context, ...ids }: ContextMessageParams): MessageObject {
  return { ...ids, persona: PERSONA.SYSTEM, role: ROLE.CONTEXT, messageData: { context } }
}

/** Whether a message contains attributes of the context. */
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

/** Reports the outcome of an escalation to the service. */
export function createEscalationMessage({ escalationEvent, ...ids }: EscalationMessageParams): MessageObject {
  return { ...ids, persona: PERSONA.SYSTEM, role: ROLE.ESCALATION, messageData: { escalationEvent } }
}

/** A message to the agent, by default from the user. */
export function createAgentMessage({ content, persona, role, ...ids }: AgentMessageParams): MessageObject {
  return { ...ids, persona: persona ?? PERSONA.CUSTOMER, role: role ?? ROLE.HUMAN, content }
}

/** A graceful disconnect. `disconnect()` sends it automatically. */
export function createGracefulDisconnectMessage(ids: GracefulDisconnectParams = {}): MessageObject {
  return { ...ids, persona: PERSONA.SYSTEM, role: ROLE.GRACEFUL_DISCONNECT }
}

/** An access token. The library sends it automatically; see `updateAccessToken()`. */
export function createTokenMessage({ token, ...ids }: TokenMessageParams): MessageObject {
  return { ...ids, persona: PERSONA.METADATA, role: ROLE.TOKEN, messageData: { token } }
}
