import { AuthError } from '../errors.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { ClockTime, expiryOfFresh, renewalTime } from './access-token.ts'
import type { ClientCredentialsAuthConfig } from './auth-strategy.ts'
import { OwnStrategy } from './own-strategy.ts'
import { requestToken, requireCredentials } from './token-request.ts'

interface HeldToken {
  readonly accessToken: string
  /** Undefined where it is unknown: the token is used until the service rejects it. */
  readonly expiry: ClockTime | undefined
  /** When to renew it. */
  readonly renewal: ClockTime | undefined
}

/**
 * A token for a program that talks to the agent under its own identity: a client-credentials grant with the host's id
 * and secret. The token stays in memory and is replaced five minutes before it expires.
 */
export class ClientCredentialsAuthStrategy extends OwnStrategy {
  readonly authenticationType = 'client-credentials'
  readonly #environment: Environment
  readonly #config: ClientCredentialsAuthConfig
  #held: HeldToken | undefined
  readonly #renewal = new JoinedTask<string>()

  /** @throws {AuthError} as {@link requireCredentials} */
  constructor(config: ClientCredentialsAuthConfig, environment: Environment = defaultEnvironment()) {
    super()
    requireCredentials(config, environment)
    this.#config = { ...config, scopes: [...(config.scopes ?? [])] }
    this.#environment = environment
  }

  override get expiresAt(): number | undefined {
    return this.#held?.expiry?.at
  }

  /** The token if it is valid for five more minutes, otherwise a new one. */
  async getToken(): Promise<string> {
    const held = this.#held
    return held && !held.renewal?.isPast ? held.accessToken : this.refresh()
  }

  /** @throws {AuthError} `token_request_failed` */
  async refresh(): Promise<string> {
    return this.#renewal.join(signal => this.#request(signal))
  }

  /** Drops the token. */
  override logout(): void {
    this.cleanup()
    this.#held = undefined
  }

  /** Ends the request in flight. */
  override cleanup(): void {
    this.#renewal.abort(new AuthError('The token request was ended by cleanup().', 'token_missing'))
  }

  /** Host of the token endpoint. */
  override getDomain(): string | undefined {
    return URL.canParse(this.#config.tokenUrl) ? new URL(this.#config.tokenUrl).host : undefined
  }

  async #request(signal: AbortSignal): Promise<string> {
    const { tokenUrl, clientId: id, clientSecret: secret, scopes = [] } = this.#config
    const request = { tokenUrl, scopes, client: { id, secret } }
    const { accessToken, expiresIn } = await requestToken(this.#environment, request, this.given, signal)
    signal.throwIfAborted()
    const { clock } = this.#environment
    const now = clock.now()
    const expiresAt = expiryOfFresh(accessToken, now, expiresIn)
    const renewAt = expiresAt === undefined ? undefined : renewalTime(expiresAt, now)
    this.#held = { accessToken, expiry: ClockTime.of(clock, expiresAt), renewal: ClockTime.of(clock, renewAt) }
    return accessToken
  }
}
