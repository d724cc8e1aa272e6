import type { DeploymentInfo } from '@aiagent/protocol'
import { AuthError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { defaultEnvironment } from '../../platform/default-environment.ts'
import type { Environment } from '../../platform/environment.ts'
import { expiryOf, readClaims, renewalTime } from '../access-token.ts'
import type {
  AuthScheme,
  AuthStrategy,
  AuthStrategyInitializeOptions,
  LogoutOptions,
  PKCEAuthConfig,
} from '../auth-strategy.ts'
import { PROTOCOL_SCOPES } from '../scopes.ts'
import type { IdentityClient, IdentityClientFactory, IdentitySession } from './identity-client.ts'
import { asAuthError } from './identity-errors.ts'
import { planLogout, withoutHash } from './logout-plan.ts'
import { authorityOf } from './openid-configuration.ts'

/** What a login takes from its surroundings. */
export interface PKCEAuthStrategyOptions {
  /** The platform. @default the present one */
  environment?: Environment | undefined
  /** Hears of what is worth telling. @default nobody */
  logger?: Logger | undefined
  /** The identity library to use. @default the OpenID client of this entry */
  identityClient?: IdentityClientFactory | undefined
}

/**
 * A person who signs in at an identity provider. It owns the signed-in account, and decides when somebody is asked.
 *
 *   no session ── restored, authenticate() ──► session ── token about to expire ──► renewed silently
 *        ▲                                        │                                     │ needs the person
 *        └────────────── logout() ────────────────┘◄──── popup or redirect by scheme ◄──┘
 */
export class PKCEAuthStrategy implements AuthStrategy {
  readonly #config: PKCEAuthConfig
  readonly #authority: string
  readonly #scheme: AuthScheme
  readonly #environment: Environment
  readonly #logger: Logger | undefined
  readonly #createClient: IdentityClientFactory
  #client: IdentityClient | undefined
  #deployment: DeploymentInfo | undefined
  #postAuthentication: AuthStrategyInitializeOptions['postAuthentication']
  #session: IdentitySession | null = null
  /** When the session's token was had. How old a restored one is nobody knows, so it may be near its end. */
  #obtainedAt = Number.NEGATIVE_INFINITY
  /** Grows with every login and logout: a renewal that began before does not count. */
  #epoch = 0
  #interaction: Promise<IdentitySession> | undefined
  #renewal: Promise<IdentitySession> | undefined

  /**
   * @throws {AuthError} `invalid_input` when the config lacks the client, the authority or the redirect page;
   *   `browser_unsupported` outside a browser, unless the host brings an identity client
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

  /** Whether somebody is signed in. */
  get hasSession(): boolean {
    return this.#session !== null
  }

  /**
   * Takes up the session of an earlier page, or the one that a redirect brings. `scopes` count where the config has none.
   *
   * @throws {AuthError} when a redirect brings a refusal
   */
  async initialize({ deploymentInfo, scopes, postAuthentication }: AuthStrategyInitializeOptions): Promise<void> {
    this.#deployment = deploymentInfo
    this.#postAuthentication = postAuthentication
    this.#client ??= await this.#makeClient(scopes)
    const session = await this.#client.restore().catch((error: unknown) => {
      throw asAuthError(error, 'The sign-in')
    })
    this.#session = session
    this.#obtainedAt = Number.NEGATIVE_INFINITY
    this.#logger?.debug(session ? 'A session was restored.' : 'Nobody is signed in.')
  }

  /** Lets a person sign in, always. With a redirect the page leaves and the promise never settles. */
  async authenticate(): Promise<void> {
    const { accessToken } = await this.#interact(this.#scheme)
    await this.#postAuthentication?.({ accessToken })
  }

  /**
   * The token while it has five minutes to live, else one that is had silently, else one for which the person is asked.
   *
   * @throws {AuthError} with the reason for which there is none
   */
  async getToken(): Promise<string> {
    if (this.#interaction) return (await this.#interaction).accessToken
    const session = this.#session
    if (!session) return (await this.#interact(this.#scheme)).accessToken
    const expiresAt = expiryOf(session.accessToken) ?? session.expiresAt
    const isGood = expiresAt === undefined || this.#environment.clock.now() < renewalTime(expiresAt, this.#obtainedAt)
    if (isGood) return session.accessToken
    try {
      return (await this.#renew(session)).accessToken
    } catch (error) {
      const scheme = interactiveScheme(error, this.#scheme)
      if (!scheme) throw error
      this.#logger?.info('The token cannot be renewed silently. The user is asked to sign in.')
      return (await this.#interact(scheme)).accessToken
    }
  }

  /**
   * A new token, without asking anybody.
   *
   * @throws {AuthError} `interaction_required` when the person has to sign in again
   */
  async refresh(): Promise<string> {
    const session = this.#session
    if (!session) throw new AuthError('Nobody is signed in.', 'interaction_required')
    return (await this.#renew(session)).accessToken
  }

  /** Signs out here and at the provider. With a redirect the page leaves and the promise never settles. */
  async logout({ after }: LogoutOptions = {}): Promise<void> {
    const session = this.#session
    const client = this.#client
    if (!session || !client) return
    const { nextRoute, redirectUri } = this.#config
    const currentAddress = this.#address()
    const plan = planLogout({
      scheme: this.#scheme,
      redirectUri,
      nextRoute: nextRoute && this.#absolute(nextRoute),
      currentAddress,
      idToken: session.idToken,
      logoutClaim: readClaims(session.accessToken).logout,
      authority: this.#authority,
    })
    this.#epoch++
    this.#session = null
    this.#interaction = this.#renewal = undefined
    if (after) await after
    try {
      await client.logout(plan)
    } catch (error) {
      const failure = asAuthError(error, 'The sign-out')
      // Where no window could be opened nothing has happened, and it can be tried again.
      if (failure.reason === 'popup_blocked') this.#session ??= session
      throw failure
    }
  }

  /** Host of the authority. */
  getDomain(): string {
    return new URL(this.#authority).host
  }

  async #makeClient(scopes: readonly string[] | undefined): Promise<IdentityClient> {
    const given = this.#config.scopes?.length ? this.#config.scopes : scopes
    const config = { ...this.#config, scopes: given?.length ? given : PROTOCOL_SCOPES }
    try {
      return await this.#createClient({ config, authority: this.#authority, environment: this.#environment })
    } catch (cause) {
      if (cause instanceof AuthError) throw cause
      throw new AuthError('What a login needs could not be loaded.', 'token_request_failed', { cause })
    }
  }

  /** One login at a time for those who need a token; whoever asks for a login by name gets a new one. */
  #interact(scheme: AuthScheme): Promise<IdentitySession> {
    const client = this.#client
    if (!client) throw new AuthError('The login is not initialized. Call initialize() first.', 'token_missing')
    const epoch = ++this.#epoch
    this.#renewal = undefined
    const { domainHint } = this.#deployment ?? {}
    const { localLogin, nextRoute, extraQueryParameters } = this.#config
    const request = {
      scheme,
      extraQueryParameters: {
        ...(domainHint && { domain_hint: domainHint }),
        ...(localLogin && { localLogin: 'true' }),
        ...extraQueryParameters,
      },
      ...(scheme === 'redirect' && { nextRoute: withoutHash(this.#absolute(nextRoute)) }),
    }
    const interaction = client.login(request).then(
      session => {
        if (epoch === this.#epoch) this.#keep(session)
        return session
      },
      (error: unknown) => {
        throw asAuthError(error, 'The sign-in')
      },
    )
    this.#interaction = interaction
    const done = () => {
      if (this.#interaction === interaction) this.#interaction = undefined
    }
    interaction.then(done, done)
    return interaction
  }

  #renew(session: IdentitySession): Promise<IdentitySession> {
    const client = this.#client as IdentityClient
    const epoch = this.#epoch
    this.#renewal ??= client
      .renew(session)
      .then(
        renewed => {
          if (epoch !== this.#epoch)
            throw new AuthError('The login changed while its token was renewed.', 'token_missing')
          this.#keep(renewed)
          return renewed
        },
        (error: unknown) => {
          throw asAuthError(error, 'The renewal of the access token')
        },
      )
      .finally(() => {
        // A login meanwhile has begun a count of its own.
        if (epoch === this.#epoch) this.#renewal = undefined
      })
    return this.#renewal
  }

  #keep(session: IdentitySession): void {
    // A renewal may come without an id token; the one of the login still tells whose session it is.
    this.#session = { ...session, idToken: session.idToken ?? this.#session?.idToken }
    this.#obtainedAt = this.#environment.clock.now()
    this.#logger?.debug('The user is signed in.')
  }

  #address(): string {
    return this.#environment.page?.window?.location.href ?? this.#config.redirectUri
  }

  #absolute(route: string | undefined): string {
    const address = this.#address()
    return route && URL.canParse(route, address) ? new URL(route, address).href : address
  }
}

/** How a person is asked when nothing can be had silently; nothing where asking would not help. */
function interactiveScheme(error: unknown, scheme: AuthScheme): AuthScheme | undefined {
  if (!(error instanceof AuthError)) return undefined
  if (error.reason === 'popup_timeout') return 'popup'
  return error.reason === 'interaction_required' ? scheme : undefined
}

/** The default identity client, which comes with an OpenID library: a chunk of its own, for who uses it. */
const createOidcClient: IdentityClientFactory = async settings => {
  const { createOidcIdentityClient } = await import('./oidc-identity-client.ts')
  return createOidcIdentityClient(settings)
}
