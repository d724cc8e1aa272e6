import { parseTokenResponse } from '@aiagent/protocol'
import {
  allowInsecureRequests,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  customFetch,
  processClientCredentialsResponse,
} from 'oauth4webapi'
import { AuthError } from '../errors.ts'
import type { Environment } from '../platform/environment.ts'
import { FetchFailure, fetchText } from '../platform/fetch-text.ts'

/** One client-credentials grant. */
export interface TokenRequest {
  tokenUrl: string
  clientId: string
  clientSecret: string
  /** As the endpoint knows them; none are asked for when the list is empty. */
  scopes: readonly string[]
  /** Whether an endpoint over plain http may be used although it is not on this machine. */
  allowHttp: boolean
}

export interface GrantedToken {
  accessToken: string
  /** Life time in seconds, as the endpoint tells it. */
  expiresIn: number | undefined
}

const BODY_ORDER = ['client_id', 'client_secret', 'grant_type', 'scope'] as const
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * Asks a token endpoint for a token by client id and secret.
 *
 * @throws {AuthError} `token_request_failed`, with the status where there was an answer
 */
export async function requestToken(
  environment: Pick<Environment, 'fetch' | 'clock'>,
  request: TokenRequest,
  signal?: AbortSignal,
): Promise<GrantedToken> {
  let status: number | undefined
  const fetch = async (address: string, init: { body?: unknown }) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' }
    const body = inOrder(init.body as URLSearchParams)
    const answer = await fetchText(environment, address, { method: 'POST', headers, body }, signal)
    status = answer.status
    return readable(answer.status, answer.text)
  }
  const server = { issuer: request.tokenUrl, token_endpoint: request.tokenUrl }
  const client = { client_id: request.clientId }
  const parameters = request.scopes.length > 0 ? { scope: request.scopes.join(' ') } : {}
  try {
    const response = await clientCredentialsGrantRequest(
      server,
      client,
      ClientSecretPost(request.clientSecret),
      parameters,
      {
        [customFetch]: fetch,
        [allowInsecureRequests]: mayUseHttp(request),
      },
    )
    const granted = await processClientCredentialsResponse(server, client, response)
    return { accessToken: granted.access_token, expiresIn: granted.expires_in }
  } catch (cause) {
    throw new AuthError(`The access token could not be had: ${describe(cause, status)}.`, 'token_request_failed', {
      status,
      // The library's own errors carry the answer, which may hold a token; ours is the only word that goes out.
      cause: cause instanceof FetchFailure ? cause : undefined,
    })
  }
}

/** The gateway in front of the anonymous token endpoint puts real credentials into the body; it knows this order. */
function inOrder(parameters: URLSearchParams): string {
  const ordered = new URLSearchParams()
  for (const name of BODY_ORDER) {
    const value = parameters.get(name)
    if (value !== null) ordered.set(name, value)
  }
  return ordered.toString()
}

/** The answer as the OAuth library insists on it: JSON by its header too, and with a token type. */
function readable(status: number, text: string): Response {
  let body = text
  if (status >= 200 && status < 300) {
    const { access_token, token_type, expires_in } = parseTokenResponse(JSON.parse(text))
    // Null members mean missing ones here, and are refused there.
    body = JSON.stringify({ access_token, token_type, expires_in: expires_in ?? undefined })
  }
  return new Response(body || null, {
    status: status < 300 ? 200 : status,
    headers: { 'Content-Type': 'application/json' },
  })
}

/**
 * Plain http is for endpoints on this machine, and for those of a deployment that the host itself addresses by plain http
 * (a test's, or one in a closed network). A deployment reached by https cannot lead the credentials out of it.
 */
function mayUseHttp({ tokenUrl, allowHttp }: TokenRequest): boolean {
  return allowHttp || (URL.canParse(tokenUrl) && LOOPBACK.test(new URL(tokenUrl).hostname))
}

function describe(cause: unknown, status: number | undefined): string {
  if (cause instanceof FetchFailure) return cause.message
  if (cause instanceof SyntaxError) return 'the answer holds no token'
  // Decided on the code, since a minified library has no class names.
  const { error, code } = cause as { error?: unknown; code?: unknown }
  if (typeof error === 'string') return `the token endpoint answered ${status} (${error})`
  if (status !== undefined && status >= 300) return `the token endpoint answered ${status}`
  if (code === 'OAUTH_HTTP_REQUEST_FORBIDDEN') return 'the token endpoint is not reached by https'
  return status === undefined ? 'its address is not usable' : 'the answer cannot be used'
}
