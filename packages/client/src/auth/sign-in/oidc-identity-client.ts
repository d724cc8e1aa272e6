import { AuthError } from '../../errors.ts'
import type { StorageLike } from '../../platform/environment.ts'
import { fetchPatiently, TOKEN_WAIT_MS } from '../../platform/patient-fetch.ts'
import { untilAborted, withTimeLimit } from '../../util/abort.ts'
import { Era } from '../../util/era.ts'
import { REDIRECT_ANSWER_KEY } from './callback-page.ts'
import {
  type AuthorizationOptions,
  createAuthorizationRequest,
  exchangeCode,
  exchangeRefreshToken,
  type Provider,
  randomId,
} from './code-flow.ts'
import type {
  IdentityClient,
  IdentityClientFactory,
  IdentityClientSettings,
  IdentitySession,
  LoginRequest,
  LogoutPlan,
} from './identity-client.ts'
import { asAuthError, isRefreshTokenRejected } from './identity-errors.ts'
import { type LoginPage, type LoginWindow, loginPage } from './login-page.ts'
import { LoginStates } from './login-state.ts'
import { constructedEndpoint, endSessionRequest, fallbackAddress, logoutPlanFor } from './logout-plan.ts'
import { fetchOpenIdConfiguration, givenConfiguration, type KnownConfiguration } from './openid-configuration.ts'
import { PopupNavigator } from './popup-navigator.ts'
import { isWebAddress, userKey } from './provider-address.ts'
import { RenewalLock } from './renewal-lock.ts'
import {
  type IssuedTokens,
  parseUser,
  removeExpiredUsers,
  type SignedInUser,
  SignedInUserStore,
} from './signed-in-user.ts'

/** How long a logout waits for the provider's configuration before it uses the usual address, in milliseconds. */
const LOGOUT_LIMIT_MS = 10_000
/** Parameters of an answer, to be removed from the page's address. */
const ANSWER_PARAMETERS = ['code', 'state', 'error', 'error_description', 'error_uri', 'session_state', 'iss']

/**
 * The default identity client: authorization code with PKCE in popups, redirects and hidden frames.
 *
 * It owns the stored user and the logins in progress, and decides what may be stored: nothing after a logout, and no
 * renewed tokens of another user.
 */
export class OidcIdentityClient implements IdentityClient {
  readonly #settings: IdentityClientSettings
  readonly #page: LoginPage
  readonly #popups: PopupNavigator
  readonly #tabStore: StorageLike
  readonly #states: LoginStates
  readonly #users: SignedInUserStore
  readonly #lock: RenewalLock
  #configuration: Promise<KnownConfiguration> | undefined
  /** The provider's configuration, once it is known: a logout then needs no request. */
  #known: KnownConfiguration | undefined
  /** The login of this page's session. */
  #login: Pick<SignedInUser, 'loginId' | 'subject'> | undefined
  /** Ended by a logout: tokens of requests that began before must not be stored. */
  #era = new Era()

  /** @throws {AuthError} `browser_unsupported` where the browser forbids its stores */
  constructor(settings: IdentityClientSettings, page: LoginPage) {
    const { config, authority, environment } = settings
    const { sessionStorage, localStorage } = environment
    const lasting = config.cacheLocation === 'localStorage' ? localStorage : sessionStorage
    if (!sessionStorage || !lasting) throw storeForbidden()
    this.#settings = settings
    this.#page = page
    this.#popups = new PopupNavigator(page, environment.clock)
    this.#tabStore = sessionStorage
    this.#states = new LoginStates(sessionStorage)
    this.#users = new SignedInUserStore(lasting, userKey(authority, config.clientId))
    this.#lock = new RenewalLock(page, environment.clock, `${authority} ${config.clientId}`)
  }

  async restore(): Promise<IdentitySession | null> {
    this.#removeExpired()
    const answer = this.#takeAnswer()
    const begun = answer && this.#states.take(stateOf(answer))
    // Ignore an answer that this tab did not request, or that was used already.
    if (!answer || !begun) {
      const user = this.#users.read()
      return user ? this.#keep(user) : null
    }
    const { signal } = this.#era
    const session = await guarded(async () => {
      const state = stateOf(answer) ?? ''
      return this.#signIn(await exchangeCode(await this.#provider(), answer, { ...begun, state }, signal), signal)
    })
    this.#returnTo(begun.nextRoute)
    return session
  }

  async login({ scheme, extraQueryParameters, nextRoute, signal }: LoginRequest): Promise<IdentitySession> {
    this.#requireReturn()
    const era = this.#era
    const opened = scheme === 'popup' ? this.#popups.open() : undefined
    const route = opened ? undefined : (nextRoute ?? this.#page.address)
    const options = { parameters: extraQueryParameters, nextRoute: route }
    return guarded(() => era.during(inner => this.#loginWith(opened, options, inner), signal))
  }

  async renew(current: IdentitySession): Promise<IdentitySession> {
    if (!this.#page.isOnline())
      throw new AuthError('Could not renew the access token: there is no network.', 'token_request_failed')
    const { signal } = this.#era
    return guarded(() => this.#lock.run(() => this.#renew(current, signal)), 'The renewal of the access token')
  }

  async logout(given: LogoutPlan): Promise<void> {
    const stored = this.#users.read()
    const plan = logoutPlanFor(given, stored)
    this.forget()
    const opened = plan.scheme === 'popup' ? this.#popups.open() : undefined
    const { clientId } = this.#settings.config
    const [endpoint] = await Promise.all([this.#endSessionEndpoint(), plan.after])
    if (endpoint === undefined) {
      const address = fallbackAddress(plan, undefined, clientId)
      if (!opened) return this.#leave(address, plan.state)
      // The user may not return from there, so nothing waits for it.
      opened.navigate(address)
      return
    }
    const address = endSessionRequest(endpoint, plan, clientId)
    if (!opened) return this.#leave(address, plan.state)
    await this.#popups.answer(opened, address, undefined, this.#era.signal).catch(() => {
      // A window that the user closed, or that passed on no answer, has still reached the provider.
    })
  }

  forget(): IdentitySession | null {
    const user = this.#users.read()
    this.#era = this.#era.end(new AuthError('The user signed out.', 'token_missing'))
    this.#login = undefined
    attempt(() => this.#users.remove())
    attempt(() => this.#states.clear())
    attempt(() => this.#tabStore.removeItem(REDIRECT_ANSWER_KEY))
    // A renewal in another tab may be storing its tokens now. It holds the lock until it has.
    this.#lock.release()
    if (user) void this.#lock.run(async () => this.#users.remove(user.loginId)).catch(() => {})
    return user ? sessionOf(user) : null
  }

  handleSignedOut(): void {
    if (this.#login && this.#users.read()?.loginId === this.#login.loginId) this.forget()
  }

  onSignedOut(listener: () => void): () => void {
    const compare = (user: SignedInUser | undefined) => {
      const login = this.#login
      if (!login || user?.loginId === login.loginId || isSameUser(user, login)) return
      this.#era = this.#era.end(otherUser())
      this.#login = undefined
      listener()
    }
    // A page in the back/forward cache is not notified, and the next page of its tab may have signed out.
    const stopRestored = this.#page.onRestored(() => attempt(() => compare(this.#users.read())))
    // sessionStorage belongs to this tab only.
    if (this.#settings.config.cacheLocation !== 'localStorage') return stopRestored
    const stopStored = this.#page.onStored(this.#users.key, value => compare(parseUser(value)))
    return () => {
      stopRestored()
      stopStored()
    }
  }

  async #loginWith(
    opened: LoginWindow | undefined,
    options: AuthorizationOptions,
    signal: AbortSignal,
  ): Promise<IdentitySession> {
    try {
      const provider = await untilAborted(this.#provider(), signal)
      const request = await createAuthorizationRequest(provider, options)
      signal.throwIfAborted()
      if (!opened) {
        const { id, verifier, nonce, state } = request
        const beganAt = this.#settings.environment.clock.now()
        this.#states.add({ id, verifier, nonce, nextRoute: options.nextRoute ?? '', login: this.#users.key, beganAt })
        return await this.#leave(request.address, state)
      }
      const answer = await this.#popups.answer(opened, request.address, request.state, signal)
      return this.#signIn(await exchangeCode(provider, answer, request, signal), signal)
    } catch (error) {
      if (opened) this.#popups.close(opened)
      throw error
    }
  }

  async #renew(current: IdentitySession, signal: AbortSignal): Promise<IdentitySession> {
    const isShared = this.#settings.config.cacheLocation === 'localStorage'
    const read = () => this.#users.read()
    const user = isShared ? await this.#lock.readNewest(read) : read()
    signal.throwIfAborted()
    if (!user) throw signedOut()
    if (this.#login && user.loginId !== this.#login.loginId && !isSameUser(user, this.#login)) throw otherUser()
    // Another tab may have renewed it while this one waited.
    const isValid = user.expiresAt === undefined || this.#settings.environment.clock.now() < user.expiresAt
    if (user.accessToken !== current.accessToken && isValid) return this.#keep(user)
    const provider = await this.#provider(user.issuer)
    const tokens = await this.#renewedTokens(provider, user, signal)
    signal.throwIfAborted()
    if (user.subject !== undefined && tokens.subject !== undefined && tokens.subject !== user.subject) throw otherUser()
    const renewals = (user.renewals ?? 0) + 1
    const renewed = { ...user, ...defined(tokens), expiresAt: tokens.expiresAt, renewals }
    if (!this.#users.replace(renewed)) throw signedOut()
    if (isShared) await this.#lock.announce(renewed)
    return this.#keep(renewed)
  }

  async #renewedTokens(provider: Provider, user: SignedInUser, signal: AbortSignal): Promise<IssuedTokens> {
    if (user.refreshToken) {
      try {
        return await exchangeRefreshToken(provider, user.refreshToken, signal)
      } catch (error) {
        if (!isRefreshTokenRejected(error)) throw error
      }
    }
    const parameters = { prompt: 'none', ...(user.idToken && { id_token_hint: user.idToken }) }
    const request = await createAuthorizationRequest(provider, { parameters })
    const answer = await this.#popups.answerInFrame(request.address, request.state, signal)
    return exchangeCode(provider, answer, request, signal)
  }

  /** Stores the user of a login, unless a logout came first. */
  #signIn(tokens: IssuedTokens, signal: AbortSignal): IdentitySession {
    signal.throwIfAborted()
    const user = { ...tokens, loginId: randomId(this.#settings.environment) }
    this.#users.add(user)
    return this.#keep(user)
  }

  /** Makes a stored user the one of this page. */
  #keep(user: SignedInUser): IdentitySession {
    this.#login = { loginId: user.loginId, subject: user.subject }
    return sessionOf(user)
  }

  /** Navigates away and never returns, so that no later code runs. */
  #leave(address: string, state: string | undefined): Promise<never> {
    if (state !== undefined) attempt(() => this.#states.expectReturn(state))
    this.#page.leave(address)
    return new Promise<never>(() => {})
  }

  /** Removes what earlier logins of any user and provider have left in the stores of the page. */
  #removeExpired(): void {
    const { clock, sessionStorage, localStorage } = this.#settings.environment
    attempt(() => this.#states.clear(clock.now()))
    for (const store of [sessionStorage, localStorage]) attempt(() => store && removeExpiredUsers(store, clock.now()))
  }

  /** The answer of a redirect: what the callback page stored, else what this page's address contains. */
  #takeAnswer(): string | undefined {
    const stored = this.#tabStore.getItem(REDIRECT_ANSWER_KEY)
    if (stored !== null) {
      const { key } = this.#users
      // Another login of the page takes its own answer.
      if ((this.#states.find(stateOf(stored))?.login ?? key) !== key) return undefined
      this.#tabStore.removeItem(REDIRECT_ANSWER_KEY)
      return stored
    }
    const address = new URL(this.#page.address)
    const state = address.searchParams.get('state')
    if (!state) return undefined
    if (!address.searchParams.has('code') && !address.searchParams.has('error')) {
      // A logout of this tab returned to a page of the application.
      const { redirectUri } = this.#settings.config
      if (isWebAddress(state) && isSamePlace(address, redirectUri) && this.#states.takeReturn(state))
        this.#returnTo(state)
      return undefined
    }
    // Another login of the host may return to the same page. Its state is unknown to us.
    if (this.#states.find(state)?.login !== this.#users.key) return undefined
    const answer = this.#page.address
    // Before the first await: a code must not stay in an address that other code can read.
    for (const name of ANSWER_PARAMETERS) address.searchParams.delete(name)
    this.#page.showAddress(address.href)
    return answer
  }

  /** Navigates to where the login or logout began, if the provider's answer came to another page. */
  #returnTo(target: string): void {
    if (!URL.canParse(target) || new URL(target).origin !== this.#page.origin) return
    if (target !== this.#page.address.split('#', 1)[0]) this.#page.replace(target)
  }

  /** @throws {AuthError} `invalid_input` for a redirect page that cannot receive the answer */
  #requireReturn(): void {
    const { redirectUri } = this.#settings.config
    const { origin } = this.#page
    if (URL.canParse(redirectUri) && new URL(redirectUri).origin === origin) return
    throw new AuthError(
      `The redirect page of the login, ${redirectUri}, is not on the origin of this page, ${origin}. The deployment's login ` +
        'works on its own origin only; elsewhere pass auth with a redirectUri on this origin.',
      'invalid_input',
    )
  }

  /** The provider's end-session endpoint, if it can be loaded in time. */
  async #endSessionEndpoint(): Promise<string | undefined> {
    const { environment, authority } = this.#settings
    const known = (this.#known ?? this.#given())?.end_session_endpoint
    // A constructed endpoint yields to the provider's own.
    if (known !== undefined && known !== constructedEndpoint(authority)) return known
    const load = (signal: AbortSignal) => this.#fetchConfiguration(signal)
    const found = await withTimeLimit(environment.clock, LOGOUT_LIMIT_MS, undefined, load).catch(() => undefined)
    return found?.end_session_endpoint
  }

  /** Waits where the provider limits the rate of requests. */
  #fetchConfiguration(signal?: AbortSignal): Promise<KnownConfiguration> {
    const { environment, onRateLimited } = this.#settings
    const patience = { name: 'getOpenIdConfiguration', signal, limitMs: TOKEN_WAIT_MS, onRateLimited }
    const fetch = (address: string) => fetchPatiently(environment, address, { method: 'GET' }, patience)
    return fetchOpenIdConfiguration(this.#settings, fetch)
  }

  #given(): KnownConfiguration | undefined {
    return givenConfiguration(this.#settings.config)
  }

  /** The provider: from the given configuration, otherwise from its published one. */
  async #provider(pinnedIssuer = this.#users.read()?.issuer): Promise<Provider> {
    const given = this.#given()
    this.#configuration ??=
      given?.authorization_endpoint && given.token_endpoint ? Promise.resolve(given) : this.#fetchConfiguration()
    try {
      this.#known = await this.#configuration
    } catch (error) {
      this.#configuration = undefined
      throw error
    }
    return { settings: this.#settings, configuration: this.#known, pinnedIssuer }
  }
}

async function guarded<T>(work: () => Promise<T>, what = 'The sign-in'): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asAuthError(error, what)
  }
}

function stateOf(answer: string): string | null {
  return URL.canParse(answer) ? new URL(answer).searchParams.get('state') : null
}

/** A failing store does not stop a sign-out. */
function attempt(work: () => void): void {
  try {
    work()
  } catch {
    // Remove everything that can be removed.
  }
}

function sessionOf({ accessToken, expiresAt, idToken }: IssuedTokens): IdentitySession {
  return { accessToken, expiresAt, idToken }
}

function isSameUser(user: SignedInUser | undefined, login: Pick<SignedInUser, 'subject'>): boolean {
  return user?.subject !== undefined && user.subject === login.subject
}

function defined(tokens: IssuedTokens): IssuedTokens {
  return Object.fromEntries(
    Object.entries(tokens).filter(([, value]) => value !== undefined),
  ) as unknown as IssuedTokens
}

function signedOut(): AuthError {
  return new AuthError('The user signed out while the access token was renewed.', 'interaction_required')
}

function otherUser(): AuthError {
  return new AuthError('Another user signed in meanwhile. Sign in again.', 'interaction_required')
}

function storeForbidden(): AuthError {
  return new AuthError(
    'The browser forbids the store that a sign-in needs. Allow site data for this page, then refresh it.',
    'browser_unsupported',
  )
}

function isSamePlace(address: URL, other: string): boolean {
  if (!URL.canParse(other)) return false
  const { origin, pathname } = new URL(other)
  return address.origin === origin && address.pathname === pathname
}

/** The default identity client on the environment's page. */
export const createOidcIdentityClient: IdentityClientFactory = settings => {
  const { window } = settings.environment.page ?? {}
  if (window) return new OidcIdentityClient(settings, loginPage(window))
  throw new AuthError('A login needs a browser, with its page in the environment.', 'browser_unsupported')
}
