import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../message.ts'
import {
  BaseMessageHandler,
  type ErrorMessageResult,
  errorCodeOf,
  handled,
  resultBase,
  systemParties,
} from '../message-handler.ts'

/** An error that the service reports within the chat. */
export class ErrorMessageHandler extends BaseMessageHandler {
  override readonly resultType = 'error_message'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.METADATA && message.role === ROLE.ERROR
  }

  handle(message: Message): ErrorMessageResult {
    const errorCode = errorCodeOf(message)
    return {
      type: this.resultType,
      ...resultBase(message),
      ...systemParties(),
      message: { ...handled(message), errorCode },
      errorCode,
    }
  }
}
