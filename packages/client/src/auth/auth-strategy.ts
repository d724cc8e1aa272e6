import type { DeploymentInfo } from '@aiagent/protocol'
import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { Awaitable, CacheConfig } from '../storage/cache-adapter.ts'

/** How long before its expiry an access token is renewed, in minutes: slightly more than session creation requires. */
export const ACCESS_TOKEN_REFRESH_BUFFER_MINUTES = 5
/** The same in milliseconds. */
export const ACCESS_TOKEN_REFRESH_BUFFER_MS = 300_000

/** The outcome of a successful `authenticate()`. */
export interface AuthenticationResult {
  /** The access token that is in use after the sign-in. */
  accessToken: string
}

/** Called after a successful `authenticate()`, which waits for it. */
export type PostAuthenticationCallback = (result: AuthenticationResult) => Awaitable<void>

/** Called when a token is about to expire, with its expiry in milliseconds since the epoch. */
export type TokenExpiringCallback = (event: { expiresAt: number }) => void

/** What a strategy is initialized with. */
export interface AuthStrategyInitializeOptions {
  /** Where the deployment's services are. */
  deploymentInfo: DeploymentInfo
  /**
   * Address of the deployment, as the host configured it. If it uses https, tokens are requested over plain http from
   * this machine only. @default the `apiDomain` of the deployment
   */
  endpoint?: string | undefined
  /** Scopes that the tokens must cover. @default the library's two default scopes */
  scopes?: readonly string[] | undefined
  /**
   * Call it at the end of every successful `authenticate()`. Its argument is not used: the library then reads the token
   * with `getToken()`.
   */
  postAuthentication?: ((result?: unknown) => Awaitable<void>) | undefined
  /** Call it before the wait when a rate limit delays a request. The agent then emits `rateLimited`. */
  onRateLimited?: ((limit: { operation: string; retryInMs: number }) => void) | undefined
}

/**
 * One way to obtain access tokens. A host may supply its own.
 *
 * `initialize` is called first; then `authenticate` (which may involve the user) and `getToken` (which should not) in any
 * order. A call that does not settle within 30 seconds fails with an `AuthError`, except `authenticate`, which may wait for the
 * user. The optional members are used where they exist.
 */
export interface AuthStrategy {
  /** Called with the deployment before any other method. */
  initialize(options: AuthStrategyInitializeOptions): Awaitable<void>
  /** Signs in, with the user where necessary, and calls `postAuthentication`. */
  authenticate(): Awaitable<void>
  /** A token that is valid now, or null when there is none. */
  getToken(): Awaitable<string | null>
  /** Releases timers and listeners. Stored tokens may remain. */
  cleanup?(): Awaitable<void>
  /** Host name of the authentication server, for display. */
  getDomain?(): string | undefined
  /** Sets the scopes of the tokens from now on. */
  updateScopes?(scopes: readonly string[]): Awaitable<void>
  /** Obtains a new token even if the current one is still valid. Without this method, `getToken` is called again. */
  refresh?(): Awaitable<string | null>
  /**
   * Signs out at the token issuer. Before its first await it must remove all local data and open its window, if any.
   * Without this method, the library only drops its token.
   *
   * @param options `after`: settles after the chat has closed. A login contacts its provider no earlier.
   */
  logout?(options?: LogoutOptions): Awaitable<void>
  /**
   * Uses a token that the host obtained itself. Without this method, the library uses such a token until it is about to
   * expire.
   */
  updateToken?(token: string): Awaitable<void>
  /** Expiry of the current token, for a strategy that knows it although the token does not contain it. */
  setTokenExpiringCallback?(callback: TokenExpiringCallback): void
}

/** Options of `logout()` of a strategy. */
export interface LogoutOptions {
  /** Settles after the chat has closed; never rejects. */
  after?: Promise<unknown> | undefined
}

/** The minimum that a host can supply: an object that returns a token on request. */
export interface AuthProvider {
  /** A valid token, or null. Called whenever a token is needed, so it should cache the token itself. */
  getToken(): Awaitable<string | null>
}

/** Where the anonymous token is stored. Independent of `AiAgentConfig.cache`. */
export type AnonymousAuthCacheConfig = CacheConfig

/** Settings of the anonymous token. */
export interface AnonymousAuthConfig {
  /** Where the token is stored. @default 'sessionStorage' */
  cache?: AnonymousAuthCacheConfig | undefined
}

/** An anonymous token, issued by the deployment. Used when no `auth` is configured. */
export interface AnonymousAuthServiceConfig {
  /** Selects this method. */
  type: 'anonymous'
  /** Settings of the token. @default cached in session storage */
  config?: AnonymousAuthConfig | undefined
}

/** An access token supplied by the host, and how to renew it. */
export interface PreAuthConfig {
  /**
   * Access token supplied by the host. If a separate login issued it, it needs the scopes `core.aiservices.read`,
   * `knowledge.portalmgr.manage` and `core.customermgr.read`.
   */
  accessToken: string
  /** Returns a new token when the current one is about to expire or was rejected. */
  refreshTokenFn?: (() => Awaitable<string>) | undefined
  /** How long before its expiry the token is replaced, in milliseconds. @default 300_000 */
  expiryBufferMs?: number | undefined
}

/** Authentication with an access token that the host already has. */
export interface PreAuthServiceConfig extends PreAuthConfig {
  /** Selects this method. */
  type: 'pre-auth'
}

/**
 * The older name of {@link PreAuthServiceConfig}.
 *
 * @deprecated Use `{ type: 'pre-auth', accessToken }`.
 */
export type TokenAuthServiceConfig = { type: 'token' } & ({ accessToken: string } | { token: string })

/** How the login page opens: in a popup, or by redirecting this page. */
export type AuthScheme = 'popup' | 'redirect'

/** A login configured by the host: authorization code with PKCE. The library never changes this object. */
export interface PKCEAuthConfig {
  /** Client id registered with the provider. */
  clientId: string
  /**
   * Where the provider sends its answers: the callback page of this package, served on the host's own origin. With
   * `authScheme: 'redirect'` it may also be a page of the application, which must then initialize the agent.
   */
  redirectUri: string
  /** Host names of the allowed providers. The first one is the authority if `authorizationUrl` is missing. */
  knownAuthorities: readonly string[]
  /** The authority: base address of the provider's OpenID configuration. */
  authorizationUrl?: string | undefined
  /** @deprecated Ignored: the provider's OpenID configuration names the token endpoint. */
  tokenUrl?: string | undefined
  /** Sent exactly as given. @default `initParams.scopes`, otherwise `openid profile offline_access` */
  scopes?: readonly string[] | undefined
  /**
   * Scheme of this login and its logout. `AiAgentConfig.authScheme`, whose default is `popup`, has no effect on it.
   *
   * @default 'redirect'
   */
  authScheme?: AuthScheme | undefined
  /** Storage for the login: per tab, or for the whole browser. @default 'sessionStorage' */
  cacheLocation?: 'sessionStorage' | 'localStorage' | undefined
  /** The provider's OpenID configuration as JSON text, to use instead of fetching it. */
  authorityMetadata?: string | undefined
  /** Return address after a login or logout by redirect. @default the page's address */
  nextRoute?: string | undefined
  /** Asks the provider for its local accounts instead of a federated login. @default false */
  localLogin?: boolean | undefined
  /** Additional parameters of the login address, such as `domain_hint`. */
  extraQueryParameters?: Readonly<Record<string, string>> | undefined
}

/** The credentials of a program, and the token endpoint for them. */
export interface ClientCredentialsAuthConfig {
  /**
   * Address of the token endpoint. Plain http is refused unless the endpoint is on this machine or the deployment also
   * uses http.
   */
  tokenUrl: string
  /** Client id registered with the token endpoint. */
  clientId: string
  /** Secret of the client. Keep it on a server: in a browser everyone can read it. */
  clientSecret: string
  /** Sent as given. @default none */
  scopes?: readonly string[] | undefined
  /** Whether the secret may be used in a browser, where everyone can read it. @default false */
  allowInBrowser?: boolean | undefined
}

/** A token for a program that talks to the agent under its own identity. */
export interface ClientCredentialsAuthServiceConfig {
  /** Selects this method. */
  type: 'client-credentials'
  /** The credentials and their token endpoint. */
  config: ClientCredentialsAuthConfig
}

/** A login through an identity provider. */
export interface PKCEAuthServiceConfig {
  /** Selects this method. */
  type: 'pkce'
  /** The provider, the client and how the login page opens. */
  config: PKCEAuthConfig
}

/** Built-in authentication methods, by their `type`. */
export type AuthenticationServiceConfig =
  | AnonymousAuthServiceConfig
  | ClientCredentialsAuthServiceConfig
  | PKCEAuthServiceConfig
  | PreAuthServiceConfig
  | TokenAuthServiceConfig

/** All accepted values of the `auth` option; undefined means anonymous. */
export type AuthenticationInput = AuthenticationServiceConfig | AuthStrategy | AuthProvider

/** The authentication method in use. Providers and strategies of the host are reported as `pre-auth`. */
export type AuthenticationType = 'anonymous' | 'pkce' | 'pre-auth' | 'client-credentials'

/** Dependencies of an `AuthenticationService`. */
export interface AuthenticationServiceOptions {
  /** Parts of the platform to replace. */
  environment?: Partial<Environment> | undefined
  /** Receives warnings and debug entries. @default none */
  logger?: Logger | undefined
  /** Endpoint of the agent. With it, `logout()` before `initialize()` ends the login of a previous page. */
  endpoint?: string | undefined
  /** Where the anonymous token is stored if the input does not specify it. @default sessionStorage */
  cache?: AnonymousAuthCacheConfig | undefined
  /**
   * Called for a token of another user (other issuer or subject), from any source: a renewal, another tab, or the host.
   * While it runs there is no token, and callers of `getToken()` wait for it; so it must not request a token itself. If it
   * fails or takes more than 30 seconds, the token is not used.
   */
  onUserChange?: (() => Awaitable<void>) | undefined
}

/** Options of `AuthenticationService.initialize()`. */
export interface AuthenticationServiceInitializeOptions
  extends Omit<AuthStrategyInitializeOptions, 'postAuthentication'> {
  /** Called with the current token at the end of every successful `authenticate()`. */
  postAuthentication?: PostAuthenticationCallback | undefined
}
