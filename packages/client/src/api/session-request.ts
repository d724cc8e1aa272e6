import { parseSessionResponse, paths } from '@aiagent/protocol'
import { ApiError, SDKError } from '../errors.ts'
import { untilAborted } from '../util/abort.ts'
import type { ApiCall, ApiCaller } from './api-caller.ts'
import type { ApiCallOptions, GetAiAgentSessionOptions } from './api-options.ts'
import { type NamedCall, withCallName } from './http-client.ts'

/** Status codes of a service, or a gateway in front of it, that does not support the POST. */
const FALLBACK_STATUSES: ReadonlySet<number | undefined> = new Set([403, 404, 405])

/**
 * Creates a session: a POST with the context; after status 403, 404 or 405, a GET whose response alone counts. A
 * rejected token is renewed once, if possible.
 *
 * @throws {SDKError} `SESSION_ID_INVALID` when the response contains no valid id
 * @throws {ApiError} `SESSION_UNAUTHORIZED` when the token is rejected, `API_ERROR` when the call fails otherwise
 */
export async function openSession(caller: ApiCaller, options: GetAiAgentSessionOptions): Promise<string> {
  const { signal } = options
  const call = { name: 'getAiAgentSession', method: 'POST', path: paths.session(options.agentId) } as const
  const token = await caller.token(call, options)
  try {
    return await ask(caller, options, token)
  } catch (error) {
    if (!isUnauthorized(error)) throw error
    const renewed = await renew(caller, call, error, signal)
    if (!renewed || renewed === token) throw unauthorized(error)
    return await ask(caller, options, renewed).catch(again => {
      throw isUnauthorized(again) ? unauthorized(again) : again
    })
  }
}

async function ask(
  caller: ApiCaller,
  { agentId, context, signal }: GetAiAgentSessionOptions,
  authToken: string,
): Promise<string> {
  const call = { name: 'getAiAgentSession', path: paths.session(agentId), parse: parseSessionResponse }
  const options = { authToken, signal }
  try {
    return await readId(caller, { ...call, method: 'POST', body: context ? { context } : {} }, options)
  } catch (error) {
    if (!(error instanceof ApiError && FALLBACK_STATUSES.has(error.status))) throw error
    if (context && Object.keys(context).length > 0)
      caller.config.logger?.warn(
        `The service rejected the POST for a session (status ${error.status}). The session is created by GET, without the context.`,
      )
    return readId(caller, { ...call, method: 'GET' }, options)
  }
}

async function readId(
  caller: ApiCaller,
  call: ApiCall<{ sessionId: string }>,
  options: ApiCallOptions,
): Promise<string> {
  try {
    return (await caller.send(call, options)).sessionId
  } catch (error) {
    // JSON of another shape means a response without a valid id; other text is an invalid response.
    if (!(error instanceof ApiError && error.reason === 'body' && error.body instanceof Object)) throw error
    throw new SDKError('The service returned an invalid session id.', 'SESSION_ID_INVALID', {
      cause: error,
    })
  }
}

/** A new token to replace a rejected one; undefined if none can be obtained. */
async function renew(
  caller: ApiCaller,
  call: NamedCall,
  refused: ApiError,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const renewing = caller.config.refreshToken?.().catch(cause => {
    throw unauthorized(refused, cause)
  })
  return renewing && withCallName(call, signal, untilAborted(renewing, signal))
}

function isUnauthorized(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 401
}

function unauthorized(refused: ApiError, cause: unknown = refused): ApiError {
  const { method, path, status, body } = refused
  return new ApiError(refused.message, {
    code: 'SESSION_UNAUTHORIZED',
    reason: 'status',
    method,
    path,
    status,
    body,
    cause,
  })
}
