import { restBase } from '@aiagent/protocol'
import { ApiError, type ApiErrorOptions } from '../errors.ts'
import type { Environment } from '../platform/environment.ts'
import { FetchFailure, fetchText } from '../platform/fetch-text.ts'
import { check, type Schema } from '../util/standard-schema.ts'

/** One REST call: what it is called, where it goes, what it sends, and what its answer must look like. */
export interface HttpCall<T> {
  /** Name of the call, for people: it opens the message of every error. */
  name: string
  method: 'GET' | 'POST' | 'PUT'
  /** Host or address of the service. */
  base: string
  /** Path below it. */
  path: string
  /** The path as errors may tell it, where the path itself carries a session id. */
  publicPath?: string
  /** Access token; it goes out as `Bearer` unless `bareToken` is set. */
  token?: string
  bareToken?: boolean
  headers?: Record<string, string>
  /** Sent as JSON. */
  body?: unknown
  schema: Schema<T>
  signal?: AbortSignal | undefined
}

/** Longest error body that is kept, and longest part of it that stands in a message. */
const KEPT_BODY_CHARS = 1_000
const QUOTED_BODY_CHARS = 200

/**
 * Makes a call and reads its answer: any 2xx whose body is JSON of the expected shape.
 *
 * @throws {ApiError} in every other case. Neither its message nor its body contains the access token.
 */
export async function request<T>(environment: Pick<Environment, 'fetch' | 'clock'>, call: HttpCall<T>): Promise<T> {
  const headers = { ...call.headers }
  if (call.token) headers.Authorization = call.bareToken ? call.token : `Bearer ${call.token}`
  const init: RequestInit = { method: call.method, headers }
  if (call.body !== undefined) {
    headers['Content-Type'] = 'application/json'
    init.body = JSON.stringify(call.body)
  }
  const answer = await fetchText(environment, restBase(call.base) + call.path, init, call.signal).catch(cause => {
    throw failed(call, cause)
  })
  // A service that repeats the token in its error would have it end up in a log.
  const text = call.token ? answer.text.replaceAll(call.token, '…') : answer.text
  if (!answer.ok) {
    const body = parseJson(text) ?? text.slice(0, KEPT_BODY_CHARS)
    throw apiError(call, `status ${answer.status}${quote(body)}`, { reason: 'status', status: answer.status, body })
  }
  const parsed = parseJson(answer.text)
  const checked = check(call.schema, parsed)
  if (checked.ok) return checked.value
  const problem = parsed !== undefined ? checked.problem : text.trim() ? 'it is no JSON' : 'it is empty'
  throw apiError(call, `the answer cannot be read: ${problem}`, {
    reason: 'body',
    status: answer.status,
    body: parsed ?? text.slice(0, KEPT_BODY_CHARS),
  })
}

/** The error of a call that got no complete answer. */
export function failed(
  call: Pick<HttpCall<unknown>, 'name' | 'method' | 'path' | 'publicPath'>,
  cause: unknown,
): ApiError {
  if (cause instanceof FetchFailure) {
    return apiError(call, cause.message, { reason: cause.reason, status: cause.status, cause: cause.cause })
  }
  return apiError(call, 'it was aborted', { reason: 'aborted', cause })
}

function apiError(
  call: Pick<HttpCall<unknown>, 'name' | 'method' | 'path' | 'publicPath'>,
  problem: string,
  options: Omit<ApiErrorOptions, 'method' | 'path'>,
): ApiError {
  return new ApiError(`${call.name} failed: ${problem}.`, {
    ...options,
    method: call.method,
    path: call.publicPath ?? call.path,
  })
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
