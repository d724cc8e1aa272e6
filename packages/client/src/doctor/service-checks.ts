import { paths, restBase } from '@aiagent/protocol'
import { defaultScopes, prefixScopes, resolveScopes } from '../auth/scopes.ts'
import { fetchOAuthMetadata, planAnonymousToken, requestToken } from '../auth/token-request.ts'
import { ApiError, AuthError, SDKError } from '../errors.ts'
import { ApiHelper } from '../rest/api-helper.ts'
import { TimeLimitError, withTimeLimit } from '../util/abort.ts'
import { isLoopbackHost } from '../util/address.ts'
import { jwtPayload } from '../util/jwt.ts'
import type { Examination } from './examination.ts'
import { type DoctorCode, failed, passed, skipped, type Verdict, warning } from './report.ts'

/** Life that a service requires of the token of a new session, in seconds. */
const SESSION_NEEDS_SECONDS = 290
/** Difference of the clocks that is reported, in milliseconds. The header `Date` has whole seconds. */
const SKEW_WARNING_MS = 60_000
const SKEW_FAILURE_MS = SESSION_NEEDS_SECONDS * 1000

/** The address can be used at all. */
export function checkEndpoint({ options }: Examination): Verdict {
  let url: URL
  try {
    url = new URL(restBase(options.endpoint))
  } catch {
    return failed('ENDPOINT_INVALID', 'The endpoint is not a valid address.')
  }
  if (!/^https?:$/.test(url.protocol))
    return failed('ENDPOINT_INVALID', `The endpoint has the scheme ${url.protocol} instead of https.`)
  if (url.username || url.password) return failed('ENDPOINT_INVALID', 'The endpoint contains a user name or password.')
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    return warning('ENDPOINT_UNENCRYPTED', `The endpoint ${url.origin} uses http.`)
  return passed(`The endpoint is ${url.origin}.`)
}

/** The deployment describes itself. */
export async function checkDeployment(examination: Examination): Promise<Verdict> {
  const { options, environment } = examination
  try {
    const info = await limited(examination, signal =>
      ApiHelper.getDeploymentInfo(options.endpoint, { enabled: false }, { environment, signal }),
    )
    examination.deployment = info
    const version = info.version ? `, version ${info.version}` : ''
    const extensions = info.capabilities?.length ? `, with ${info.capabilities.join(' and ')}` : ''
    return passed(`The deployment answers${version}${extensions}. Its API is at ${restBase(info.apiDomain)}.`)
  } catch (error) {
    return failed(deploymentCode(error), sentence(error))
  }
}

function deploymentCode(error: unknown): DoctorCode {
  if (isTimeout(error)) return 'DEPLOYMENT_TIMEOUT'
  if (!(error instanceof ApiError)) return 'DEPLOYMENT_UNREADABLE'
  const codes: Partial<Record<ApiError['reason'], DoctorCode>> = {
    network: 'DEPLOYMENT_UNREACHABLE',
    status: 'DEPLOYMENT_STATUS',
  }
  return codes[error.reason] ?? 'DEPLOYMENT_UNREADABLE'
}

/** The clocks of client and service agree. A page does not see the header, unless the service exposes it. */
export function checkClock({ skewMs }: Examination): Verdict {
  if (skewMs === undefined) return skipped('Not checked: the service does not show its time.')
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const text = `The clock of this machine is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'} that of the service.`
  if (seconds * 1000 >= SKEW_FAILURE_MS) return failed('CLOCK_SKEW', text)
  return seconds * 1000 >= SKEW_WARNING_MS ? warning('CLOCK_SKEW', text) : passed('The clocks agree.')
}

/** The deployment names its token endpoint. */
export async function checkMetadata(examination: Examination): Promise<Verdict> {
  const { deployment, environment, options } = examination
  if (!deployment) return skipped('Not checked: there is no deployment information.')
  try {
    const metadata = await limited(examination, signal => fetchOAuthMetadata(environment, deployment.apiDomain, signal))
    examination.metadata = metadata
  } catch (error) {
    // A given token needs no token endpoint.
    return (options.token === undefined ? failed : warning)('METADATA_FAILED', sentence(error))
  }
  try {
    const { tokenUrl } = planAnonymousToken(examination.metadata, deployment.tenantId)
    return passed(`Anonymous tokens come from ${new URL(tokenUrl).host}.`)
  } catch (error) {
    return (options.token === undefined ? failed : warning)('ANONYMOUS_DISABLED', sentence(error))
  }
}

/** There is a token, and it lives long enough for a session. */
export async function checkToken(examination: Examination): Promise<Verdict> {
  const { options } = examination
  if (options.token !== undefined) {
    examination.token = options.token
    return judgeToken(examination, options.token, undefined, 'The given token')
  }
  if (!examination.metadata) return skipped('Not checked: the check "metadata" comes first.')
  try {
    const granted = await anonymousToken(examination, defaultScopes({}))
    examination.token = granted.accessToken
    return judgeToken(examination, granted.accessToken, granted.expiresIn, 'The anonymous token')
  } catch (error) {
    return failed('TOKEN_REFUSED', sentence(error))
  }
}

function judgeToken(
  { environment }: Examination,
  token: string,
  expiresIn: number | undefined,
  subject: string,
): Verdict {
  const exp = claimsOf(token)['exp']
  const life = expiresIn ?? (typeof exp === 'number' ? exp - environment.clock.now() / 1000 : undefined)
  if (life === undefined) return warning('TOKEN_UNREADABLE', `${subject} does not show when it expires.`)
  if (life <= 0) return failed('TOKEN_EXPIRED', `${subject} expired ${Math.round(-life)} s ago.`)
  const text = `${subject} is valid for ${Math.round(life)} s`
  if (life < SESSION_NEEDS_SECONDS)
    return failed('TOKEN_SHORT_LIVED', `${text}, and a session needs ${SESSION_NEEDS_SECONDS} s.`)
  return passed(`${text}.`)
}

/** The agent exists and may be read. */
export async function checkAgent(examination: Examination): Promise<Verdict> {
  const { options } = examination
  try {
    const details = await limited(examination, signal =>
      helper(examination).getAgentDetails({ agentId: options.agent, signal }),
    )
    examination.details = details
    const name = details.name || details.agentProfileDetails?.name || options.agent
    if (details.isAuthenticated && options.token === undefined)
      return warning('AGENT_NEEDS_LOGIN', `The agent "${name}" requires a signed-in user.`)
    return passed(`The agent "${name}" ${details.isAuthenticated ? 'accepts the user' : 'needs no login'}.`)
  } catch (error) {
    const status = statusOf(error)
    if (status === 404) return failed('AGENT_UNKNOWN', sentence(error))
    return failed(status === 401 || status === 403 ? 'AGENT_DENIED' : 'AGENT_FAILED', sentence(error))
  }
}

/** The token has the scopes that the agent needs. */
export async function checkScopes(examination: Examination): Promise<Verdict> {
  const { options, details, deployment } = examination
  const needed = resolveScopes({ agent: details ?? {} })
  if (options.token === undefined && deployment) {
    try {
      examination.token = (await anonymousToken(examination, needed)).accessToken
    } catch (error) {
      return failed('SCOPES_MISSING', `No token with the scopes of the agent: ${sentence(error)}`)
    }
  }
  const { scope, scp } = claimsOf(examination.token ?? '')
  const granted = [scope ?? scp ?? []].flat().flatMap(each => String(each).split(/\s+/).filter(Boolean))
  if (granted.length === 0) return skipped('Not checked: the token does not show its scopes.')
  const missing = needed.filter(name => !granted.some(each => each === name || each.endsWith(`/${name}`)))
  if (missing.length === 0) return passed('The token has the scopes of the agent.')
  return warning('SCOPES_MISSING', `The token lacks ${missing.join(', ')}.`)
}

/** A session can be created. */
export async function checkSession(examination: Examination): Promise<Verdict> {
  const { options, requests } = examination
  const path = paths.session(options.agent)
  try {
    examination.sessionId = await limited(examination, signal =>
      helper(examination).getAiAgentSession({ agentId: options.agent, signal }),
    )
    examination.secrets.add(examination.sessionId)
    const isByGet = requests.findLast(request => request.path.endsWith(path))?.method === 'GET'
    if (isByGet) return warning('SESSION_WITHOUT_CONTEXT', 'The service refuses POST for a session; GET worked.')
    return passed('A session was created.')
  } catch (error) {
    const status = statusOf(error)
    return failed(status === 401 || status === 403 ? 'SESSION_DENIED' : 'SESSION_FAILED', sentence(error))
  }
}

function helper({ environment, deployment, token, options }: Examination): ApiHelper {
  return new ApiHelper(
    {
      apiDomain: deployment?.apiDomain ?? '',
      endpoint: options.endpoint,
      cache: { enabled: false },
      getToken: async () => token ?? '',
    },
    environment,
  )
}

async function anonymousToken(
  examination: Examination,
  scopes: readonly string[],
): Promise<{ accessToken: string; expiresIn: number | undefined }> {
  const { environment, deployment, metadata } = examination
  if (!deployment || !metadata) throw new TypeError('The deployment is unknown.')
  const { tokenUrl, scopePrefix } = planAnonymousToken(metadata, deployment.tenantId)
  const request = { tokenUrl, scopes: prefixScopes(scopes, scopePrefix) }
  const given = { deploymentInfo: deployment, endpoint: examination.options.endpoint }
  const granted = await limited(examination, signal => requestToken(environment, request, given, signal))
  examination.secrets.add(granted.accessToken)
  return granted
}

/** Runs a step within the time limit of the examination. */
function limited<T>(
  { environment, options, requests }: Examination,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withTimeLimit(environment.clock, options.timeoutMs, options.signal, work).catch(error => {
    const last = requests.at(-1)
    // The client waits before it repeats a rate-limited call: perhaps for longer than the time limit.
    if (!isTimeout(error) || last?.status !== 429) throw error
    throw new ApiError('The last response had status 429.', { ...last, reason: 'status' })
  })
}

function isTimeout(error: unknown): boolean {
  return error instanceof TimeLimitError || (error instanceof ApiError && error.reason === 'timeout')
}

function statusOf(error: unknown): number | undefined {
  return error instanceof ApiError || error instanceof AuthError ? error.status : undefined
}

function sentence(error: unknown): string {
  if (error instanceof TimeLimitError) return 'There was no complete response in time.'
  if (statusOf(error) === 429) return `${(error as Error).message} This is a rate limit of the service.`
  if (error instanceof SDKError || error instanceof Error) return error.message
  return String(error)
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const claims = jwtPayload(token)
  return typeof claims === 'object' && claims !== null ? { ...claims } : {}
}
