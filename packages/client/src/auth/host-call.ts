import { AuthError, SDKError } from '../errors.ts'
import type { Clock } from '../platform/environment.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import { TimeLimitError, withTimeLimit } from '../util/abort.ts'
import { withoutTokens } from '../util/jwt.ts'

/** How long a function of the host or of an identity library may take, in milliseconds. */
const LIMIT_MS = 30_000

/**
 * Calls a function that the library did not write. It may fail in any way or never settle: its caller then gets an
 * `AuthError`.
 *
 * @param what the function, as the subject of an error message
 * @throws {AuthError} `token_request_failed`; the signal's reason when it is aborted
 */
export async function answerInTime<T>(
  clock: Clock,
  what: string,
  signal: AbortSignal | undefined,
  work: () => Awaitable<T>,
): Promise<T> {
  try {
    return await withTimeLimit(clock, LIMIT_MS, signal, async () => work())
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    if (cause instanceof TimeLimitError)
      throw new AuthError(`${what} did not settle within ${LIMIT_MS / 1000} seconds.`, 'token_request_failed', {
        cause,
      })
    throw asAuthFailure(cause)
  }
}

/** Wraps an error that the host's code threw. The message and `cause` keep its wording. */
export function asAuthFailure(cause: unknown): SDKError {
  if (cause instanceof SDKError) return cause
  const { name, message, reason } = (cause ?? {}) as Partial<AuthError>
  // Of another copy of this library: a login may be in a separate bundle, as it is with a script tag.
  if (name === 'AuthError' && message && reason) return new AuthError(message, reason, { cause })
  return new AuthError(`The authentication failed: ${describeFailure(cause)}.`, 'token_request_failed', { cause })
}

/** The message of an error, without anything that looks like a token and without a full stop. */
export function describeFailure(cause: unknown): string {
  // Not every library throws instances of Error.
  const words = (cause as { message?: unknown } | null | undefined)?.message ?? cause
  return (
    withoutTokens(typeof words === 'string' ? words : '')
      .slice(0, 300)
      .replace(/[.\s]+$/, '') || 'no reason was given'
  )
}

/** The error of a token request that a later call made obsolete. */
export function endedBy(call: string, cause?: unknown): AuthError {
  return new AuthError(`The request for an access token was ended by ${call}.`, 'token_missing', { cause })
}
