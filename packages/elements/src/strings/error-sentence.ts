import type { ConversationErrorCode } from '@aiagent/view'
import type { ChatStrings } from './chat-strings.ts'

/** Names of the texts that are sentences. */
type SentenceName = { [Name in keyof ChatStrings]: ChatStrings[Name] extends string ? Name : never }[keyof ChatStrings]

const SENTENCES: Readonly<Record<ConversationErrorCode, SentenceName>> = {
  service_unavailable: 'errorText',
  login_required: 'loginTitle',
  queue_full: 'errorQueueFull',
  reload_required: 'errorText',
  action_failed: 'errorAction',
  desk_failed: 'errorDesk',
  desk_message_failed: 'errorDeskMessage',
  not_available: 'errorSetup',
  agent_destroyed: 'ended',
}

/** The sentence for a user about an error of a conversation, by its code. */
export function errorSentence(code: ConversationErrorCode, strings: ChatStrings): string {
  return strings[SENTENCES[code]]
}
