import {
  type MaskingPatterns,
  parseCustomerList,
  parseMaskingPatterns,
  parsePreviousTranscript,
  parseUserList,
  paths,
  QUERY,
  type Reader,
  type UserDetails,
} from '@aiagent/protocol'
import { ApiError } from '../errors.ts'
import type { ApiCaller } from './api-caller.ts'
import type {
  ApiCallOptions,
  GetConnectedAppsOptions,
  GetMaskingPatternsOptions,
  GetPreviousTranscriptOptions,
} from './api-options.ts'
import { encodedQuery, plainQuery } from './portal-calls.ts'

/** The signed-in user, or null if the lookup fails. */
export async function getUserDetails(caller: ApiCaller, options: ApiCallOptions): Promise<UserDetails | null> {
  const call = {
    name: 'getUserDetails',
    method: 'GET',
    path: paths.userDetails(),
    query: encodedQuery({ [QUERY.SHORT_URL_TEMPLATE]: caller.shortUrlTemplate }),
    headers: caller.languageHeaders,
    credentials: 'include',
    parse: parseUserList,
  } as const
  const authToken = await caller.token(call, options)
  return orNull(caller.send(call, { ...options, authToken }).then(({ user }) => firstWithId(user)))
}

/** The signed-in customer, or null if the lookup fails. */
export async function getCustomerDetails(caller: ApiCaller, options: ApiCallOptions): Promise<UserDetails | null> {
  const call = {
    name: 'getCustomerDetails',
    method: 'GET',
    path: paths.customerDetails(),
    query: plainQuery({ [QUERY.ATTRIBUTE]: 'all' }),
    headers: caller.languageHeaders,
    credentials: 'include',
    parse: parseCustomerList,
  } as const
  const authToken = await caller.token(call, options)
  return orNull(caller.send(call, { ...options, authToken }).then(({ customer }) => firstWithId(customer)))
}

/** The first record with an id, else the first one. */
function firstWithId(users: readonly UserDetails[] | null | undefined): UserDetails | undefined {
  return users?.find(({ id }) => id !== null && id !== undefined) ?? users?.[0]
}

/** Optional lookup: API errors become null; aborts are rethrown. */
async function orNull(details: Promise<UserDetails | undefined>): Promise<UserDetails | null> {
  try {
    return (await details) ?? null
  } catch (error) {
    if (error instanceof ApiError && error.reason !== 'aborted') return null
    throw error
  }
}

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
  const { agentId, sessionId } = options
  const call = {
    name: 'getPreviousTranscript',
    method: 'GET',
    base: options.apiDomain?.trim() || undefined,
    path: paths.previousTranscript(agentId, sessionId),
    publicPath: paths.previousTranscript(agentId, ':sessionId'),
    sessionId: String(sessionId),
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
