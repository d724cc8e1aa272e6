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
  | 'MODULE_LOAD_FAILED'
  | 'NOT_INITIALIZED'
  | 'SESSION_ID_INVALID'
  | 'SESSION_UNAUTHORIZED'
  | InitializationPipelineErrorCode

/** Options of every error. */
export interface SDKErrorOptions {
  /** The caught error that caused this one. */
  cause?: unknown
  /** The wait that the service asked for, in milliseconds. @default that of the cause */
  retryAfterMs?: number | undefined
}

/**
 * Base of every error the library throws, rejects with or emits.
 *
 * The message says what went wrong; where the caller can fix it, a second sentence says how.
 */
export class SDKError extends Error {
  /** Name of the class, for logs. It survives minification, but two copies of the library share it: decide on `code`. */
  override readonly name: string = 'SDKError'
  /** Stable code. Decide on it, not on the message. */
  readonly code: SDKErrorCode
  /**
   * The wait before the next attempt that the service asked for in `Retry-After`, in milliseconds. A page can read that header only
   * where the service exposes it.
   */
  readonly retryAfterMs: number | undefined

  constructor(message: string, code: SDKErrorCode, options?: SDKErrorOptions) {
    super(message, options)
    this.code = code
    const { cause } = this
    this.retryAfterMs = options?.retryAfterMs ?? (cause instanceof SDKError ? cause.retryAfterMs : undefined)
  }
}

/** A configuration field is missing or invalid. */
export class ConfigError extends SDKError {
  /** Name of the class, for logs. */
  override readonly name = 'ConfigError'
  declare readonly code: 'CONFIG_INVALID'
  /** Path of the field in `AiAgentConfig`, for example `id` or `cache.ttl`. */
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

/** Obtaining an access token, signing in or signing out failed. */
export class AuthError extends SDKError {
  /** Name of the class, for logs. */
  override readonly name = 'AuthError'
  declare readonly code: 'AUTH_ERROR'
  /** Why authentication failed. */
  readonly reason: AuthErrorReason
  /** HTTP status of the token endpoint's response, if it responded. */
  readonly status: number | undefined

  constructor(message: string, reason: AuthErrorReason, options?: SDKErrorOptions & { status?: number | undefined }) {
    super(message, 'AUTH_ERROR', options)
    this.reason = reason
    this.status = options?.status
  }
}

/** Why a chat connection failed or ended. */
export type ConnectionErrorReason = 'refused' | 'timeout' | 'closed' | 'attempts_used_up' | 'no_address'

/** The chat connection could not be opened, or was lost. */
export class ConnectionError extends SDKError {
  /** Name of the class, for logs. */
  override readonly name = 'ConnectionError'
  declare readonly code: 'CONNECTION_ERROR'
  /** Why the connection failed or ended. */
  readonly reason: ConnectionErrorReason
  /** WebSocket close code, if any. */
  readonly closeCode: number | undefined
  /** HTTP status of a refused upgrade. Not available in browsers. */
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

/** Why a message was refused, dropped, not answered, or unreadable. */
export type MessageErrorReason =
  | 'invalid'
  | 'queue_full'
  | 'encoding_failed'
  | 'masking_unavailable'
  | 'cleared'
  | 'unreadable'
  /** `ask()`: no answer within the time limit, or the chat or its session ended first. */
  | 'timeout'
  | 'closed'
  /** `ask()`: the service reported an error instead of an answer. */
  | 'refused'

/** A message was refused, dropped from the queue, not answered, or unreadable. */
export class MessageError extends SDKError {
  /** Name of the class, for logs. */
  override readonly name = 'MessageError'
  declare readonly code: 'MESSAGE_ERROR'
  /** Why the message failed. */
  readonly reason: MessageErrorReason
  /** Id of the outgoing message concerned. */
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

  /** Creates the error of an inbound frame that does not parse. */
  static unreadable(cause: ProtocolError): MessageError {
    return new MessageError(`A frame could not be read: ${cause.message}`, 'unreadable', { cause })
  }
}

/** The platform's connector script could not be loaded, or one of its functions failed; `cause` is what it threw. */
export class ConnectorError extends SDKError {
  /** Name of the class, for logs. */
  override readonly name = 'ConnectorError'
  declare readonly code: 'CONNECTOR_FAILED'
  /** Address of the script. */
  readonly url: string

  constructor(message: string, url: string, options?: SDKErrorOptions) {
    super(message, 'CONNECTOR_FAILED', options)
    this.url = url
  }
}

/** What failed in the portal selection: the code of an {@link InitializationPipelineError}. */
export const InitializationPipelineErrorCode = /* @__PURE__ */ Object.freeze({
  /** No access token could be obtained before the selection started. */
  AUTH_TOKEN_REQUIRED: 'AUTH_TOKEN_REQUIRED',
  /** The list of portals could not be loaded. */
  PORTAL_FETCH_FAILED: 'PORTAL_FETCH_FAILED',
  /** No portal is available to the user. */
  NO_PORTALS: 'NO_PORTALS',
  /** The department of the agent or of the portal is missing. */
  DEPARTMENT_ID_REQUIRED: 'DEPARTMENT_ID_REQUIRED',
  /** The details of the portal could not be loaded. */
  PORTAL_DETAILS_FAILED: 'PORTAL_DETAILS_FAILED',
  /** The profiles of the portal could not be loaded. */
  PROFILE_FETCH_FAILED: 'PROFILE_FETCH_FAILED',
  /** The portal has no agents, or they could not be loaded. */
  NO_AGENTS_FOR_PORTAL: 'NO_AGENTS_FOR_PORTAL',
  /** The service did not store the selected profile. */
  PROFILE_PERSIST_FAILED: 'PROFILE_PERSIST_FAILED',
  /** The selected item is not in the list, or nothing of its kind has to be selected now. */
  INVALID_SELECTION: 'INVALID_SELECTION',
} as const)

/** One of the values of {@link InitializationPipelineErrorCode}. */
export type InitializationPipelineErrorCode =
  (typeof InitializationPipelineErrorCode)[keyof typeof InitializationPipelineErrorCode]

/** Stage of the portal pipeline. */
export type InitializationPipelineStage = 'start' | 'portal' | 'agent' | 'profile'

/** Options of an {@link InitializationPipelineError}. */
export interface InitializationPipelineErrorOptions extends SDKErrorOptions {
  /** Stage that failed. */
  stage: InitializationPipelineStage
  /** Portal selected so far, if any. */
  portal?: Portal | undefined
  /** Agent selected so far, if any. */
  agent?: AgentListItem | undefined
}

/** The portal pipeline failed, or a choice was refused. */
export class InitializationPipelineError extends SDKError {
  /** Name of the class, for logs. */
  override readonly name = 'InitializationPipelineError'
  declare readonly code: InitializationPipelineErrorCode
  /** Same value as `code`, narrowed to the codes of the pipeline. */
  readonly pipelineCode: InitializationPipelineErrorCode
  /** Stage that failed. */
  readonly stage: InitializationPipelineStage
  /** Portal selected so far, if any. */
  readonly portal: Portal | undefined
  /** Agent selected so far, if the portal offers several. */
  readonly agent: AgentListItem | undefined

  constructor(message: string, code: InitializationPipelineErrorCode, options: InitializationPipelineErrorOptions) {
    super(message, code, options)
    this.pipelineCode = code
    this.stage = options.stage
    this.portal = options.portal
    this.agent = options.agent
  }
}

/**
 * Why a REST call failed: error status, no connection, time limit, unreadable response body, aborted by the caller, or a
 * redirect, which a call with a token or a body does not follow.
 */
export type ApiErrorReason = 'status' | 'network' | 'timeout' | 'body' | 'aborted' | 'redirect'

/** Options of an {@link ApiError}. */
export interface ApiErrorOptions extends SDKErrorOptions {
  /** @default 'API_ERROR' */
  code?: 'API_ERROR' | 'SESSION_UNAUTHORIZED'
  /** Why the call failed. */
  reason: ApiErrorReason
  /** HTTP method of the call. */
  method: string
  /** Path without host, query and session id. */
  path: string
  /** HTTP status of the response, if any. */
  status?: number | undefined
  /** Body of the response, if any. */
  body?: unknown
}

/** A REST call failed. */
export class ApiError extends SDKError {
  /** Name of the class, for logs. */
  override readonly name = 'ApiError'
  declare readonly code: 'API_ERROR' | 'SESSION_UNAUTHORIZED'
  /** Why the call failed. */
  readonly reason: ApiErrorReason
  /** HTTP method of the call. */
  readonly method: string
  /** Path of the call, without host, query and session id. */
  readonly path: string
  /** HTTP status of the response, if any. */
  readonly status: number | undefined
  /** Body of the response: parsed JSON, else its text, cut at 1,000 characters. */
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

/** Creates the error of a call whose `signal` was aborted; `cause` is the signal's reason. */
export function abortedError(what: string, signal: AbortSignal): SDKError {
  return new SDKError(`${what} was aborted.`, 'ABORTED', { cause: signal.reason })
}

/**
 * Creates the error of a call that comes too early. Hosts look for "not initialized" in its message.
 *
 * @param problem what is not possible
 * @param rest the rest of the sentence and the remedy
 */
export function notInitialized(problem: string, rest = '. Await initialize() first.'): SDKError {
  return new SDKError(`${problem}: the agent is not initialized${rest}`, 'NOT_INITIALIZED')
}

/**
 * Every error of this library as a union, in which `code` narrows to its class.
 *
 * @example if (error instanceof SDKError && (error as AnySDKError).code === 'API_ERROR') …
 */
export type AnySDKError =
  | ConfigError
  | AuthError
  | ConnectionError
  | MessageError
  | ConnectorError
  | InitializationPipelineError
  | ApiError
  | (SDKError & { readonly code: 'ABORTED' | 'MODULE_LOAD_FAILED' | 'NOT_INITIALIZED' | 'SESSION_ID_INVALID' })
