import { AuthError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { atTime } from '../platform/clock.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { expiryOf, renewalTime } from './access-token.ts'
import {
  ACCESS_TOKEN_REFRESH_BUFFER_MS,
  type AnonymousAuthCacheConfig,
  type AuthenticationInput,
  type AuthenticationType,
  type AuthStrategy,
  type AuthStrategyInitializeOptions,
  type PKCEAuthConfig,
  type PostAuthenticationCallback,
  type TokenExpiringCallback,
} from './auth-strategy.ts'
import { chooseStrategy, type StrategyParts } from './choose-strategy.ts'

/** What an {@link AuthenticationService} takes from its surroundings. */
export interface AuthenticationServiceOptions {
  /** Parts of the platform to replace. */
  environment?: Partial<Environment> | undefined
  /** Hears of what is worth telling. @default nobody */
  logger?: Logger | undefined
  /** Where the anonymous token is kept unless the input says so itself. @default the tab's store */
  cache?: AnonymousAuthCacheConfig | undefined
}

/**
 * Owns the active strategy, the current token, and the one timer that tells of its expiry.
 *
 * Requests for a token at the same time share one, and while a forced refresh is under way everyone waits for its outcome.
 */
export class AuthenticationService {
  readonly #environment: Environment
  readonly #logger: Logger | undefined
  readonly #parts: StrategyParts
  #strategy: AuthStrategy
  #type: AuthenticationType
  /** Gives tokens in place of a login until somebody signs in. */
  #standIn: AuthStrategy | undefined
  #initialized = false
  #postAuthentication: PostAuthenticationCallback | undefined
  #onExpiring: TokenExpiringCallback | undefined

  #token: string | null = null
  /** Until when a token that the host gave to a strategy with tokens of its own stands in for those. */
  #borrowedUntil = Number.NEGATIVE_INFINITY
  #announced: string | null = null
  /** When the token is told to be about to expire, and when it does. */
  #watched: { readonly moment: number; readonly expiresAt: number } | undefined
  #cancelTimer: () => void = () => {}
  /** Grows when the token is replaced from outside, dropped, or refused: an answer asked for before that does not count. */
  #epoch = 0
  /** Grows with every drop: what a sign-in begun before it brings is not wanted any more. */
  #drops = 0
  #obtaining: Promise<string> | undefined
  #refreshing: Promise<string> | undefined

  /** @throws {AuthError} `invalid_input` when the input is none of the known forms */
  constructor(input?: AuthenticationInput | null, options: AuthenticationServiceOptions = {}) {
    this.#environment = resolveEnvironment(options.environment)
    this.#logger = options.logger
    this.#parts = { environment: this.#environment, logger: options.logger, cache: options.cache }
    const { strategy, type } = chooseStrategy(input, this.#parts)
    this.#strategy = strategy
    this.#type = type
    strategy.setTokenExpiringCallback?.(({ expiresAt }) => this.#announce(expiresAt))
  }

  /** Prepares the strategy. A second call replaces the callback and, for an anonymous one, deployment and scopes. */
  async initialize(options: AuthStrategyInitializeOptions): Promise<void> {
    this.#postAuthentication = options.postAuthentication ?? this.#postAuthentication
    // A strategy of the host's is not made for being initialized twice.
    if (this.#initialized && this.#type !== 'anonymous') return
    const drops = this.#drops
    await this.#strategy.initialize({
      ...options,
      postAuthentication: async result => {
        if (drops !== this.#drops) return
        if (this.#standIn) this.#forget()
        this.#standIn = undefined
        this.#adopt(result.accessToken)
        await this.#postAuthentication?.(result)
      },
    })
    // Signed out or exchanged meanwhile: then it is to be initialized again.
    if (drops === this.#drops) this.#initialized = true
  }

  /** Runs the strategy's sign-in, which may involve a person: a popup opens before anything is awaited. */
  async authenticate(): Promise<void> {
    this.#requireInitialized()
    await this.#strategy.authenticate()
  }

  /**
   * Exchanges the anonymous strategy for a login, which has to be initialized and authenticated then. The anonymous token
   * stays in its store; this service has none until the login brings one.
   *
   * @returns false, and nothing has changed, for any other strategy than the anonymous one
   * @throws {AuthError} `browser_unsupported` outside a browser
   */
  async switchStrategyTo(
    config: PKCEAuthConfig,
    postAuthentication?: PostAuthenticationCallback | undefined,
  ): Promise<boolean> {
    if (this.#type !== 'anonymous') return false
    const { strategy, type } = chooseStrategy({ type: 'pkce', config }, this.#parts)
    await this.#strategy.cleanup?.()
    this.#drop()
    this.#strategy = strategy
    this.#type = type
    this.#postAuthentication = postAuthentication
    return true
  }

  /**
   * Lets an anonymous token stand in for that of a login until `authenticate()`: it is enough to learn what the agent is,
   * and to talk to one that does not ask who talks to it. Does nothing where there is a session, or no login.
   */
  async standInForLogin(options: AuthStrategyInitializeOptions): Promise<void> {
    if (this.hasSession() || this.#standIn) return
    const { strategy } = chooseStrategy(undefined, this.#parts)
    await strategy.initialize(options)
    this.#standIn = strategy
  }

  /** Whether tokens can be had without somebody signing in first: false for a login before it. */
  hasSession(): boolean {
    return this.#strategy.hasSession ?? true
  }

  /**
   * A token that can be used now.
   *
   * @throws {AuthError} `token_missing` when there is none, and before `initialize()`
   */
  async getToken(): Promise<string> {
    this.#requireInitialized()
    if (this.#refreshing) return this.#refreshing
    if (this.#token !== null && this.#environment.clock.now() < this.#borrowedUntil) return this.#token
    this.#obtaining ??= this.#obtain(() => this.#active.getToken(), false).finally(() => {
      this.#obtaining = undefined
    })
    return this.#obtaining
  }

  /** The last token, without a look at its age. */
  getCachedToken(): string | null {
    return this.#token
  }

  /**
   * Gets a new token although the present one may still be good. A strategy that cannot renew brings the same one again.
   *
   * @throws {AuthError} when none can be had
   */
  async refresh(): Promise<string> {
    this.#requireInitialized()
    if (this.#refreshing) return this.#refreshing
    const strategy = this.#active
    this.#epoch++
    const ask = () => (strategy.refresh ? strategy.refresh() : strategy.getToken())
    this.#refreshing = this.#obtain(ask, true).finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /**
   * Takes a token that the host got elsewhere. Strategies with tokens of their own use it until it is about to expire.
   *
   * @throws {AuthError} `invalid_input` when it is blank
   */
  async updateToken(token: string): Promise<void> {
    if (typeof token !== 'string' || !token.trim()) throw new AuthError('The access token is empty.', 'invalid_input')
    this.#epoch++
    if (!this.#strategy.updateToken) {
      const expiresAt = expiryOf(token)
      const now = this.#environment.clock.now()
      this.#borrowedUntil = expiresAt === undefined ? Number.POSITIVE_INFINITY : renewalTime(expiresAt, now)
    }
    this.#adopt(token)
    await this.#strategy.updateToken?.(token)
  }

  /** Sets what the token must be good for. Strategies whose tokens come from the host pay no attention. */
  async updateScopes(scopes: readonly string[]): Promise<void> {
    await this.#active.updateScopes?.(scopes)
  }

  /** Hears once per token that it is about to expire: five minutes before, or at once when less is left. */
  setTokenExpiringCallback(callback: TokenExpiringCallback): void {
    this.#onExpiring = callback
  }

  /**
   * Looks at the clock, since timers stand still while a laptop sleeps or a page is frozen. Done whenever the page or the
   * network comes back; to be called before a connection attempt too.
   */
  checkExpiry(): void {
    const watched = this.#watched
    if (!watched || this.#environment.clock.now() < watched.moment) return
    this.#unwatch()
    void this.#expiring(watched.expiresAt)
  }

  /** Ends the strategy's session where it has one, and drops the token in any case. `initialize()` may follow. */
  async logout(): Promise<void> {
    this.#drop()
    await this.#strategy.logout?.()
  }

  /** Releases the timer and what the strategy holds. */
  async cleanup(): Promise<void> {
    this.#drop()
    await this.#strategy.cleanup?.()
  }

  /** Which way to get tokens is in use. */
  getAuthenticationType(): AuthenticationType {
    return this.#type
  }

  /** Whether {@link initialize} has completed. */
  getIsInitialized(): boolean {
    return this.#initialized
  }

  /** The strategy in use. */
  getStrategy(): AuthStrategy {
    return this.#strategy
  }

  /** Whether tokens are those for anyone. */
  isAnonymousStrategy(): boolean {
    return this.#type === 'anonymous'
  }

  /** Whether tokens come from a login. */
  isPKCEStrategy(): boolean {
    return this.#type === 'pkce'
  }

  async #obtain(ask: () => ReturnType<AuthStrategy['getToken']>, forced: boolean): Promise<string> {
    const epoch = this.#epoch
    const token = await ask()
    // While we waited the host may have brought a token or signed out, or a forced refresh may have begun.
    if (epoch !== this.#epoch) {
      if (this.#refreshing && !forced) return this.#refreshing
      if (this.#token !== null) return this.#token
      throw new AuthError('The token was dropped while it was asked for.', 'token_missing')
    }
    if (!token?.trim()) throw new AuthError('The authentication brought no access token.', 'token_missing')
    this.#borrowedUntil = Number.NEGATIVE_INFINITY
    this.#adopt(token)
    return token
  }

  #adopt(token: string): void {
    if (token === this.#token) return
    this.#token = token
    this.#unwatch()
    const expiresAt = expiryOf(token)
    if (expiresAt === undefined) return
    // A host's function that brings expired tokens is not asked again and again.
    if (expiresAt <= this.#environment.clock.now()) return this.#announce(expiresAt)
    this.#watch(expiresAt - (this.#strategy.expiryBufferMs ?? ACCESS_TOKEN_REFRESH_BUFFER_MS), expiresAt)
  }

  #watch(moment: number, expiresAt: number): void {
    const { clock, page } = this.#environment
    const look = () => this.checkExpiry()
    const cancelTimer = atTime(clock, moment, look)
    const stopListening = page?.onReturn(look)
    this.#watched = { moment, expiresAt }
    this.#cancelTimer = () => {
      cancelTimer()
      stopListening?.()
    }
  }

  #unwatch(): void {
    this.#watched = undefined
    this.#cancelTimer()
  }

  /** A strategy that renews by itself gets the first try; the host hears of a token that nobody replaces. */
  async #expiring(expiresAt: number): Promise<void> {
    if (!this.#strategy.renewsUnasked) return this.#announce(expiresAt)
    const token = this.#token
    try {
      await this.getToken()
      // A fresh token with a short life is kept until it expires.
      if (token === this.#token && this.#environment.clock.now() < expiresAt) this.#watch(expiresAt, expiresAt)
    } catch (error) {
      this.#logger?.warn('The access token could not be renewed.', {
        reason: error instanceof AuthError ? error.reason : undefined,
      })
      if (token === this.#token) this.#announce(expiresAt)
    }
  }

  #announce(expiresAt: number): void {
    if (this.#token === null || this.#announced === this.#token) return
    this.#announced = this.#token
    this.#onExpiring?.({ expiresAt })
  }

  /** Where tokens come from at present. */
  get #active(): AuthStrategy {
    return this.#standIn ?? this.#strategy
  }

  #forget(): void {
    this.#epoch++
    this.#token = null
    this.#borrowedUntil = Number.NEGATIVE_INFINITY
    this.#unwatch()
  }

  #drop(): void {
    this.#forget()
    this.#drops++
    this.#standIn = undefined
    this.#initialized = false
  }

  #requireInitialized(): void {
    if (this.#initialized) return
    throw new AuthError('There is no access token before initialize().', 'token_missing')
  }
}
