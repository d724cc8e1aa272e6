import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../../log/message.ts'
import { BaseMessageHandler, dataOf, type ErrorMessageResult, errorCodeOf, resultOf } from '../message-handler.ts'

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
