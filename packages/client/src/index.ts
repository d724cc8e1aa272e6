export {
  type AgentAuthDetails,
  type AgentDetails,
  type AgentListItem,
  type ContextValidationIssue,
  type DeploymentInfo,
  ERROR_CODES,
  type EscalationData,
  type FeedbackRating,
  type Id,
  type MaskingPatterns,
  type MessageData,
  PERSONA,
  type Persona,
  type Portal,
  type PortalDetails,
  ROLE,
  type Role,
  type Source,
  type UserDetails,
  type UserProfile,
} from '@aiagent/protocol'
export type { AgentPhase, AgentStatus, PendingChoice } from './agent/agent-status.ts'
export type { Explanation, ExplanationCode } from './agent/explain.ts'
export { preload, preloadPkce } from './agent/preload.ts'
export type { AiAgentInitializeOptions, OperationOptions } from './ai-agent.ts'
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
  type TokenExpiringCallback,
} from './auth/auth-strategy.ts'
export { AuthenticationService } from './auth/authentication-service.ts'
export { ClientCredentialsAuthStrategy } from './auth/client-credentials-strategy.ts'
export type { PKCEAuthStrategy } from './auth/login/pkce-strategy.ts'
export { PreAuthStrategy } from './auth/pre-auth-strategy.ts'
export { ConnectionState } from './chat/connection-state.ts'
export type { ContextAttributes } from './chat/context-store.ts'
export { type AiAgentConfig, DEFAULTS } from './config.ts'
export type {
  CallerInfo,
  CallTranscriptEntry,
  FilterTags,
  UserContext,
} from './contact-center/connector/call-details.ts'
export type { AiAgentConnectorConfig } from './contact-center/connector/connector-url.ts'
export type { HookContract } from './contact-center/connector/hook-contract.ts'
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
  BaseMessageHandler,
  type Escalation,
  type EscalationOption,
  type HandlerResult,
  handOverAddress,
  type MessageHandlerResult,
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
  type TokenMessageParams,
} from './conversation/message-helpers.ts'
export {
  type AnySDKError,
  ApiError,
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
export type { Delivery, DeliveryReason, DeliveryState, DeliveryUpdate } from './log/delivery.ts'
export type { TranscriptConfig, TranscriptEntry, TranscriptOptions, TranscriptRow } from './log/entry.ts'
export { Transcript } from './log/host-transcript.ts'
export { Message, type MessageObject, type SendOptions, toMessage } from './log/message.ts'
export {
  getLevelName,
  getLevelValue,
  isLevelEnabled,
  type LogEntry,
  Logger,
  type LoggerConfig,
  type LoggerEvents,
  LogLevel,
} from './logger.ts'
export type { RefusedPattern } from './masking/data-masker.ts'
export type { MaskingPreview, MaskingUnavailableReason } from './masking/masking.ts'
export { MessageQueue, type QueuedMessage } from './outbox/message-queue.ts'
export type { AskOptions } from './outbox/outbox.ts'
export type {
  Clock,
  Environment,
  SocketCloseEvent,
  StorageLike,
  WebSocketConstructor,
  WebSocketLike,
} from './platform/environment.ts'
export type { Page } from './platform/page.ts'
export { ApiHelper } from './rest/api-helper.ts'
export type {
  ApiHelperConfig,
  GetAgentDetailsOptions,
  GetAgentsByPortalOptions,
  GetAiAgentSessionOptions,
  GetConnectedAppsOptions,
  GetCustomerDetailsOptions,
  GetMaskingPatternsOptions,
  GetMyPortalsOptions,
  GetPortalDetailsOptions,
  GetPortalsOptions,
  GetPreviousTranscriptOptions,
  GetUserDetailsOptions,
  GetUserProfilesOptions,
  SelectUserProfileOptions,
} from './rest/api-options.ts'
export type { CacheAdapter, CacheConfig, CacheEntry, CacheStorageType } from './storage/cache-adapter.ts'
export { MemoryCacheAdapter } from './storage/memory-cache-adapter.ts'
export { createCacheAdapter, StorageCacheAdapter } from './storage/storage-cache-adapter.ts'
export type { Subscribable } from './util/event-emitter.ts'
export { EventEmitter } from './util/event-emitter.ts'
export { sha256 } from './util/sha256.ts'
export { VERSION } from './version.ts'
