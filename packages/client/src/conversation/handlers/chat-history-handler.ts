import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../../log/message.ts'
import { BaseMessageHandler, type ChatHistoryResult, dataOf, resultOf } from '../message-handler.ts'

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
