import { isJsonObject } from '@aiagent/protocol'
import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  calculatePKCECodeChallenge,
  clockSkew,
  customFetch,
  generateRandomCodeVerifier,
  None,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
} from 'oauth4webapi'
import { AuthError } from '../../errors.ts'
import type { Environment } from '../../platform/environment.ts'
import {
  type FetchedText,
  fetchPatiently,
  type Patience,
  type RateLimitCallback,
  TOKEN_WAIT_MS,
} from '../../platform/http.ts'
import { jwtPayload, subjectOf } from '../../util/jwt.ts'
import { wellFormed } from '../../util/text.ts'
import { objectIn } from '../../util/values.ts'
import { expiryOfFresh } from '../access-token.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import { constructedIssuer } from './logout-plan.ts'
import type { KnownConfiguration } from './openid-configuration.ts'
import type { IssuedTokens } from './signed-in-user.ts'

/*
 * Authorization code with PKCE: the requests of a login and the checks of its answers, over oauth4webapi. It does not
 * open windows and does not store anything.
 */

/** The provider of a login. */
export interface Provider {
  /** The login, with its final scopes. */
  readonly config: Pick<PKCEAuthConfig, 'clientId' | 'redirectUri'> & { readonly scopes: readonly string[] }
  /** Address below which the provider publishes its OpenID configuration. */
  readonly authority: string
  readonly environment: Environment
  readonly onRateLimited?: RateLimitCallback | undefined
  readonly configuration: KnownConfiguration
  /** Issuer of the user's earlier ID tokens. */
  readonly pinnedIssuer?: string | undefined
}

/** One authorization request. */
export interface AuthorizationRequest {
  /** Where the user signs in. */
  readonly address: string
  /** Random, 32 hex digits. */
  readonly id: string
  /** The `state` parameter: the id, and the return address for a login by redirect. */
  readonly state: string
  /** PKCE code verifier. */
  readonly verifier: string
  /** Random, 32 hex digits: the ID token of the answer must repeat it. */
  readonly nonce: string
}

/** Time limit of the requests of a renewal, in milliseconds: other tabs wait that long for it, and would then use the same refresh token. */
export const RENEWAL_WAIT_MS = 20_000

/** Largest age of a new ID token, and its largest distance into the future, in seconds. */
const ID_TOKEN_LIMIT_SECONDS = 24 * 60 * 60

/** In the issuer of a provider with one configuration for all tenants. */
const TENANT = '{tenantid}'

/** Additional parameters of an authorization request. */
export interface AuthorizationOptions {
  readonly nextRoute?: string | undefined
  readonly parameters?: Readonly<Record<string, string>>
}

/**
 * Accepted signature algorithms of ID tokens. The tokens come from the token endpoint over TLS, so signatures are not
 * checked.
 */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

/**
 * Prepares an authorization request.
 *
 * @throws {AuthError} `browser_unsupported` on a page without encryption, `metadata_failed` without the endpoint
 */
export async function createAuthorizationRequest(
  { config, environment, configuration }: Provider,
  { nextRoute, parameters }: AuthorizationOptions,
): Promise<AuthorizationRequest> {
  // biome-ignore lint/style/noRestrictedGlobals: the OAuth library encrypts with it
  if (!globalThis.crypto?.subtle)
    throw new AuthError(
      'A sign-in needs encryption, which this page lacks. Open it over https, then refresh it and try again.',
      'browser_unsupported',
    )
  const endpoint = configuration.authorization_endpoint
  if (!endpoint) throw missing('authorization_endpoint')
  const verifier = generateRandomCodeVerifier()
  const [id, nonce] = [randomId(environment), randomId(environment)]
  const state = nextRoute === undefined ? id : `${id};${encodeURIComponent(wellFormed(nextRoute))}`
  const address = new URL(endpoint)
  const all = {
    ...parameters,
    client_id: config.clientId,
    redirect_uri: config.redirectUri,
    response_type: 'code',
    scope: config.scopes.join(' '),
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(all)) address.searchParams.set(name, value)
  return { address: address.href, id, state, verifier, nonce }
}

/** 32 random hex digits. */
export function randomId(environment: Pick<Environment, 'randomUUID'>): string {
  return environment.randomUUID().replaceAll('-', '')
}

/**
 * Exchanges the code of an answer for tokens. Waits where the provider limits the rate of requests.
 *
 * @param answer address of the callback page
 * @param signal aborted by a logout
 * @throws the provider's refusal, or what the OAuth library found wrong
 */
export async function exchangeCode(
  provider: Provider,
  answer: string,
  { state, verifier, nonce }: Pick<AuthorizationRequest, 'state' | 'verifier' | 'nonce'>,
  signal: AbortSignal,
  limitMs = TOKEN_WAIT_MS,
): Promise<IssuedTokens> {
  const exchange = new Exchange(provider, signal, limitMs)
  const parameters = new URL(answer).searchParams
  const validated = validateAuthResponse(exchange.serverOf(parameters), exchange.client, parameters, state)
  const response = await authorizationCodeGrantRequest(
    exchange.server,
    exchange.client,
    None(),
    validated,
    provider.config.redirectUri,
    verifier,
    exchange.options,
  )
  const tokens = await processAuthorizationCodeResponse(exchange.server, exchange.client, response, {
    // A provider issues no ID token without the scope `openid`.
    ...(exchange.hasIdToken && { expectedNonce: nonce }),
  })
  return exchange.issued(tokens)
}

/** Exchanges a refresh token for new tokens. Waits where the provider limits the rate of requests. */
export async function exchangeRefreshToken(
  provider: Provider,
  refreshToken: string,
  signal: AbortSignal,
  limitMs = RENEWAL_WAIT_MS,
): Promise<IssuedTokens> {
  const exchange = new Exchange(provider, signal, limitMs)
  const response = await refreshTokenGrantRequest(
    exchange.server,
    exchange.client,
    None(),
    refreshToken,
    exchange.options,
  )
  return exchange.issued(await processRefreshTokenResponse(exchange.server, exchange.client, response))
}

/** One request to the token endpoint. */
class Exchange {
  readonly server: { -readonly [Name in keyof AuthorizationServer]: AuthorizationServer[Name] }
  readonly client: Client
  readonly options: object
  readonly #environment: Environment
  readonly #patience: Patience & { readonly signal: AbortSignal }
  readonly #pinnedIssuer: string | undefined
  /** The issuer of answers and ID tokens; undefined where it is unknown or only constructed. */
  readonly #issuer: string | undefined
  /** Whether the last answer had an ID token. */
  hasIdToken = false

  /** @param limitMs time limit of all requests and waits, in milliseconds */
  constructor(provider: Provider, signal: AbortSignal, limitMs: number) {
    const { config, authority, environment, onRateLimited, configuration, pinnedIssuer } = provider
    const tokenEndpoint = configuration.token_endpoint
    if (!tokenEndpoint) throw missing('token_endpoint')
    this.#environment = environment
    this.#patience = { name: 'getToken', signal, limitMs, onRateLimited }
    this.#pinnedIssuer = pinnedIssuer
    const isCertain = configuration.isPublished || configuration.issuer !== constructedIssuer(authority)
    this.#issuer = isCertain ? configuration.issuer : undefined
    this.server = {
      ...configuration,
      issuer: configuration.issuer ?? authority,
      token_endpoint: tokenEndpoint,
      id_token_signing_alg_values_supported: ALGORITHMS,
    }
    this.client = { client_id: config.clientId }
    // Endpoints over plain http were refused before, except those on this machine.
    this.options = { [customFetch]: this.#fetch, [allowInsecureRequests]: true }
  }

  /** The server, for the check of an answer: with the issuer that the answer names where it is not known for certain. */
  serverOf(answer: URLSearchParams): AuthorizationServer {
    const named = answer.get('iss')
    const [start = '', end] = this.#issuer?.split(TENANT) ?? ['', '']
    const isAllowed = named && end !== undefined && named.startsWith(start) && named.endsWith(end)
    return isAllowed ? { ...this.server, issuer: named } : this.server
  }

  issued(response: TokenEndpointResponse): IssuedTokens {
    const { access_token: accessToken, id_token: idToken, refresh_token: refreshToken, expires_in } = response
    const claims = idToken === undefined ? undefined : jwtPayload(idToken)
    const issuer = isJsonObject(claims) && typeof claims['iss'] === 'string' ? claims['iss'] : undefined
    return {
      accessToken,
      idToken,
      refreshToken,
      expiresAt: expiryOfFresh(accessToken, this.#environment.clock.now(), expires_in),
      subject: idToken === undefined ? undefined : subjectOf(idToken),
      issuer,
    }
  }

  readonly #fetch = async (
    address: string,
    init: { method: string; headers: Record<string, string>; body?: unknown },
  ) => {
    const { headers, method } = init
    const request = { method, headers, body: String(init.body ?? '') }
    const { signal } = this.#patience
    const answer = await fetchPatiently(this.#environment, address, request, this.#patience).catch(error => {
      // After a logout its reason counts.
      signal.throwIfAborted()
      throw failed(error.message, error)
    })
    return new Response(this.#prepare(answer) || null, {
      status: answer.status,
      headers: { 'Content-Type': 'application/json' },
    })
  }

  /** Normalizes an answer for the library, and reads the clock skew and the issuer from its new ID token. */
  #prepare({ text, date }: FetchedText): string {
    const body = objectIn(text)
    // Not an object, or an error: the library rejects it.
    if (!body || body['access_token'] === undefined) return text
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
    this.hasIdToken = given['id_token'] !== undefined
    const claims = typeof given['id_token'] === 'string' ? jwtPayload(given['id_token']) : undefined
    if (isJsonObject(claims)) this.#learn(claims, Date.parse(date ?? ''))
    return JSON.stringify({ token_type: 'Bearer', ...given })
  }

  /** @param date time of the provider, in milliseconds since the epoch; NaN where its answer does not tell it */
  #learn({ iat, iss, tid }: Readonly<Record<string, unknown>>, date: number): void {
    if (typeof iat === 'number') this.client[clockSkew] = this.#skewOf(iat, date)
    if (typeof iss !== 'string') return
    // A provider with one issuer for all tenants names the user's tenant in its ID tokens. Of an uncertain issuer, the
    // first one received counts, until the user signs out.
    this.server.issuer = this.#issuer?.replace(TENANT, () => String(tid)) ?? this.#pinnedIssuer ?? iss
  }

  /**
   * How far the clock of this device is behind that of the provider, in seconds: by the new ID token, which no more than a
   * day may explain, otherwise by the provider's own time.
   */
  #skewOf(iat: number, date: number): number {
    // biome-ignore lint/plugin: the OAuth library reads the system's clock
    const now = Date.now()
    const isNear = (time: number) => Math.abs(iat - time / 1000) <= ID_TOKEN_LIMIT_SECONDS
    const isTrusted = isNear(now) || isNear(this.#environment.clock.now())
    if (!isTrusted && !isNear(date))
      throw failed('the new ID token is more than a day away from the clock of this device. Check the clock')
    return Math.round(isTrusted ? iat - now / 1000 : (date - now) / 1000)
  }
}

function failed(problem: string, cause?: unknown): AuthError {
  return new AuthError(`Could not obtain the tokens of the login: ${problem}.`, 'token_request_failed', { cause })
}

function missing(endpoint: string): AuthError {
  return new AuthError(`The OpenID configuration of the identity provider has no ${endpoint}.`, 'metadata_failed')
}
