import type { AgentListItem, Portal, ProtocolError } from '@aiagent/protocol'

/** Every `code` an error of this library can carry. Decide on it; messages are for people and may change. */
export type SDKErrorCode =
  | 'ABORTED'
  | 'API_ERROR'
  | 'AUTH_ERROR'
  | 'CONFIG_INVALID'
  | 'CONNECTION_ERROR'
  | 'CONNECTOR_FAILED'
  | 'MESSAGE_ERROR'
  | 'NOT_INITIALIZED'
  | 'SESSION_ID_INVALID'
  | 'SESSION_UNAUTHORIZED'
  | InitializationPipelineErrorCode

/** What every error of the library takes. */
export interface SDKErrorOptions {
  /** What caused it, as it was caught. */
  cause?: unknown
}

/**
 * Base of every error the library throws, rejects with or emits.
 *
 * The message says what went wrong; where the caller can mend it, a second sentence says how.
 */
export class SDKError extends Error {
  override readonly name: string = 'SDKError'
  /** What to decide on. */
  readonly code: SDKErrorCode

  constructor(message: string, code: SDKErrorCode, options?: SDKErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** A field of the configuration is missing or cannot be used. */
export class ConfigError extends SDKError {
  override readonly name = 'ConfigError'
  /** Name of the field, as it stands in `AiAgentConfig`; a part of an object as in `cache.ttl`. */
  readonly field: string

  constructor(field: string, message: string, options?: SDKErrorOptions) {
    super(message, 'CONFIG_INVALID', options)
    this.field = field
  }
}

/** Why an authentication failed. */
export type AuthErrorReason =
  | 'token_missing'
  | 'token_request_failed'
  | 'metadata_failed'
  | 'interaction_required'
  | 'browser_unsupported'
  | 'invalid_input'
  | 'not_supported'
  | 'popup_blocked'
  | 'popup_closed'
  | 'popup_timeout'

/** No usable access token could be had. */
export class AuthError extends SDKError {
  override readonly name = 'AuthError'
  /** Why there is no token. */
  readonly reason: AuthErrorReason
  /** Status that the token endpoint answered, where there was an answer. */
  readonly status: number | undefined

  constructor(message: string, reason: AuthErrorReason, options?: SDKErrorOptions & { status?: number | undefined }) {
    super(message, 'AUTH_ERROR', options)
    this.reason = reason
    this.status = options?.status
  }
}

/** Why a chat connection failed or ended. */
export type ConnectionErrorReason = 'refused' | 'timeout' | 'closed' | 'attempts_used_up' | 'no_address'

/** The chat socket could not be opened, or broke. */
export class ConnectionError extends SDKError {
  override readonly name = 'ConnectionError'
  /** Why there is no chat. */
  readonly reason: ConnectionErrorReason
  /** Close code of the socket, where it had one. */
  readonly closeCode: number | undefined
  /** Status with which the upgrade was refused. Browsers do not tell it. */
  readonly httpStatus: number | undefined

  constructor(
    message: string,
    reason: ConnectionErrorReason,
    options?: SDKErrorOptions & { closeCode?: number | undefined; httpStatus?: number | undefined },
  ) {
    super(message, 'CONNECTION_ERROR', options)
    this.reason = reason
    this.closeCode = options?.closeCode
    this.httpStatus = options?.httpStatus
  }
}

/** Why a message was not taken, or did not leave. */
export type MessageErrorReason =
  | 'invalid'
  | 'queue_full'
  | 'encoding_failed'
  | 'masking_unavailable'
  | 'cleared'
  | 'unreadable'
  /** The answer to a question did not come in time, or the chat or its session ended before it came. */
  | 'timeout'
  | 'closed'
  /** The service reported an error where an answer was waited for. */
  | 'refused'

/** A message was refused, removed from the queue, or could not be read. */
export class MessageError extends SDKError {
  override readonly name = 'MessageError'
  /** Why the message was not taken, did not leave, or cannot be read. */
  readonly reason: MessageErrorReason
  /** Id of the outbound message it concerns. */
  readonly messageId: string | undefined

  constructor(
    message: string,
    reason: MessageErrorReason,
    options?: SDKErrorOptions & { messageId?: string | undefined },
  ) {
    super(message, 'MESSAGE_ERROR', options)
    this.reason = reason
    this.messageId = options?.messageId
  }

  /** A frame that arrived and does not parse. */
  static unreadable(cause: ProtocolError): MessageError {
    return new MessageError(`A frame could not be read: ${cause.message}`, 'unreadable', { cause })
  }
}

/** The platform's connector script could not be loaded, or one of its functions failed; `cause` is what it threw. */
export class ConnectorError extends SDKError {
  override readonly name = 'ConnectorError'
  /** Address of the script. */
  readonly url: string

  constructor(message: string, url: string, options?: SDKErrorOptions) {
    super(message, 'CONNECTOR_FAILED', options)
    this.url = url
  }
}

/** What went wrong on the way through portals, agents and profiles. */
export type InitializationPipelineErrorCode =
  | 'AUTH_TOKEN_REQUIRED'
  | 'PORTAL_FETCH_FAILED'
  | 'NO_PORTALS'
  | 'DEPARTMENT_ID_REQUIRED'
  | 'PORTAL_DETAILS_FAILED'
  | 'PROFILE_FETCH_FAILED'
  | 'NO_AGENTS_FOR_PORTAL'
  | 'PROFILE_PERSIST_FAILED'
  | 'INVALID_SELECTION'

/** Where on that way it went wrong. */
export type InitializationPipelineStage = 'start' | 'portal' | 'agent' | 'profile'

/** What an {@link InitializationPipelineError} says of the way so far. */
export interface InitializationPipelineErrorOptions extends SDKErrorOptions {
  stage: InitializationPipelineStage
  /** The portal that was chosen by then. */
  portal?: Portal | undefined
  /** The agent that was chosen by then. */
  agent?: AgentListItem | undefined
}

/** The way through portals, agents and profiles ended, or a choice on it was refused. */
export class InitializationPipelineError extends SDKError {
  override readonly name = 'InitializationPipelineError'
  /** The same as `code`, for callers that look at nothing but this way. */
  readonly pipelineCode: InitializationPipelineErrorCode
  /** Where on the way it failed. */
  readonly stage: InitializationPipelineStage
  /** The portal that was chosen by then. */
  readonly portal: Portal | undefined
  /** The agent that was chosen by then, where a portal offers several. */
  readonly agent: AgentListItem | undefined

  constructor(message: string, code: InitializationPipelineErrorCode, options: InitializationPipelineErrorOptions) {
    super(message, code, options)
    this.pipelineCode = code
    this.stage = options.stage
    this.portal = options.portal
    this.agent = options.agent
  }
}

/** Why a REST call failed: its status, no answer at all, no answer in time, an answer that cannot be read, or the caller gave up. */
export type ApiErrorReason = 'status' | 'network' | 'timeout' | 'body' | 'aborted'

/** What an {@link ApiError} says of its call. */
export interface ApiErrorOptions extends SDKErrorOptions {
  /** @default 'API_ERROR' */
  code?: 'API_ERROR' | 'SESSION_UNAUTHORIZED'
  reason: ApiErrorReason
  method: string
  /** Without host, query and session id. */
  path: string
  /** Status of the answer, where there was one. */
  status?: number | undefined
  /** What the answer said, where there was one. */
  body?: unknown
}

/** A REST call failed. */
export class ApiError extends SDKError {
  override readonly name = 'ApiError'
  /** Why it failed. */
  readonly reason: ApiErrorReason
  /** HTTP method of the call. */
  readonly method: string
  /** Path of the call, without host, query and session id. */
  readonly path: string
  /** Status of the answer, where there was one. */
  readonly status: number | undefined
  /** What the answer said: parsed when it is JSON, else its text, cut at 1,000 characters. */
  readonly body: unknown

  constructor(message: string, options: ApiErrorOptions) {
    super(message, options.code ?? 'API_ERROR', options)
    this.reason = options.reason
    this.method = options.method
    this.path = options.path
    this.status = options.status
    this.body = options.body
  }
}

/** The error of a call whose `signal` was aborted; `cause` is the signal's reason. */
export function abortedError(what: string, signal: AbortSignal): SDKError {
  return new SDKError(`${what} was aborted.`, 'ABORTED', { cause: signal.reason })
}
