import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../log/message.ts'
import {
  type AgentMessage,
  type AgentMessageResult,
  BaseMessageHandler,
  type ChatHistoryResult,
  type ContextValidationResult,
  dataOf,
  type ErrorMessageResult,
  type EscalationOption,
  errorCodeOf,
  type HeartbeatResult,
  handled,
  resultOf,
  type TokenRefreshResult,
} from './message-handler.ts'

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

/** Earlier messages of a session that was opened again. They are passed on, not merged into the transcript. */
export class ChatHistoryHandler extends BaseMessageHandler {
  override readonly resultType = 'chat_history_processed'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.SYSTEM && message.role === ROLE.CHAT_HISTORY
  }

  handle(message: Message): ChatHistoryResult {
    const { persona, role, content } = message
    const raw = dataOf(message)
    const chatHistory = raw.chat_history ?? []
    const result = resultOf(this.resultType, message, { persona, role, content, raw, chatHistory })
    return Object.assign(result, { hasHistory: chatHistory.length > 0 })
  }
}

/** Attributes of the context that the service rejected. The session continues (WS-06). */
export class ContextValidationHandler extends BaseMessageHandler {
  override readonly resultType = 'context_validation'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.SYSTEM && message.role === ROLE.CONTEXT_VALIDATION
  }

  handle(message: Message): ContextValidationResult {
    const contextValidationErrors = dataOf(message).contextValidationErrors ?? []
    return Object.assign(resultOf(this.resultType, message, handled(message)), { contextValidationErrors })
  }
}

/** An error that the service reports within the chat. */
export class ErrorMessageHandler extends BaseMessageHandler {
  override readonly resultType = 'error_message'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.METADATA && message.role === ROLE.ERROR
  }

  handle(message: Message): ErrorMessageResult {
    const { persona, role, content } = message
    const errorCode = errorCodeOf(message)
    const result = resultOf(this.resultType, message, { persona, role, content, raw: dataOf(message), errorCode })
    return Object.assign(result, { errorCode })
  }
}

/** The agent is working on an answer. */
export class HeartbeatHandler extends BaseMessageHandler {
  override readonly resultType = 'heartbeat_processed'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.SYSTEM && message.role === ROLE.HEARTBEAT
  }

  handle(message: Message): HeartbeatResult {
    return resultOf(this.resultType, message, handled(message))
  }
}

/** Receives the token requests of a {@link TokenRefreshHandler}. */
export interface TokenRefreshHandlerOptions {
  /** Starts a refresh; later frames do not wait for it. `expired`: the service already rejects the current token. */
  onRefreshRequired(expired: boolean): void
}

/** The service requests a new access token: every stale or expired frame does, whatever its code. */
export class TokenRefreshHandler extends BaseMessageHandler {
  override readonly resultType = 'token_refresh_required'
  readonly #options: TokenRefreshHandlerOptions

  constructor(options: TokenRefreshHandlerOptions) {
    super()
    this.#options = options
  }

  canHandle(message: Message): boolean {
    return (
      message.persona === PERSONA.METADATA && (message.role === ROLE.STALE_TOKEN || message.role === ROLE.EXPIRED_TOKEN)
    )
  }

  handle(message: Message): TokenRefreshResult {
    this.#options.onRefreshRequired(message.role === ROLE.EXPIRED_TOKEN)
    const { persona, role, content } = message
    const errorCode = errorCodeOf(message)
    const result = resultOf(this.resultType, message, { persona, role, content, raw: dataOf(message), errorCode })
    return Object.assign(result, { errorCode })
  }
}
