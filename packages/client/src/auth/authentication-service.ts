import { AuthError, type SDKError } from '../errors.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import type { AgentScope } from '../scope.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import { ANONYMOUS } from '../storage/keyed-store.ts'
import { untilAborted } from '../util/abort.ts'
import { Era } from '../util/era.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { subjectFingerprint, tokenIn, whyNoToken } from '../util/jwt.ts'
import { Opaque } from '../util/values.ts'
import { renewalTime } from './access-token.ts'
import { AnonymousAuthStrategy } from './anonymous-strategy.ts'
import type {
  AuthenticationInput,
  AuthenticationServiceInitializeOptions,
  AuthenticationServiceOptions,
  AuthenticationType,
  AuthStrategy,
  AuthStrategyInitializeOptions,
  LogoutOptions,
  PKCEAuthConfig,
  PostAuthenticationCallback,
  TokenExpiringCallback,
} from './auth-strategy.ts'
import { chooseStrategy, createLogin } from './create-strategy.ts'
import { CurrentToken, Renewal } from './current-token.ts'
import { answerInTime, asAuthFailure, endedBy } from './host-call.ts'
import { isStrategy } from './host-strategy.ts'
import type { OwnStrategy } from './own-strategy.ts'
import { rememberLogin, type StoredLogin, takeRememberedLogin, takeStoredLogin } from './stored-login.ts'

/** What it uses of the agent. */
type AuthScope = Pick<AgentScope<never>, 'shared' | 'status'>

/** One period from `initialize()` to `logout()` or `cleanup()`, with the strategy in use. */
interface StrategyInUse {
  readonly type: AuthenticationType
  /** Undefined while its code is not loaded: it has nothing to end or to forget then. */
  readonly strategy: OwnStrategy | undefined
  /** The anonymous strategy before a login. Logout removes its stored tokens. */
  readonly anonymous?: OwnStrategy | undefined
  /** The same one, while it provides the tokens: until the user signs in. */
  readonly fallback?: OwnStrategy | undefined
  readonly isInitialized: boolean
}

/**
 * Owns the active strategy and the current token, and reports its expiry and its user.
 *
 * Every token passes through {@link Renewal}, one at a time, and its user is compared with that of the tokens before it.
 */
export class AuthenticationService extends Opaque {
  readonly #input: AuthenticationInput | undefined
  readonly #options: AuthenticationServiceOptions
  readonly #scope: AuthScope | undefined
  readonly #environment: Environment
  readonly #renewal: Renewal
  readonly #current: CurrentToken
  #source: StrategyInUse
  /** Loads the strategy of the input whose code is separate. */
  #loadChosen: (() => Promise<OwnStrategy>) | undefined
  /** The strategy whose code is loading. */
  readonly #loading = new JoinedTask<OwnStrategy>()
  /** Ended by `logout()`, `cleanup()` and a strategy switch: earlier results must be discarded. */
  #era = new Era()
  /** The sign-in in progress. */
  #signIn: { isComplete: boolean } | undefined
  /** Whether the last call that could ask the user was aborted: the request in flight must not ask any more. */
  #isCancelled = false
  #postAuthentication: PostAuthenticationCallback | undefined
  #onExpiring: TokenExpiringCallback | undefined

  /**
   * The code of the strategy starts to load.
   *
   * @throws {AuthError} `invalid_input` when the input has an unsupported shape
   */
  constructor(input?: AuthenticationInput | null, options?: AuthenticationServiceOptions)
  /** @internal */
  constructor(input?: AuthenticationInput | null, options?: AuthenticationServiceOptions, scope?: AuthScope)
  constructor(input?: AuthenticationInput | null, options: AuthenticationServiceOptions = {}, scope?: AuthScope) {
    super()
    this.#options = options
    this.#scope = scope
    const { cache, logger } = options
    const environment = resolveEnvironment(options.environment)
    this.#environment = environment
    this.#renewal = new Renewal(environment.clock)
    this.#current = new CurrentToken(
      environment,
      options,
      scope,
      () => (this.#source.strategy?.autoRenews ? this.getToken() : undefined),
      expiry => this.#onExpiring?.(expiry),
    )
    if (input === undefined || input === null) {
      const strategy = new AnonymousAuthStrategy({ cache }, environment, logger)
      this.#source = { type: 'anonymous', strategy, isInitialized: false }
      return
    }
    this.#input = input
    const { type, strategy, load } = chooseStrategy(input, environment, logger, cache)
    this.#source = { type, strategy, isInitialized: false }
    this.#loadChosen = load
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
    const { type, isInitialized } = this.#source
    // A host's strategy may not support a second call.
    if (isInitialized && type !== 'anonymous') return
    const given = { ...options, postAuthentication: this.#authenticatedCallback(this.#era) }
    await this.#call('initialize()', strategy => strategy.initialize(given))
    this.#source = { ...this.#source, isInitialized: true }
  }

  /** Creates the callback for a strategy after each sign-in. The strategy keeps it, so it must not capture the options of a call. */
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
    const strategy = this.#requireStrategy()
    const signIn = (this.#signIn ??= { isComplete: false })
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
    const strategy = await this.#era.during(() => createLogin(config, this.#environment, this.#options.logger))
    this.#drop(endedBy('the exchange of the strategy'))
    this.#attach(strategy)
    this.#source = { type: 'pkce', strategy, anonymous: previous, isInitialized: false }
    rememberLogin(this.#environment, this.#options.endpoint, config)
    this.#postAuthentication = postAuthentication
    await previous?.cleanup()
    return true
  }

  /**
   * Uses an anonymous token instead of a login token until `authenticate()`. It suffices to load the agent's details
   * and to chat with an agent that does not require a signed-in user. Has no effect with a session, or without a login.
   */
  async useAnonymousToken(options: AuthStrategyInitializeOptions): Promise<void> {
    if (this.hasSession() || this.#source.fallback) return
    const { cache, logger } = this.#options
    const anonymous = new AnonymousAuthStrategy({ cache }, this.#environment, logger)
    anonymous.initialize(options)
    this.#source = { ...this.#source, anonymous, fallback: anonymous }
  }

  /** Whether a token is available without user interaction. */
  hasSession(): boolean {
    return this.#source.strategy?.hasSession ?? !this.isPKCEStrategy()
  }

  /**
   * A valid token.
   *
   * @throws {AuthError} `token_missing` before `initialize()`, when there is no token, and when it has expired and
   *   cannot be renewed
   */
  async getToken(): Promise<string> {
    const active = this.#active
    const { supplied } = this.#current
    if (supplied !== undefined) return supplied
    // Read late, since a call that may ask can join a run of initialize().
    const mayAsk = () => !this.#isCancelled && this.#scope?.status.isInteractive !== false
    return this.#renewal.join('ordinary', signal => {
      this.#isCancelled = false
      return this.#obtain(active, () => active.getToken(mayAsk), signal)
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

  /** The token of the user whose data is being removed. Not to be sent. */
  get leavingToken(): string | null {
    return this.#current.leaving
  }

  /**
   * Obtains a new token even if the current one is still valid. A strategy that cannot renew returns the same one. More
   * than two calls within five seconds are delayed.
   *
   * @throws {AuthError} when there is none
   */
  async refresh(): Promise<string> {
    const active = this.#active
    return this.#renewal.join('forced', async signal => {
      this.#current.refuse()
      await this.#renewal.space(signal)
      signal.throwIfAborted()
      return this.#obtain(active, () => active.refresh(), signal)
    })
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
    if (!given) throw new AuthError(`The access token ${whyNoToken(token)}.`, 'invalid_input')
    const strategy = this.#source.strategy ?? (await this.#era.during(() => this.#load()))
    const expiresAt = this.#current.expiryOf(given)
    const ends = expiresAt ?? Infinity
    const renewed = expiresAt === undefined ? ends : renewalTime(expiresAt, this.#environment.clock.now())
    const until = !strategy.acceptsTokens || (isBorrowed && strategy.autoRenews) ? renewed : isBorrowed && ends
    let passedOn: Promise<void> | undefined
    await this.#renewal.replace('supplied', async signal => {
      const arrived = { token: given, isAnonymous: false, bufferMs: strategy.expiryBufferMs, userChanged, until }
      await this.#current.adopt(arrived, signal)
      // Before a renewal asks it. A later token may have replaced this one meanwhile, or the user has signed out.
      if (!isBorrowed && this.#current.value === given)
        passedOn = this.#call('updateToken()', () => strategy.updateToken(given))
      passedOn?.catch(() => {})
      return given
    })
    await passedOn
  }

  /** Sets the scopes of the tokens. Has no effect on strategies with tokens from the host. */
  async updateScopes(scopes: readonly string[]): Promise<void> {
    await this.#call('updateScopes()', each => each.updateScopes(scopes), this.#source.fallback)
  }

  /**
   * Sets the callback for a token that is about to expire. Called once per token: five minutes before the expiry, or at
   * once when less is left.
   */
  setTokenExpiringCallback(callback: TokenExpiringCallback): void {
    this.#onExpiring = callback
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
  async logout(options: LogoutOptions = {}): Promise<void> {
    const { strategy, anonymous, type } = this.#source
    const { endpoint } = this.#options
    const login = type === 'pkce' ? strategy : undefined
    const environment = this.#environment
    // Logins need a page. Without the code of the login, its stored user is still removed before this returns.
    let stored: StoredLogin | undefined
    if (login) takeRememberedLogin(environment, endpoint)
    else if (environment.page) stored = takeStoredLogin(this.#input, environment, endpoint)
    this.#drop(endedBy('logout()'))
    try {
      await Promise.all([
        anonymous && this.#call('logout()', each => each.logout(), anonymous),
        login ? login.logout(options) : stored && this.#logOutStored(stored, options),
        type !== 'pkce' && strategy && this.#logOutHere(strategy, type, options),
      ])
    } catch (error) {
      throw asAuthFailure(error)
    }
  }

  /**
   * The user signed out in another tab of the conversation: drops the token, and what the strategies have of the user. No
   * provider is contacted. `initialize()` may follow.
   */
  async forgetUser(): Promise<void> {
    const { strategy, anonymous, type } = this.#source
    if (type === 'pkce') takeRememberedLogin(this.#environment, this.#options.endpoint)
    this.#drop(endedBy('a sign-out in another tab'))
    const forget = (each: OwnStrategy | undefined) => each && this.#call('forget()', () => each.forget(), each)
    await Promise.all([strategy, anonymous].map(forget)).catch((error: unknown) => {
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
    this.#drop(reason)
    await this.#inTime('cleanup()', undefined, () => this.#source.strategy?.cleanup())
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
    return isStrategy(this.#input ?? {}) ? (this.#input as AuthStrategy) : this.#source.strategy
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

  /**
   * The strategy in use.
   *
   * @throws {AuthError} `token_missing` before {@link initialize}
   */
  #requireStrategy(): OwnStrategy {
    const { strategy, isInitialized } = this.#source
    if (strategy && isInitialized) return strategy
    throw new AuthError('There is no access token before initialize().', 'token_missing')
  }

  /** The strategy that currently provides tokens. As {@link #requireStrategy}. */
  get #active(): OwnStrategy {
    const strategy = this.#requireStrategy()
    return this.#source.fallback ?? strategy
  }

  /** The strategy of the input, whose code is loaded once, and again after a failure. */
  #load(): Promise<OwnStrategy> {
    return this.#loading.join(async () => {
      const strategy = await (this.#loadChosen as () => Promise<OwnStrategy>)()
      this.#attach(strategy)
      this.#source = { ...this.#source, strategy }
      return strategy
    })
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
  async #logOutStored({ config, session }: StoredLogin, options: LogoutOptions): Promise<void> {
    const login = await this.#era.during(() => createLogin(config, this.#environment, this.#options.logger))
    await login.logout(options, session)
  }

  /** Ends the session of a strategy without a login, which may be one of the host. */
  async #logOutHere(strategy: OwnStrategy, type: AuthenticationType, options: LogoutOptions): Promise<void> {
    if (options.after && type !== 'anonymous') await options.after
    await this.#call('logout()', () => strategy.logout(options), strategy)
  }

  /**
   * Calls a function of a strategy. One of the host may never settle. A strategy of this library limits its requests itself, so that
   * its error names the one without an answer.
   */
  async #inTime<T>(name: string, signal: AbortSignal | undefined, work: () => Awaitable<T>): Promise<T> {
    if (this.#source.type !== 'pre-auth') return work()
    return answerInTime(this.#environment.clock, `${name} of the authentication strategy`, signal, work)
  }

  /**
   * Calls a function of a strategy, whose code is loaded first, until the present period ends. If it does not settle, only its
   * caller receives an error.
   */
  #call<T>(name: string, work: (strategy: OwnStrategy) => Awaitable<T>, strategy = this.#source.strategy): Promise<T> {
    return this.#era.during(async signal => {
      const loaded = strategy ?? (await this.#load())
      signal.throwIfAborted()
      return this.#inTime(name, signal, () => work(loaded))
    })
  }

  async #obtain(active: OwnStrategy, ask: () => Awaitable<string | null>, signal: AbortSignal): Promise<string> {
    const { fallback, type } = this.#source
    let given: string | null
    try {
      given = await this.#inTime('getToken()', signal, ask)
    } catch (error) {
      throw signal.aborted ? error : asAuthFailure(error)
    }
    signal.throwIfAborted()
    const token = tokenIn(given)
    if (!token) throw new AuthError(`The access token of the authentication ${whyNoToken(given)}.`, 'token_missing')
    const { identity, expiresAt, expiryBufferMs: bufferMs } = active
    const isAnonymous = type === 'anonymous' || fallback !== undefined
    if (!(await this.#current.adopt({ token, isAnonymous, identity, expiresAt, bufferMs }, signal)))
      throw new AuthError(
        'The access token has expired and could not be renewed. Pass a new one with updateAccessToken(), or sign in again.',
        'token_missing',
      )
    return token
  }

  /** Uses the token of a completed sign-in. The argument that the strategy passes is ignored (AUTH-24). */
  async #onAuthenticated(): Promise<void> {
    const strategy = this.#requireStrategy()
    if (this.#source.fallback) {
      this.#source = { ...this.#source, fallback: undefined }
      this.#current.drop()
    }
    const accessToken = await this.#renewal.replace('ordinary', signal =>
      this.#obtain(strategy, () => strategy.getToken(), signal),
    )
    await this.#postAuthentication?.({ accessToken })
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

  #drop(error: SDKError): void {
    this.#current.forget()
    this.#renewal.end(error)
    this.#era = this.#era.end(error)
    this.#source = { ...this.#source, anonymous: undefined, fallback: undefined, isInitialized: false }
  }
}

/**
 * The user of the session and of the queue that are stored: a fingerprint, or {@link ANONYMOUS}. Undefined without a token.
 *
 * @param token of another user than the present one
 */
export function storedUser(
  { config }: Pick<AgentScope<never>, 'config'>,
  authentication: AuthenticationService,
  token = authentication.getCachedToken(),
): string | undefined {
  if (token === null) return undefined
  // Tabs of an anonymous strategy share nothing with a user whose token the host supplied.
  const isUser = !authentication.isAnonymousStrategy() || (config.tabs && authentication.hasUser)
  return (isUser ? subjectFingerprint(token) : undefined) ?? ANONYMOUS
}
