import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../../log/message.ts'
import { BaseMessageHandler, type HeartbeatResult, handled, resultOf } from '../message-handler.ts'

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
