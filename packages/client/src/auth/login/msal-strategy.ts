import type { AuthenticationResult, IPublicClientApplication } from '@azure/msal-browser'
import { AuthError } from '../../errors.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import { answerInTime } from '../host-call.ts'
import { asAuthError } from './identity-errors.ts'
import { Login, type LoginOptions, type LoginRequest, type LoginSession } from './login.ts'
import { fallbackAddress, type LogoutPlan } from './logout-plan.ts'
import { fetchEndSessionEndpoint } from './openid-configuration.ts'
import { PopupNavigator } from './popup-navigator.ts'

/** The part of a `PublicClientApplication` that is used. */
export type MsalApplication = Pick<
  IPublicClientApplication,
  | 'initialize'
  | 'handleRedirectPromise'
  | 'getActiveAccount'
  | 'getAllAccounts'
  | 'setActiveAccount'
  | 'loginPopup'
  | 'loginRedirect'
  | 'acquireTokenSilent'
  | 'logoutPopup'
  | 'logoutRedirect'
> &
  Partial<Pick<IPublicClientApplication, 'clearCache'>>

/**
 * A login through the host's own `PublicClientApplication`:
 *
 * ```ts
 * const agent = new AiAgent({ id, endpoint, auth: new MsalAuthStrategy(application, config) })
 * ```
 *
 * The application keeps its own settings of authority and stores. Client id, scopes and redirect page of `config`
 * should be the same. Its redirect page must be the one that its library requires.
 */
export class MsalAuthStrategy extends Login {
  readonly #application: MsalApplication
  #isReady = false
  /** The account of this page's session. */
  #own: AuthenticationResult['account'] | undefined
  /** Settles when the account of a user who signed out in another tab is removed. */
  #forgotten: Promise<unknown> | undefined

  /**
   * @param application created by the host; the strategy initializes it
   * @throws {AuthError} `invalid_input` when the config lacks the client, the authority or the redirect page, or its
   *   authority is not allowed
   */
  constructor(application: MsalApplication, config: PKCEAuthConfig, options: LoginOptions = {}) {
    super(config, options)
    this.#application = application
  }

  protected restore(): Promise<LoginSession | null> {
    return this.#inTime('The sign-in', () => this.#restore())
  }

  async #restore(): Promise<LoginSession | null> {
    const application = this.#application
    try {
      await this.#forgotten
      await this.#initialize()
      const result = await application.handleRedirectPromise()
      if (result) return this.#signedIn(result)
      if (!this.#account()) return null
      return await this.#acquire(false)
    } catch (error) {
      const failure = asAuthError(error, 'The sign-in')
      // A remembered account that must sign in again does not count as a session.
      if (failure.reason === 'interaction_required' || failure.reason === 'popup_timeout') return null
      throw failure
    }
  }

  protected async signIn({ scheme, extraQueryParameters, nextRoute }: LoginRequest): Promise<LoginSession> {
    const request = { ...this.#request(), extraQueryParameters: { ...extraQueryParameters } }
    if (scheme === 'popup') return this.#signedIn(await this.#application.loginPopup(request))
    const way = nextRoute === undefined ? {} : { state: nextRoute, redirectStartPage: nextRoute }
    await this.#application.loginRedirect({ ...request, ...way })
    return never()
  }

  protected renew(): Promise<LoginSession> {
    return this.#inTime('The renewal of the access token', () => this.#acquire(true))
  }

  protected discard(): null | undefined {
    // Before initialize(), only the application knows whether there is a user.
    return this.given ? null : undefined
  }

  protected async signOut(plan: LogoutPlan, after: Promise<unknown> | undefined): Promise<void> {
    const { idTokenHint, postLogoutRedirectUri, state } = plan
    await after
    const account = this.#account()
    const request = { ...(account && { account }), ...(idTokenHint && { idTokenHint }), postLogoutRedirectUri }
    try {
      // A logout may be the first call. Otherwise its window must open at once.
      if (!this.#isReady) await this.#initialize()
      if (plan.scheme === 'popup') return await this.#application.logoutPopup(request)
      await this.#application.logoutRedirect({ ...request, ...(state !== undefined && { state }) })
    } catch (error) {
      const failure = asAuthError(error, 'The sign-out')
      // A window that the user closed has reached the provider; a blocked one has not.
      if (failure.reason === 'popup_closed' || failure.reason === 'popup_timeout') return
      if (failure.reason === 'popup_blocked') throw failure
      await this.#fallBack(plan)
    }
    if (plan.scheme === 'redirect') await never()
  }

  /** Removes the account from the host's library, which may keep it in a store of this tab. */
  protected async discardForgotten(): Promise<void> {
    const account = this.#own
    this.#own = undefined
    if (account) this.#forgotten = this.#application.clearCache?.({ account })
    await this.#inTime('The sign-out', async () => this.#forgotten)
  }

  /** Calls the host's library, which may never answer. */
  #inTime<T>(what: string, work: () => Promise<T>): Promise<T> {
    return answerInTime(this.environment.clock, what, this.life, () =>
      work().catch(error => {
        throw asAuthError(error, what)
      }),
    )
  }

  /**
   * Signs out without the host's library, which failed. Uses the address in the access token, otherwise the published
   * end-session endpoint, otherwise the usual one (AUTH-22).
   */
  async #fallBack(plan: LogoutPlan): Promise<void> {
    const { authority, config, environment, page } = this
    if (!page) throw new AuthError('A sign-out needs a browser.', 'browser_unsupported')
    const opened = plan.scheme === 'popup' ? new PopupNavigator(page, environment.clock).open() : undefined
    const published =
      plan.logoutClaim === undefined ? await fetchEndSessionEndpoint({ authority, config, environment }) : undefined
    const address = fallbackAddress(plan, published)
    if (opened) opened.navigate(address)
    else page.leave(address)
  }

  async #initialize(): Promise<void> {
    await this.#application.initialize()
    this.#isReady = true
  }

  async #acquire(forceRefresh: boolean): Promise<LoginSession> {
    const account = this.#account()
    if (!account) throw new AuthError('No user is signed in.', 'interaction_required')
    return this.#signedIn(await this.#application.acquireTokenSilent({ ...this.#request(), account, forceRefresh }))
  }

  #signedIn(result: AuthenticationResult): LoginSession {
    this.#application.setActiveAccount(result.account)
    this.#own = result.account
    const { accessToken, idToken, expiresOn } = result
    if (!accessToken) throw new AuthError('The identity provider returned no access token.', 'token_request_failed')
    return { accessToken, expiresAt: expiresOn?.getTime(), idToken: idToken || undefined }
  }

  #account() {
    return this.#application.getActiveAccount() ?? this.#application.getAllAccounts()[0]
  }

  #request() {
    return { scopes: [...this.scopes], redirectUri: this.config.redirectUri }
  }
}

function never(): Promise<never> {
  return new Promise<never>(() => {})
}
