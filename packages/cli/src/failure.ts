import {
  ApiError,
  AuthError,
  ConfigError,
  ConnectionError,
  InitializationPipelineError,
  MessageError,
  SDKError,
} from '@aiagent/client'
import { oneLine } from './output.ts'

/** The failure of a command, with a message for its user. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
}

/** The context of a failure. */
export interface FailureSetting {
  /** Address of the deployment or the emulator. */
  endpoint?: string
  agent?: string
}

/** Describes in a sentence or two what failed and what to do. */
export function explainFailure(error: unknown, setting: FailureSetting = {}): string {
  const endpoint = setting.endpoint ?? 'the service'
  if (error instanceof ApiError) return explainCall(error, endpoint, setting.agent)
  if (error instanceof AuthError) return explainAuth(error, endpoint)
  if (error instanceof ConnectionError) return explainConnection(error, endpoint)
  if (error instanceof MessageError) return explainMessage(error)
  if (error instanceof InitializationPipelineError) return explainPipeline(error, endpoint)
  if (error instanceof ConfigError)
    return oneLine(error.message.replace(`\`${error.field}\``, `--${OPTION[error.field] ?? error.field}`))
  if (error instanceof SDKError && error.code === 'SESSION_ID_INVALID')
    return 'The session id is not usable. Pass the id of an existing session as --session, or omit it for a new session.'
  return error instanceof Error ? oneLine(error.message) : `Unexpected error: ${oneLine(String(error))}`
}

const OPTION: Readonly<Record<string, string>> = { id: 'agent' }

function explainCall(error: ApiError, endpoint: string, agent: string | undefined): string {
  switch (error.reason) {
    case 'network':
      return explainNetwork(error, endpoint)
    case 'timeout':
      return `${endpoint} did not answer in time. Check the address and your network, and try again.`
    case 'body':
      return `${endpoint} answers, but not like a deployment. Check --endpoint: it is the address of the deployment, without a path.`
    case 'aborted':
      return 'The call was aborted.'
    case 'redirect':
      return oneLine(error.message)
    case 'status':
      return explainStatus(error, endpoint, agent)
    default:
      return error.reason satisfies never
  }
}

function explainStatus(error: ApiError, endpoint: string, agent: string | undefined): string {
  const { status = 0, path } = error
  if (status === 404 && /agent/i.test(path) && agent !== undefined && !path.includes('session'))
    return `${endpoint} has no agent "${agent}". Check --agent; ${serviceMessage(error) || 'the admin console shows the ids'}`.replace(
      /\.*$/,
      '.',
    )
  if (status === 401 || status === 403) {
    const reason = serviceMessage(error).replace(/\.*$/, '')
    return (
      `${endpoint} denies access (HTTP ${status})${reason && `; ${reason}`}. Pass a valid access token with --token or AIAGENT_TOKEN. ` +
      '"aiagent token" shows whether one has expired.'
    )
  }
  if (status === 404)
    return `${endpoint} answers, but has nothing at ${path}. Check that --endpoint is the address of a deployment.`
  if (status === 429) return `${endpoint} limits the rate of calls (HTTP 429). Wait a while, then try again.`
  if (status >= 500) return `${endpoint} failed (HTTP ${status}). Try again later.`
  return oneLine(error.message)
}

/** Describes a failure of the selection of portal, agent and profile. */
function explainPipeline(error: InitializationPipelineError, endpoint: string): string {
  const { pipelineCode, portal, cause } = error
  if (cause instanceof ApiError && cause.reason !== 'status') return explainCall(cause, endpoint, undefined)
  switch (pipelineCode) {
    case 'AUTH_TOKEN_REQUIRED':
      return 'Portals need a signed-in user. Sign in with --login, or pass an access token with --token or AIAGENT_TOKEN.'
    case 'NO_PORTALS':
      return cause === undefined
        ? 'No portal is available to both you and this agent. Check --agent and the user of the token.'
        : oneLine(error.message)
    case 'DEPARTMENT_ID_REQUIRED':
      return 'Your department is unknown. Set it with --init-param departmentId=<id>.'
    case 'PORTAL_DETAILS_FAILED':
    case 'PROFILE_FETCH_FAILED':
      if (cause instanceof ApiError && cause.status === 403)
        return `You have no access to the portal ${oneLine(portal?.name || String(portal?.id))}.`
      return oneLine(error.message)
    case 'PORTAL_FETCH_FAILED':
    case 'NO_AGENTS_FOR_PORTAL':
    case 'PROFILE_PERSIST_FAILED':
    case 'INVALID_SELECTION':
      return oneLine(error.message)
    default:
      return pipelineCode satisfies never
  }
}

/** The message of the service. */
function serviceMessage({ body }: ApiError): string {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  return typeof message === 'string' ? `the service says: ${oneLine(message)}` : ''
}

const NO_ADDRESS =
  '--endpoint is not the address of a deployment. Pass https://host, wss://host or a bare host, without query or user.'
const CLOSED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN'])

function explainNetwork(error: Error, endpoint: string): string {
  const code = causeCode(error)
  if (code === undefined) return `Could not reach ${endpoint}. Check the address and your network.`
  if (code === 'CERT_HAS_EXPIRED')
    return `The certificate of ${endpoint} has expired (${code}). The deployment must renew it.`
  if (/ALTNAME/.test(code))
    return `The certificate of ${endpoint} is for another host (${code}). Check the host name of the address.`
  if (/CERT|SIGNATURE/.test(code))
    return `The certificate of ${endpoint} is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to the file of the certificate; "aiagent emulate --tls" prints its file.`
  if (code === 'ERR_INVALID_URL') return NO_ADDRESS
  if (UNKNOWN_HOST.has(code)) return `Could not reach ${endpoint}: unknown host (${code}). Check the address.`
  if (/WRONG_VERSION|PACKET_LENGTH|EPROTO/.test(code))
    return `${endpoint} does not speak https (${code}). Check the scheme and the port of the address.`
  if (CLOSED.has(code)) {
    const encrypted = /^(http|ws):/i.test(endpoint) ? ' It may expect https.' : ''
    return `${endpoint} closed the connection without an answer (${code}).${encrypted} Check the scheme and the port of the address.`
  }
  return `No service answers at ${endpoint} (${code}). Check the address; "aiagent emulate" starts a service on this machine.`
}

function explainAuth(error: AuthError, endpoint: string): string {
  // A failed renewal of the login has its own message.
  if (error.cause instanceof CommandFailure) return error.cause.message
  if (error.reason === 'interaction_required')
    return 'This agent requires a signed-in user. Sign in with --login, or pass an access token with --token or AIAGENT_TOKEN.'
  if (error.reason === 'invalid_input' || error.reason === 'token_missing')
    return 'The access token is not usable. Pass a valid one with --token or AIAGENT_TOKEN.'
  const code = causeCode(error)
  if (code !== undefined && error.status === undefined) return explainNetwork(error, endpoint)
  return `Could not obtain an access token from ${endpoint}: ${oneLine(error.message)} Pass one with --token or AIAGENT_TOKEN.`
}

/** Whether the service rejected the session as unknown or ended. */
export function isSessionRefusal(error: unknown): boolean {
  if (!(error instanceof ConnectionError)) return false
  return error.httpStatus === 404 || error.httpStatus === 410 || error.closeCode === 4404
}

function explainConnection(error: ConnectionError, endpoint: string): string {
  if (isSessionRefusal(error)) return 'The session is unknown or has ended. Omit --session for a new one.'
  const status = error.httpStatus === undefined ? '' : ` (HTTP ${error.httpStatus})`
  switch (error.reason) {
    case 'refused':
      return `Could not open the chat of ${endpoint}${status}. Check that the service runs and accepts WebSockets.`
    case 'timeout':
      return `The chat of ${endpoint} did not open in time. Check your network and try again.`
    case 'closed':
      return `The service closed the chat${error.closeCode === undefined ? '' : ` (code ${error.closeCode})`}. Try again later.`
    case 'attempts_used_up':
    case 'no_address':
      return oneLine(error.message)
    default:
      return error.reason satisfies never
  }
}

function explainMessage(error: MessageError): string {
  if (error.reason === 'queue_full')
    return 'The queue of unsent messages is full. Wait for the connection and send the message again.'
  return oneLine(error.message)
}

/** The system error code of the innermost cause, such as ECONNREFUSED. */
export function causeCode(error: Error): string | undefined {
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && /^[A-Z][A-Z_0-9]+$/.test(cause.code)) return cause.code
    // Node tried several addresses; each has an error.
    if (cause instanceof AggregateError && cause.errors[0] instanceof Error)
      return causeCode(new Error('', { cause: cause.errors[0] }))
  }
  return undefined
}
