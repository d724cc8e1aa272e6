import {
  type INavigator,
  type StateStore,
  type User,
  UserManager,
  type UserManagerSettings,
  WebStorageStateStore,
} from 'oidc-client-ts'
import { AuthError } from '../../errors.ts'
import type { Clock } from '../../platform/clock.ts'
import type { StorageLike } from '../../platform/environment.ts'
import { fnv1a } from '../../util/fnv1a.ts'
import { REDIRECT_ANSWER_KEY } from './callback-page.ts'
import type {
  IdentityClient,
  IdentityClientFactory,
  IdentityClientSettings,
  IdentitySession,
  LoginRequest,
} from './identity-client.ts'
import { asAuthError, isDead, isTimeout } from './identity-errors.ts'
import { type LoginPage, type LoginWindow, loginPage } from './login-page.ts'
import { endSessionRequest, fallbackAddress, isWebAddress, type LogoutPlan } from './logout-plan.ts'
import { fetchOpenIdConfiguration, type OpenIdConfiguration, parseOpenIdConfiguration } from './openid-configuration.ts'
import { PopupNavigator } from './popup-navigator.ts'

/** Start of every key this client writes. */
const KEY_PREFIX = 'aiagent_oidc.'
/** How long another tab may take for its renewal before this one goes on by itself. */
const LOCK_LIMIT_MS = 30_000

/**
 * The default identity client: a well-kept OpenID library, with windows, redirects and renewals of our own around it.
 *
 * It owns nothing but the library's stores: the login in progress in the tab's, the session where `cacheLocation` says.
 */
export class OidcIdentityClient implements IdentityClient {
  readonly #settings: IdentityClientSettings
  readonly #page: LoginPage
  readonly #clock: Clock
  readonly #popups: PopupNavigator
  readonly #redirects: INavigator = {
    prepare: async () => ({ navigate: ({ url }) => this.#leave(url), close: () => {} }),
    callback: async () => {},
  }
  readonly #tabStore: StorageLike
  readonly #states: StateStore
  /** Knows the stores, and no endpoint. */
  readonly #local: UserManager
  #configuration: Promise<OpenIdConfiguration> | undefined
  #manager: Promise<UserManager> | undefined

  /** @throws {AuthError} `browser_unsupported` where the browser forbids its stores */
  constructor(settings: IdentityClientSettings, page: LoginPage) {
    this.#settings = settings
    this.#page = page
    this.#clock = settings.environment.clock
    this.#popups = new PopupNavigator(page, this.#clock)
    const { sessionStorage } = settings.environment
    if (!sessionStorage) throw storeForbidden()
    this.#tabStore = sessionStorage
    this.#states = storeOf(sessionStorage)
    this.#local = this.#managerFor({})
  }

  async restore(): Promise<IdentitySession | null> {
    const answer = await this.#takeAnswer()
    if (!answer) return this.#guard(async () => sessionOf(await this.#local.getUser()))
    const manager = await this.#online()
    const user = await this.#guard(() => manager.signinRedirectCallback(answer))
    if (user.url_state) this.#returnTo(decodeURIComponent(user.url_state))
    return sessionOf(user)
  }

  async login({ scheme, extraQueryParameters, nextRoute }: LoginRequest): Promise<IdentitySession> {
    this.#requireReturn()
    const extraQueryParams = { ...extraQueryParameters }
    if (scheme === 'popup') return this.#loginByPopup(this.#popups.open(), extraQueryParams)
    // Encoded once more, since the library decodes what it gets back once too often.
    const way = nextRoute === undefined ? {} : { url_state: encodeURIComponent(nextRoute) }
    const manager = await this.#online()
    await this.#guard(() => manager.signinRedirect({ extraQueryParams, ...way }))
    return never()
  }

  async renew(current: IdentitySession): Promise<IdentitySession> {
    if (!this.#page.isOnline())
      throw new AuthError('The access token cannot be renewed: there is no network.', 'token_request_failed')
    return this.#guard(() => this.#alone(() => this.#renew(current)), 'The renewal of the access token')
  }

  async logout(plan: LogoutPlan): Promise<void> {
    const opened = plan.scheme === 'popup' ? this.#popups.open() : undefined
    const { clientId } = this.#settings.config
    const goTo = (address: string) => {
      if (!opened) return this.#leave(address)
      // Nobody knows whether the provider comes back from there, so nobody waits for it.
      opened.navigate(address)
    }
    let named: string | undefined
    try {
      named = await this.#endSessionEndpoint()
      await this.#local.removeUser()
      await this.#local.clearStaleState()
      if (named === undefined) return await goTo(fallbackAddress(plan, undefined, clientId))
      const request = endSessionRequest(named, plan, clientId)
      if (!opened) return await this.#leave(request)
      this.#popups.requireCurrent(opened)
      const window = await this.#popups.prepare()
      await window.navigate({ url: request })
    } catch (error) {
      // A window that was closed, or from which nothing came back, has been at the provider all the same.
      if (!(error instanceof AuthError)) await goTo(fallbackAddress(plan, named, clientId))
    }
  }

  async #loginByPopup(opened: LoginWindow, extraQueryParams: Record<string, string>): Promise<IdentitySession> {
    try {
      const manager = await this.#online()
      this.#popups.requireCurrent(opened)
      return signedIn(await manager.signinPopup({ extraQueryParams }))
    } catch (error) {
      this.#popups.close(opened)
      throw asAuthError(error, 'The sign-in')
    }
  }

  /** Leaves the page for good: nobody waits for what comes after it. */
  #leave(address: string): Promise<never> {
    this.#page.leave(address)
    return never()
  }

  /** One renewal at a time, in all tabs: a refresh token that is used twice ends the whole login at many providers. */
  async #renew(current: IdentitySession): Promise<IdentitySession> {
    const user = await this.#local.getUser()
    // Another tab may have renewed it while this one waited.
    if (user && user.access_token !== current.accessToken && !user.expired) return signedIn(user)
    const manager = await this.#online()
    if (user?.refresh_token) {
      try {
        return signedIn(await manager.signinSilent())
      } catch (error) {
        if (!isDead(error)) throw error
      }
    }
    try {
      return signedIn(await manager.signinSilent({ forceIframeAuth: true }))
    } catch (error) {
      // A frame that never answers: the provider cannot see its cookies there, or forbids to be framed.
      if (isTimeout(error)) throw interactionRequired()
      throw error
    }
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const limit = new AbortController()
    const timer = this.#clock.setTimeout(() => limit.abort(), LOCK_LIMIT_MS)
    let begun: Promise<T> | undefined
    const begin = () => {
      this.#clock.clearTimeout(timer)
      return (begun = work())
    }
    const { clientId } = this.#settings.config
    const name = `aiagent-renewal-${fnv1a(`${this.#settings.authority} ${clientId}`)}`
    try {
      return await this.#page.exclusively(name, limit.signal, begin)
    } catch (error) {
      // A tab that is frozen may hold the lock for ever.
      if (begun || !limit.signal.aborted) throw error
      return begin()
    }
  }

  /** The answer of a redirect: what the callback page left in the tab's store, else what this page's address holds. */
  async #takeAnswer(): Promise<string | undefined> {
    const left = this.#tabStore.getItem(REDIRECT_ANSWER_KEY)
    if (left !== null) {
      this.#tabStore.removeItem(REDIRECT_ANSWER_KEY)
      return left
    }
    const address = new URL(this.#page.address)
    const state = address.searchParams.get('state')
    if (!state) return undefined
    if (!address.searchParams.has('code') && !address.searchParams.has('error')) {
      if (isWebAddress(state) && samePlace(address, this.#settings.config.redirectUri)) this.#returnTo(state)
      return undefined
    }
    // Another login of the host's own may return to the same page; its state is not one of ours.
    const ours = await this.#states.get(state.split(';', 1)[0] ?? '')
    if (!ours) return undefined
    // Before anything is awaited for long: a code does not stay in an address that others read.
    for (const name of ANSWER_PARAMETERS) address.searchParams.delete(name)
    const answer = this.#page.address
    this.#page.showAddress(address.href)
    return answer
  }

  /** Goes on to where the login or logout began, when the provider's answer came to another page. */
  #returnTo(target: string | undefined): void {
    if (!target || !URL.canParse(target) || new URL(target).origin !== this.#page.origin) return
    if (target !== this.#page.address.split('#', 1)[0]) this.#page.replace(target)
  }

  /** @throws {AuthError} `invalid_input` for a redirect page that no answer could come back from */
  #requireReturn(): void {
    const { redirectUri } = this.#settings.config
    if (URL.canParse(redirectUri) && new URL(redirectUri).origin === this.#page.origin) return
    throw new AuthError(
      'The redirect page of the login is not on the origin of this page. Pass auth with a redirectUri of your own.',
      'invalid_input',
    )
  }

  async #endSessionEndpoint(): Promise<string | undefined> {
    const given = this.#given()?.end_session_endpoint
    if (given) return given
    const { environment, authority } = this.#settings
    return (await fetchOpenIdConfiguration(environment, authority).catch(() => undefined))?.end_session_endpoint
  }

  #given(): OpenIdConfiguration | undefined {
    const { authorityMetadata } = this.#settings.config
    return authorityMetadata === undefined ? undefined : parseOpenIdConfiguration(authorityMetadata)
  }

  /** A manager that knows the provider's endpoints, from the config or else from the provider itself. */
  #online(): Promise<UserManager> {
    const given = this.#given()
    const { environment, authority } = this.#settings
    this.#configuration ??=
      given?.authorization_endpoint && given.token_endpoint
        ? Promise.resolve(given)
        : fetchOpenIdConfiguration(environment, authority)
    this.#manager ??= this.#configuration.then(configuration => this.#managerFor(configuration))
    this.#manager.catch(() => {
      this.#manager = this.#configuration = undefined
    })
    return this.#manager
  }

  #managerFor(metadata: OpenIdConfiguration): UserManager {
    const { config, authority, environment } = this.#settings
    const lasting = config.cacheLocation === 'localStorage' ? environment.localStorage : environment.sessionStorage
    if (!lasting) throw storeForbidden()
    const settings: UserManagerSettings = {
      authority,
      client_id: config.clientId,
      redirect_uri: config.redirectUri,
      scope: config.scopes.join(' '),
      metadata,
      stateStore: this.#states,
      userStore: storeOf(lasting),
      automaticSilentRenew: false,
      monitorSession: false,
    }
    const manager = new UserManager(settings, this.#redirects, this.#popups)
    // The library watches the expiry of every token it sees; here the authentication service does.
    manager.events.load = async () => {}
    return manager
  }

  async #guard<T>(work: () => Promise<T>, what = 'The sign-in'): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw asAuthError(error, what)
    }
  }
}

const ANSWER_PARAMETERS = ['code', 'state', 'error', 'error_description', 'error_uri', 'session_state', 'iss']

/** The library types its store as a whole Storage and uses the part that we have. */
function storeOf(store: StorageLike): WebStorageStateStore {
  return new WebStorageStateStore({ prefix: KEY_PREFIX, store: store as Storage })
}

function sessionOf(user: User | null): IdentitySession | null {
  if (!user?.access_token) return null
  const expiresAt = user.expires_at === undefined ? undefined : user.expires_at * 1000
  return { accessToken: user.access_token, expiresAt, idToken: user.id_token }
}

function signedIn(user: User | null): IdentitySession {
  const session = sessionOf(user)
  if (session) return session
  throw new AuthError('The identity provider gave no access token.', 'token_request_failed')
}

function interactionRequired(): AuthError {
  return new AuthError('The identity provider wants to see the user.', 'interaction_required')
}

function storeForbidden(): AuthError {
  return new AuthError(
    'The browser forbids the store that a sign-in needs. Allow cookies and site data for this page, then refresh it.',
    'browser_unsupported',
  )
}

function samePlace(address: URL, other: string): boolean {
  if (!URL.canParse(other)) return false
  const { origin, pathname } = new URL(other)
  return address.origin === origin && address.pathname === pathname
}

function never(): Promise<never> {
  return new Promise<never>(() => {})
}

/** The default identity client on the environment's page. */
export const createOidcIdentityClient: IdentityClientFactory = settings => {
  const { window } = settings.environment.page ?? {}
  if (window) return new OidcIdentityClient(settings, loginPage(window))
  throw new AuthError('A login needs a browser, with its page in the environment.', 'browser_unsupported')
}
