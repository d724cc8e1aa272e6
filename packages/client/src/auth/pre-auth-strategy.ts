import { AuthError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import { ClockSkew, renewalTime } from './access-token.ts'
import type { AuthStrategyInitializeOptions, PreAuthConfig } from './auth-strategy.ts'
import { describeFailure } from './host-call.ts'
import { OwnStrategy } from './own-strategy.ts'
import { tokenIn } from './token-request.ts'

/** An access token supplied by the host; renewed by the host's function, if there is one. */
export class PreAuthStrategy extends OwnStrategy {
  readonly authenticationType = 'pre-auth'
  readonly #clock: Clock
  readonly #config: PreAuthConfig
  readonly #skew: ClockSkew
  #token: string
  /** When `refreshTokenFn` returned it. The age of any other token is unknown, so it may expire soon. */
  #obtainedAt = Number.NEGATIVE_INFINITY

  constructor(config: PreAuthConfig, clock: Clock = defaultEnvironment().clock) {
    super()
    this.#config = config
    this.#clock = clock
    this.#skew = new ClockSkew(clock)
    this.#token = config.accessToken
  }

  /** True with `refreshTokenFn`. */
  override get autoRenews(): boolean {
    return this.#config.refreshTokenFn !== undefined
  }

  override get acceptsTokens(): boolean {
    return true
  }

  override get expiryBufferMs(): number | undefined {
    return this.#config.expiryBufferMs
  }

  override get expiresAt(): number | undefined {
    return this.#skew.expiryOf(this.#token)
  }

  /** @throws {AuthError} `token_missing` when the token is blank */
  override initialize(options: AuthStrategyInitializeOptions): void {
    if (!tokenIn(this.#token)) {
      throw new AuthError('The pre-auth token is empty. Pass it as auth.accessToken.', 'token_missing')
    }
    this.given = options
  }

  /** The token; a renewed one if it is about to expire and can be renewed. */
  async getToken(): Promise<string> {
    const { expiresAt } = this
    if (expiresAt === undefined || !this.autoRenews) return this.#token
    const replaceAt = renewalTime(expiresAt, this.#obtainedAt, this.#config.expiryBufferMs)
    return this.#clock.now() < replaceAt ? this.#token : this.refresh()
  }

  /**
   * Calls the host's function for a new token; without one, returns the current token.
   *
   * @throws {AuthError} `token_request_failed` when the host's function fails or returns no token
   */
  async refresh(): Promise<string> {
    if (!this.#config.refreshTokenFn) return this.#token
    let token: string
    try {
      token = tokenIn(await this.#config.refreshTokenFn())
    } catch (cause) {
      throw new AuthError(`refreshTokenFn failed: ${describeFailure(cause)}.`, 'token_request_failed', { cause })
    }
    if (!token) throw new AuthError('refreshTokenFn returned no token.', 'token_request_failed')
    this.#token = token
    this.#obtainedAt = this.#clock.now()
    return token
  }

  /** Replaces the token. */
  override updateToken(token: string): void {
    this.#token = token
    this.#obtainedAt = Number.NEGATIVE_INFINITY
  }
}
