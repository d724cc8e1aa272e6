import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../message.ts'
import { BaseMessageHandler, type ChatHistoryResult, handled, resultBase, systemParties } from '../message-handler.ts'

/** Earlier messages of a session that was opened again. They are handed on, not merged into the transcript. */
export class ChatHistoryHandler extends BaseMessageHandler {
  override readonly resultType = 'chat_history_processed'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.SYSTEM && message.role === ROLE.CHAT_HISTORY
  }

  handle(message: Message): ChatHistoryResult {
    const chatHistory = message.messageData?.chat_history ?? []
    return {
      type: this.resultType,
      ...resultBase(message),
      ...systemParties(),
      hasHistory: chatHistory.length > 0,
      message: { ...handled(message), chatHistory },
    }
  }
}
