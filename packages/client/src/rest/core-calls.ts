import {
  type AgentDetails,
  type CustomerList,
  DEPLOYMENT_INFO_PATH,
  type DeploymentInfo,
  type PreviousTranscript,
  parseAgentDetails,
  parseCustomerList,
  parseDeploymentInfo,
  parsePreviousTranscript,
  parseSessionResponse,
  parseUserList,
  paths,
  QUERY,
  type Reader,
  type SessionResponse,
  type UserDetails,
  type UserList,
} from '@aiagent/protocol'
import { ApiError, SDKError } from '../errors.ts'
import { requireSessionId } from '../session-id.ts'
import type { KINDS } from '../storage/keyed-store.ts'
import type {
  ApiCallOptions,
  GetAgentDetailsOptions,
  GetAiAgentSessionOptions,
  GetPreviousTranscriptOptions,
} from './api-options.ts'
import type { HttpCall } from './http-client.ts'

/** The options of a call, with its defaults in place of blank ones. */
export type Given<Options> = { readonly [Name in keyof Options]-?: NonNullable<Options[Name]> }

/** One REST call of the service, as data. */
export interface RestCall<Options, Wire, Result = Wire>
  extends Pick<HttpCall<Wire>, 'name' | 'hint' | 'refusedCode' | 'credentials' | 'parse' | 'noContent'> {
  /** @default 'GET' */
  readonly method?: 'POST' | 'PUT'
  /** Values in place of blank options. */
  readonly defaults?: { readonly [Name in keyof Options]?: string }
  readonly path: (given: Given<Options>) => string
  /** The option that is kept out of errors, as the token is, although the path contains it. */
  readonly secret?: keyof Options & string
  /** How the call authenticates: with the token alone, or not at all. @default with a Bearer token */
  readonly auth?: 'bare' | 'none'
  /** Sends the language as `Accept-Language`, or as `$lang` too. @default neither */
  readonly language?: 'header' | 'both'
  /** Sends the short URL template, as calls to the portal manager do. */
  readonly hasTemplate?: true
  /** The other query parameters. */
  readonly query?: (given: Given<Options>) => Readonly<Record<string, string>>
  /** Sends the dollar sign in the name of a parameter unencoded. */
  readonly hasPlainDollar?: true
  /** Sent as JSON. */
  readonly body?: (given: Given<Options>) => unknown
  /** Members with an address: an encrypted deployment must not return an unencrypted one. */
  readonly addresses?: readonly (keyof Wire & string)[]
  /** Sends several requests. @default one request */
  readonly load?: (send: Send<Wire>, given: Given<Options>, warn: (message: string) => void) => Promise<Wire>
  /** The result of the response. @default the response itself */
  readonly result?: (wire: Wire, given: Given<Options>) => Result
  /** Options in the key of the cached response, which is fresh for the `ttl` of the cache. @default never cached */
  readonly keptBy?: readonly (keyof Options & string)[]
  /** The kind of cached responses that all agents of the page or process share, and that says how long they are fresh. @default none */
  readonly sharedAs?: keyof typeof KINDS
  /** Reads a cached response, since other code may have written it. @default `parse` */
  readonly parseKept?: Reader<Wire>
  /** Another user may receive another response. */
  readonly perUser?: true
  /** The call whose cached responses become stale through this one. */
  readonly outdates?: string
  /** A rejected token is renewed once, if possible, and the call repeated. */
  readonly renews?: true
  /** Any failure, such as status 404, means that there is nothing: the result is null. */
  readonly isOptional?: true
  /** Subject of the call, for its error messages. */
  readonly about?: (given: Given<Options>) => string
}

/** Sends a request of a call: with further query parameters, or as a GET without a body. */
export type Send<Wire> = (variation?: {
  readonly query?: Readonly<Record<string, string>>
  readonly method?: 'GET'
}) => Promise<Wire>

export const getDeploymentInfo: RestCall<ApiCallOptions, DeploymentInfo> = {
  name: 'getDeploymentInfo',
  path: () => DEPLOYMENT_INFO_PATH,
  auth: 'none',
  parse: parseDeploymentInfo,
  addresses: ['apiDomain', 'aiAgentDomain'],
  keptBy: [],
  sharedAs: 'deploymentInfo',
  hint: 'Check that `endpoint` is the address of the deployment.',
}

export const getAgentDetails: RestCall<GetAgentDetailsOptions, AgentDetails> = {
  name: 'getAgentDetails',
  path: ({ agentId }) => paths.agentDetails(agentId),
  parse: parseAgentDetails,
  addresses: ['webSocketDomain'],
  result: (details, { agentId }) => {
    // In place: it is a copy, and a spread gives each object a separate hidden class.
    details.agentId ||= agentId
    return details
  },
  keptBy: ['agentId'],
  about: ({ agentId }) => `agent "${agentId}"`,
}

export const getAiAgentSession: RestCall<GetAiAgentSessionOptions, SessionResponse, string> = {
  name: 'getAiAgentSession',
  method: 'POST',
  path: ({ agentId }) => paths.session(agentId),
  body: ({ context }) => (context ? { context } : {}),
  parse: readSession,
  load: openSession,
  result: ({ sessionId }) => sessionId,
  renews: true,
  refusedCode: 'SESSION_UNAUTHORIZED',
}

export const getUserDetails: RestCall<ApiCallOptions, UserList, UserDetails | null> = {
  name: 'getUserDetails',
  path: () => paths.userDetails(),
  language: 'header',
  hasTemplate: true,
  credentials: 'include',
  parse: parseUserList,
  result: ({ user }) => firstWithId(user),
  isOptional: true,
}

export const getCustomerDetails: RestCall<ApiCallOptions, CustomerList, UserDetails | null> = {
  name: 'getCustomerDetails',
  path: () => paths.customerDetails(),
  language: 'header',
  query: () => ({ [QUERY.ATTRIBUTE]: 'all' }),
  hasPlainDollar: true,
  credentials: 'include',
  parse: parseCustomerList,
  result: ({ customer }) => firstWithId(customer),
  isOptional: true,
}

export const getPreviousTranscript: RestCall<GetPreviousTranscriptOptions, PreviousTranscript, unknown[]> = {
  name: 'getPreviousTranscript',
  defaults: { apiDomain: '' },
  path: ({ agentId, sessionId }) =>
    paths.previousTranscript(agentId, requireSessionId(sessionId, 'The id given to getPreviousTranscript()')),
  secret: 'sessionId',
  parse: parsePreviousTranscript,
  result: ({ messages }) => messages ?? [],
  // After a reconnect nothing else repeats the call: what was missed would stay missing.
  renews: true,
}

/** @throws {SDKError} `SESSION_ID_INVALID` for JSON without a usable id */
function readSession(value: unknown, path?: string): SessionResponse {
  try {
    return parseSessionResponse(value, path)
  } catch (cause) {
    if (!(value instanceof Object)) throw cause
    const message = `The service returned an invalid session id: ${(cause as Error).message}`
    throw new SDKError(message, 'SESSION_ID_INVALID', { cause })
  }
}

/** Status codes of a service, or a gateway in front of it, that does not support the POST. */
const FALLBACK_STATUSES: ReadonlySet<number | undefined> = new Set([403, 404, 405])

/** Creates a session: a POST with the context; after status 403, 404 or 405, a GET whose response alone counts. */
async function openSession(
  send: Send<SessionResponse>,
  { context }: Partial<GetAiAgentSessionOptions>,
  warn: (message: string) => void,
): Promise<SessionResponse> {
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof ApiError && FALLBACK_STATUSES.has(error.status))) throw error
    if (context && Object.keys(context).length > 0)
      warn(
        `The service rejected the POST for a session (status ${error.status}). The session is created by GET, without the context.`,
      )
    return send({ method: 'GET' })
  }
}

/** The first record with an id, else the first one. */
function firstWithId(users: readonly UserDetails[] | null | undefined): UserDetails | null {
  return users?.find(({ id }) => id !== null && id !== undefined) ?? users?.[0] ?? null
}
