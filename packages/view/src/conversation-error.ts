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
 * - `desk_failed`: the chat with a colleague failed; the conversation with the agent continues
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
  not_available: 'none',
  agent_destroyed: 'reload',
} as const satisfies Record<string, ConversationRemedy>

/** The code of an error of a live desk. */
export const DESK_FAILED = 'DESK_FAILED'

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

function codeOf(error: unknown): ConversationErrorCode {
  const { code, reason = '', status = 0 } = Object(error) as { code?: unknown; reason?: string; status?: number }
  // Codes of `SDKErrorCode` and reasons of `AuthErrorReason`.
  const cause = code === 'AUTH_ERROR' ? reason : code === 'API_ERROR' ? statusCause(status) : String(code)
  if (/^(?:interaction|token_missing|popup_|SESSION_UNAUTH|AUTH_TOKEN)/.test(cause)) return 'login_required'
  if (cause === 'MODULE_LOAD_FAILED') return 'reload_required'
  if (cause === DESK_FAILED) return 'desk_failed'
  if (reason === 'queue_full') return 'queue_full'
  if (/_failed$|^CONN|_FAILED$|^NO_AGENTS/.test(cause)) return 'service_unavailable'
  return /^(?:MESSAGE|NOT_INIT|INVALID_SEL|ABORTED|undefined)/.test(cause) ? 'action_failed' : 'not_available'
}

/** A status of a REST call in the words of the codes. */
function statusCause(status: number): string {
  if (status === 401) return 'SESSION_UNAUTHORIZED'
  return status >= 400 && status < 500 && status !== 429 ? '' : 'REQUEST_FAILED'
}
