import type { ConversationMessage } from '@aiagent/view'
import type { ChatSettings } from './chat-settings.ts'

/** What the host draws in place of a message. An error of the host is one of the page, and the message is shown as usual. */
export function nodeOf(message: ConversationMessage, { renderMessage }: ChatSettings): Node | undefined {
  try {
    return renderMessage?.(message)
  } catch (error) {
    globalThis.reportError?.(error)
    return undefined
  }
}
