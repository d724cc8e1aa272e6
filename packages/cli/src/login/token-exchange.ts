import { type DeploymentLogin, isLoopbackHost } from '@aiagent/client/pkce'
import { isJsonObject } from '@aiagent/protocol'
import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  calculatePKCECodeChallenge,
  customFetch,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  getValidatedIdTokenClaims,
  None,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
} from 'oauth4webapi'
import { CommandFailure, causeCode } from '../failure.ts'
import { oneLine } from '../output.ts'
import { TimeLimitReached, withTimeLimit } from './time-limit.ts'

/** Facts of the provider's configuration: its issuer, and its signing algorithms for id tokens. */
export type ProviderFacts = Pick<
  AuthorizationServer,
  'issuer' | 'id_token_signing_alg_values_supported' | 'authorization_response_iss_parameter_supported'
>

/** The facts of a login that its requests need. */
export type LoginEndpoints = Pick<DeploymentLogin, 'clientId' | 'authorizationEndpoint' | 'tokenEndpoint' | 'scopes'>

/** One login request, with the secrets that bind the answer to it. */
export interface LoginRequest {
  /** Address to show in a browser. */
  readonly address: string
  readonly redirectUri: string
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

export interface GrantedTokens {
  accessToken: string
  refreshToken?: string
  /** Name of the user, for display. */
  name?: string
}

/** Time limit for an answer of the token endpoint, in milliseconds. */
const REQUEST_LIMIT_MS = 30_000

/** The requests of a login with authorization code and PKCE at one provider. Stores no token. */
export class TokenExchange {
  readonly #login: LoginEndpoints
  readonly #server: AuthorizationServer
  readonly #client: Client
  readonly #host: string
  readonly #isLocal: boolean

  constructor(login: LoginEndpoints, facts: ProviderFacts) {
    const endpoint = new URL(login.tokenEndpoint)
    this.#login = login
    this.#server = { ...facts, token_endpoint: login.tokenEndpoint }
    this.#client = { client_id: login.clientId }
    this.#host = endpoint.host
    this.#isLocal = isLoopbackHost(endpoint.hostname)
  }

  async createRequest(redirectUri: string): Promise<LoginRequest> {
    const { authorizationEndpoint, clientId, scopes } = this.#login
    const state = generateRandomState()
    const nonce = generateRandomNonce()
    const codeVerifier = generateRandomCodeVerifier()
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: scopes.join(' '),
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    return { address: `${authorizationEndpoint}?${query}`, redirectUri, state, nonce, codeVerifier }
  }

  /**
   * Exchanges the code in the provider's answer for tokens.
   *
   * @throws {CommandFailure} when the login was denied, or the answer is invalid
   */
  redeem(answer: URLSearchParams, request: LoginRequest, signal: AbortSignal): Promise<GrantedTokens> {
    return this.#ask(signal, async options => {
      const checked = validateAuthResponse(this.#server, this.#client, answer, request.state)
      const response = await authorizationCodeGrantRequest(
        this.#server,
        this.#client,
        None(),
        checked,
        request.redirectUri,
        request.codeVerifier,
        options,
      )
      const expected = { expectedNonce: request.nonce }
      return processAuthorizationCodeResponse(this.#server, this.#client, response, expected)
    })
  }

  /**
   * Renews the tokens with a refresh token.
   *
   * @throws {CommandFailure} when the provider denies it or is unreachable
   */
  renew(refreshToken: string, signal: AbortSignal): Promise<GrantedTokens> {
    return this.#ask(signal, async options => {
      const response = await refreshTokenGrantRequest(this.#server, this.#client, None(), refreshToken, options)
      return processRefreshTokenResponse(this.#server, this.#client, response)
    })
  }

  async #ask(
    signal: AbortSignal,
    run: (options: RequestOptions) => Promise<TokenEndpointResponse>,
  ): Promise<GrantedTokens> {
    try {
      const answer = await withTimeLimit(REQUEST_LIMIT_MS, signal, limit =>
        run({ signal: limit, [customFetch]: withTokenType, [allowInsecureRequests]: this.#isLocal }),
      )
      const claims = getValidatedIdTokenClaims(answer)
      const name = [claims?.name, claims?.preferred_username, claims?.email].find(isText)
      return {
        accessToken: answer.access_token,
        ...(answer.refresh_token !== undefined && { refreshToken: answer.refresh_token }),
        ...(name !== undefined && { name }),
      }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof CommandFailure) throw error
      // The library's errors contain whole answers, which may include tokens, so they are not passed on.
      throw new CommandFailure(explain(error, this.#host))
    }
  }
}

interface RequestOptions {
  signal: AbortSignal
  [customFetch]: typeof withTokenType
  [allowInsecureRequests]: boolean
}

/** Fetches a token response. A missing token type means Bearer; the library requires one. */
async function withTokenType(address: string, init: RequestInit): Promise<Response> {
  // The library asks for `redirect: 'manual'`: neither the code nor a refresh token goes to another address.
  const response = await fetch(address, init)
  const target = response.headers.get('location')
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel()
    const to = target !== null && URL.canParse(target, address) ? ` to ${new URL(target, address).origin}` : ''
    throw new CommandFailure(
      `${new URL(address).origin} answered the request for a token with a redirect${to}, which is not followed. Start again to sign in.`,
    )
  }
  const text = await response.text()
  let body = text
  try {
    const answer: unknown = JSON.parse(text)
    if (isJsonObject(answer)) body = JSON.stringify({ token_type: 'Bearer', ...answer })
  } catch {
    // Not JSON: the library reports it.
  }
  return new Response(body || null, { status: response.status, headers: response.headers })
}

function explain(error: unknown, host: string): string {
  const { error: code, error_description: description, code: problem } = fields(error)
  if (code === 'access_denied') return 'Nobody was signed in: the login was cancelled or refused (access_denied).'
  if (isText(code)) {
    const said = isText(description) ? `${code}: ${oneLine(description)}` : code
    return `The login of ${host} refuses: ${oneLine(said)}. Start again to sign in.`
  }
  if (error instanceof TimeLimitReached) return `The login of ${host} did not answer in time. Try again later.`
  if (isText(problem) && problem.startsWith('OAUTH_'))
    return `The login of ${host} gave an answer that cannot be trusted or understood (${problem}).`
  return unreachable(error, host)
}

/** The message for an unreachable login. */
export function unreachable(error: unknown, host: string): string {
  const code = error instanceof Error ? causeCode(error) : undefined
  return `The login of ${host} cannot be reached${code === undefined ? '' : ` (${code})`}. Check your network, and try again in a while.`
}

function fields(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return {}
  const { error: code, error_description, code: problem } = error as Error & Record<string, unknown>
  return { error: code, error_description, code: problem }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
