import {
  type ContextValidationIssue,
  type EscalationData,
  type MessageData,
  PERSONA,
  ROLE,
  restBase,
  type Source,
} from '@aiagent/protocol'
import type { Message } from '../log/message.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'

/** Sender or recipient of a message. */
export interface Party {
  /** Name to display: the agent's own name, or a general one such as `Customer`. */
  readonly name: string
  /** Whether it is a machine. */
  readonly isAi: boolean
}

/** A message in the form of a handler's result. */
export interface HandledMessage {
  /** Persona of the frame, for example `agent`. */
  persona: string
  /** Role of the frame, for example `customer-support`. */
  role: string
  /** The text, if there is one. */
  content: string | undefined
  /** The frame's `messageData` as received, or an empty object. */
  raw: MessageData
}

/** Common fields of every handler's result. */
export interface HandlerResult<Type extends string = string, Handled extends HandledMessage = HandledMessage> {
  /** Kind of the message; `includeMessageTypes` filters by it. */
  type: Type
  /** The service's id of the message, if it sent one. */
  messageId: string | undefined
  /** Time of the message, in milliseconds since the epoch. */
  timestamp: number
  /** Session in which the message was received. */
  sessionId: string | undefined
  /** Agent of the conversation. */
  agentId: string | undefined
  /** The sender. */
  from: Party
  /** The recipient. */
  to: Party
  /** The message as the handler read it. */
  message: Handled
}

/** A contact option for a human, without a live chat. */
export interface EscalationOption {
  /** Text for a button. */
  label: 'CALL' | 'SMS' | 'EMAIL'
  /** Kind of the contact option. */
  type: 'phone' | 'sms' | 'email'
  /** The number; absent for email. */
  value?: string
}

/** An answer or question of the agent. */
export interface AgentMessage extends HandledMessage {
  /** Sources of the answer. Check an address before it becomes a link: the service may send anything. */
  sources?: Source[]
  /** The agent's reasoning, if the service sends it. */
  reasoning?: string
  /** True when there is reasoning to show. */
  showReasoning: boolean
  /** True for answers that can be rated. */
  showFeedback: boolean
  /** True if there are suggested answers. */
  showOptions: boolean
  /** Suggested answers to a question. Send the chosen one as an ordinary message. */
  options?: string[]
  /** `live`: a chat takes over at `escalationData.entrypointUrl`. `alternate`: by phone, SMS or email. */
  escalationType?: 'live' | 'alternate'
  /** Data about the escalation; the options are built from it. */
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
/** Result of `ContextValidationHandler`: attributes of the context that the service rejected. */
export type ContextValidationResult = HandlerResult<'context_validation'> & {
  contextValidationErrors: ContextValidationIssue[]
}
/** Result of `TokenRefreshHandler`: the service requests another access token. */
export type TokenRefreshResult = HandlerResult<
  'token_refresh_required',
  HandledMessage & { errorCode: string | undefined }
> & {
  errorCode: string | undefined
}

/** Results of the library's own handlers. */
export type MessageHandlerResult =
  | AgentMessageResult
  | HeartbeatResult
  | ChatHistoryResult
  | ErrorMessageResult
  | ContextValidationResult
  | TokenRefreshResult

/**
 * Handles one kind of inbound message. Subclass it and pass an instance to `getMessageProcessor().addHandler()`.
 *
 * The first handler whose `canHandle` returns true handles the message; later messages wait for a promise, for at most 30
 * seconds.
 */
export abstract class BaseMessageHandler {
  /** The `type` of its results; lets `includeMessageTypes` decide before the handler is called. */
  readonly resultType?: string
  /** Whether this handler accepts the message. */
  abstract canHandle(message: Message): boolean
  /** Handles the message. If it fails, the error is logged, and only `message` is emitted. */
  abstract handle(message: Message): Awaitable<HandlerResult>
}

// Shared by all results, so a listener must not be able to change them.
const SYSTEM: Party = /* @__PURE__ */ Object.freeze({ name: 'System', isAi: false })
const CLIENT: Party = /* @__PURE__ */ Object.freeze({ name: 'Client', isAi: false })
const CUSTOMER: Party = /* @__PURE__ */ Object.freeze({ name: 'Customer', isAi: false })
const NO_DATA: MessageData = /* @__PURE__ */ Object.freeze({})

/**
 * A handler's result with the common fields. Written out field by field, here and in the handlers, since this runs for
 * every frame and copying objects is the most expensive part.
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

let agentParty: Party = /* @__PURE__ */ Object.freeze({ name: 'AI Agent', isAi: true })

/** The agent by its name: the same object until the name changes, which is rare. */
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

/** Answers and questions of the agent, whatever their role. */
export class AgentMessageHandler extends BaseMessageHandler {
  override readonly resultType = 'agent_message'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.AGENT
  }

  handle(message: Message): AgentMessageResult {
    return resultOf(this.resultType, message, agentMessage(message))
  }
}

function agentMessage(message: Message): AgentMessage {
  const { persona, role, content } = message
  const raw = dataOf(message)
  const { options, sources, reasoning, escalation, escalationData } = raw
  const answer: AgentMessage = {
    persona,
    role,
    content,
    raw,
    showReasoning: Boolean(reasoning?.trim()),
    showFeedback: role === ROLE.CUSTOMER_SUPPORT,
    showOptions: role === ROLE.FOLLOW_UP_QUESTION && Boolean(options?.length),
  }
  if (sources) answer.sources = sources
  if (reasoning) answer.reasoning = reasoning
  if (options) answer.options = options
  if (escalation && escalationData) {
    if (escalationData.live) {
      answer.escalationType = 'live'
      answer.escalationData = escalationData
    } else if (escalationData.phone || escalationData.sms || escalationData.email) {
      answer.escalationType = 'alternate'
      answer.escalationData = { ...escalationData, options: waysOut(escalationData) }
    }
  }
  return answer
}

function waysOut(data: NonNullable<AgentMessage['escalationData']>): EscalationOption[] {
  const ways: EscalationOption[] = []
  if (data.phone) ways.push({ label: 'CALL', type: 'phone', ...numbered(data.phoneNumber) })
  if (data.sms) ways.push({ label: 'SMS', type: 'sms', ...numbered(data.smsNumber) })
  if (data.email) ways.push({ label: 'EMAIL', type: 'email' })
  return ways
}

function numbered(value: string | null | undefined): { value?: string } {
  return value ? { value } : {}
}

/** A live chat takes over; {@link handOverAddress} returns its address. */
export interface LiveEscalation {
  /** Distinguishes the two kinds of escalation. */
  escalationType: 'live'
  /** Data of the service about the escalation. */
  escalationData: EscalationData
  /** Id of the message that hands over, if the service sent one. */
  messageId: string | undefined
  /** The message that hands over. */
  message: AgentMessage
}

/** A human can be contacted in other ways: phone, SMS, email, as listed in `escalationData.options`. */
export interface AlternateEscalation {
  /** Distinguishes the two kinds of escalation. */
  escalationType: 'alternate'
  /** Data of the service about the escalation, with the contact options as a list. */
  escalationData: EscalationData & { options: EscalationOption[] }
  /** Id of the message that hands over, if the service sent one. */
  messageId: string | undefined
  /** The message that hands over. */
  message: AgentMessage
}

/** How the agent hands the conversation over to a human. */
export type Escalation = LiveEscalation | AlternateEscalation

/** The escalation in a message of the agent; undefined for an ordinary one. */
export function escalationOf({ messageId, message }: AgentMessageResult): Escalation | undefined {
  // A custom handler may return another type than declared.
  if (!message?.escalationType || !message.escalationData) return undefined
  const { escalationType, escalationData } = message
  if (escalationType === 'live') return { escalationType, escalationData, messageId, message }
  const { options = [] } = escalationData
  return { escalationType, escalationData: { ...escalationData, options }, messageId, message }
}

/**
 * The address of the live chat: `entrypointUrl`, which may be a path on the live domain, otherwise the front page of
 * `liveDomain`.
 *
 * The address arrives with an answer, so it is validated: only `http:` and `https:` are allowed, and no user name or
 * password. The library never opens it itself.
 *
 * @returns undefined when there is no valid address
 */
export function handOverAddress({
  entrypointUrl,
  liveDomain,
}: Pick<EscalationData, 'entrypointUrl' | 'liveDomain'>): URL | undefined {
  const front = liveDomain?.trim() ? webAddress(restBase(liveDomain)) : undefined
  const entry = entrypointUrl?.trim()
  if (!entry) return front
  return (entry.startsWith('/') ? front && webAddress(entry, front) : webAddress(entry)) ?? front
}

function webAddress(text: string, base?: URL): URL | undefined {
  try {
    const address = new URL(text, base)
    const isWeb = address.protocol === 'https:' || address.protocol === 'http:'
    return isWeb && !address.username && !address.password ? address : undefined
  } catch {
    return undefined
  }
}
