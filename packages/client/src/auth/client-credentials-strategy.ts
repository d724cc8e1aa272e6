import { AuthError } from '../errors.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { expiryOfFresh, renewalTime } from './access-token.ts'
import type { AuthStrategyInitializeOptions, ClientCredentialsAuthConfig, TokenSource } from './auth-strategy.ts'
import { checkClientCredentials } from './check-auth.ts'
import { Renewal } from './renewal.ts'
import { mayUseHttp, requestToken } from './token-request.ts'

interface HeldToken {
  readonly accessToken: string
  /** By the clock of this device, in milliseconds since the epoch. */
  readonly expiresAt: number | undefined
  /** When to renew it, in milliseconds since the epoch. */
  readonly replaceAt: number
}

/**
 * A token for a program that talks to the agent under its own identity: a client-credentials grant with the host's id
 * and secret. The token stays in memory and is replaced five minutes before it expires.
 */
export class ClientCredentialsAuthStrategy implements TokenSource {
  readonly #environment: Environment
  readonly #config: ClientCredentialsAuthConfig
  #held: HeldToken | undefined
  readonly #renewal: Renewal
  #allowHttp = false
  #postAuthentication: AuthStrategyInitializeOptions['postAuthentication']
  #onRateLimited: AuthStrategyInitializeOptions['onRateLimited']

  /**
   * @throws {AuthError} `invalid_input` when address, id or secret is missing; `not_supported` in a browser, unless
   *   `allowInBrowser` permits that everyone can read the secret
   */
  constructor(config: ClientCredentialsAuthConfig, environment: Environment = defaultEnvironment()) {
    checkClientCredentials(config, environment.page !== undefined)
    this.#config = { ...config, scopes: [...(config.scopes ?? [])] }
    this.#environment = environment
    this.#renewal = new Renewal(environment.clock)
  }

  get expiresAt(): number | undefined {
    return this.#held?.expiresAt
  }

  initialize({ deploymentInfo, endpoint, postAuthentication, onRateLimited }: AuthStrategyInitializeOptions): void {
    this.#allowHttp = mayUseHttp(deploymentInfo.apiDomain, endpoint)
    this.#postAuthentication = postAuthentication
    this.#onRateLimited = onRateLimited
  }

  /** Obtains a token without user interaction. */
  async authenticate(): Promise<void> {
    const accessToken = await this.getToken()
    await this.#postAuthentication?.({ accessToken })
  }

  /** The token if it is valid for five more minutes, otherwise a new one. */
  async getToken(): Promise<string> {
    const held = this.#held
    return held && this.#environment.clock.now() < held.replaceAt ? held.accessToken : this.refresh()
  }

  /** @throws {AuthError} `token_request_failed` */
  async refresh(): Promise<string> {
    return this.#renewal.join('forced', signal => this.#request(signal))
  }

  /** Drops the token. */
  logout(): void {
    this.#renewal.end(new AuthError('The token request was ended by logout().', 'token_missing'))
    this.#held = undefined
  }

  /** Host of the token endpoint. */
  getDomain(): string | undefined {
    return URL.canParse(this.#config.tokenUrl) ? new URL(this.#config.tokenUrl).host : undefined
  }

  async #request(signal: AbortSignal): Promise<string> {
    const { tokenUrl, clientId, clientSecret, scopes = [] } = this.#config
    const { accessToken, expiresIn } = await requestToken(
      this.#environment,
      {
        tokenUrl,
        clientId,
        clientSecret,
        scopes,
        allowHttp: this.#allowHttp,
        onRateLimited: this.#onRateLimited,
      },
      signal,
    )
    const now = this.#environment.clock.now()
    const expiresAt = expiryOfFresh(accessToken, now, expiresIn)
    // A token without a known expiry is used until the service rejects it.
    const replaceAt = expiresAt === undefined ? Number.POSITIVE_INFINITY : renewalTime(expiresAt, now)
    signal.throwIfAborted()
    this.#held = { accessToken, expiresAt, replaceAt }
    return accessToken
  }
}
