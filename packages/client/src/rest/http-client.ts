import { type ProtocolError, type Reader, restBase } from '@aiagent/protocol'
import { ApiError, type ApiErrorOptions, AuthError, SDKError } from '../errors.ts'
import { describeUnreadable, FetchFailure, fetchPatiently, type RateLimitCallback } from '../platform/http.ts'
import type { NetworkPlatform } from '../platform/network-failure.ts'
import { jwtPayload, withoutTokens } from '../util/jwt.ts'
import { isDeeperThan } from '../util/values.ts'

/** One request of a call: its address and its content. */
export interface HttpCall<T> {
  /** Name of the call; it begins the message of every error, and the key of a cached response. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Host or address of the service. */
  readonly base: string
  /** Path below it. */
  readonly path: string
  /** The path for errors, without a session id. */
  readonly publicPath: string
  /** Subject of the call: `agent "help"`. */
  readonly about?: string | undefined
  /** What to check after an unexpected response: a sentence for the message. */
  readonly hint?: string | undefined
  /** Code of the error of a rejected token. @default 'API_ERROR' */
  readonly refusedCode?: ApiErrorOptions['code'] | undefined
  /** Kept out of errors, as the token is. */
  readonly secret?: string | undefined
  /** The encoded query, without the question mark. */
  readonly query: string
  /** Access token; sent as `Bearer` unless `bareToken` is set. */
  readonly token?: string | undefined
  readonly bareToken?: boolean
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly credentials?: 'include' | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** Reads the parsed response; throws if it has another shape. Without it, the body of a success is ignored. */
  readonly parse?: Reader<T> | undefined
  /** The result of status 204, for calls that allow it. */
  readonly noContent?: T | undefined
  readonly signal?: AbortSignal | undefined
  /** Called when the service limits the rate of calls, before the wait for the next attempt. */
  readonly onRateLimited?: RateLimitCallback | undefined
  /** Called once for a response with entries that cannot be used, with the reason of the first. */
  readonly onLeftOut?: ((reason: string) => void) | undefined
}

/** A call before each of its requests. */
export type UnsentCall<T> = Omit<HttpCall<T>, 'query' | 'body' | 'token' | 'signal'>

/** Maximum length of a stored error body, and of its excerpt in a message. */
const KEPT_BODY_CHARS = 1_000
const QUOTED_BODY_CHARS = 200

/** Most levels of objects and lists in a body that is read. */
const MAX_DEPTH = 500

/** Characters that a header must not contain. No access token has them. */
const UNSENDABLE = /[^ -~]/

/**
 * Sends a request and reads its response: any 2xx with a JSON body of the expected shape, or of any shape without `parse`.
 *
 * @throws {ApiError} in every other case. Neither its message nor its body contains the access token.
 */
export async function request<T>(environment: NetworkPlatform, call: HttpCall<T>): Promise<T> {
  const { name, method, base, path, query, token, bareToken, credentials, body, parse, noContent } = call
  // Before `fetch`, whose error would contain the token.
  if (UNSENDABLE.test(`${token}`))
    throw new AuthError(`The access token has invalid characters. ${formAdvice(`${token}`)}`, 'invalid_input')
  const headers: Record<string, string> = { ...call.headers }
  if (token) headers['Authorization'] = bareToken ? token : `Bearer ${token}`
  const init: RequestInit = { method, headers }
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json'
    init.body = JSON.stringify(body)
  }
  if (credentials) init.credentials = credentials
  const address = restBase(base) + path + (query && `?${query}`)
  const { signal, onRateLimited } = call
  const patience = { name, signal, onRateLimited, skipBody: !parse }
  const answer = await fetchPatiently(environment, address, init, patience).catch(cause => {
    throw failed(call, cause)
  })
  const { ok, status, text, redirectedTo, retryAfterMs } = answer
  // Both hosts of a redirect are named: the address that was configured may not be the one that fails.
  const redirect = redirectedTo ? `; ${new URL(restBase(base)).origin} redirects to ${redirectedTo}` : ''
  if (!ok) {
    const readableBody = readable(text, call)
    const isRefused = status === 401
    const hint =
      isRefused && token
        ? refusedTokenAdvice(token, environment.clock.now())
        : status === 404 && call.about
          ? `Check the id of the ${call.about.split(' ', 1)[0]}.`
          : status === 407 || status === 511
            ? 'A proxy or network on the way requires a sign-in.'
            : call.hint
    throw apiError({ ...call, hint }, `status ${status}${quote(readableBody)}${redirect}`, {
      reason: 'status',
      status,
      body: readableBody,
      retryAfterMs,
      ...(isRefused && call.refusedCode && { code: call.refusedCode }),
    })
  }
  if (!parse) return undefined as T
  if (status === 204 && noContent !== undefined) return noContent
  const parsed = parseJson(text)
  let problem = describeUnreadable(text)
  if (parsed !== undefined) {
    try {
      const leftOut: string[] = []
      const value = parse(parsed, '', ({ message }) => void leftOut.push(message))
      if (leftOut[0]) call.onLeftOut?.(leftOut[0])
      return value
    } catch (error) {
      if (error instanceof SDKError) throw error
      problem = (error as ProtocolError).message.slice(0, -1)
    }
  }
  const options = { reason: 'body', status, body: readable(text, call) } as const
  throw apiError(call, `the response cannot be read: ${problem}${redirect}`, options)
}

/** The error of a call without a complete response. */
export function failed(call: UnsentCall<unknown>, cause: unknown): ApiError {
  if (cause instanceof FetchFailure) {
    return apiError(call, cause.message, { reason: cause.reason, status: cause.status, cause: cause.cause })
  }
  return apiError(call, 'the call was aborted', { reason: 'aborted', cause })
}

function apiError(
  call: UnsentCall<unknown>,
  problem: string,
  options: Omit<ApiErrorOptions, 'method' | 'path'>,
): ApiError {
  const about = call.about ? ` for ${call.about}` : ''
  // A service that cannot be reached, limits the rate or is down does not call the call into question.
  const { status = 500 } = options
  const hint = call.hint && (status < 429 || status === 511) ? ` ${call.hint}` : ''
  return new ApiError(`${call.name} failed${about}: ${problem}.${hint}`, {
    ...options,
    method: call.method,
    path: call.publicPath,
  })
}

/** A secret is at least as long; a shorter stand-in, as tests use, would be removed from the middle of words. */
const SHORTEST_SECRET = 6

/**
 * A body for an error: parsed, or the start of its text. A service may repeat the token or the session in it: both are kept out
 * of logs.
 */
function readable(text: string, { token, secret }: Pick<HttpCall<unknown>, 'token' | 'secret'>): unknown {
  for (const each of [token, secret]) if (each && each.length >= SHORTEST_SECRET) text = text.replaceAll(each, '…')
  text = withoutTokens(text)
  return parseJson(text) ?? text.slice(0, KEPT_BODY_CHARS)
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    // Platforms cannot copy a value of some thousand levels, and hosts cannot write it as JSON.
    return isDeeperThan(MAX_DEPTH, value) ? undefined : value
  } catch {
    return undefined
  }
}

/** The text of an error body, short enough for a message: its `message` if it has one. */
function quote(body: unknown): string {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : body
  const text = typeof message === 'string' ? message.replace(/[\s\p{Cc}]+/gu, ' ').trim() : ''
  return text && ` (${text.slice(0, QUOTED_BODY_CHARS)})`
}

/** Lifetime that services require of a token, in milliseconds. */
const NEEDED_LIFE_MS = 300_000

/** The remedy for a token that is not a JWT: often it was copied with what surrounds it, or is the answer of a provider. */
function formAdvice(token: string): string {
  const form = /^bearer /i.test(token)
    ? 'begins with "Bearer"'
    : /^["']/.test(token)
      ? 'is in quotes'
      : token.startsWith('{')
        ? 'is a JSON answer'
        : 'is not a JWT'
  return `The access token ${form}. Check which token is passed, and pass only its text.`
}

/** The remedy for an access token that the service rejected. */
function refusedTokenAdvice(token: string, now: number): string {
  const claims = jwtPayload(token)
  if (claims === undefined) return formAdvice(token)
  const exp = (claims as { exp?: unknown } | null)?.exp
  if (typeof exp === 'number' && exp * 1_000 <= now)
    return 'The access token has expired. Sign in again, or pass a new one.'
  if (typeof exp === 'number' && exp * 1_000 - now < NEEDED_LIFE_MS)
    return 'Sign in again, or pass an access token that is valid for at least five more minutes.'
  return 'Sign in again, or pass another access token.'
}
