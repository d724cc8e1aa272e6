import { SERVICE_ERROR_CODE } from '@aiagent/protocol'
import type { UnreadableFrame } from '../events.ts'
import type { Message } from '../log/message.ts'
import type { AgentScope } from '../scope.ts'
import type { AgentMessageResult, HandlerResult, MessageHandlerResult } from './message-handler.ts'
import { escalationOf } from './message-handler.ts'

/** Events that a received message can cause. */
export type InboundEventType =
  | 'message'
  | 'agentMessage'
  | 'escalation'
  | 'heartbeat'
  | 'chatHistory'
  | 'errorMessage'
  | 'contextValidation'

/**
 * The events of one received message: `message` for every one, then its own.
 *
 * Results of custom handlers, and messages without a handler, are emitted as `message` only.
 */
export function emitInbound(
  scope: AgentScope<InboundEventType>,
  message: Message,
  result: HandlerResult | undefined,
  isRecovered: boolean,
): void {
  scope.emit('message', () => ({ data: message }))
  if (result === undefined) return
  const known = result as MessageHandlerResult
  switch (known.type) {
    case 'agent_message':
      return emitAgentMessage(scope, known, isRecovered)
    case 'heartbeat_processed':
      return scope.emit('heartbeat', () => payloadOf(known))
    case 'chat_history_processed':
      return scope.emit('chatHistory', () => ({ ...payloadOf(known), hasHistory: known.hasHistory }))
    case 'error_message':
      if (known.errorCode === SERVICE_ERROR_CODE.TOO_MANY_MESSAGES) scope.reportRateLimit({ message })
      return scope.emit('errorMessage', () => ({
        message,
        error: new Error(message.content || 'The service reports an error.'),
      }))
    case 'context_validation':
      return scope.emit('contextValidation', () => ({ message, issues: known.contextValidationErrors }))
    case 'token_refresh_required':
      return
    default:
      return known satisfies never
  }
}

/** The event of a frame that could not be read. */
export function emitUnreadable(scope: AgentScope<'message'>, data: UnreadableFrame): void {
  scope.emit('message', () => ({ data }))
}

/** The list of a history, with its handler's result; undefined for every other message. */
export function historyOf(message: Message, result: HandlerResult | undefined): readonly unknown[] | undefined {
  return result?.type === 'chat_history_processed' ? (message.messageData?.chat_history ?? []) : undefined
}

/** The events of a message of the agent. `isRecovered` marks one that was found after an outage. */
export function emitAgentMessage(
  scope: AgentScope<'agentMessage' | 'escalation'>,
  result: AgentMessageResult,
  isRecovered: boolean,
): void {
  scope.emit('agentMessage', () => (isRecovered ? { ...payloadOf(result), recovered: true } : payloadOf(result)))
  const escalation = escalationOf(result)
  if (escalation) scope.emit('escalation', () => escalation)
}

/** A result without what the event's envelope says already. Written out, since a rest copy is slow. */
function payloadOf<Type extends string, Handled>(
  result: { type: Type; message: Handled } & Pick<HandlerResult, 'messageId' | 'from' | 'to'>,
) {
  return { type: result.type, messageId: result.messageId, from: result.from, to: result.to, message: result.message }
}
