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

/** The last error. */
export interface ConversationError {
  /** The error, usually an `SDKError` with a `code`. */
  readonly error: unknown
  /** Text of the error, for developers. */
  readonly message: string
  /** The action that may help. */
  readonly remedy: ConversationRemedy
}

/** What helps against an error, unless the agent is trying again already. */
export function remedyOf(error: unknown): ConversationRemedy {
  const { code, reason = '', status = 0 } = Object(error) as { code?: unknown; reason?: string; status?: number }
  // Codes of `SDKErrorCode` and reasons of `AuthErrorReason`; what neither pattern names has no remedy.
  const cause = code === 'AUTH_ERROR' ? reason : code === 'API_ERROR' ? statusCause(status) : String(code)
  if (/^(?:interaction|token_missing|popup_|SESSION_UNAUTH|AUTH_TOKEN)/.test(cause)) return 'login'
  if (cause === 'MODULE_LOAD_FAILED') return 'reload'
  if (reason === 'queue_full') return 'wait'
  return /_failed$|^CONN|_FAILED$|^NO_AGENTS/.test(cause) ? 'retry' : 'none'
}

/** A status of a REST call in the words of the codes. */
function statusCause(status: number): string {
  if (status === 401) return 'SESSION_UNAUTHORIZED'
  return status >= 400 && status < 500 && status !== 429 ? '' : 'REQUEST_FAILED'
}
