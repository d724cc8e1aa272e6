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
import { isLoopback, type LoginPlan } from './login-plan.ts'
import { TimeLimitReached, withTimeLimit } from './time-limit.ts'

/** What the provider says of itself beyond the plan: its name, and how it signs id tokens. */
export type ProviderFacts = Pick<
  AuthorizationServer,
  'issuer' | 'id_token_signing_alg_values_supported' | 'authorization_response_iss_parameter_supported'
>

/** One request for a login, and the secrets that tie the answer to it. */
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
  /** Who signed in, for display. */
  name?: string
}

/** Longest wait for an answer of the token endpoint, in milliseconds. */
const REQUEST_LIMIT_MS = 30_000

/** The requests of an authorization-code login with PKCE, at one provider. Keeps no token. */
export class TokenExchange {
  readonly #plan: LoginPlan
  readonly #server: AuthorizationServer
  readonly #client: Client
  readonly #host: string
  readonly #isLocal: boolean

  constructor(plan: LoginPlan, facts: ProviderFacts) {
    const endpoint = new URL(plan.tokenEndpoint)
    this.#plan = plan
    this.#server = { ...facts, token_endpoint: plan.tokenEndpoint }
    this.#client = { client_id: plan.clientId }
    this.#host = endpoint.host
    this.#isLocal = isLoopback(endpoint)
  }

  async createRequest(redirectUri: string): Promise<LoginRequest> {
    const { authorizationEndpoint, clientId, scopes } = this.#plan
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
   * @throws {CommandFailure} when the person was refused, or the answer cannot be used
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
   * Gets new tokens for a refresh token.
   *
   * @throws {CommandFailure} when the provider refuses, or cannot be reached
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
      // The library's errors carry whole answers, which may hold tokens: none of them goes any further.
      throw new CommandFailure(explain(error, this.#host))
    }
  }
}

interface RequestOptions {
  signal: AbortSignal
  [customFetch]: typeof withTokenType
  [allowInsecureRequests]: boolean
}

/** Fetches a token answer; one that leaves out its type means Bearer, on which the library insists. */
async function withTokenType(address: string, init: RequestInit): Promise<Response> {
  const response = await fetch(address, init)
  const text = await response.text()
  let body = text
  try {
    const answer: unknown = JSON.parse(text)
    if (isJsonObject(answer)) body = JSON.stringify({ token_type: 'Bearer', ...answer })
  } catch {
    // No JSON: the library says so.
  }
  return new Response(body || null, { status: response.status, headers: response.headers })
}

function explain(error: unknown, host: string): string {
  const { error: code, error_description: description, code: problem } = fields(error)
  if (code === 'access_denied') return 'Nobody was signed in: the login was cancelled or refused (access_denied).'
  if (isText(code)) {
    const said = isText(description) ? `${code}: ${oneLine(description)}` : code
    return `The login of ${host} refuses: ${oneLine(said)}. Start again to sign in anew.`
  }
  if (error instanceof TimeLimitReached) return `The login of ${host} did not answer in time. Try again in a while.`
  if (isText(problem) && problem.startsWith('OAUTH_'))
    return `The login of ${host} gave an answer that cannot be trusted or understood (${problem}).`
  return unreachable(error, host)
}

/** Says that nobody answers at a login. */
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
