import { restBase } from '@aiagent/protocol'
import { AuthError } from '../errors.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { expiryOf, renewalTime } from './access-token.ts'
import type { AuthStrategy, AuthStrategyInitializeOptions, ClientCredentialsAuthConfig } from './auth-strategy.ts'

interface HeldToken {
  readonly accessToken: string
  /** When the next one is due, in milliseconds since the epoch. */
  readonly replaceAt: number
}

/**
 * A token for a program that talks to the agent on its own behalf: a client-credentials grant with the host's id and
 * secret. The token stays in memory and is replaced five minutes before it expires.
 */
export class ClientCredentialsAuthStrategy implements AuthStrategy {
  readonly #environment: Environment
  readonly #config: ClientCredentialsAuthConfig
  #held: HeldToken | undefined
  #requesting: Promise<string> | undefined
  #allowHttp = false
  #postAuthentication: AuthStrategyInitializeOptions['postAuthentication']

  /**
   * @throws {AuthError} `invalid_input` when address, id or secret is missing; `not_supported` in a page, unless
   *   `allowInBrowser` says that the secret may be read by everyone
   */
  constructor(config: ClientCredentialsAuthConfig, environment: Environment = defaultEnvironment()) {
    for (const field of ['tokenUrl', 'clientId', 'clientSecret'] as const) {
      if (typeof config?.[field] !== 'string' || !config[field].trim())
        throw new AuthError(`auth.config.${field} is missing. Client credentials need it.`, 'invalid_input')
    }
    if (environment.page && !config.allowInBrowser)
      throw new AuthError(
        'Client credentials are not for pages: everyone could read the secret. Use another auth, or set allowInBrowser.',
        'not_supported',
      )
    this.#config = { ...config, scopes: [...(config.scopes ?? [])] }
    this.#environment = environment
  }

  initialize({ deploymentInfo, postAuthentication }: AuthStrategyInitializeOptions): void {
    // A deployment that the host itself reaches by plain http may have its token endpoint there too.
    this.#allowHttp = restBase(deploymentInfo.apiDomain).startsWith('http:')
    this.#postAuthentication = postAuthentication
  }

  /** Gets a token; there is nobody to ask. */
  async authenticate(): Promise<void> {
    const accessToken = await this.getToken()
    await this.#postAuthentication?.({ accessToken })
  }

  /** The token while it has five minutes to live, else a new one. */
  async getToken(): Promise<string> {
    const held = this.#held
    return held && this.#environment.clock.now() < held.replaceAt ? held.accessToken : this.refresh()
  }

  /** @throws {AuthError} `token_request_failed` */
  async refresh(): Promise<string> {
    this.#requesting ??= this.#request().finally(() => {
      this.#requesting = undefined
    })
    return this.#requesting
  }

  logout(): void {
    this.#held = undefined
  }

  /** Host of the token endpoint. */
  getDomain(): string | undefined {
    return URL.canParse(this.#config.tokenUrl) ? new URL(this.#config.tokenUrl).host : undefined
  }

  async #request(): Promise<string> {
    const { tokenUrl, clientId, clientSecret, scopes = [] } = this.#config
    // The OAuth library comes with it, which hosts with other ways to a token never need.
    const { requestToken } = await import('./token-request.ts')
    const { accessToken, expiresIn } = await requestToken(this.#environment, {
      tokenUrl,
      clientId,
      clientSecret,
      scopes,
      allowHttp: this.#allowHttp,
    })
    const now = this.#environment.clock.now()
    const expiresAt = expiryOf(accessToken) ?? (expiresIn === undefined ? undefined : now + expiresIn * 1000)
    // A token that tells no expiry by any means serves until the service refuses it.
    const replaceAt = expiresAt === undefined ? Number.POSITIVE_INFINITY : renewalTime(expiresAt, now)
    this.#held = { accessToken, replaceAt }
    return accessToken
  }
}
