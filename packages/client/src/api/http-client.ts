import { type ProtocolError, type Reader, restBase } from '@aiagent/protocol'
import { ApiError, type ApiErrorOptions } from '../errors.ts'
import type { Environment } from '../platform/environment.ts'
import { type FetchedText, FetchFailure, fetchText } from '../platform/fetch-text.ts'

/** One REST call: what it is called, where it goes, what it sends. */
export interface HttpCall {
  /** Name of the call, for people: it opens the message of every error. */
  name: string
  method: 'GET' | 'POST' | 'PUT'
  /** Host or address of the service. */
  base: string
  /** Path below it. */
  path: string
  /** The path as errors may tell it, where the path itself carries a session id. */
  publicPath?: string
  /** What follows the path's question mark, encoded. */
  query?: string
  /** Access token; it goes out as `Bearer` unless `bareToken` is set. */
  token?: string
  bareToken?: boolean
  headers?: Record<string, string>
  credentials?: RequestCredentials
  /** Sent as JSON. */
  body?: unknown
  signal?: AbortSignal | undefined
}

/** What an error tells of a call. */
export type NamedCall = Pick<HttpCall, 'name' | 'method' | 'path' | 'publicPath'>

/** A call whose answer is read. */
export interface ReadingCall<T> extends HttpCall {
  /** Reads the parsed answer; throws where it has another shape. */
  parse: Reader<T>
  /** What status 204 means, for a call that may be answered so. */
  noContent?: T
}

/** Longest error body that is kept, and longest part of it that stands in a message. */
const KEPT_BODY_CHARS = 1_000
const QUOTED_BODY_CHARS = 200

/**
 * Makes a call and reads its answer: any 2xx whose body is JSON of the expected shape.
 *
 * @throws {ApiError} in every other case. Neither its message nor its body contains the access token.
 */
export async function request<T>(environment: Pick<Environment, 'fetch' | 'clock'>, call: ReadingCall<T>): Promise<T> {
  const { status, text } = await exchange(environment, call)
  if (status === 204 && call.noContent !== undefined) return call.noContent
  const parsed = parseJson(text)
  let problem = text.trim() ? 'not JSON' : 'empty'
  if (parsed !== undefined) {
    try {
      return call.parse(parsed)
    } catch (error) {
      problem = (error as ProtocolError).message
    }
  }
  throw apiError(call, `the answer cannot be read: ${problem}`, {
    reason: 'body',
    status,
    body: readable(withoutToken(text, call)),
  })
}

/**
 * Makes a call that asks for nothing but a success: any 2xx, whose body is not read.
 *
 * @throws {ApiError} in every other case
 */
export async function requestSuccess(environment: Pick<Environment, 'fetch' | 'clock'>, call: HttpCall): Promise<void> {
  await exchange(environment, call, true)
}

/** Sends a call and takes the answer, if it is a success. */
async function exchange(
  environment: Pick<Environment, 'fetch' | 'clock'>,
  call: HttpCall,
  skipBody = false,
): Promise<FetchedText> {
  const headers = { ...call.headers }
  if (call.token) headers.Authorization = call.bareToken ? call.token : `Bearer ${call.token}`
  const init: RequestInit = { method: call.method, headers }
  if (call.body !== undefined) {
    headers['Content-Type'] = 'application/json'
    init.body = JSON.stringify(call.body)
  }
  if (call.credentials) init.credentials = call.credentials
  const address = restBase(call.base) + call.path + (call.query ? `?${call.query}` : '')
  const answer = await fetchText(environment, address, init, call.signal, skipBody).catch(cause => {
    throw failed(call, cause)
  })
  if (answer.ok) return answer
  const body = readable(withoutToken(answer.text, call))
  throw apiError(call, `status ${answer.status}${quote(body)}`, { reason: 'status', status: answer.status, body })
}

/** A service that repeats the token in its error would have it end up in a log. */
function withoutToken(text: string, { token }: HttpCall): string {
  return token ? text.replaceAll(token, '…') : text
}

/** The error of a call that got no complete answer. */
export function failed(call: NamedCall, cause: unknown): ApiError {
  if (cause instanceof FetchFailure) {
    return apiError(call, cause.message, { reason: cause.reason, status: cause.status, cause: cause.cause })
  }
  return apiError(call, 'it was aborted', { reason: 'aborted', cause })
}

function apiError(call: NamedCall, problem: string, options: Omit<ApiErrorOptions, 'method' | 'path'>): ApiError {
  return new ApiError(`${call.name} failed: ${problem}.`, {
    ...options,
    method: call.method,
    path: call.publicPath ?? call.path,
  })
}

/** A body as errors carry it: parsed, or the start of its text. */
function readable(text: string): unknown {
  return parseJson(text) ?? text.slice(0, KEPT_BODY_CHARS)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What an error body says, short enough for a message: its `message` where it has one. */
function quote(body: unknown): string {
  const said = typeof body === 'object' && body !== null && 'message' in body ? body.message : body
  const text = typeof said === 'string' ? said.replace(/\s+/g, ' ').trim() : ''
  return text && ` (${text.slice(0, QUOTED_BODY_CHARS)})`
}
