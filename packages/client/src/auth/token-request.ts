import { restBase } from '@aiagent/protocol'
import { AuthError } from '../errors.ts'
import type { Environment } from '../platform/environment.ts'
import { FetchFailure, fetchPatiently, type RateLimitCallback, TOKEN_WAIT_MS } from '../platform/patient-fetch.ts'
import { objectIn } from '../util/json.ts'
import { isLoopbackHost } from '../util/loopback.ts'

/** One client-credentials grant. */
export interface TokenRequest {
  tokenUrl: string
  clientId: string
  clientSecret: string
  /** In the form of the endpoint. An empty list sends none. */
  scopes: readonly string[]
  /** Whether the endpoint may use plain http although it is not on this machine. */
  allowHttp: boolean
  /** Whether the endpoint may use plain http on this machine. @default true */
  allowLoopback?: boolean
  onRateLimited?: RateLimitCallback | undefined
  /** Time limit of all requests and waits, in milliseconds. @default 30_000 */
  limitMs?: number
}

/**
 * Whether a token endpoint on another machine may use plain http: only for a deployment that the host itself addresses
 * by http. An API on this machine says nothing about that, since a deployment with https may have one, too.
 */
export function mayUseHttp(apiDomain: string, endpoint: string | undefined): boolean {
  const base = restBase(endpoint ?? apiDomain)
  return base.startsWith('http:') && (endpoint !== undefined || !isLoopbackHost(new URL(base).hostname))
}

export interface GrantedToken {
  accessToken: string
  /** Lifetime in seconds, from the endpoint. */
  expiresIn: number | undefined
}

/**
 * Requests a token by client id and secret: one form, one answer, no library.
 *
 * @throws {AuthError} `token_request_failed`, with the status if there was an answer. The only other detail is the
 *   OAuth error code, since the rest of an answer may contain a token.
 */
export async function requestToken(
  environment: Pick<Environment, 'fetch' | 'clock'>,
  {
    tokenUrl,
    clientId,
    clientSecret,
    scopes,
    allowHttp,
    allowLoopback = true,
    onRateLimited,
    limitMs = TOKEN_WAIT_MS,
  }: TokenRequest,
  signal?: AbortSignal,
): Promise<GrantedToken> {
  // Plain http is allowed for endpoints on this machine, unless a deployment elsewhere names them, and for those of a
  // deployment that the host itself addresses by http.
  const address = URL.canParse(tokenUrl) ? new URL(tokenUrl) : undefined
  if (!address || !/^https?:$/.test(address.protocol)) throw failed('the address of the token endpoint is invalid')
  if (address.protocol === 'http:' && !allowHttp && !(allowLoopback && isLoopbackHost(address.hostname)))
    throw failed('the token endpoint does not use https')
  // The gateway in front of the anonymous token endpoint inserts the real credentials; it relies on this order.
  const form = new URLSearchParams({
    client_id: clientId,
    client_secret: clientSecret,
    grant_type: 'client_credentials',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  })
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' }
  const init = { method: 'POST', headers, body: form.toString() }
  const patience = { name: 'getToken', signal, limitMs, onRateLimited }
  const answer = await fetchPatiently(environment, tokenUrl, init, patience).catch((cause: unknown) => {
    const failure = cause instanceof FetchFailure ? cause : undefined
    throw failed(failure?.message ?? 'the address of the token endpoint is invalid', failure?.status, failure)
  })
  const body = objectIn(answer.text)
  if (!answer.ok) {
    const { error } = body ?? {}
    const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : ''
    throw failed(`the token endpoint answered ${answer.status}${code}`, answer.status)
  }
  const { access_token, expires_in, token_type } = body ?? {}
  const accessToken = tokenIn(access_token)
  const isBearer = token_type === undefined || token_type === null || /^bearer$/i.test(String(token_type))
  if (!accessToken || !isBearer) throw failed('the answer contains no token', answer.status)
  const expiresIn = Number(expires_in ?? Number.NaN)
  return { accessToken, expiresIn: Number.isFinite(expiresIn) ? expiresIn : undefined }
}

/** The token that a host or a service has given, without the line break of a file that it came from; empty if it gave none. */
export function tokenIn(given: unknown): string {
  return typeof given === 'string' ? given.trim() : ''
}

function failed(problem: string, status?: number, cause?: unknown): AuthError {
  return new AuthError(`Could not obtain the access token: ${problem}.`, 'token_request_failed', { status, cause })
}
