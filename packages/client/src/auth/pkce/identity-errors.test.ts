import { describe, expect, it } from 'vitest'
import { AuthError } from '../../errors.ts'
import { asAuthError } from './identity-errors.ts'

const SECRET = 'sentinel-refresh-token'
const named = (name: string, message = SECRET, more = {}) => Object.assign(new Error(message), { name, ...more })

describe('what identity libraries reject with', () => {
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

  it('passes on no error of theirs, nor a word of its text', () => {
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

  it('leaves errors of this library as they are, and takes those of another copy of it', () => {
    const error = new AuthError('No.', 'popup_blocked')
    expect(asAuthError(error, 'The sign-in')).toBe(error)
    const other = Object.assign(new Error('No.'), { name: 'AuthError', code: 'AUTH_ERROR', reason: 'popup_closed' })
    expect(asAuthError(other, 'The sign-in')).toMatchObject({ message: 'No.', reason: 'popup_closed' })
  })
})
