import { type ContextValidationIssue, type EscalationData, type MessageData, PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../outbox/message.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'

/** Who speaks, or is spoken to. */
export interface Party {
  readonly name: string
  /** Whether it is a machine. */
  readonly isAi: boolean
}

/** A message as a handler hands it on. */
export interface HandledMessage {
  persona: string
  role: string
  /** The text, where there is one. */
  content: string | undefined
  /** The frame's `messageData` as received, or an empty object. */
  raw: MessageData
}

/** What every handler's result has. */
export interface HandlerResult<Type extends string = string, Handled extends HandledMessage = HandledMessage> {
  /** What kind of message it is; `includeMessageTypes` goes by it. */
  type: Type
  /** The service's id for the message, where it gave one. */
  messageId: string | undefined
  /** The message's own moment, in milliseconds since the epoch. */
  timestamp: number
  sessionId: string | undefined
  agentId: string | undefined
  /** Who speaks. */
  from: Party
  /** Who is spoken to. */
  to: Party
  /** What the handler made of the message. */
  message: Handled
}

/** A way to reach a human without a live chat. */
export interface EscalationOption {
  /** Text for a button. */
  label: 'CALL' | 'SMS' | 'EMAIL'
  /** What the way is. */
  type: 'phone' | 'sms' | 'email'
  /** The number; none for email. */
  value?: string
}

/** An answer or question of the agent. */
export interface AgentMessage extends HandledMessage {
  /** What the answer is based on; usually `{ title, url }`. */
  sources?: unknown[]
  /** How the agent came to the answer, where the service tells. */
  reasoning?: string
  /** True when there is reasoning to show. */
  showReasoning: boolean
  /** True for answers that can be rated. */
  showFeedback: boolean
  /** True when suggested answers are there. */
  showOptions: boolean
  /** Suggested answers to a question. The chosen one goes back as an ordinary message. */
  options?: string[]
  /** `live`: a chat takes over at `escalationData.entrypointUrl`. `alternate`: by phone, SMS or email. */
  escalationType?: 'live' | 'alternate'
  /** Where a human can be reached; the options are made of it. */
  escalationData?: EscalationData & { options?: EscalationOption[] }
}

/** Result of `AgentMessageHandler`: an answer or question of the agent. */
export type AgentMessageResult = HandlerResult<'agent_message', AgentMessage>
/** Result of `HeartbeatHandler`: the agent is working on an answer. */
export type HeartbeatResult = HandlerResult<'heartbeat_processed'>
/** Result of `ChatHistoryHandler`: earlier messages of a session that was opened again, as the service sent them. */
export type ChatHistoryResult = HandlerResult<'chat_history_processed', HandledMessage & { chatHistory: unknown[] }> & {
  hasHistory: boolean
}
/** Result of `ErrorMessageHandler`: the service reports an error within the chat. */
export type ErrorMessageResult = HandlerResult<'error_message', HandledMessage & { errorCode: string | undefined }> & {
  errorCode: string | undefined
}
/** Result of `ContextValidationHandler`: attributes of the context that the service refused. */
export type ContextValidationResult = HandlerResult<'context_validation'> & {
  contextValidationErrors: ContextValidationIssue[]
}
/** Result of `TokenRefreshHandler`: the service wants another access token. */
export type TokenRefreshResult = HandlerResult<
  'token_refresh_required',
  HandledMessage & { errorCode: string | undefined }
> & {
  errorCode: string | undefined
}

/** What the library's own handlers return. */
export type MessageHandlerResult =
  | AgentMessageResult
  | HeartbeatResult
  | ChatHistoryResult
  | ErrorMessageResult
  | ContextValidationResult
  | TokenRefreshResult

/**
 * Takes one kind of inbound message. Subclass it and pass an instance to `getMessageProcessor().addHandler()`.
 *
 * The first handler whose `canHandle` says yes gets the message; a promise holds up the messages behind it.
 */
export abstract class BaseMessageHandler {
  /** The `type` of its results; lets `includeMessageTypes` decide before the handler is asked. */
  readonly resultType?: string
  /** Whether this handler takes the message. */
  abstract canHandle(message: Message): boolean
  /** What it makes of the message. Where it throws, that is logged, and the message is told by `message` alone. */
  abstract handle(message: Message): Awaitable<HandlerResult>
}

// Shared by all results, so a listener must not be able to change them.
const SYSTEM: Party = Object.freeze({ name: 'System', isAi: false })
const CLIENT: Party = Object.freeze({ name: 'Client', isAi: false })
const CUSTOMER: Party = Object.freeze({ name: 'Customer', isAi: false })
const NO_DATA: MessageData = Object.freeze({})

/**
 * A handler's result around what it made of the message. Written out field by field, here and in the handlers, since
 * this happens for every frame and copying objects is what costs most.
 */
export function resultOf<Type extends string, Handled extends HandledMessage>(
  type: Type,
  message: Message,
  handled: Handled,
): HandlerResult<Type, Handled> {
  const fromAgent = message.persona === PERSONA.AGENT || message.role === ROLE.HEARTBEAT
  return {
    type,
    messageId: message.messageId,
    timestamp: message.timestamp ?? 0,
    sessionId: message.sessionId,
    agentId: message.agentId,
    from: fromAgent ? agentNamed(message.from || 'AI Agent') : SYSTEM,
    to: fromAgent ? CUSTOMER : CLIENT,
    message: handled,
  }
}

let agentParty: Party = Object.freeze({ name: 'AI Agent', isAi: true })

/** The agent by its name: the same object until another name comes, which is seldom. */
function agentNamed(name: string): Party {
  if (agentParty.name !== name) agentParty = Object.freeze({ name, isAi: true })
  return agentParty
}

export function handled(message: Message): HandledMessage {
  return { persona: message.persona, role: message.role, content: message.content, raw: dataOf(message) }
}

/** A frame's data, or an empty object. */
export function dataOf(message: Message): MessageData {
  return message.messageData ?? NO_DATA
}

/** The frame's error code as text, whatever the service sent. */
export function errorCodeOf(message: Message): string | undefined {
  const code = message.messageData?.error_code
  return code === undefined || code === null ? undefined : String(code)
}
