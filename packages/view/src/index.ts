export type { ConversationError, ConversationErrorCode, ConversationRemedy } from './conversation-error.ts'
export type {
  ConversationEscalation,
  ConversationMessage,
  ConversationSource,
  ConversationWorkflow,
  TextRange,
} from './conversation-message.ts'
export type {
  ConversationChoice,
  ConversationConnection,
  ConversationConnectionState,
  ConversationSession,
  ConversationSignal,
  ConversationSnapshot,
  ConversationView,
  ConversationViewOptions,
  SignalListener,
} from './conversation-snapshot.ts'
export { createConversationView } from './conversation-view.ts'
export type { ConversationFormat, ExportLabels, ExportOptions } from './export-conversation.ts'
export type {
  ConversationDesk,
  LiveDesk,
  LiveDeskContext,
  LiveDeskMessage,
  LiveDeskOptions,
  OpenLiveDesk,
} from './live-desk.ts'
export type { TabChannel, TabLocks, ViewPlatform } from './view-platform.ts'
