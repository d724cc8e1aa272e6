import { AuthError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { defaultEnvironment } from '../../platform/default-environment.ts'
import type { Environment } from '../../platform/environment.ts'
import type { PageWindow } from '../../platform/page.ts'
import { TimeLimitError, untilAborted, withTimeLimit } from '../../util/abort.ts'
import { isWebAddress } from '../../util/address.ts'
import { Era } from '../../util/era.ts'
import { JoinedTask } from '../../util/joined-task.ts'
import { subjectOf } from '../../util/jwt.ts'
import { describeUnknownNames } from '../../util/unknown-names.ts'
import { ClockTime, expiryOf, renewalTime } from '../access-token.ts'
import type { AuthScheme, AuthStrategyInitializeOptions, LogoutOptions, PKCEAuthConfig } from '../auth-strategy.ts'
import { OwnStrategy, type StrategyOwner } from '../own-strategy.ts'
import { PROTOCOL_SCOPES } from '../scopes.ts'
import { authorityOf, userKey } from '../stored-login.ts'
import { asAuthError } from './identity-errors.ts'
import { type LoginPage, loginPage, shownAgain } from './login-page.ts'
import { type LogoutPlan, planLogout, withoutHash } from './logout-plan.ts'
import { requireProviderAddress } from './openid-configuration.ts'

/** Dependencies of a login. */
export interface LoginOptions {
  /** The platform. @default that of the agent, otherwise the current one */
  environment?: Environment | undefined
  /** Receives warnings and debug entries. @default that of the agent, otherwise none */
  logger?: Logger | undefined
}

/** A signed-in account. It must not appear in logs and errors. */
export interface LoginSession {
  /** Access token for the calls of the service. */
  readonly accessToken: string
  /** Expiry of the access token in milliseconds since the epoch. @default the token's own `exp` */
  readonly expiresAt?: number | undefined
  /** Tells the provider on logout which session ends. */
  readonly idToken?: string | undefined
}

/** One sign-in of the user. */
export interface LoginRequest {
  /** In a popup, or by redirecting the page. */
  readonly scheme: AuthScheme
  /** Parameters to add to the login address. */
  readonly extraQueryParameters: Readonly<Record<string, string>>
  /** Return address, without its hash; with scheme `redirect` only. It goes to the provider in `state`. */
  readonly nextRoute?: string | undefined
  /** Aborted when the sign-in is obsolete: its window must then close. */
  readonly signal: AbortSignal
}

/** Every field of the configuration. */
const FIELDS = {
  clientId: true,
  redirectUri: true,
  knownAuthorities: true,
  authorizationUrl: true,
  tokenUrl: true,
  scopes: true,
  authScheme: true,
  cacheLocation: true,
  authorityMetadata: true,
  nextRoute: true,
  localLogin: true,
  extraQueryParameters: true,
} satisfies Record<keyof PKCEAuthConfig, true>

/** How long a logout waits for the answer of its window, in milliseconds. The window stays open. */
const LOGOUT_LIMIT_MS = 30_000

/** Weak: an agent that is dropped without `destroy()` can still be collected. */
const logins = /* @__PURE__ */ new WeakMap<PageWindow, Set<WeakRef<Login>>>()

/**
 * A user who signs in at an identity provider. It owns the session and decides when the user is asked; how the provider is
 * reached is the matter of a subclass. Logins of one page that share the stored user follow each other's sign-outs (SEC-13).
 *
 *   signed-out ── restored, authenticate() ──► signed-in ── token about to expire ──► renewed silently
 *        ▲                                        │                                        │ needs the user
 *        └──────── logout(), in any tab ──────────┘◄──── popup or redirect by scheme ◄─────┘
 */
export abstract class Login extends OwnStrategy {
  readonly authenticationType = 'pkce'
  protected readonly config: PKCEAuthConfig
  /** Base address of the provider, without a trailing slash. */
  protected readonly authority: string
  #environment: Environment | undefined
  #page: LoginPage | undefined
  #logger: Logger | undefined
  /** The signed-in user, the expiry that the session names, and when to renew the token. */
  #user: { session: LoginSession; expiry: ClockTime | undefined; renewal: ClockTime | undefined } | undefined
  /** The sign-in in progress. */
  #interaction: Promise<LoginSession> | undefined
  readonly #renewal = new JoinedTask<LoginSession>()
  /** Ended by every sign-out, here or elsewhere: what was requested before must not be used or stored. */
  #era = new Era()
  /** The sign-in or sign-out in progress, or the last one: ended by the next one and by `cleanup()`. */
  #attempt = new Era()
  /** The session of a logout whose window was blocked: the sign-out at the provider can be retried. */
  #unfinished: LoginSession | undefined
  #onSignedOut: (() => void) | undefined
  #stopListening: (() => void) | undefined

  /**
   * @throws {AuthError} `invalid_input` when the config lacks the client, the authority or the redirect page, or its
   *   authority is not allowed
   */
  constructor(config: PKCEAuthConfig, { environment, logger }: LoginOptions = {}, page?: LoginPage) {
    super()
    for (const field of ['clientId', 'redirectUri'] as const) {
      if (typeof config?.[field] !== 'string' || !config[field].trim())
        throw new AuthError(`auth.config.${field} is missing. A login needs it.`, 'invalid_input')
    }
    this.config = config
    const authority = authorityOf(config)
    if (!authority || !isWebAddress(authority))
      throw new AuthError('auth.config.authorizationUrl is not the address of an identity provider.', 'invalid_input')
    requireProviderAddress(authority, config, 'auth.config.authorizationUrl', 'invalid_input')
    this.authority = authority
    this.#environment = environment
    this.#logger = logger
    this.#page = page
  }

  // ── The provider ──────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * The session from a redirect to this page, otherwise the one that a previous page stored; null if there is none. Its
   * token may have expired.
   */
  protected abstract restore(): Promise<LoginSession | null>

  /**
   * Lets the user sign in. A popup opens before the first await, since browsers allow it only within a click. A redirect
   * leaves the page, so its promise never settles.
   */
  protected abstract signIn(request: LoginRequest): Promise<LoginSession>

  /** Obtains a new access token of the same user, without the user. */
  protected abstract renew(session: LoginSession): Promise<LoginSession>

  /**
   * Removes the stored user, synchronously.
   *
   * @returns the stored session; null if there is none to end at the provider, undefined if that is unknown
   */
  protected abstract discard(): LoginSession | null | undefined

  /**
   * Ends the session at the provider. As with `signIn`, a popup opens first, and a redirect never settles.
   *
   * @param after settles after the chat has closed: the provider is contacted no earlier
   */
  protected abstract signOut(plan: LogoutPlan, after: Promise<unknown> | undefined): Promise<void>

  /** The user signed out in another tab, which has contacted the provider. Removes the stored user, unless it is another one. */
  protected abstract discardForgotten(): Promise<void>

  /** Calls back when the user signed out, or another one signed in, in another tab. Returns a function that unsubscribes. */
  protected listen(_onSignedOut: () => void): () => void {
    return () => {}
  }

  protected get environment(): Environment {
    return (this.#environment ??= defaultEnvironment())
  }

  /** The scopes to request: those of the config, otherwise those of {@link initialize}. */
  protected get scopes(): readonly string[] {
    const { scopes } = this.config
    const wanted = scopes?.length ? scopes : this.given?.scopes
    return wanted?.length ? wanted : PROTOCOL_SCOPES
  }

  /** Aborted by the next sign-out, here or elsewhere. */
  protected get life(): AbortSignal {
    return this.#era.signal
  }

  /** Windows and addresses of the page. Undefined outside a browser. */
  protected get page(): LoginPage | undefined {
    return (this.#page ??= this.#window && loginPage(this.#window))
  }

  // ── The strategy ──────────────────────────────────────────────────────────────────────────────────────────────────

  override get hasSession(): boolean {
    return this.#user !== undefined
  }

  override get identity(): string | undefined {
    return identityOf(this.#user?.session)
  }

  override get expiresAt(): number | undefined {
    return this.#user?.expiry?.at
  }

  override attach({ environment, logger, onSignedOut }: StrategyOwner): void {
    this.#environment ??= environment
    this.#logger ??= logger
    this.#onSignedOut = onSignedOut
    for (const warning of describeUnknownNames('auth.config.', this.config, FIELDS)) this.#logger?.warn(warning)
  }

  /**
   * Restores the session of a previous page, or uses the one from a redirect. `scopes` apply if the config has none.
   *
   * @throws {AuthError} when the redirect returned an error
   */
  override async initialize(options: AuthStrategyInitializeOptions): Promise<void> {
    this.given = options
    this.#stopListening ??= this.#follow()
    const session = await this.#unattended('The sign-in', () => this.restore())
    this.#unfinished = undefined
    this.#user = undefined
    // The age of its token is unknown.
    if (session) this.#keep(session, -Infinity)
    else this.#logger?.debug('No user is signed in.')
  }

  /**
   * Lets the user sign in, even if there is a session. With a redirect the page leaves. If the user comes back to it through
   * the back/forward cache, the promise rejects with `popup_closed`.
   */
  override async authenticate(): Promise<void> {
    const { accessToken } = await this.#interact(this.#scheme)
    await this.given?.postAuthentication?.({ accessToken })
  }

  /**
   * The token if it is valid for five more minutes; otherwise renews it silently; otherwise asks the user to sign in.
   *
   * @param mayAsk called when only the user can help: whether to ask. @default always
   * @throws {AuthError} with the reason why there is none
   */
  async getToken(mayAsk?: () => boolean): Promise<string> {
    if (this.#interaction) return (await this.#interaction).accessToken
    if (!this.#user) return (await this.#interact(this.#scheme)).accessToken
    const { session, renewal } = this.#user
    if (!renewal?.isPast) return session.accessToken
    try {
      return (await this.#renewOnce(session)).accessToken
    } catch (error) {
      const scheme = interactiveScheme(error, this.#scheme)
      if (!scheme || mayAsk?.() === false) throw error
      this.#logger?.info('The token cannot be renewed silently. The user is asked to sign in.')
      return (await this.#interact(scheme)).accessToken
    }
  }

  /**
   * Renews the token without user interaction.
   *
   * @throws {AuthError} `interaction_required` when the user has to sign in again
   */
  async refresh(): Promise<string> {
    if (!this.#user) throw new AuthError('No user is signed in.', 'interaction_required')
    return (await this.#renewOnce(this.#user.session)).accessToken
  }

  /**
   * Signs out here and at the provider. Synchronously removes the stored user, ends logins and renewals in flight, and
   * opens a popup. Works before `initialize()`. With a redirect the page leaves; the promise is fulfilled only if the page is
   * shown again from the back/forward cache.
   *
   * @param options `after`: settles after the chat has closed; the provider is contacted no earlier
   * @param stored a session that was already removed from the store
   * @throws {AuthError} `popup_blocked`: all local data is removed, and a second call retries the provider
   */
  override async logout({ after }: LogoutOptions = {}, stored?: LoginSession): Promise<void> {
    const known = this.#user?.session ?? this.#unfinished ?? stored
    this.#end('The sign-in was ended by logout().')
    this.#unfinished = undefined
    const left = this.discard()
    const ending = known ?? left
    if (ending === null) return
    this.#reportSignOut(identityOf(ending))
    const plan = planLogout(this.config, this.authority, this.#absolute(this.config.nextRoute), ending)
    const { signal } = this.#attempt
    try {
      const work = this.#orShownAgain(plan.scheme, this.signOut(plan, after), signal)
      if (plan.scheme !== 'popup') return void (await work)
      await withTimeLimit(this.environment.clock, LOGOUT_LIMIT_MS, signal, () => work).catch((error: unknown) => {
        // An opener policy can hide that the user has closed the window, and nothing can be sent until the logout has settled.
        if (!(error instanceof TimeLimitError)) throw error
      })
    } catch (error) {
      const failure = asAuthError(error, 'The sign-out')
      if (failure.reason === 'popup_blocked') this.#unfinished = ending
      throw failure
    }
  }

  /** The user signed out in another tab of the conversation: ends the session of this page, without the provider. */
  override async forget(): Promise<void> {
    const { identity } = this
    this.#end('The user signed out in another tab.')
    this.#unfinished = undefined
    this.#reportSignOut(identity)
    await this.#unattended('The sign-out', () => this.discardForgotten())
  }

  /** Ends a login in progress, with its window. The session of an earlier login stays. */
  override cancelLogin(): boolean {
    if (!this.#interaction) return false
    this.#attempt = this.#attempt.end(new AuthError('The sign-in was cancelled.', 'popup_closed'))
    this.#interaction = undefined
    return true
  }

  /** Ends a login in progress, with its window, and stops listening to other tabs. The session stays stored. */
  override cleanup(): void {
    this.#attempt = this.#attempt.end(new AuthError('The sign-in or sign-out was ended by destroy().', 'token_missing'))
    this.#user = this.#interaction = undefined
    this.#stopListening?.()
    this.#stopListening = undefined
  }

  /** Host of the authority. */
  override getDomain(): string {
    return new URL(this.authority).host
  }

  get #scheme(): AuthScheme {
    return this.config.authScheme ?? 'redirect'
  }

  get #window(): PageWindow | undefined {
    return this.environment.page?.window
  }

  /** Callers that need a token share one login; a call of `authenticate()` starts a new one. */
  #interact(scheme: AuthScheme): Promise<LoginSession> {
    if (!this.given) throw new AuthError('The login is not initialized. Call initialize() first.', 'token_missing')
    const { localLogin, nextRoute, extraQueryParameters } = this.config
    const { domainHint } = this.given.deploymentInfo
    this.#attempt = this.#attempt.end(new AuthError('Another sign-in replaced this one.', 'popup_closed'))
    const { signal } = this.#attempt
    const request = {
      scheme,
      extraQueryParameters: {
        ...(domainHint && { domain_hint: domainHint }),
        ...(localLogin && { localLogin: 'true' }),
        ...extraQueryParameters,
      },
      ...(scheme === 'redirect' && { nextRoute: withoutHash(this.#absolute(nextRoute)) }),
      signal,
    }
    const interaction = untilAborted(this.#orShownAgain(scheme, this.signIn(request), signal), signal).then(
      session => {
        signal.throwIfAborted()
        this.#interaction = undefined
        if (!session) throw new AuthError('The user came back to the page without having signed in.', 'popup_closed')
        return this.#keep(session)
      },
      (error: unknown) => {
        if (signal.aborted) throw signal.reason
        this.#interaction = undefined
        throw asAuthError(error, 'The sign-in')
      },
    )
    interaction.catch(() => {})
    this.#interaction = interaction
    return interaction
  }

  #renewOnce(session: LoginSession): Promise<LoginSession> {
    const renew = async () => {
      const renewed = await this.#unattended('The renewal of the access token', () => this.renew(session))
      if (this.#user?.session !== session)
        throw new AuthError('Another sign-in replaced the renewal of the access token.', 'token_missing')
      // A renewal may have no ID token. That of the login still identifies the session.
      return this.#keep({ ...renewed, idToken: renewed.idToken ?? session.idToken })
    }
    // The next session is renewed for itself.
    return this.#renewal.join(renew, undefined, session.accessToken)
  }

  /** A call that needs no user: it ends with the session. Its requests have time limits. */
  #unattended<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { life } = this
    return untilAborted(work(), life).catch((error: unknown) => {
      throw life.aborted ? life.reason : asAuthError(error, what)
    })
  }

  /** The outcome of a call that leaves the page; undefined when the page is shown again afterwards (SEC-17). */
  #orShownAgain<T>(scheme: AuthScheme, work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const { page } = this
    if (scheme !== 'redirect' || !page) return work
    return Promise.race([work, shownAgain(page, signal).then(() => undefined)])
  }

  #keep(session: LoginSession, obtainedAt = this.environment.clock.now()): LoginSession {
    const { clock } = this.environment
    const { accessToken, expiresAt } = session
    const endsAt = expiresAt ?? expiryOf(accessToken)
    const renewAt = endsAt === undefined ? undefined : renewalTime(endsAt, obtainedAt)
    this.#user = { session, expiry: ClockTime.of(clock, expiresAt), renewal: ClockTime.of(clock, renewAt) }
    this.#logger?.debug('The user is signed in.')
    this.#reportSignIn()
    return session
  }

  /** Ends the session and what is in flight for it. */
  #end(message: string): void {
    const reason = new AuthError(message, 'token_missing')
    this.#user = this.#interaction = undefined
    this.#attempt = this.#attempt.end(reason)
    this.#era = this.#era.end(reason)
  }

  #absolute(route: string | undefined): string {
    const address = this.page?.address ?? this.config.redirectUri
    return route && URL.canParse(route, address) ? new URL(route, address).href : address
  }

  // ── The logins of a page ──────────────────────────────────────────────────────────────────────────────────────────

  /** Follows the sign-outs of other tabs and of other logins of the page. Returns the undo. */
  #follow(): () => void {
    const stop = this.listen(() => this.#handleSignedOut())
    const window = this.#window
    if (!window) return stop
    const onPage = logins.get(window) ?? new Set()
    logins.set(window, onPage)
    const reference = new WeakRef<Login>(this)
    onPage.add(reference)
    return () => {
      stop()
      onPage.delete(reference)
    }
  }

  /** The user signed out, or another one signed in, in another tab or by another login of the page. */
  #handleSignedOut(): void {
    this.#logger?.info('The user signed out, or another one signed in, in another tab or agent of the page.')
    this.#end('The user signed out in another tab or agent of the page.')
    this.#onSignedOut?.()
  }

  /** Ends the other logins of the page that share the stored user, or whose user is the same. */
  #reportSignOut(identity: string | undefined): void {
    for (const other of this.#others()) {
      const isSameUser = identity !== undefined && other.identity === identity
      if (other.#storeKey === this.#storeKey || isSameUser) other.#handleSignedOut()
    }
  }

  /** Ends the other logins of the page that share the stored user, if theirs is another one. */
  #reportSignIn(): void {
    const { identity } = this
    for (const other of this.#others()) {
      const isOtherUser = identity !== undefined && other.identity !== undefined && other.identity !== identity
      if (other.#storeKey === this.#storeKey && isOtherUser) other.#handleSignedOut()
    }
  }

  #others(): Login[] {
    const onPage = (this.#window && logins.get(this.#window)) ?? []
    return [...onPage].flatMap(reference => {
      const other = reference.deref()
      return other && other !== this && other.hasSession ? [other] : []
    })
  }

  /** Logins with the same provider, client and storage share one user. */
  get #storeKey(): string {
    return `${userKey(this.authority, this.config.clientId)} ${this.config.cacheLocation ?? 'sessionStorage'}`
  }
}

/** Issuer and subject of a session's ID token. */
function identityOf(session: LoginSession | null | undefined): string | undefined {
  return session?.idToken === undefined ? undefined : subjectOf(session.idToken)
}

/** How to ask the user when no token can be obtained silently; undefined if asking would not help. */
function interactiveScheme(error: unknown, scheme: AuthScheme): AuthScheme | undefined {
  if (!(error instanceof AuthError)) return undefined
  if (error.reason === 'popup_timeout') return 'popup'
  return error.reason === 'interaction_required' ? scheme : undefined
}
