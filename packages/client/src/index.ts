export {
  type AgentAuthDetails,
  type AgentDetails,
  type AgentListItem,
  type AgentProfileDetails,
  type ContextAttribute,
  type ContextValidationIssue,
  type DefaultUserProfile,
  type DeploymentInfo,
  ERROR_CODES,
  type EscalationData,
  type FeedbackRating,
  type Id,
  type MaskingConfiguration,
  type MaskingPattern,
  type MaskingPatterns,
  type MessageData,
  PERSONA,
  type Persona,
  type Portal,
  type PortalDepartment,
  type PortalDetails,
  type PortalReference,
  type PortalSettings,
  type ProtocolError,
  ROLE,
  type Role,
  type ServerMessageData,
  type Source,
  type UserDetails,
  type UserProfile,
} from '@aiagent/protocol'
export type { AiAgentInitializeOptions, OperationOptions, UpdateAccessTokenOptions } from './agent/agent-options.ts'
export type { AgentPhase, AgentStatus, PendingChoice } from './agent/agent-status.ts'
export type { Explanation, ExplanationCode } from './agent/explain.ts'
export { type PreloadOptions, preload, preloadPkce } from './agent/preload.ts'
export { AiAgent } from './ai-agent.ts'
export { AnonymousAuthStrategy } from './auth/anonymous-strategy.ts'
export {
  ACCESS_TOKEN_REFRESH_BUFFER_MINUTES,
  ACCESS_TOKEN_REFRESH_BUFFER_MS,
  type AnonymousAuthCacheConfig,
  type AnonymousAuthConfig,
  type AnonymousAuthServiceConfig,
  type AuthenticationInput,
  type AuthenticationResult,
  type AuthenticationServiceConfig,
  type AuthenticationServiceInitializeOptions,
  type AuthenticationServiceOptions,
  type AuthenticationType,
  type AuthProvider,
  type AuthScheme,
  type AuthStrategy,
  type AuthStrategyInitializeOptions,
  type ClientCredentialsAuthConfig,
  type ClientCredentialsAuthServiceConfig,
  type LogoutOptions,
  type PKCEAuthConfig,
  type PKCEAuthServiceConfig,
  type PostAuthenticationCallback,
  type PreAuthConfig,
  type PreAuthServiceConfig,
  type TokenAuthServiceConfig,
  type TokenExpiringCallback,
} from './auth/auth-strategy.ts'
export { AuthenticationService } from './auth/authentication-service.ts'
export { ClientCredentialsAuthStrategy } from './auth/client-credentials-strategy.ts'
export type { PKCEAuthStrategy, PKCEAuthStrategyOptions } from './auth/login/pkce-strategy.ts'
export { PreAuthStrategy } from './auth/pre-auth-strategy.ts'
export { ConnectionState } from './chat/connection-state.ts'
export type { ContextAttributes } from './chat/context-store.ts'
export { type AiAgentConfig, DEFAULTS, type PersistQueueOptions } from './config.ts'
export type {
  CallerInfo,
  CallTranscriptEntry,
  CallTranscriptInput,
  CallTranscriptUpdate,
  FilterTags,
  UserContext,
} from './contact-center/connector/call-details.ts'
export type { AiAgentConnectorConfig } from './contact-center/connector/connector-url.ts'
export type {
  HookContract,
  IntentConfirm,
  SourceClick,
  WidgetActionListener,
} from './contact-center/connector/hook-contract.ts'
export type { PlatformComponentService } from './contact-center/connector/platform-component.ts'
export type { InitializationResult } from './contact-center/portal/gates.ts'
export {
  ChatHistoryHandler,
  ContextValidationHandler,
  ErrorMessageHandler,
  HeartbeatHandler,
  MessageProcessor,
  TokenRefreshHandler,
  type TokenRefreshHandlerOptions,
} from './conversation/handlers.ts'
export {
  type AgentMessage,
  AgentMessageHandler,
  type AgentMessageResult,
  type AlternateEscalation,
  BaseMessageHandler,
  type ChatHistoryResult,
  type ContextValidationResult,
  type ErrorMessageResult,
  type Escalation,
  type EscalationOption,
  type HandledMessage,
  type HandlerResult,
  type HeartbeatResult,
  handOverAddress,
  type LiveEscalation,
  type MessageHandlerResult,
  type Party,
  type TokenRefreshResult,
} from './conversation/message-handler.ts'
export {
  type AgentMessageParams,
  type ContextMessageParams,
  createAgentMessage,
  createContextMessage,
  createEscalationMessage,
  createFeedbackMessage,
  createGracefulDisconnectMessage,
  createTokenMessage,
  type EscalationMessageParams,
  type FeedbackMessageParams,
  type GracefulDisconnectParams,
  type MessageHelperParams,
  type TokenMessageParams,
} from './conversation/message-helpers.ts'
export {
  type AnySDKError,
  ApiError,
  type ApiErrorOptions,
  type ApiErrorReason,
  AuthError,
  type AuthErrorReason,
  ConfigError,
  ConnectionError,
  type ConnectionErrorReason,
  ConnectorError,
  InitializationPipelineError,
  InitializationPipelineErrorCode,
  type InitializationPipelineErrorOptions,
  type InitializationPipelineStage,
  MessageError,
  type MessageErrorReason,
  SDKError,
  type SDKErrorCode,
  type SDKErrorOptions,
} from './errors.ts'
export type {
  AgentEvent,
  AgentEventPayloadMap,
  AgentEvents,
  AgentEventType,
  ChatClosed,
  CloseCause,
  RecoverySource,
  UnreadableFrame,
} from './events.ts'
export type { InitializedAgent } from './facts.ts'
export type { EnvironmentName } from './init-params.ts'
export type { Delivery } from './log/delivery.ts'
export type {
  DeliveryMode,
  DeliveryOutcome,
  DeliveryReason,
  DeliveryState,
  DeliveryUpdate,
} from './log/delivery-state.ts'
export type {
  TranscriptConfig,
  TranscriptEntry,
  TranscriptMessageType,
  TranscriptOptions,
  TranscriptRow,
} from './log/entry.ts'
export { Message, type MessageObject, type MessageOptions, type SendOptions, toMessage } from './log/message.ts'
export { Transcript } from './log/transcript.ts'
export {
  type ConsoleSink,
  getLevelName,
  getLevelValue,
  isLevelEnabled,
  type LogContext,
  type LogEntry,
  Logger,
  type LoggerConfig,
  type LoggerEvents,
  type LoggerSink,
  LogLevel,
  type LogLevelName,
} from './logger.ts'
export type { MaskedSpan, RefusedPattern } from './masking/data-masker.ts'
export type { MaskingConfig, MaskingPreview, MaskingUnavailableReason } from './masking/masking.ts'
export { MessageQueue, type QueuedMessage } from './outbox/message-queue.ts'
export type { AskOptions } from './outbox/outbox.ts'
export type { Clock } from './platform/clock.ts'
export type {
  Environment,
  SocketCloseEvent,
  StorageLike,
  WebSocketConstructor,
  WebSocketLike,
  WebSocketOptions,
} from './platform/environment.ts'
export type { Page, PageScript, PageWindow, ScriptAttributes } from './platform/page.ts'
export type { Trace, TraceEntry, TraceFrame, TraceRecorder, TraceText } from './platform/trace.ts'
export { ApiHelper } from './rest/api-helper.ts'
export type {
  ApiCallOptions,
  ApiHelperConfig,
  GetAgentDetailsOptions,
  GetAgentsByPortalOptions,
  GetAiAgentSessionOptions,
  GetConnectedAppsOptions,
  GetCustomerDetailsOptions,
  GetDeploymentInfoOptions,
  GetMaskingPatternsOptions,
  GetMyPortalsOptions,
  GetPortalDetailsOptions,
  GetPortalsOptions,
  GetPreviousTranscriptOptions,
  GetUserDetailsOptions,
  GetUserProfilesOptions,
  SelectUserProfileOptions,
} from './rest/api-options.ts'
export type { Awaitable, CacheAdapter, CacheConfig, CacheEntry, CacheStorageType } from './storage/cache-adapter.ts'
export { MemoryCacheAdapter, type MemoryCacheOptions } from './storage/memory-cache-adapter.ts'
export { createCacheAdapter, StorageCacheAdapter } from './storage/storage-cache-adapter.ts'
export type { StoreWarning } from './storage/store-guard.ts'
export type { Subscribable } from './util/event-emitter.ts'
export { EventEmitter, type Listener, type ListenerOptions } from './util/event-emitter.ts'
export { VERSION } from './version.ts'
