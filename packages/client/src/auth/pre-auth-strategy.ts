import { AuthError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import { renewalTime } from './access-token.ts'
import type { AuthStrategyInitializeOptions, PreAuthConfig, TokenSource } from './auth-strategy.ts'
import { ClockSkew } from './clock-skew.ts'
import { describeFailure } from './host-call.ts'
import { tokenIn } from './token-request.ts'

/** An access token supplied by the host; renewed by the host's function, if there is one. */
export class PreAuthStrategy implements TokenSource {
  /** True with `refreshTokenFn`. */
  readonly autoRenews: boolean
  /** The configured token. */
  readonly expiryBufferMs: number | undefined
  readonly #clock: Clock
  readonly #config: PreAuthConfig
  readonly #skew = new ClockSkew()
  #token: string
  /** When `refreshTokenFn` returned it. The age of any other token is unknown, so it may expire soon. */
  #obtainedAt = Number.NEGATIVE_INFINITY
  #postAuthentication: AuthStrategyInitializeOptions['postAuthentication']

  constructor(config: PreAuthConfig, clock: Clock = defaultEnvironment().clock) {
    this.#config = config
    this.#clock = clock
    this.#token = config.accessToken
    this.autoRenews = config.refreshTokenFn !== undefined
    this.expiryBufferMs = config.expiryBufferMs
  }

  get expiresAt(): number | undefined {
    return this.#skew.expiryOf(this.#token, this.#clock.now())
  }

  /** @throws {AuthError} `token_missing` when the token is blank */
  initialize({ postAuthentication }: AuthStrategyInitializeOptions): void {
    if (!tokenIn(this.#token)) {
      throw new AuthError('The pre-auth token is empty. Pass it as auth.accessToken.', 'token_missing')
    }
    this.#postAuthentication = postAuthentication
  }

  async authenticate(): Promise<void> {
    const accessToken = await this.getToken()
    await this.#postAuthentication?.({ accessToken })
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
  updateToken(token: string): void {
    this.#token = token
    this.#obtainedAt = Number.NEGATIVE_INFINITY
  }
}
