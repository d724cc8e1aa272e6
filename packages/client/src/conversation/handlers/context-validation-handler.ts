import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../../log/message.ts'
import { BaseMessageHandler, type ContextValidationResult, dataOf, handled, resultOf } from '../message-handler.ts'

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
