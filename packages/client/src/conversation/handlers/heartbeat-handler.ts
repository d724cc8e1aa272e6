import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../message.ts'
import { agentParties, BaseMessageHandler, handled, type HeartbeatResult, resultBase } from '../message-handler.ts'

/** The agent is working on an answer. */
export class HeartbeatHandler extends BaseMessageHandler {
  override readonly resultType = 'heartbeat_processed'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.SYSTEM && message.role === ROLE.HEARTBEAT
  }

  handle(message: Message): HeartbeatResult {
    return { type: this.resultType, ...resultBase(message), ...agentParties(message), message: handled(message) }
  }
}
