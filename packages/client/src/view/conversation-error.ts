/**
 * What helps against an error, as the action of the view to offer.
 *
 * - `retry`: `retry()`
 * - `login`: `login()`, within a click
 * - `wait`: nothing; the agent is trying again
 * - `none`: the user cannot help; the host must be changed, or the service
 */
export type ConversationRemedy = 'retry' | 'login' | 'wait' | 'none'

/** The last error. */
export interface ConversationError {
  /** The error, usually an `SDKError` with a `code`. */
  readonly error: unknown
  /** Text of the error, for developers. */
  readonly message: string
  readonly remedy: ConversationRemedy
}

/** Reasons of an `AuthError` that a login does not help against. */
const WITHOUT_LOGIN: Readonly<Record<string, ConversationRemedy>> = {
  token_request_failed: 'retry',
  metadata_failed: 'retry',
  invalid_input: 'none',
  not_supported: 'none',
  browser_unsupported: 'none',
}

/** Codes with one remedy. Codes that are not listed have none. */
const REMEDIES: Readonly<Record<string, ConversationRemedy>> = {
  SESSION_UNAUTHORIZED: 'login',
  AUTH_TOKEN_REQUIRED: 'login',
  CONNECTION_ERROR: 'retry',
  CONNECTOR_FAILED: 'retry',
  PORTAL_FETCH_FAILED: 'retry',
  PORTAL_DETAILS_FAILED: 'retry',
  PROFILE_FETCH_FAILED: 'retry',
  NO_AGENTS_FOR_PORTAL: 'retry',
  PROFILE_PERSIST_FAILED: 'retry',
}

/** What helps against an error, unless the agent is trying again already. */
export function remedyOf(error: unknown): ConversationRemedy {
  const { code = '', reason = '', status = 0 } = (error ?? {}) as { code?: string; reason?: string; status?: number }
  if (code === 'AUTH_ERROR') return WITHOUT_LOGIN[reason] ?? 'login'
  if (code === 'MESSAGE_ERROR') return reason === 'queue_full' ? 'wait' : 'none'
  if (code !== 'API_ERROR') return REMEDIES[code] ?? 'none'
  if (status === 401) return 'login'
  return status >= 400 && status < 500 && status !== 429 ? 'none' : 'retry'
}
