import { type ProtocolError, type Reader, restBase } from '@aiagent/protocol'
import { ApiError, type ApiErrorOptions, AuthError } from '../errors.ts'
import { type FetchedText, FetchFailure } from '../platform/fetch-text.ts'
import type { NetworkPlatform } from '../platform/network-failure.ts'
import { fetchPatiently, type RateLimitCallback } from '../platform/patient-fetch.ts'
import { isDeeperThan } from '../util/is-deeper-than.ts'
import { refusedTokenAdvice, withoutTokens } from './refused-token.ts'

/** One REST call: its name, its address and its content. */
export interface HttpCall {
  /** Name of the call; it begins the message of every error. */
  name: string
  method: 'GET' | 'POST' | 'PUT'
  /** Host or address of the service. */
  base: string
  /** Path below it. */
  path: string
  /** The path for error messages, if the path itself contains a session id. */
  publicPath?: string
  /** A session id that the call names: it is kept out of errors, as the token is. */
  sessionId?: string
  /** The subject of the call, for its error messages: `agent "help"`. */
  about?: string
  /** What to check after an unexpected response: a sentence for the message. */
  hint?: string | undefined
  /** The encoded query, without the question mark. */
  query?: string
  /** Access token; sent as `Bearer` unless `bareToken` is set. */
  token?: string
  bareToken?: boolean
  headers?: Record<string, string>
  credentials?: RequestCredentials
  /** Sent as JSON. */
  body?: unknown
  signal?: AbortSignal | undefined
  /** Called when the service limits the rate of calls, before the wait for the next attempt. */
  onRateLimited?: RateLimitCallback | undefined
}

/** The part of a call that its errors contain. */
export type NamedCall = Pick<HttpCall, 'name' | 'method' | 'path' | 'publicPath' | 'about' | 'hint'>

/** A call with a response that is read. */
export interface ReadingCall<T> extends HttpCall {
  /** Reads the parsed response; throws if it has another shape. */
  parse: Reader<T>
  /** The result of status 204, for calls that allow it. */
  noContent?: T
}

/** Maximum length of a stored error body, and of its excerpt in a message. */
const KEPT_BODY_CHARS = 1_000
const QUOTED_BODY_CHARS = 200

/** Most levels of objects and lists in a body that is read. */
const MAX_DEPTH = 500

/**
 * Sends a call and reads its response: any 2xx with a JSON body of the expected shape.
 *
 * @throws {ApiError} in every other case. Neither its message nor its body contains the access token.
 */
export async function request<T>(environment: NetworkPlatform, call: ReadingCall<T>): Promise<T> {
  const answer = await exchange(environment, call)
  const { status, text } = answer
  if (status === 204 && call.noContent !== undefined) return call.noContent
  const parsed = parseJson(text)
  let problem = text.trim() ? 'not JSON, or nested too deep' : 'empty'
  if (parsed !== undefined) {
    try {
      return call.parse(parsed)
    } catch (error) {
      problem = (error as ProtocolError).message.slice(0, -1)
    }
  }
  throw apiError(call, `the response cannot be read: ${problem}${describeRedirect(call, answer)}`, {
    reason: 'body',
    status,
    body: readable(text, call),
  })
}

/**
 * Sends a call and ignores the body of the response: any 2xx succeeds.
 *
 * @throws {ApiError} in every other case
 */
export async function requestSuccess(environment: NetworkPlatform, call: HttpCall): Promise<void> {
  await exchange(environment, call, true)
}

/** What no access token contains, and what a header may not hold. */
const UNSENDABLE = /[^ -~]/

/** Sends a call and returns the response if it is a success. */
async function exchange(environment: NetworkPlatform, call: HttpCall, skipBody = false): Promise<FetchedText> {
  // Before `fetch`, whose error would contain the token.
  if (UNSENDABLE.test(`${call.token}`)) throw new AuthError('The access token has invalid characters.', 'invalid_input')
  const headers = { ...call.headers }
  if (call.token) headers.Authorization = call.bareToken ? call.token : `Bearer ${call.token}`
  const init: RequestInit = { method: call.method, headers }
  if (call.body !== undefined) {
    headers['Content-Type'] = 'application/json'
    init.body = JSON.stringify(call.body)
  }
  if (call.credentials) init.credentials = call.credentials
  const address = restBase(call.base) + call.path + (call.query ? `?${call.query}` : '')
  const answer = await fetchPatiently(environment, address, init, { ...call, skipBody }).catch(cause => {
    throw failed(call, cause)
  })
  if (answer.ok) return answer
  const { status } = answer
  const body = readable(answer.text, call)
  const problem = `status ${status}${quote(body)}${describeRedirect(call, answer)}`
  const hint = status === 401 && call.token ? refusedTokenAdvice(call.token, environment.clock.now()) : call.hint
  throw apiError({ ...call, hint }, problem, { reason: 'status', status, body })
}

/** Names both hosts of a redirect: the address that was configured may not be the one that fails. */
function describeRedirect({ base }: HttpCall, { redirectedTo }: FetchedText): string {
  return redirectedTo ? `; ${new URL(restBase(base)).origin} redirects to ${redirectedTo}` : ''
}

/** The error of a call without a complete response. */
function failed(call: NamedCall, cause: unknown): ApiError {
  if (cause instanceof FetchFailure) {
    return apiError(call, cause.message, { reason: cause.reason, status: cause.status, cause: cause.cause })
  }
  return apiError(call, 'the call was aborted', { reason: 'aborted', cause })
}

function apiError(call: NamedCall, problem: string, options: Omit<ApiErrorOptions, 'method' | 'path'>): ApiError {
  const about = call.about ? ` for ${call.about}` : ''
  // A service that cannot be reached, limits the rate or is down does not call the call into question.
  const hint = call.hint && (options.status ?? 500) < 429 ? ` ${call.hint}` : ''
  return new ApiError(`${call.name} failed${about}: ${problem}.${hint}`, {
    ...options,
    method: call.method,
    path: call.publicPath ?? call.path,
  })
}

/** A secret is at least as long; a shorter stand-in, as tests use, would be removed from the middle of words. */
const SHORTEST_SECRET = 6

/**
 * A body for an error: parsed, or the start of its text. A service may repeat the token or the session in it: both are kept out
 * of logs.
 */
function readable(text: string, { token, sessionId }: HttpCall): unknown {
  for (const secret of [token, sessionId])
    if (secret && secret.length >= SHORTEST_SECRET) text = text.replaceAll(secret, '…')
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
  const said = typeof body === 'object' && body !== null && 'message' in body ? body.message : body
  const text = typeof said === 'string' ? said.replace(/[\s\p{Cc}]+/gu, ' ').trim() : ''
  return text && ` (${text.slice(0, QUOTED_BODY_CHARS)})`
}

/** Converts the reason of the caller's signal into an error that names the call. */
export async function withCallName<T>(
  call: NamedCall,
  signal: AbortSignal | undefined,
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw signal?.aborted && !(error instanceof ApiError) ? failed(call, error) : error
  }
}
