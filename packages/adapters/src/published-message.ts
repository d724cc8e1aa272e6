import type { ConversationMessage } from '@aiagent/view'

/** A message of the view as host apps may store or post it: without the id of its session, which opens the conversation. */
export type PublishedMessage = Omit<ConversationMessage, 'sessionId'>

/** A message without the id of its session. */
export function withoutSession({ sessionId: _, ...message }: ConversationMessage): PublishedMessage {
  return message
}
