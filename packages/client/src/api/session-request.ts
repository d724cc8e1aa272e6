import { paths, SessionResponseSchema } from '@aiagent/protocol'
import { ApiError, SDKError } from '../errors.ts'
import type { Environment } from '../platform/environment.ts'
import { type HttpCall, request } from './http-client.ts'

/** Statuses of a service, or of a gateway before it, that does not take the POST. */
const FALLBACK_STATUSES: ReadonlySet<number | undefined> = new Set([403, 404, 405])

/** What opening a session needs to know. */
export interface SessionCall {
  base: string
  agentId: string
  token: string
  context: Record<string, unknown> | undefined
  signal: AbortSignal | undefined
  /** Called before the GET is tried with a context that it cannot carry. */
  onContextLost(status: number | undefined): void
}

/**
 * Opens a session: a POST with the context and, where that is answered by 403, 404 or 405, a GET whose answer alone counts.
 *
 * @throws {SDKError} `SESSION_ID_INVALID` when the answer carries no usable id
 * @throws {ApiError} when the call fails
 */
export async function requestSession(
  environment: Pick<Environment, 'fetch' | 'clock'>,
  { base, agentId, token, context, signal, onContextLost }: SessionCall,
): Promise<string> {
  const call = {
    name: 'getAiAgentSession',
    base,
    path: paths.session(agentId),
    token,
    signal,
    schema: SessionResponseSchema,
  }
  try {
    const { sessionId } = await requestId(environment, { ...call, method: 'POST', body: context ? { context } : {} })
    return sessionId
  } catch (error) {
    if (!(error instanceof ApiError && FALLBACK_STATUSES.has(error.status))) throw error
    if (context && Object.keys(context).length > 0) onContextLost(error.status)
    return (await requestId(environment, { ...call, method: 'GET' })).sessionId
  }
}

async function requestId<T>(environment: Pick<Environment, 'fetch' | 'clock'>, call: HttpCall<T>): Promise<T> {
  try {
    return await request(environment, call)
  } catch (error) {
    // JSON that does not fit can only be an answer without a usable id; text is no answer at all.
    if (!(error instanceof ApiError && error.reason === 'body' && error.body instanceof Object)) throw error
    throw new SDKError('The service answered with a session id that cannot be used.', 'SESSION_ID_INVALID', {
      cause: error,
    })
  }
}
