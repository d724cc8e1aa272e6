import { restBase } from '@aiagent/protocol'
import { AuthError } from '../../errors.ts'
import { TOKEN_WAIT_MS } from '../../platform/http.ts'
import { removeExpiredEntries } from '../../storage/keyed-store.ts'
import { isWebAddress } from '../../util/address.ts'
import { JoinedTask } from '../../util/joined-task.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import {
  createAuthorizationRequest,
  exchangeCode,
  exchangeRefreshToken,
  type Provider,
  RENEWAL_WAIT_MS,
  randomId,
} from './code-flow.ts'
import { removeLoginMetadata } from './deployment-login.ts'
import { isRefreshTokenRejected } from './identity-errors.ts'
import { Login, type LoginOptions, type LoginRequest, type LoginSession } from './login.ts'
import type { LoginPage } from './login-page.ts'
import { LoginStates } from './login-state.ts'
import { constructedEndpoint, endSessionRequest, fallbackAddress, type LogoutPlan } from './logout-plan.ts'
import {
  fetchEndSessionEndpoint,
  fetchOpenIdConfiguration,
  givenConfiguration,
  type KnownConfiguration,
  type ProviderAddress,
} from './openid-configuration.ts'
import { PopupNavigator } from './popup-navigator.ts'
import { RenewalLock } from './renewal-lock.ts'
import { type IssuedTokens, type SignedInUser, SignedInUserStore } from './signed-in-user.ts'

/** Parameters of an answer, to be removed from the page's address. */
const ANSWER_PARAMETERS = ['code', 'state', 'error', 'error_description', 'error_uri', 'session_state', 'iss']

/** Dependencies of a {@link PKCEAuthStrategy}. */
export interface PKCEAuthStrategyOptions extends LoginOptions {
  /** Windows, frames and addresses of the page. @default those of the environment's page */
  page?: LoginPage | undefined
}

/**
 * A login with authorization code and PKCE, in popups, redirects and hidden frames.
 *
 * It owns the stored user and the sign-ins in progress, and decides what may be stored: nothing after a logout, and no
 * renewed tokens of another user.
 */
export class PKCEAuthStrategy extends Login {
  readonly #page: LoginPage
  readonly #popups: PopupNavigator
  readonly #states: LoginStates
  readonly #users: SignedInUserStore
  readonly #lock: RenewalLock
  readonly #configuration = new JoinedTask<KnownConfiguration>()
  /** The provider's configuration, once it is known: a logout then needs no request. */
  #known: KnownConfiguration | undefined
  /** The stored login of this page's session. */
  #login: Pick<SignedInUser, 'loginId' | 'subject'> | undefined

  /**
   * @throws {AuthError} `invalid_input` when the config lacks the client, the authority or the redirect page, or its
   *   authority is not allowed; `browser_unsupported` outside a browser
   */
  constructor(config: PKCEAuthConfig, options: PKCEAuthStrategyOptions = {}) {
    super(config, options, options.page)
    const { page, environment } = this
    if (!page)
      throw new AuthError(
        'A login needs a browser, with its page in the environment. Elsewhere pass a token or client credentials.',
        'browser_unsupported',
      )
    this.#page = page
    this.#popups = new PopupNavigator(page, environment.clock)
    this.#states = new LoginStates(environment)
    this.#users = new SignedInUserStore(environment, config, this.authority)
    this.#lock = new RenewalLock(page, environment.clock, `${this.authority} ${config.clientId}`)
  }

  protected async restore(): Promise<LoginSession | null> {
    this.#requireStores()
    removeExpiredEntries(this.environment)
    const answer = this.#takeAnswer()
    const begun = answer && this.#states.take(stateOf(answer))
    // Ignore an answer that this tab did not request, or that was used already.
    if (!answer || !begun) {
      const user = this.#users.read()
      return user ? this.#adopt(user) : null
    }
    const { life } = this
    const state = stateOf(answer) ?? ''
    const endsAt = this.#endOf(TOKEN_WAIT_MS)
    const provider = await this.#provider(life, endsAt)
    const tokens = await exchangeCode(provider, answer, { ...begun, state }, life, this.#leftUntil(endsAt))
    const session = this.#store(tokens, life)
    this.#returnTo(begun.nextRoute)
    return session
  }

  protected async signIn({ scheme, extraQueryParameters, nextRoute, signal }: LoginRequest): Promise<LoginSession> {
    this.#requireReturn()
    const opened = scheme === 'popup' ? this.#popups.open() : undefined
    try {
      const provider = await this.#provider(signal)
      const request = await createAuthorizationRequest(provider, { parameters: extraQueryParameters, nextRoute })
      signal.throwIfAborted()
      const { id, verifier, nonce, state, address } = request
      if (opened) {
        const answer = await this.#popups.answer(opened, address, state, signal)
        return this.#store(await exchangeCode(provider, answer, request, signal), signal)
      }
      this.#states.add({ id, verifier, nonce, nextRoute: nextRoute ?? '', login: this.#users.key }, state)
      return await this.#leave(address)
    } catch (error) {
      if (opened) this.#popups.close(opened)
      throw error
    }
  }

  protected async renew(current: LoginSession): Promise<LoginSession> {
    const { life } = this
    const endsAt = this.#endOf(TOKEN_WAIT_MS)
    return this.#lock.run(() => this.#renewLocked(current, life, endsAt))
  }

  protected async signOut(plan: LogoutPlan, after: Promise<unknown> | undefined): Promise<void> {
    const opened = plan.scheme === 'popup' ? this.#popups.open() : undefined
    const { life } = this
    const [endpoint] = await Promise.all([this.#endSessionEndpoint(), after])
    const address = endpoint === undefined ? fallbackAddress(plan) : endSessionRequest(endpoint, plan)
    if (!opened) {
      if (plan.state !== undefined) this.#states.expectReturn(plan.state)
      return this.#leave(address)
    }
    // The user may not return from there, so nothing waits for it.
    if (endpoint === undefined) return opened.navigate(address)
    await this.#popups.answer(opened, address, undefined, life).catch(() => {
      // A window that the user closed, or that passed on no answer, has still reached the provider.
    })
  }

  protected discard(): LoginSession | null {
    const user = this.#users.read()
    this.#login = undefined
    this.#users.remove()
    this.#states.clear()
    this.#states.removeAnswer()
    if (this.given) removeLoginMetadata(this.environment, restBase(this.given.deploymentInfo.apiDomain))
    // A renewal in another tab may be storing its tokens now. It holds the lock until it has.
    this.#lock.release()
    if (user) void this.#lock.run(async () => this.#users.remove(user.loginId)).catch(() => {})
    return user ? sessionOf(user) : null
  }

  protected async discardForgotten(): Promise<void> {
    if (this.#login && this.#users.read()?.loginId === this.#login.loginId) this.discard()
  }

  protected override listen(onSignedOut: () => void): () => void {
    const compare = () => {
      const user = this.#users.read()
      const login = this.#login
      if (!login || user?.loginId === login.loginId || isSameUser(user, login)) return
      this.#login = undefined
      onSignedOut()
    }
    // A page in the back/forward cache is not notified, and the next page of its tab may have signed out.
    const stopRestored = this.#page.onRestored(compare)
    // sessionStorage belongs to this tab only.
    if (this.config.cacheLocation !== 'localStorage') return stopRestored
    const stopStored = this.#page.onStored(this.#users.key, compare)
    return () => {
      stopRestored()
      stopStored()
    }
  }

  async #renewLocked(current: LoginSession, life: AbortSignal, endsAt: number): Promise<LoginSession> {
    const isShared = this.config.cacheLocation === 'localStorage'
    const read = () => this.#users.read()
    const user = isShared ? await this.#lock.readNewest(read) : read()
    life.throwIfAborted()
    if (!user) throw signedOut()
    if (this.#login && user.loginId !== this.#login.loginId && !isSameUser(user, this.#login)) throw otherUser()
    // Another tab may have renewed it while this one waited.
    const isValid = user.expiresAt === undefined || this.environment.clock.now() < user.expiresAt
    if (user.accessToken !== current.accessToken && isValid) return this.#adopt(user)
    const requestsEndAt = Math.min(endsAt, this.#endOf(RENEWAL_WAIT_MS))
    const provider = await this.#provider(life, requestsEndAt, user.issuer)
    const tokens = await this.#renewedTokens(provider, user, life, requestsEndAt)
    life.throwIfAborted()
    if (user.subject !== undefined && tokens.subject !== undefined && tokens.subject !== user.subject) throw otherUser()
    const renewals = (user.renewals ?? 0) + 1
    const renewed = { ...user, ...defined(tokens), expiresAt: tokens.expiresAt, renewals }
    if (!this.#users.replace(renewed)) throw signedOut()
    if (isShared) await this.#lock.announce(renewed)
    return this.#adopt(renewed)
  }

  async #renewedTokens(
    provider: Provider,
    user: SignedInUser,
    signal: AbortSignal,
    endsAt: number,
  ): Promise<IssuedTokens> {
    if (user.refreshToken) {
      try {
        return await exchangeRefreshToken(provider, user.refreshToken, signal, this.#leftUntil(endsAt))
      } catch (error) {
        if (!isRefreshTokenRejected(error)) throw error
      }
    }
    const parameters = { prompt: 'none', ...(user.idToken && { id_token_hint: user.idToken }) }
    const request = await createAuthorizationRequest(provider, { parameters })
    const answer = await this.#popups.answerInFrame(request.address, request.state, signal)
    return exchangeCode(provider, answer, request, signal, this.#leftUntil(endsAt))
  }

  /** The end of a time limit, on the monotonic clock. */
  #endOf(limitMs: number): number {
    return this.environment.clock.monotonic() + limitMs
  }

  #leftUntil(endsAt: number): number {
    return Math.max(0, endsAt - this.environment.clock.monotonic())
  }

  /** Stores the user of a login, unless a logout came first. */
  #store(tokens: IssuedTokens, signal: AbortSignal): LoginSession {
    signal.throwIfAborted()
    const user = { ...tokens, loginId: randomId(this.environment) }
    this.#users.add(user)
    return this.#adopt(user)
  }

  /** Makes a stored user the one of this page. */
  #adopt(user: SignedInUser): LoginSession {
    this.#login = { loginId: user.loginId, subject: user.subject }
    return sessionOf(user)
  }

  /** Navigates away and never returns, so that no later code runs. */
  #leave(address: string): Promise<never> {
    this.#page.leave(address)
    return new Promise<never>(() => {})
  }

  /** The answer of a redirect: what the callback page stored, else what this page's address contains. */
  #takeAnswer(): string | undefined {
    const stored = this.#states.answer
    if (stored) {
      const { key } = this.#users
      // Another login of the page takes its own answer.
      if ((this.#states.find(stateOf(stored))?.login ?? key) !== key) return undefined
      this.#states.removeAnswer()
      return stored
    }
    const address = new URL(this.#page.address)
    const state = address.searchParams.get('state')
    if (!state) return undefined
    if (!address.searchParams.has('code') && !address.searchParams.has('error')) {
      // A logout of this tab returned to a page of the application.
      const { redirectUri } = this.config
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

  /** @throws {AuthError} `browser_unsupported` where the browser forbids its stores */
  #requireStores(): void {
    const { sessionStorage, localStorage } = this.environment
    if (sessionStorage && (this.config.cacheLocation !== 'localStorage' || localStorage)) return
    throw new AuthError(
      'The browser forbids the store that a sign-in needs. Allow site data for this page, then refresh it.',
      'browser_unsupported',
    )
  }

  /** @throws {AuthError} `invalid_input` for a redirect page that cannot receive the answer */
  #requireReturn(): void {
    const { redirectUri } = this.config
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
    const known = (this.#known ?? givenConfiguration(this.config))?.end_session_endpoint
    // A constructed endpoint yields to the provider's own.
    if (known !== undefined && known !== constructedEndpoint(this.authority)) return known
    return fetchEndSessionEndpoint(this.#place)
  }

  get #place(): ProviderAddress {
    const { authority, config, environment } = this
    return { authority, config, environment, onRateLimited: this.given?.onRateLimited }
  }

  /**
   * The provider: from the given configuration, otherwise from its published one.
   *
   * @param endsAt when the requests for it end, on the monotonic clock
   */
  async #provider(
    signal: AbortSignal,
    endsAt = this.#endOf(TOKEN_WAIT_MS),
    pinnedIssuer = this.#users.read()?.issuer,
  ): Promise<Provider> {
    const place = this.#place
    const given = givenConfiguration(this.config)
    const suffices = given?.authorization_endpoint && given.token_endpoint
    this.#known ??= suffices
      ? given
      : await this.#configuration.join(
          flight => fetchOpenIdConfiguration(place, flight, this.#leftUntil(endsAt)),
          signal,
        )
    const config = { ...this.config, scopes: this.scopes }
    return { ...place, config, configuration: this.#known, pinnedIssuer }
  }
}

function stateOf(answer: string): string | null {
  return URL.canParse(answer) ? new URL(answer).searchParams.get('state') : null
}

function sessionOf({ accessToken, expiresAt, idToken }: IssuedTokens): LoginSession {
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

function isSamePlace(address: URL, other: string): boolean {
  if (!URL.canParse(other)) return false
  const { origin, pathname } = new URL(other)
  return address.origin === origin && address.pathname === pathname
}
