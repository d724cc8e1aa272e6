export type { ConversationError, ConversationErrorCode, ConversationRemedy } from './view/conversation-error.ts'
export type {
  ConversationEscalation,
  ConversationMessage,
  ConversationSource,
  TextRange,
} from './view/conversation-message.ts'
export type {
  ConversationChoice,
  ConversationConnection,
  ConversationConnectionState,
  ConversationSnapshot,
  ConversationView,
  ConversationViewOptions,
} from './view/conversation-snapshot.ts'
export { createConversationView } from './view/conversation-view.ts'
export type { ConversationFormat } from './view/export-conversation.ts'
export type { ViewPlatform } from './view/view-platform.ts'
