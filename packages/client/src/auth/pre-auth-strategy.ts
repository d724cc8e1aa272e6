import { AuthError } from '../errors.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Clock } from '../platform/environment.ts'
import { Era } from '../util/era.ts'
import { tokenIn, whyNoToken } from '../util/jwt.ts'
import { ClockSkew } from './access-token.ts'
import {
  ACCESS_TOKEN_REFRESH_BUFFER_MS,
  type AuthStrategyInitializeOptions,
  type PreAuthConfig,
} from './auth-strategy.ts'
import { describeFailure } from './host-call.ts'
import { OwnStrategy } from './own-strategy.ts'

/** An access token supplied by the host; renewed by the host's function, if there is one. */
export class PreAuthStrategy extends OwnStrategy {
  readonly authenticationType = 'pre-auth'
  readonly #clock: Clock
  readonly #config: PreAuthConfig
  /** The expiry is read as soon as a token arrives: read after it, a token looks like a new one from a clock that is ahead. */
  readonly #skew: ClockSkew
  #token: string
  /** Whether the whole life of the token is shorter than the time before an expiry: it is used until it expires. */
  #isShort = false
  /** Ended by a newer token, and by a newer call of `refreshTokenFn`: what an earlier call still returns is not used. */
  #era = new Era()

  constructor(config: PreAuthConfig, clock: Clock = defaultEnvironment().clock) {
    super()
    this.#config = config
    this.#clock = clock
    this.#skew = new ClockSkew(clock)
    this.#token = config.accessToken
    this.#skew.expiryOf(this.#token)
  }

  /** True with `refreshTokenFn`. */
  override get autoRenews(): boolean {
    return this.#config.refreshTokenFn !== undefined
  }

  override get acceptsTokens(): boolean {
    return true
  }

  override get expiryBufferMs(): number {
    return this.#config.expiryBufferMs ?? ACCESS_TOKEN_REFRESH_BUFFER_MS
  }

  override get expiresAt(): number | undefined {
    return this.#skew.expiryOf(this.#token)
  }

  /** @throws {AuthError} `token_missing` when the token is blank */
  override initialize(options: AuthStrategyInitializeOptions): void {
    if (!tokenIn(this.#token)) {
      const problem = whyNoToken(this.#token)
      throw new AuthError(`The pre-auth token ${problem}. Pass it as auth.accessToken.`, 'token_missing')
    }
    this.given = options
  }

  /** The token; a renewed one if it is about to expire and can be renewed. */
  async getToken(): Promise<string> {
    const { expiresAt } = this
    if (expiresAt === undefined || !this.autoRenews) return this.#token
    const replaceAt = this.#isShort ? expiresAt : expiresAt - this.expiryBufferMs
    return this.#clock.now() < replaceAt ? this.#token : this.refresh()
  }

  /**
   * Calls the host's function for a new token; without one, returns the current token.
   *
   * @throws {AuthError} `token_request_failed` when the host's function fails or returns no token
   */
  async refresh(): Promise<string> {
    if (!this.#config.refreshTokenFn) return this.#token
    const era = (this.#era = this.#era.end())
    let given: unknown
    try {
      given = await this.#config.refreshTokenFn()
    } catch (cause) {
      throw new AuthError(`refreshTokenFn failed: ${describeFailure(cause)}.`, 'token_request_failed', { cause })
    }
    const token = tokenIn(given)
    if (!token) throw new AuthError(`The token of refreshTokenFn ${whyNoToken(given)}.`, 'token_request_failed')
    if (era.isOver) return token
    this.#token = token
    this.#isShort = (this.expiresAt ?? Infinity) - this.#clock.now() <= this.expiryBufferMs
    return token
  }

  /** Replaces the token. */
  override updateToken(token: string): void {
    this.#era = this.#era.end()
    this.#token = token
    this.#skew.expiryOf(token)
    // Its age is unknown, so it may expire soon.
    this.#isShort = false
  }
}
