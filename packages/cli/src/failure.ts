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

/** Something a command failed at, in words for its user. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
}

/** What a failure is to be explained against. */
export interface FailureSetting {
  /** Address the user gave, or that of the emulator. */
  endpoint?: string
  agent?: string
}

/** Says in a sentence or two what failed and what to do about it. */
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
    return 'The session id cannot be used. Give --session the id of a session that exists, or leave it out for a new one.'
  return error instanceof Error ? oneLine(error.message) : `Something unexpected failed: ${oneLine(String(error))}`
}

const OPTION: Readonly<Record<string, string>> = { id: 'agent' }

function explainCall(error: ApiError, endpoint: string, agent: string | undefined): string {
  switch (error.reason) {
    case 'network':
      return explainNetwork(error, endpoint)
    case 'timeout':
      return `${endpoint} did not answer in time. Check the address and your network, and try again.`
    case 'body':
      return `${endpoint} answers, but not as a deployment does. Check the address: it is the one of the deployment, without a path.`
    case 'aborted':
      return 'The call was given up.'
    case 'status':
      return explainStatus(error, endpoint, agent)
    default:
      return error.reason satisfies never
  }
}

function explainStatus(error: ApiError, endpoint: string, agent: string | undefined): string {
  const { status = 0, path } = error
  if (status === 404 && /agent/i.test(path) && agent !== undefined && !path.includes('session'))
    return `${endpoint} knows no agent "${agent}". Check --agent; ${said(error) || 'the admin console shows the ids'}`.replace(
      /\.*$/,
      '.',
    )
  if (status === 401 || status === 403)
    return `${endpoint} refuses the access (status ${status}). Give a valid access token with --token or AIAGENT_TOKEN.`
  if (status === 404)
    return `${endpoint} answers, but there is nothing at ${path}. Check that the address is that of a deployment.`
  if (status >= 500) return `${endpoint} has trouble of its own (status ${status}). Try again in a while.`
  return oneLine(error.message)
}

/** What stopped the way through portal, agent and profile. */
function explainPipeline(error: InitializationPipelineError, endpoint: string): string {
  const { pipelineCode, portal, cause } = error
  if (cause instanceof ApiError && cause.reason !== 'status') return explainCall(cause, endpoint, undefined)
  switch (pipelineCode) {
    case 'AUTH_TOKEN_REQUIRED':
      return 'Portals are for people who are known. Sign in with --login, or give an access token with --token or AIAGENT_TOKEN.'
    case 'NO_PORTALS':
      return cause === undefined
        ? 'You and this agent have no portal in common. Check --agent, and whose token it is.'
        : oneLine(error.message)
    case 'DEPARTMENT_ID_REQUIRED':
      return 'It is not known which department you work in. Name it with --init-param departmentId=ID.'
    case 'PORTAL_DETAILS_FAILED':
    case 'PROFILE_FETCH_FAILED':
      if (cause instanceof ApiError && cause.status === 403)
        return `The portal ${oneLine(portal?.name || String(portal?.id))} does not let you in.`
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

/** What the service itself says about it. */
function said({ body }: ApiError): string {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  return typeof message === 'string' ? `the service says: ${oneLine(message)}` : ''
}

const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN'])

function explainNetwork(error: Error, endpoint: string): string {
  const code = causeCode(error)
  if (code === undefined) return `${endpoint} cannot be reached. Check the address and your network.`
  if (/CERT|SIGNATURE|ALTNAME/.test(code))
    return `The certificate of ${endpoint} is not trusted (${code}). Name the file of the certificate to trust in NODE_EXTRA_CA_CERTS; "aiagent emulate --tls" prints its own.`
  if (UNKNOWN_HOST.has(code))
    return `${endpoint} cannot be reached: there is no such host (${code}). Check the address.`
  return `No service answers at ${endpoint} (${code}). Check the address; "aiagent emulate" starts a service on this machine.`
}

function explainAuth(error: AuthError, endpoint: string): string {
  // A login that could not be renewed has said so already.
  if (error.cause instanceof CommandFailure) return error.cause.message
  if (error.reason === 'interaction_required')
    return 'This agent wants to know who talks to it. Sign in with --login, or give an access token with --token or AIAGENT_TOKEN.'
  if (error.reason === 'invalid_input' || error.reason === 'token_missing')
    return 'The access token cannot be used. Give a valid one with --token or AIAGENT_TOKEN.'
  const code = causeCode(error)
  if (code !== undefined && error.status === undefined) return explainNetwork(error, endpoint)
  return `${endpoint} gives no access token: ${oneLine(error.message)} Give one with --token or AIAGENT_TOKEN.`
}

/** Whether the service does not know the session, or says that it has ended. */
export function isSessionRefusal(error: unknown): boolean {
  if (!(error instanceof ConnectionError)) return false
  return error.httpStatus === 404 || error.httpStatus === 410 || error.closeCode === 4404
}

function explainConnection(error: ConnectionError, endpoint: string): string {
  if (isSessionRefusal(error))
    return 'The service does not know this session, or it has ended. Leave --session out for a new one.'
  const status = error.httpStatus === undefined ? '' : ` (status ${error.httpStatus})`
  switch (error.reason) {
    case 'refused':
      return `The chat of ${endpoint} cannot be opened${status}. Check that the service runs and is reachable for WebSockets.`
    case 'timeout':
      return `The chat of ${endpoint} did not open in time. Check your network and try again.`
    case 'closed':
      return `The service closed the chat${error.closeCode === undefined ? '' : ` (code ${error.closeCode})`}. Try again in a while.`
    case 'attempts_used_up':
    case 'no_address':
      return oneLine(error.message)
    default:
      return error.reason satisfies never
  }
}

function explainMessage(error: MessageError): string {
  if (error.reason === 'queue_full')
    return 'Too many messages wait already: this one was not taken. Wait for the connection and send it again.'
  return oneLine(error.message)
}

/** The system's code of whatever lies at the bottom of an error, such as ECONNREFUSED. */
export function causeCode(error: Error): string | undefined {
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && /^[A-Z][A-Z_0-9]+$/.test(cause.code)) return cause.code
    // Several addresses were tried, each with an error of its own.
    if (cause instanceof AggregateError && cause.errors[0] instanceof Error)
      return causeCode(new Error('', { cause: cause.errors[0] }))
  }
  return undefined
}
