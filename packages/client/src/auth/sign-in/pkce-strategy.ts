import type { DeploymentInfo } from '@aiagent/protocol'
import { AuthError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { defaultEnvironment } from '../../platform/default-environment.ts'
import type { Environment } from '../../platform/environment.ts'
import type { PageWindow } from '../../platform/page.ts'
import type { RateLimitCallback } from '../../platform/patient-fetch.ts'
import { untilAborted } from '../../util/abort.ts'
import { Era } from '../../util/era.ts'
import { subjectOf } from '../../util/subject-fingerprint.ts'
import { expiryOf, renewalTime } from '../access-token.ts'
import type {
  AuthScheme,
  AuthStrategyInitializeOptions,
  InteractiveLogin,
  LogoutOptions,
  PKCEAuthConfig,
} from '../auth-strategy.ts'
import { answerInTime } from '../host-call.ts'
import { PROTOCOL_SCOPES } from '../scopes.ts'
import type { IdentityClient, IdentityClientFactory, IdentitySession, LogoutPlan } from './identity-client.ts'
import { asAuthError } from './identity-errors.ts'
import { shownAgain } from './login-page.ts'
import { logoutClaimOf, planLogout, withoutHash } from './logout-plan.ts'
import { joinPage, reportSignIn, reportSignOut } from './page-logins.ts'
import { authorityOf, userKey } from './provider-address.ts'
import { awaitLogoutWindow } from './window-watch.ts'

/** Dependencies of a login. */
export interface PKCEAuthStrategyOptions {
  /** The platform. @default the current one */
  environment?: Environment | undefined
  /** Receives warnings and debug entries. @default none */
  logger?: Logger | undefined
  /** The identity client to use. @default the OpenID client of this entry */
  identityClient?: IdentityClientFactory | undefined
}

/** The state of a login. All fields end with the session. */
type LoginState =
  | { readonly kind: 'signed-out'; readonly interaction?: Promise<IdentitySession> | undefined }
  | {
      readonly kind: 'signed-in'
      readonly session: IdentitySession
      /** When the token was obtained; the past for a restored one with an unknown age. */
      readonly obtainedAt: number
      readonly interaction?: Promise<IdentitySession> | undefined
      readonly renewal?: Promise<IdentitySession> | undefined
    }

/**
 * A user who signs in at an identity provider. It owns the session, and decides when the user is asked.
 *
 *   signed-out ── restored, authenticate() ──► signed-in ── token about to expire ──► renewed silently
 *        ▲                                        │                                        │ needs the user
 *        └──────── logout(), in any tab ──────────┘◄──── popup or redirect by scheme ◄─────┘
 */
export class PKCEAuthStrategy implements InteractiveLogin {
  readonly #config: PKCEAuthConfig
  readonly #authority: string
  readonly #scheme: AuthScheme
  readonly #environment: Environment
  readonly #logger: Logger | undefined
  readonly #createClient: IdentityClientFactory
  readonly #surroundings: {
    deployment?: DeploymentInfo
    postAuthentication?: AuthStrategyInitializeOptions['postAuthentication']
    onRateLimited?: AuthStrategyInitializeOptions['onRateLimited']
    onSignedOut?: () => void
    stopListening?: (() => void) | undefined
  } = {}
  #client: IdentityClient | undefined
  #state: LoginState = { kind: 'signed-out' }
  /** Ended by every login, logout and cleanup: results of earlier calls are discarded. */
  #era = new Era()
  /** The session of a logout whose window was blocked: the sign-out at the provider can be retried. */
  #unfinished: IdentitySession | undefined

  /**
   * @throws {AuthError} `invalid_input` when the config lacks the client, the authority or the redirect page, or its
   *   authority is not allowed; `browser_unsupported` outside a browser, unless the host supplies an identity client
   */
  constructor(config: PKCEAuthConfig, options: PKCEAuthStrategyOptions = {}) {
    for (const field of ['clientId', 'redirectUri'] as const) {
      if (typeof config?.[field] !== 'string' || !config[field].trim())
        throw new AuthError(`auth.config.${field} is missing. A login needs it.`, 'invalid_input')
    }
    this.#config = config
    this.#authority = authorityOf(config)
    this.#scheme = config.authScheme ?? 'redirect'
    this.#environment = options.environment ?? defaultEnvironment()
    this.#logger = options.logger
    if (!options.identityClient && !this.#environment.page)
      throw new AuthError(
        'A login needs a browser. Elsewhere pass a token, client credentials, or an identityClient.',
        'browser_unsupported',
      )
    this.#createClient = options.identityClient ?? createOidcClient
  }

  /** Whether a user is signed in. */
  get hasSession(): boolean {
    return this.#state.kind === 'signed-in'
  }

  /** Issuer and subject of the user's ID token. */
  get identity(): string | undefined {
    return identityOf(this.#session)
  }

  get expiresAt(): number | undefined {
    return this.#session?.expiresAt
  }

  /** Identifies the stored login by provider, client and storage. Logins with the same key share one user. */
  get storeKey(): string {
    return `${userKey(this.#authority, this.#config.clientId)} ${this.#config.cacheLocation ?? 'sessionStorage'}`
  }

  /** Sets what is called when the user signed out, or another one signed in, in another tab or agent of the page. */
  setSignedOutCallback(callback: () => void): void {
    this.#surroundings.onSignedOut = callback
  }

  /**
   * Restores the session of a previous page, or uses the one from a redirect. `scopes` apply if the config has none.
   *
   * @throws {AuthError} when the redirect returned an error
   */
  async initialize(options: AuthStrategyInitializeOptions): Promise<void> {
    const { deploymentInfo, scopes, postAuthentication, onRateLimited } = options
    this.#surroundings.deployment = deploymentInfo
    this.#surroundings.postAuthentication = postAuthentication
    this.#surroundings.onRateLimited = onRateLimited
    const { signal } = this.#era
    this.#client ??= await this.#createFor(scopes)
    const client = this.#client
    this.#surroundings.stopListening ??= this.#listen(client)
    const session = await this.#ask('The sign-in', signal, () => client.restore())
    this.#unfinished = undefined
    this.#state = session
      ? { kind: 'signed-in', session, obtainedAt: Number.NEGATIVE_INFINITY }
      : { kind: 'signed-out' }
    if (session && this.#window) reportSignIn(this.#window, this)
    this.#logger?.debug(session ? 'A session was restored.' : 'No user is signed in.')
  }

  /**
   * Lets the user sign in, even if there is a session. With a redirect the page leaves. If the user comes back to it through
   * the back/forward cache, the promise rejects with `popup_closed`.
   */
  async authenticate(): Promise<void> {
    const { accessToken } = await this.#interact(this.#scheme)
    await this.#surroundings.postAuthentication?.({ accessToken })
  }

  /**
   * The token if it is valid for five more minutes; otherwise renews it silently; otherwise asks the user to sign in.
   *
   * @param mayAsk called when only the user can help: whether to ask. @default always
   * @throws {AuthError} with the reason why there is none
   */
  async getToken(mayAsk?: () => boolean): Promise<string> {
    const state = this.#state
    if (state.interaction) return (await state.interaction).accessToken
    if (state.kind === 'signed-out') return (await this.#interact(this.#scheme)).accessToken
    const { session, obtainedAt } = state
    const expiresAt = session.expiresAt ?? expiryOf(session.accessToken)
    const isValid = expiresAt === undefined || this.#environment.clock.now() < renewalTime(expiresAt, obtainedAt)
    if (isValid) return session.accessToken
    try {
      return (await this.#renew(session)).accessToken
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
    const session = this.#session
    if (!session) throw new AuthError('No user is signed in.', 'interaction_required')
    return (await this.#renew(session)).accessToken
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
  async logout({ after }: LogoutOptions = {}, stored?: IdentitySession): Promise<void> {
    const session = this.#session ?? this.#unfinished ?? stored
    this.#end('The sign-in was ended by logout().')
    this.#unfinished = undefined
    // Without a client nothing was restored: then only the stores of a new client contain data.
    const isInitialized = this.#client !== undefined
    const { signal } = this.#era
    const client = this.#client ?? (await this.#ask('The sign-out', signal, () => this.#createFor(undefined)))
    const ending = session ?? client.forget?.()
    if (!ending && (isInitialized || client.forget)) return
    if (this.#window) reportSignOut(this.#window, this, identityOf(ending))
    const plan = this.#planLogout(ending ?? undefined)
    try {
      const work = this.#orShownAgain(this.#scheme, this.#logoutWith(client, plan, after))
      await (this.#scheme === 'popup' ? awaitLogoutWindow(this.#environment.clock, signal, work) : work)
    } catch (error) {
      const failure = asAuthError(error, 'The sign-out')
      if (failure.reason === 'popup_blocked') this.#unfinished = ending ?? undefined
      throw failure
    }
  }

  /** The user signed out in another tab of the conversation: ends the session of this page, without the provider. */
  async forget(): Promise<void> {
    const { identity } = this
    const client = this.#client
    this.#end('The user signed out in another tab.')
    this.#unfinished = undefined
    if (this.#window) reportSignOut(this.#window, this, identity)
    if (client?.handleSignedOut) await client.handleSignedOut()
    else client?.forget?.()
  }

  async #logoutWith(client: IdentityClient, plan: LogoutPlan, after: LogoutOptions['after']): Promise<void> {
    if (this.#createClient === createOidcClient) return client.logout({ ...plan, after })
    // A host's client may ignore `after`. Its stored data is removed at once.
    client.forget?.()
    if (after) await after
    await client.logout(plan)
  }

  /** The outcome of a call that leaves the page; undefined when the page is shown again afterwards (SEC-17). */
  #orShownAgain<T>(scheme: AuthScheme, work: Promise<T>): Promise<T | undefined> {
    const window = this.#window
    if (scheme !== 'redirect' || !window) return work
    return Promise.race([work, shownAgain(window, this.#era.signal).then(() => undefined)])
  }

  /** Ends a login in progress, with its window. The session of an earlier login stays. */
  cancelLogin(): boolean {
    if (!this.#state.interaction) return false
    this.#era = this.#era.end(new AuthError('The sign-in was cancelled.', 'popup_closed'))
    this.#state = { ...this.#state, interaction: undefined }
    return true
  }

  /** Ends a login in progress, with its window, and stops listening to other tabs. The session stays stored. */
  cleanup(): void {
    this.#end('The sign-in was ended by destroy().')
    this.#surroundings.stopListening?.()
    this.#surroundings.stopListening = undefined
  }

  /** Host of the authority. */
  getDomain(): string {
    return new URL(this.#authority).host
  }

  get #window(): PageWindow | undefined {
    return this.#environment.page?.window
  }

  get #session(): IdentitySession | undefined {
    return this.#state.kind === 'signed-in' ? this.#state.session : undefined
  }

  async #createFor(scopes: readonly string[] | undefined): Promise<IdentityClient> {
    const given = this.#config.scopes?.length ? this.#config.scopes : scopes
    const config = { ...this.#config, scopes: given?.length ? given : PROTOCOL_SCOPES }
    const onRateLimited: RateLimitCallback = limit => this.#surroundings.onRateLimited?.(limit)
    try {
      return await this.#createClient({
        config,
        authority: this.#authority,
        environment: this.#environment,
        onRateLimited,
      })
    } catch (cause) {
      if (cause instanceof AuthError) throw cause
      throw new AuthError('Could not load the code of the login.', 'token_request_failed', { cause })
    }
  }

  /** Callers that need a token share one login; a call of `authenticate()` starts a new one. */
  #interact(scheme: AuthScheme): Promise<IdentitySession> {
    const client = this.#client
    if (!client) throw new AuthError('The login is not initialized. Call initialize() first.', 'token_missing')
    const { deployment } = this.#surroundings
    const { localLogin, nextRoute, extraQueryParameters } = this.#config
    this.#era = this.#era.end(new AuthError('Another sign-in replaced this one.', 'popup_closed'))
    const { signal } = this.#era
    const request = {
      scheme,
      extraQueryParameters: {
        ...(deployment?.domainHint && { domain_hint: deployment.domainHint }),
        ...(localLogin && { localLogin: 'true' }),
        ...extraQueryParameters,
      },
      ...(scheme === 'redirect' && { nextRoute: withoutHash(this.#absolute(nextRoute)) }),
      signal,
    }
    const interaction = untilAborted(this.#orShownAgain(scheme, client.login(request)), signal).then(
      session => {
        if (session) return this.#keep(session, undefined)
        this.#state = { ...this.#state, interaction: undefined }
        throw new AuthError('The user came back to the page without having signed in.', 'popup_closed')
      },
      (error: unknown) => {
        if (!signal.aborted) this.#state = { ...this.#state, interaction: undefined }
        throw signal.aborted ? signal.reason : asAuthError(error, 'The sign-in')
      },
    )
    interaction.catch(() => {})
    this.#state = { ...this.#state, interaction }
    return interaction
  }

  #renew(session: IdentitySession): Promise<IdentitySession> {
    const state = this.#state
    if (state.kind !== 'signed-in') throw new AuthError('No user is signed in.', 'interaction_required')
    if (state.renewal) return state.renewal
    const client = this.#client as IdentityClient
    const { signal } = this.#era
    const renewal = this.#ask('The renewal of the access token', signal, () => client.renew(session)).then(
      // A renewal may have no ID token. That of the login still identifies the session.
      renewed => this.#keep(renewed, session.idToken),
      (error: unknown) => {
        if (!signal.aborted && this.#state.kind === 'signed-in') this.#state = { ...this.#state, renewal: undefined }
        throw error
      },
    )
    renewal.catch(() => {})
    this.#state = { ...state, renewal }
    return renewal
  }

  /** A call of the identity client that needs no user: it has a time limit, and ends with the era. */
  async #ask<T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const guarded = () =>
      work().catch((error: unknown) => {
        throw asAuthError(error, what)
      })
    return answerInTime(this.#environment.clock, what, signal, guarded)
  }

  #keep(session: IdentitySession, idToken: string | undefined): IdentitySession {
    const kept = { ...session, idToken: session.idToken ?? idToken }
    this.#state = { kind: 'signed-in', session: kept, obtainedAt: this.#environment.clock.now() }
    this.#logger?.debug('The user is signed in.')
    if (this.#window) reportSignIn(this.#window, this)
    return kept
  }

  /** Follows the sign-outs of other tabs and of other agents of the page. Returns the undo. */
  #listen(client: IdentityClient): () => void {
    const undo = [client.onSignedOut?.(() => this.handleSignedOut()), this.#window && joinPage(this.#window, this)]
    return () => {
      for (const each of undo) each?.()
    }
  }

  /** The user signed out, or another one signed in, in another tab or by another agent of the page. */
  handleSignedOut(): void {
    this.#logger?.info('The user signed out, or another one signed in, in another tab or agent of the page.')
    this.#end('The user signed out in another tab or agent of the page.')
    this.#surroundings.onSignedOut?.()
  }

  #end(message: string): void {
    this.#era = this.#era.end(new AuthError(message, 'token_missing'))
    this.#state = { kind: 'signed-out' }
  }

  #planLogout(session: IdentitySession | undefined): LogoutPlan {
    const { nextRoute, redirectUri } = this.#config
    return planLogout({
      scheme: this.#scheme,
      redirectUri,
      nextRoute: nextRoute && this.#absolute(nextRoute),
      currentAddress: this.#address(),
      idToken: session?.idToken,
      logoutClaim: logoutClaimOf(session?.accessToken),
      authority: this.#authority,
    })
  }

  #address(): string {
    return this.#environment.page?.window?.location.href ?? this.#config.redirectUri
  }

  #absolute(route: string | undefined): string {
    const address = this.#address()
    return route && URL.canParse(route, address) ? new URL(route, address).href : address
  }
}

/** Issuer and subject of a session's ID token. */
function identityOf(session: IdentitySession | null | undefined): string | undefined {
  return session?.idToken === undefined ? undefined : subjectOf(session.idToken)
}

/** How to ask the user when no token can be obtained silently; undefined if asking would not help. */
function interactiveScheme(error: unknown, scheme: AuthScheme): AuthScheme | undefined {
  if (!(error instanceof AuthError)) return undefined
  if (error.reason === 'popup_timeout') return 'popup'
  return error.reason === 'interaction_required' ? scheme : undefined
}

/** The default identity client with its OAuth library: a separate chunk. */
const createOidcClient: IdentityClientFactory = async settings => {
  const { createOidcIdentityClient } = await import('./oidc-identity-client.ts')
  return createOidcIdentityClient(settings)
}
