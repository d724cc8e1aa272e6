import { AuthError, SDKError } from '../errors.ts'

/** A host's token function or strategy may throw anything: it becomes an error of this library. */
export function authenticated<T>(work: Promise<T>): Promise<T> {
  return work.catch(cause => {
    if (cause instanceof SDKError) throw cause
    const detail = cause instanceof Error && cause.message ? `: ${cause.message}` : '.'
    throw new AuthError(`Could not obtain an access token: \`auth\` failed${detail}`, 'token_request_failed', { cause })
  })
}
