import { describe, expect, it } from 'vitest'
import { AuthError } from '../../errors.ts'
import { asAuthError, isRefreshTokenRejected } from './identity-errors.ts'

const SECRET = 'sentinel-refresh-token'
const named = (name: string, message = SECRET, more = {}) => Object.assign(new Error(message), { name, ...more })

describe('errors of identity libraries', () => {
  it.each<[unknown, string]>([
    [named('ErrorResponse', SECRET, { error: 'login_required' }), 'interaction_required'],
    [named('ErrorResponse', SECRET, { error: 'interaction_required' }), 'interaction_required'],
    [named('ErrorResponse', SECRET, { error: 'consent_required' }), 'interaction_required'],
    [named('ErrorResponse', SECRET, { error: 'access_denied' }), 'popup_closed'],
    [
      named('ErrorResponse', SECRET, { error: 'invalid_grant', form: new URLSearchParams({ refresh_token: SECRET }) }),
      'token_request_failed',
    ],
    [named('ErrorResponse', SECRET, { error: `${SECRET}!` }), 'token_request_failed'],
    [named('ErrorTimeout'), 'token_request_failed'],
    [new TypeError('Failed to fetch'), 'token_request_failed'],
    [named('InteractionRequiredAuthError', SECRET, { errorCode: 'anything' }), 'interaction_required'],
    [named('BrowserAuthError', SECRET, { errorCode: 'monitor_popup_timeout' }), 'popup_timeout'],
    [named('BrowserAuthError', SECRET, { errorCode: 'monitor_window_timeout' }), 'popup_timeout'],
    [named('BrowserAuthError', SECRET, { errorCode: 'popup_window_error' }), 'popup_blocked'],
    [named('BrowserAuthError', SECRET, { errorCode: 'user_cancelled' }), 'popup_closed'],
    ['a text', 'token_request_failed'],
    [undefined, 'token_request_failed'],
  ])('%s has a reason', (error, reason) => {
    const failure = asAuthError(error, 'The sign-in')
    expect(failure).toMatchObject({ name: 'AuthError', code: 'AUTH_ERROR', reason })
    expect(failure.message).toMatch(/^The sign-in .+\.$/)
  })

  it.each([
    named('BrowserAuthError', SECRET, { errorCode: 'crypto_nonexistent' }),
    named('BrowserAuthError', SECRET, { errorCode: 'interaction_in_progress' }),
    new Error('Crypto.subtle is available only in secure contexts (HTTPS).'),
    new Error('No matching state found in storage'),
    named('SecurityError'),
    named('QuotaExceededError'),
  ])('[AUTH-19] %s asks the user to refresh the page', error => {
    const failure = asAuthError(error, 'The sign-in')
    expect(failure.reason).toBe('browser_unsupported')
    expect(failure.message).toContain('Refresh the page')
  })

  it.each<[string, string, RegExp, readonly string[]]>([
    [
      'a required sign-in',
      'interaction_required',
      /sign in again/,
      [
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
      ],
    ],
    ['a blocked window', 'popup_blocked', /allow popups/, ['popup_window_error', 'empty_window_error']],
    ['a cancelled sign-in', 'popup_closed', /cancelled/, ['user_cancelled', 'access_denied']],
    ['a timeout', 'popup_timeout', /timed out/, ['monitor_popup_timeout', 'monitor_window_timeout', 'timed_out']],
    [
      'an unsupported browser',
      'browser_unsupported',
      /lacks encryption.*Refresh the page.*over https/,
      [
        'crypto_nonexistent',
        'pkce_not_created',
        'storage_not_supported',
        'browser_storage_not_supported',
        'cache_quota_exceeded',
        'database_unavailable',
        'interaction_in_progress',
      ],
    ],
    ['the code', 'token_request_failed', /failed: (invalid_grant|server_error)\.$/, ['invalid_grant', 'server_error']],
  ])('reports %s for all of its codes, of a provider or a library', (_case, reason, words, codes) => {
    for (const code of codes)
      for (const error of [named('ErrorResponse', SECRET, { error: code }), { errorCode: code, error: 'ignored' }]) {
        const failure = asAuthError(error, 'The sign-in')
        expect([code, failure.reason]).toEqual([code, reason])
        expect(failure.message).toMatch(words)
      }
  })

  it.each([`${SECRET}!`, '!secret', 'secret9', 'a'.repeat(41), 'Secret', '', null, 5, undefined])(
    'omits a code that is not a single word: %j',
    code => {
      const { message, reason } = asAuthError({ error: code }, 'The sign-in')
      expect(reason).toBe('token_request_failed')
      expect(message).toBe(asAuthError({}, 'The sign-in').message)
    },
  )

  it('omit the original error and its message', () => {
    const error = named('ErrorResponse', SECRET, {
      error: 'invalid_grant',
      error_description: SECRET,
      url_state: SECRET,
    })
    const failure = asAuthError(error, 'The renewal')
    expect(failure.cause).toBeUndefined()
    expect(`${failure.stack}${JSON.stringify(failure)}`).not.toContain(SECRET)
    expect(failure.message).toContain('invalid_grant')
  })

  it('keeps errors of this library as they are', () => {
    const error = new AuthError('No.', 'popup_blocked')
    expect(asAuthError(error, 'The sign-in')).toBe(error)
  })
})

describe('a failed renewal', () => {
  it.each([
    ['invalid_grant', true],
    ['interaction_required', true],
    ['temporarily_unavailable', false],
    ['server_error', false],
    ['no word!', false],
  ])('with %s has a rejected refresh token: %s', (code, dead) => {
    expect(isRefreshTokenRejected(named('ErrorResponse', SECRET, { error: code }))).toBe(dead)
  })

  it('by a network error has no rejected refresh token', () => {
    expect(isRefreshTokenRejected(new TypeError('Failed to fetch'))).toBe(false)
    expect(isRefreshTokenRejected(undefined)).toBe(false)
  })
})
