import {
  type MaskingPatterns,
  parseMaskingPatterns,
  parsePreviousTranscript,
  paths,
  QUERY,
  type Reader,
} from '@aiagent/protocol'
import { ApiError } from '../errors.ts'
import { requireSessionId } from '../session-id.ts'
import type { ApiCaller } from './api-caller.ts'
import type { GetConnectedAppsOptions, GetMaskingPatternsOptions, GetPreviousTranscriptOptions } from './api-options.ts'
import { encodedQuery } from './query.ts'

/** Loads the masking rules of a department. */
export function getMaskingPatterns(caller: ApiCaller, options: GetMaskingPatternsOptions): Promise<MaskingPatterns> {
  const { departmentId } = options
  const channel = options.channel?.trim() || 'chat'
  const call = {
    name: 'getMaskingPatterns',
    method: 'GET',
    path: paths.maskingPatterns(departmentId, channel),
    query: encodedQuery({ [QUERY.LANGUAGE]: caller.langParameter }),
    headers: caller.languageHeaders,
    parse: parseMaskingPatterns,
  } as const
  const parameters = { departmentId, channel, language: caller.languageOnWire }
  const kept = call.parse
  return caller.load({ ...call, kept, parameters, perUser: true }, options, send => send(call))
}

/** Loads the connected apps of an agent, as the service lists them. Needs no token. */
export function getConnectedApps(caller: ApiCaller, options: GetConnectedAppsOptions): Promise<unknown> {
  const { tenantId, agentId, signal } = options
  const base = options.apiDomain?.trim() || undefined
  const call = {
    name: 'getConnectedApps',
    method: 'GET',
    base,
    path: paths.connectedApps(tenantId, agentId),
    auth: 'none',
    parse: anyJson,
  } as const
  const parameters = { tenantId, agentId, apiDomain: base }
  return caller.load({ ...call, kept: anyJson, parameters }, { signal }, send => send(call))
}

/** Loads the messages of an earlier session. */
export async function getPreviousTranscript(
  caller: ApiCaller,
  options: GetPreviousTranscriptOptions,
): Promise<unknown[]> {
  const { agentId } = options
  const sessionId = requireSessionId(options.sessionId, 'The id given to getPreviousTranscript()')
  const call = {
    name: 'getPreviousTranscript',
    method: 'GET',
    base: options.apiDomain?.trim() || undefined,
    path: paths.previousTranscript(agentId, sessionId),
    publicPath: paths.previousTranscript(agentId, ':sessionId'),
    sessionId,
    parse: parsePreviousTranscript,
  } as const
  const load = async (each: GetPreviousTranscriptOptions) => (await caller.send(call, each)).messages ?? []
  try {
    return await load(options)
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error
    // After a reconnect nothing repeats the call: what was missed would stay missing.
    const authToken = await caller.config.refreshToken?.().catch(() => undefined)
    if (!authToken) throw error
    return load({ ...options, authToken })
  }
}

/** Accepts any JSON. */
const anyJson: Reader<unknown> = value => value
