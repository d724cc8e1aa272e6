import { AuthError } from '../../errors.ts'
import { resolveEnvironment } from '../../platform/default-environment.ts'
import type { Environment } from '../../platform/environment.ts'
import { Opaque } from '../../util/values.ts'
import {
  type AuthorizationRequest,
  createAuthorizationRequest,
  exchangeCode,
  exchangeRefreshToken,
  type Provider,
} from './code-flow.ts'
import type { DeploymentLogin } from './deployment-login.ts'
import { fetchOpenIdConfiguration, requireProviderAddress } from './openid-configuration.ts'
import type { IssuedTokens } from './signed-in-user.ts'

/** One request of a {@link CodeLogin}: the address to show, and the secrets that bind the answer to it. */
export interface CodeLoginRequest extends AuthorizationRequest {
  /** Where the provider sends its answer. */
  readonly redirectUri: string
}

/** Options of {@link CodeLogin.open}. */
export interface CodeLoginOptions {
  /** Ends the request for the provider's configuration. */
  signal?: AbortSignal | undefined
  /** The platform. @default the current one */
  environment?: Partial<Environment> | undefined
}

/**
 * The login of a deployment outside a page, as in a command: authorization code with PKCE, with the same checks as a login in a
 * page. The caller shows the address of a request, and passes on what the provider answers. Nothing is stored.
 */
export class CodeLogin extends Opaque {
  #provider: Provider

  private constructor(provider: Provider) {
    super()
    this.#provider = provider
  }

  /**
   * Prepares a login. Its endpoints are those of the deployment, its issuer the one that the provider publishes, if it
   * publishes any.
   *
   * @throws {AuthError} `metadata_failed` for an endpoint over plain http on another machine, for the issuer of another provider,
   *   and when the provider cannot be reached or fails
   */
  static async open(login: DeploymentLogin, { signal, environment }: CodeLoginOptions = {}): Promise<CodeLogin> {
    const platform = resolveEnvironment(environment)
    const { authority, host, issuer, authorizationEndpoint, tokenEndpoint } = login
    for (const endpoint of [authorizationEndpoint, tokenEndpoint])
      requireProviderAddress(endpoint, { knownAuthorities: [] }, 'An endpoint of the login', 'metadata_failed')
    const provider = { environment: platform, authority, config: { knownAuthorities: [host] } }
    const published = await fetchOpenIdConfiguration(provider, signal).catch((error: unknown) => {
      signal?.throwIfAborted()
      const hasNone = error instanceof AuthError && error.status !== undefined && error.status < 500
      if (!hasNone) throw error
    })
    const endpoints = { authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint }
    const configuration = { ...(published ?? { issuer, isPublished: false }), ...endpoints }
    return new CodeLogin({ config: { ...login, redirectUri: '' }, authority, environment: platform, configuration })
  }

  /** Creates a request. Show its address to the user. */
  async createRequest(redirectUri: string): Promise<CodeLoginRequest> {
    return { ...(await createAuthorizationRequest(this.#providerOf(redirectUri), {})), redirectUri }
  }

  /**
   * Exchanges the code of an answer for tokens.
   *
   * @param answer parameters that the provider sent to the redirect address
   * @throws {AuthError} `token_request_failed` for a redirect, and for an ID token that is missing or more than a day away from the
   *   clock; otherwise the error of the request or of its answer. Its fields may hold tokens: report no more than its codes.
   */
  async redeem(answer: URLSearchParams, request: CodeLoginRequest, signal: AbortSignal): Promise<IssuedTokens> {
    const provider = this.#providerOf(request.redirectUri)
    const tokens = await exchangeCode(provider, `${request.redirectUri}?${answer}`, request, signal)
    if (tokens.idToken === undefined)
      throw new AuthError('The identity provider issued no ID token, which names the user.', 'token_request_failed')
    this.#provider = { ...this.#provider, pinnedIssuer: tokens.issuer }
    return tokens
  }

  /**
   * Exchanges a refresh token for tokens.
   *
   * @throws as {@link redeem} does
   */
  renew(refreshToken: string, signal: AbortSignal): Promise<IssuedTokens> {
    return exchangeRefreshToken(this.#provider, refreshToken, signal)
  }

  #providerOf(redirectUri: string): Provider {
    return { ...this.#provider, config: { ...this.#provider.config, redirectUri } }
  }
}
