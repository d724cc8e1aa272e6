import type { ApiErrorReason, AuthErrorReason, SDKErrorCode } from '@aiagent/client'

/**
 * What helps against an error, as the action of the view to offer.
 *
 * - `retry`: `retry()`
 * - `login`: `login()`, within a click
 * - `wait`: nothing; the agent is trying again
 * - `reload`: a reload of the page; many engines do not load a file of the library again whose loading failed
 * - `none`: the user cannot help; the host must be changed, or the service
 */
export type ConversationRemedy = 'retry' | 'login' | 'wait' | 'reload' | 'none'

/**
 * What is wrong, as a user is told it; stable. `loadChatStrings()` of `@aiagent/elements/strings` has sentences for the codes.
 *
 * - `service_unavailable`: the service cannot be reached, or failed
 * - `login_required`: the user must sign in
 * - `queue_full`: too many messages wait for the connection
 * - `reload_required`: a file of the library is missing
 * - `action_failed`: a message or an action was refused
 * - `desk_failed`: the chat with a colleague could not be opened, or has ended by an error; the conversation with the agent continues
 * - `desk_message_failed`: a message to a colleague may not have arrived; the chat with the colleague continues
 * - `not_available`: the agent cannot be used as it is configured, or by this user
 * - `agent_destroyed`: the host has destroyed the agent, and must create another
 */
export type ConversationErrorCode = keyof typeof REMEDIES

/** The remedy of each code. */
const REMEDIES = {
  service_unavailable: 'retry',
  login_required: 'login',
  queue_full: 'wait',
  reload_required: 'reload',
  action_failed: 'none',
  desk_failed: 'none',
  desk_message_failed: 'none',
  not_available: 'none',
  agent_destroyed: 'reload',
} as const satisfies Record<string, ConversationRemedy>

/** The codes of errors of a live desk, and of a message to it. */
export const DESK_FAILED = 'DESK_FAILED'
export const DESK_MESSAGE_FAILED = 'DESK_MESSAGE_FAILED'

/** The last error. */
export interface ConversationError {
  /** What is wrong. Choose the text for the user by it. */
  readonly code: ConversationErrorCode
  /** The error, usually an `SDKError` with a `code`. */
  readonly error: unknown
  /** Text of the error, for developers and logs. Do not show it to users. */
  readonly message: string
  /** The action that may help. */
  readonly remedy: ConversationRemedy
}

/** An error as a snapshot has it. */
export function describeError(error: unknown, isDestroyed: boolean, isWaiting: boolean): ConversationError {
  const code = isDestroyed ? 'agent_destroyed' : codeOf(error)
  const remedy = REMEDIES[code]
  const message = error instanceof Error ? error.message : String(error)
  return { code, error, message, remedy: isWaiting && remedy === 'retry' ? 'wait' : remedy }
}

/** Whether a call ended on request of the host, as with `destroy()`: nothing is wrong. */
export function isRequested(error: unknown): boolean {
  return Object(error).code === 'ABORTED'
}

/** What helps against an error, unless the agent is trying again already. */
export function remedyOf(error: unknown): ConversationRemedy {
  return REMEDIES[codeOf(error)]
}

/** The code of each error: by its reason for failed authentications and REST calls, otherwise by its `code`. */
const CODES = {
  ABORTED: 'action_failed',
  API_ERROR: 'service_unavailable',
  AUTH_ERROR: 'not_available',
  AUTH_TOKEN_REQUIRED: 'login_required',
  CONFIG_INVALID: 'not_available',
  CONNECTION_ERROR: 'service_unavailable',
  CONNECTOR_FAILED: 'service_unavailable',
  DEPARTMENT_ID_REQUIRED: 'not_available',
  DESK_FAILED: 'desk_failed',
  DESK_MESSAGE_FAILED: 'desk_message_failed',
  INVALID_SELECTION: 'action_failed',
  MESSAGE_ERROR: 'action_failed',
  MODULE_LOAD_FAILED: 'reload_required',
  NOT_INITIALIZED: 'action_failed',
  NO_AGENTS_FOR_PORTAL: 'service_unavailable',
  NO_PORTALS: 'not_available',
  PORTAL_DETAILS_FAILED: 'service_unavailable',
  PORTAL_FETCH_FAILED: 'service_unavailable',
  PROFILE_FETCH_FAILED: 'service_unavailable',
  PROFILE_PERSIST_FAILED: 'service_unavailable',
  SESSION_ID_INVALID: 'not_available',
  SESSION_UNAUTHORIZED: 'login_required',
  // Reasons of an `AuthError`.
  browser_unsupported: 'not_available',
  interaction_required: 'login_required',
  invalid_input: 'not_available',
  metadata_failed: 'service_unavailable',
  not_supported: 'not_available',
  popup_blocked: 'login_required',
  popup_closed: 'login_required',
  popup_timeout: 'login_required',
  token_missing: 'login_required',
  token_request_failed: 'service_unavailable',
  // Reasons of an `ApiError`.
  aborted: 'service_unavailable',
  body: 'service_unavailable',
  network: 'service_unavailable',
  redirect: 'not_available',
  status: 'not_available',
  timeout: 'service_unavailable',
} as const satisfies Record<
  SDKErrorCode | AuthErrorReason | ApiErrorReason | typeof DESK_FAILED | typeof DESK_MESSAGE_FAILED,
  ConversationErrorCode
>

function codeOf(error: unknown): ConversationErrorCode {
  const {
    code,
    reason,
    status = 0,
    cause,
  } = Object(error) as Partial<Record<'code' | 'reason', string>> & {
    status?: number
    cause?: unknown
  }
  if (code === undefined) return 'action_failed'
  if (reason === 'queue_full') return 'queue_full'
  // The address is wrong, and the same redirect follows: also of a token request, or of a step of a portal selection.
  if (reason === 'redirect' || Object(cause).reason === 'redirect') return CODES.redirect
  if (code === 'API_ERROR' && status === 401) return CODES.SESSION_UNAUTHORIZED
  if (reason === 'status' && (status === 429 || status >= 500)) return CODES.API_ERROR
  const name = (code === 'AUTH_ERROR' || code === 'API_ERROR') && reason && Object.hasOwn(CODES, reason) ? reason : code
  return Object.hasOwn(CODES, name) ? CODES[name as keyof typeof CODES] : 'not_available'
}
