import { AuthError, type AuthErrorReason } from '../../errors.ts'

/*
 * Translates errors of identity libraries. Their errors contain requests and answers, with codes and tokens, so they
 * are never passed on: only what is recognized here is reported.
 */

/** Codes of providers and identity libraries for "the user must sign in". */
const INTERACTION = new Set([
  'interaction_required',
  'login_required',
  'consent_required',
  'account_selection_required',
  'no_tokens_found',
  'refresh_token_expired',
  'bad_token',
  'ux_not_allowed',
  'interrupted_user',
  'native_account_unavailable',
  'no_account_error',
])
const REASONS: Readonly<Record<string, AuthErrorReason>> = {
  popup_window_error: 'popup_blocked',
  empty_window_error: 'popup_blocked',
  user_cancelled: 'popup_closed',
  monitor_popup_timeout: 'popup_timeout',
  monitor_window_timeout: 'popup_timeout',
  timed_out: 'popup_timeout',
  crypto_nonexistent: 'browser_unsupported',
  pkce_not_created: 'browser_unsupported',
  storage_not_supported: 'browser_unsupported',
  browser_storage_not_supported: 'browser_unsupported',
  cache_quota_exceeded: 'browser_unsupported',
  database_unavailable: 'browser_unsupported',
  interaction_in_progress: 'browser_unsupported',
}
const WORDS: Partial<Record<AuthErrorReason, string>> = {
  interaction_required: 'needs the user: sign in again.',
  popup_blocked: 'needs a window that the browser blocked. Start it within a click, or allow popups for this page.',
  popup_closed: 'was cancelled: the user closed its window or cancelled the login.',
  popup_timeout: 'timed out. Start it again.',
  browser_unsupported:
    'is not possible in this browser or tab: it lacks encryption, forbids its store, or an earlier sign-in was left ' +
    'unfinished. Refresh the page and try again, over https and with site data allowed.',
}

/** The reported error. It contains the code of the provider or library, which is a single word, and no other value. */
export function asAuthError(error: unknown, what: string): AuthError {
  if (error instanceof AuthError) return error
  const code = codeOf(error)
  const reason = reasonOf(error, code)
  const words =
    WORDS[reason] ??
    (code === undefined
      ? 'failed: could not reach the identity provider, or its answer was invalid.'
      : `failed: ${code}.`)
  return new AuthError(`${what} ${words}`, reason)
}

/** Whether a refresh token was rejected: used already, expired or revoked. */
export function isRefreshTokenRejected(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && code !== 'temporarily_unavailable' && code !== 'server_error'
}

function reasonOf(error: unknown, code: string | undefined): AuthErrorReason {
  if (error instanceof Error && error.name === 'InteractionRequiredAuthError') return 'interaction_required'
  if (code !== undefined) {
    if (INTERACTION.has(code)) return 'interaction_required'
    // Reported for a decision of the user on the login page.
    if (code === 'access_denied') return 'popup_closed'
    return REASONS[code] ?? 'token_request_failed'
  }
  return isBrowserTrouble(error) ? 'browser_unsupported' : 'token_request_failed'
}

/** OAuth's `error`, or an identity library's `errorCode`: a single word. Anything else is ignored. */
function codeOf(error: unknown): string | undefined {
  const { error: oauth, errorCode } = (error ?? {}) as { error?: unknown; errorCode?: unknown }
  const code = typeof errorCode === 'string' ? errorCode : oauth
  return typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? code : undefined
}

/** No encryption outside a secure context; a store that is forbidden or full; a login with a lost state. */
function isBrowserTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    /crypto\.subtle|No matching state found/i.test(error.message) ||
    error.name === 'SecurityError' ||
    error.name === 'QuotaExceededError'
  )
}
