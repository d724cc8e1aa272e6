import { AuthError, type SDKError } from '../errors.ts'
import { sleep } from '../platform/clock.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { feature } from '../platform/feature.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import { untilAborted } from '../util/abort.ts'
import { Era } from '../util/era.ts'
import { renewalTime } from './access-token.ts'
import { AnonymousAuthStrategy } from './anonymous-strategy.ts'
import type { AuthenticationInput } from './auth-input.ts'
import type {
  AnonymousAuthCacheConfig,
  AuthenticationType,
  AuthStrategy,
  AuthStrategyInitializeOptions,
  LogoutOptions,
  PKCEAuthConfig,
  PostAuthenticationCallback,
  TokenExpiringCallback,
} from './auth-strategy.ts'
import type { AuthenticationServiceInitializeOptions, AuthenticationServiceOptions } from './authentication-options.ts'
import { checkAuthInput, isStrategy } from './check-auth.ts'
import { CurrentToken } from './current-token.ts'
import { answerInTime, asAuthFailure, endedBy } from './host-call.ts'
import type { LoginSession } from './login/login.ts'
import type { PKCEAuthStrategy } from './login/pkce-strategy.ts'
import { isOwnStrategy, type OwnStrategy } from './own-strategy.ts'
import { RefreshSpacing, Renewal } from './renewal.ts'
import { rememberLogin, takeRememberedLogin, takeStoredLogin } from './stored-login.ts'
import { tokenIn } from './token-request.ts'

/** One period from `initialize()` to `logout()` or `cleanup()`, with the strategy in use. */
interface StrategyInUse {
  readonly type: AuthenticationType
  /** Undefined until its code is loaded. An anonymous one is there from the start. */
  readonly strategy: OwnStrategy | undefined
  /** An anonymous strategy that provides tokens until the user signs in. */
  readonly standIn?: OwnStrategy | undefined
  /** The anonymous strategy that was in use before the login. Logout removes its stored tokens. */
  readonly former?: OwnStrategy | undefined
  readonly isInitialized: boolean
}

/**
 * Owns the active strategy and the current token, and reports its expiry and its user.
 *
 * Every token passes through {@link Renewal}, one at a time, and its user is compared with that of the tokens before it.
 */
export class AuthenticationService {
  readonly #input: AuthenticationInput | undefined
  readonly #options: AuthenticationServiceOptions
  readonly #environment: Environment
  readonly #renewal: Renewal
  readonly #current: CurrentToken
  /** Created with the first forced refresh. */
  #spacing: RefreshSpacing | undefined
  #source: StrategyInUse
  /** The strategy whose code is loading. */
  #loading: Promise<OwnStrategy> | undefined
  /** Ended by `logout()`, `cleanup()` and a strategy switch: earlier results must be discarded. */
  #era = new Era()
  /** The sign-in in progress. */
  #signIn: { isComplete: boolean } | undefined
  /** Whether the last call that could ask the user was aborted: the request in flight must not ask any more. */
  #isCancelled = false
  #postAuthentication: PostAuthenticationCallback | undefined

  /**
   * The code of a method other than `anonymous` starts to load.
   *
   * @throws {AuthError} `invalid_input` when the input has an unsupported shape
   */
  constructor(input?: AuthenticationInput | null, options: AuthenticationServiceOptions = {}) {
    this.#options = options
    this.#environment = resolveEnvironment(options.environment)
    this.#renewal = new Renewal(this.#environment.clock)
    this.#current = new CurrentToken(this.#environment, options, expiresAt => void this.#onExpiring(expiresAt))
    if (input === undefined || input === null) {
      this.#source = { type: 'anonymous', strategy: this.#createAnonymous(options.cache), isInitialized: false }
      return
    }
    checkAuthInput(input, this.#environment.page !== undefined)
    this.#input = input
    const strategy = this.#present(input)
    this.#source = { type: typeOf(input), strategy, isInitialized: false }
    if (strategy) this.#attach(strategy)
    // A failure is reported by initialize(), which tries again.
    else this.#load().catch(() => {})
  }

  /**
   * Prepares the strategy. A second call replaces the callback and, for an anonymous strategy, deployment and scopes.
   *
   * @throws {AuthError} when the strategy fails or does not answer within 30 seconds
   */
  async initialize(options: AuthenticationServiceInitializeOptions): Promise<void> {
    this.#postAuthentication = options.postAuthentication ?? this.#postAuthentication
    const { strategy, type, isInitialized } = this.#source
    // A host's strategy may not support a second call.
    if (isInitialized && type !== 'anonymous') return
    const given = { ...options, postAuthentication: this.#authenticatedCallback(this.#era) }
    const loaded = strategy ?? this.#load()
    await this.#callInEra('initialize()', () =>
      loaded instanceof Promise ? loaded.then(each => each.initialize(given)) : loaded.initialize(given),
    )
    this.#source = { ...this.#source, isInitialized: true }
  }

  /** What a strategy calls after each sign-in. Separate, since the strategy keeps it, with all that it encloses. */
  #authenticatedCallback(era: Era) {
    return async () => {
      if (era.isOver) return
      // A strategy may wait for this call before it returns a token.
      if (this.#signIn) this.#signIn.isComplete = true
      else await this.#onAuthenticated()
    }
  }

  /**
   * Runs the strategy's sign-in, which may involve the user: a popup opens before the first await. It has no time limit
   * and ends with `logout()`, `cleanup()` or the signal.
   *
   * @throws {AuthError} `token_missing` when one of these ended it
   */
  async authenticate({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    this.#requireInitialized()
    const signIn = (this.#signIn ??= { isComplete: false })
    const strategy = this.#strategy
    const era = this.#era
    try {
      const work = new Promise<void>(resolve => resolve(strategy.authenticate()))
      await era.during(() => work, signal)
    } catch (error) {
      throw signal?.aborted && !era.isOver ? endedBy('the signal of the call', error) : asAuthFailure(error)
    } finally {
      if (this.#signIn === signIn) this.#signIn = undefined
    }
    if (signIn.isComplete) await this.#onAuthenticated()
  }

  /**
   * Replaces the anonymous strategy by a login, which must be initialized and authenticated afterwards. The anonymous
   * token stays in its store; this service has no token until the login provides one.
   *
   * @returns false, without an effect, for any strategy except the anonymous one
   * @throws {AuthError} `browser_unsupported` outside a browser
   */
  async switchStrategyTo(
    config: PKCEAuthConfig,
    postAuthentication?: PostAuthenticationCallback | undefined,
  ): Promise<boolean> {
    const { type, strategy: previous } = this.#source
    if (type !== 'anonymous') return false
    const strategy = await this.#era.during(() => this.#createLogin(config))
    this.#drop(endedBy('the exchange of the strategy'))
    this.#attach(strategy)
    this.#source = { type: 'pkce', strategy, former: previous, isInitialized: false }
    rememberLogin(this.#environment, this.#options.endpoint, config)
    this.#postAuthentication = postAuthentication
    await previous?.cleanup()
    return true
  }

  /**
   * Uses an anonymous token instead of a login token until `authenticate()`. It suffices to load the agent's details
   * and to chat with an agent that does not require a signed-in user. Has no effect with a session, or without a login.
   */
  async standInForLogin(options: AuthStrategyInitializeOptions): Promise<void> {
    if (this.hasSession() || this.#source.standIn) return
    const standIn = this.#createAnonymous(this.#options.cache)
    standIn.initialize(options)
    this.#source = { ...this.#source, standIn }
  }

  /** Whether a token is available without user interaction. */
  hasSession(): boolean {
    const { strategy, type } = this.#source
    return strategy ? strategy.hasSession : type !== 'pkce'
  }

  /**
   * A valid token.
   *
   * @throws {AuthError} `token_missing` before `initialize()`, when there is no token, and when it has expired and
   *   cannot be renewed
   */
  async getToken(): Promise<string> {
    this.#requireInitialized()
    const { supplied } = this.#current
    if (supplied !== undefined) return supplied
    const active = this.#active
    const mayAsk = () => !this.#isCancelled && this.#options.mayAsk?.() !== false
    const ask = () => active.getToken(mayAsk)
    return this.#renewal.join('ordinary', signal => {
      this.#isCancelled = false
      return this.#obtain(ask, signal)
    })
  }

  /**
   * Runs what may ask the user to sign in. The signal ends the wait for it. A sign-in in progress ends too, for all callers;
   * a silent renewal continues, and does not ask the user afterwards.
   *
   * @throws the signal's reason when it is aborted
   */
  async cancellable<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted()
    this.#isCancelled = false
    const cancel = () => {
      this.#isCancelled = true
      if (this.#source.strategy?.cancelLogin()) this.#renewal.end(endedBy('the signal of the call'))
    }
    signal?.addEventListener('abort', cancel)
    return untilAborted(work(), signal).finally(() => signal?.removeEventListener('abort', cancel))
  }

  /** The last token, whether or not it has expired. */
  getCachedToken(): string | null {
    return this.#current.value
  }

  /**
   * Obtains a new token even if the current one is still valid. A strategy that cannot renew returns the same one. More
   * than two calls within five seconds are delayed.
   *
   * @throws {AuthError} when there is none
   */
  async refresh(): Promise<string> {
    this.#requireInitialized()
    const active = this.#active
    const work = async (signal: AbortSignal) => {
      this.#spacing ??= new RefreshSpacing()
      const waitMs = this.#spacing.take(this.#now())
      if (waitMs > 0) await sleep(this.#environment.clock, waitMs, signal)
      signal.throwIfAborted()
      return this.#obtain(() => active.refresh(), signal)
    }
    const { kind } = this.#renewal
    if (kind === 'ordinary' || kind === undefined) {
      this.#current.refuse()
      return this.#renewal.replace('forced', work)
    }
    return this.#renewal.join('forced', work)
  }

  /**
   * Uses a token that the host obtained itself. Strategies that obtain tokens themselves use it until it is about to
   * expire. Pending `getToken()` calls receive it.
   *
   * @param options `userChanged`: the token belongs to another user; for tokens that the library cannot read. `isBorrowed`:
   *   another tab has it, and the strategy of this one is to know nothing of it
   * @throws {AuthError} `invalid_input` when it is blank
   */
  async updateToken(
    token: string,
    { userChanged, isBorrowed }: { userChanged?: boolean | undefined; isBorrowed?: true } = {},
  ): Promise<void> {
    const given = tokenIn(token)
    if (!given) throw new AuthError('The access token is empty.', 'invalid_input')
    const strategy = this.#source.strategy ?? (await this.#load())
    const expiresAt = this.#current.expiryOf(given)
    const ends = expiresAt ?? Number.POSITIVE_INFINITY
    const renewed = expiresAt === undefined ? ends : renewalTime(expiresAt, this.#now())
    const until = !strategy.acceptsTokens || (isBorrowed && strategy.autoRenews) ? renewed : isBorrowed && ends
    await this.#renewal.replace('supplied', async signal => {
      const arrived = { token: given, isAnonymous: false, bufferMs: strategy.expiryBufferMs, userChanged, until }
      await this.#current.adopt(arrived, signal)
      return given
    })
    if (isBorrowed) return
    await this.#callInEra('updateToken()', () => strategy.updateToken(given))
  }

  /** Sets the scopes of the tokens. Has no effect on strategies with tokens from the host. */
  async updateScopes(scopes: readonly string[]): Promise<void> {
    const active = this.#source.standIn ?? this.#source.strategy ?? (await this.#load())
    await this.#callInEra('updateScopes()', () => active.updateScopes(scopes))
  }

  /**
   * Sets the callback for a token that is about to expire. Called once per token: five minutes before the expiry, or at
   * once when less is left.
   */
  setTokenExpiringCallback(callback: TokenExpiringCallback): void {
    this.#current.setExpiringCallback(callback)
  }

  /**
   * Sets the callback for a token of another user (other issuer or subject), from any source: a renewal, another tab,
   * or the host. While it runs there is no token, and callers of `getToken()` wait for it; so it must not request a
   * token itself. If it fails or takes more than 30 seconds, the token is not used.
   */
  setUserChangeHandler(handler: () => Awaitable<void>): void {
    this.#current.setUserChangeHandler(handler)
  }

  /**
   * Compares the token's expiry with the clock, since timers stop while a laptop sleeps or a page is frozen. Runs
   * whenever the page or the network returns; also call it before a connection attempt.
   */
  checkExpiry(): void {
    this.#current.checkExpiry()
  }

  /** Whether the expiry of the token is watched, to renew or report it. @default true */
  watchExpiry(isWatched: boolean): void {
    // The agent was disconnected: the next connect() must not wait for a function of the host that hangs.
    if (!isWatched) this.#renewal.giveUpSlow()
    this.#current.watchExpiry(isWatched)
  }

  /**
   * Drops the token and ends the strategy's session if it has one. Synchronous: all requests in flight are invalidated,
   * their callers are rejected, and the strategy removes its stored data and opens its window. `initialize()` may
   * follow.
   *
   * @param options `after`: settles after the chat has closed, which precedes the sign-out at the provider (AUTH-20)
   * @throws {AuthError} when the sign-out at the provider fails; the token is dropped anyway
   */
  logout(options: LogoutOptions = {}): Promise<void> {
    const { strategy, standIn, former, type } = this.#source
    // Without the code of the login, its stored user is still removed before this returns.
    const isLoaded = strategy !== undefined && type === 'pkce'
    const stored = isLoaded ? undefined : takeStoredLogin(this.#input, this.#environment, this.#options.endpoint)
    if (isLoaded) takeRememberedLogin(this.#environment, this.#options.endpoint)
    this.#drop(endedBy('logout()'))
    const endings = [standIn, former].map(each => this.#callInEra('logout()', () => each?.logout()))
    if (isLoaded) endings.push(Promise.resolve(strategy.logout(options)))
    else {
      if (stored) endings.push(this.#logOutStored(stored.config, stored.session, options))
      if (type !== 'pkce' && (strategy || isStrategy(this.#input ?? {})))
        endings.push(this.#logOutHere(strategy, type, options))
    }
    return Promise.all(endings).then(
      () => {},
      error => Promise.reject(asAuthFailure(error)),
    )
  }

  /**
   * The user signed out in another tab of the conversation: drops the token, and what the strategies have of the user. No
   * provider is contacted. `initialize()` may follow.
   */
  async forgetUser(): Promise<void> {
    const { strategy, standIn, former, type } = this.#source
    if (type === 'pkce') takeRememberedLogin(this.#environment, this.#options.endpoint)
    this.#drop(endedBy('a sign-out in another tab'))
    const forget = (each: OwnStrategy | undefined) => this.#callInEra('forget()', () => each?.forget())
    await Promise.all([strategy, standIn, former].map(forget)).catch((error: unknown) => {
      this.#options.logger?.warn('The tokens of the user who signed out in another tab could not be removed.', {
        error,
      })
    })
  }

  /**
   * Releases the timer and the strategy's resources.
   *
   * @param reason what operations in flight reject with
   */
  async cleanup(reason: SDKError = endedBy('cleanup()')): Promise<void> {
    const strategy = this.#source.strategy ?? this.#loading?.catch(() => undefined)
    this.#drop(reason)
    await this.#call('cleanup()', undefined, () =>
      strategy instanceof Promise ? strategy.then(each => each?.cleanup()) : strategy?.cleanup(),
    )
  }

  /** The authentication method in use. */
  getAuthenticationType(): AuthenticationType {
    return this.#source.type
  }

  /** Whether {@link initialize} has completed. */
  getIsInitialized(): boolean {
    return this.#source.isInitialized
  }

  /** The strategy in use: the host's own one, or one of this library. Undefined until its code is loaded, by `initialize()` at the latest. */
  getStrategy(): AuthStrategy | undefined {
    return this.#input && isStrategy(this.#input) ? (this.#input as AuthStrategy) : this.#source.strategy
  }

  /** Whether the tokens are anonymous. */
  isAnonymousStrategy(): boolean {
    return this.#source.type === 'anonymous'
  }

  /** Whether the token in use is that of a user: with an anonymous strategy one that the host supplied. */
  get hasUser(): boolean {
    return this.#current.hasUser
  }

  /** Whether the tokens come from a login. */
  isPKCEStrategy(): boolean {
    return this.#source.type === 'pkce'
  }

  /** The strategy in use. Only after {@link initialize}. */
  get #strategy(): OwnStrategy {
    this.#requireInitialized()
    return this.#source.strategy as OwnStrategy
  }

  /** The strategy that currently provides tokens. Only after {@link initialize}. */
  get #active(): OwnStrategy {
    return this.#source.standIn ?? this.#strategy
  }

  #now(): number {
    return this.#environment.clock.now()
  }

  /** The strategy of an input that needs no code to be loaded. */
  #present(input: AuthenticationInput): OwnStrategy | undefined {
    if ('type' in input && input.type === 'anonymous')
      return this.#createAnonymous(input.config?.cache ?? this.#options.cache)
    return isOwnStrategy(input) ? input : undefined
  }

  #createAnonymous(cache: AnonymousAuthCacheConfig | undefined): AnonymousAuthStrategy {
    const { logger } = this.#options
    const warn = logger && ((message: string, details?: { error: unknown }) => logger.warn(message, details))
    return new AnonymousAuthStrategy({ cache }, this.#environment, warn)
  }

  async #createLogin(config: PKCEAuthConfig): Promise<PKCEAuthStrategy> {
    const { createLogin } = await loadAuth()
    return createLogin(config, { environment: this.#environment, logger: this.#options.logger })
  }

  /** The strategy of the input, whose code is loaded once, and again after a failure. */
  #load(): Promise<OwnStrategy> {
    const create = async () => {
      const { createStrategy } = await loadAuth()
      const options = { environment: this.#environment, logger: this.#options.logger }
      return createStrategy(this.#input as AuthenticationInput, options)
    }
    this.#loading ??= create().then(
      strategy => {
        this.#attach(strategy)
        this.#source = { ...this.#source, strategy }
        return strategy
      },
      error => {
        this.#loading = undefined
        throw error
      },
    )
    return this.#loading
  }

  #attach(strategy: OwnStrategy): void {
    strategy.attach({
      environment: this.#environment,
      logger: this.#options.logger,
      onExpiring: ({ expiresAt }) => this.#current.announce(expiresAt),
      onSignedOut: () => void this.handleSignedOut(),
    })
  }

  /** Ends a session of which only the stored user is known. */
  async #logOutStored(config: PKCEAuthConfig, session: LoginSession, options: LogoutOptions): Promise<void> {
    const login = await this.#callInEra('logout()', () => this.#createLogin(config))
    await login.logout(options, session)
  }

  /** Ends the session of a strategy without a login, which may be one of the host. */
  async #logOutHere(present: OwnStrategy | undefined, type: AuthenticationType, options: LogoutOptions): Promise<void> {
    if (options.after && type !== 'anonymous') await options.after
    const strategy = present ?? (await this.#load())
    await this.#callInEra('logout()', () => strategy.logout(options))
  }

  /** Calls a function of the strategy. If it does not settle, only its caller receives an error. */
  #call<T>(name: string, signal: AbortSignal | undefined, work: () => Awaitable<T>): Promise<T> {
    return answerInTime(this.#environment.clock, `${name} of the authentication strategy`, signal, work)
  }

  /** As {@link #call}, until the present period ends. */
  #callInEra<T>(name: string, work: () => Awaitable<T>): Promise<T> {
    return this.#era.during(signal => this.#call(name, signal, work))
  }

  async #obtain(ask: () => Awaitable<string | null>, signal: AbortSignal): Promise<string> {
    const { standIn, type } = this.#source
    const strategy = this.#strategy
    let given: string | null
    try {
      // A strategy of this library limits its requests itself, so that its error names the one without an answer.
      given = type === 'pre-auth' ? await this.#call('getToken()', signal, ask) : await ask()
    } catch (error) {
      throw signal.aborted ? error : asAuthFailure(error)
    }
    signal.throwIfAborted()
    const token = tokenIn(given)
    if (!token) throw new AuthError('The authentication provided no access token.', 'token_missing')
    const own = standIn
      ? {}
      : { identity: strategy.identity, expiresAt: strategy.expiresAt, bufferMs: strategy.expiryBufferMs }
    await this.#current.adopt({ token, isAnonymous: type === 'anonymous' || standIn !== undefined, ...own }, signal)
    if (this.#current.hasExpired)
      throw new AuthError(
        'The access token has expired and could not be renewed. Pass a new one with updateAccessToken(), or sign in again.',
        'token_missing',
      )
    return token
  }

  /** Uses the token of a completed sign-in. The argument that the strategy passes is ignored (AUTH-24). */
  async #onAuthenticated(): Promise<void> {
    const strategy = this.#strategy
    if (this.#source.standIn) {
      this.#source = { ...this.#source, standIn: undefined, former: this.#source.standIn }
      this.#current.drop()
    }
    const ask = () => strategy.getToken()
    const accessToken = await this.#renewal.replace('ordinary', signal => this.#obtain(ask, signal))
    await this.#postAuthentication?.({ accessToken })
  }

  /** Sets what is awaited before the token of a user is used in place of an anonymous one. */
  setUserHandler(handler: () => Awaitable<void>): void {
    this.#current.setUserHandler(handler)
  }

  /** Sets the callback for each new token that is not anonymous. */
  setTokenHandler(handler: (token: string) => void): void {
    this.#current.setTokenHandler(handler)
  }

  /** The user signed out in another tab. */
  async handleSignedOut(): Promise<void> {
    this.#renewal.end(endedBy('a sign-out in another tab'))
    await this.#era
      .during(signal => this.#current.signOut(signal))
      .catch((error: unknown) => {
        this.#options.logger?.warn('Not everything of the user who signed out in another tab could be removed.', {
          error,
        })
      })
  }

  /** A strategy that renews tokens tries that first; the host is notified only if the token is not renewed. */
  async #onExpiring(expiresAt: number): Promise<void> {
    const current = this.#current
    if (!this.#source.strategy?.autoRenews) return current.announce(expiresAt)
    const token = current.value
    try {
      await this.getToken()
      // A fresh token with a short life is used until it expires.
      if (token === current.value && this.#now() < expiresAt) current.watch(expiresAt)
    } catch (error) {
      this.#options.logger?.warn('The access token could not be renewed.', {
        reason: error instanceof AuthError ? error.reason : undefined,
      })
      if (token === current.value) current.announce(expiresAt)
    }
  }

  #drop(error: SDKError): void {
    this.#current.forget()
    this.#renewal.end(error)
    this.#era = this.#era.end(error)
    this.#source = { ...this.#source, standIn: undefined, former: undefined, isInitialized: false }
  }

  #requireInitialized(): void {
    if (this.#source.isInitialized) return
    throw new AuthError('There is no access token before initialize().', 'token_missing')
  }
}

/** Loads the code that anonymous hosts never run. */
function loadAuth() {
  return feature('auth', () => import('./create-strategy.ts'))
}

/** A provider or strategy of the host counts as pre-auth, so it is never replaced by a login. */
function typeOf(input: AuthenticationInput): AuthenticationType {
  if (isOwnStrategy(input)) return input.authenticationType === 'pkce' ? 'pkce' : 'pre-auth'
  const { type } = input as { type?: unknown }
  return type === 'anonymous' || type === 'pkce' || type === 'client-credentials' ? type : 'pre-auth'
}
