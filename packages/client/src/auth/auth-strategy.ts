import type { DeploymentInfo } from '@aiagent/protocol'
import type { Awaitable, CacheConfig } from '../storage/cache-adapter.ts'
import type { IdentityClientFactory } from './sign-in/identity-client.ts'

/** How long before its expiry an access token is renewed, in minutes: slightly more than a session call demands. */
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
  /** Scopes that the tokens must cover. @default the library's two default scopes */
  scopes?: readonly string[] | undefined
  /**
   * To be called at the end of every successful `authenticate()`. Its argument is not used: the library reads the token
   * with `getToken()` afterwards.
   */
  postAuthentication?: ((result?: unknown) => Awaitable<void>) | undefined
}

/**
 * One way to obtain access tokens. A host may supply its own.
 *
 * `initialize` is called first; then `authenticate` (which may involve the user) and `getToken` (which should not) in any
 * order. A call that does not settle within 30 seconds fails with an `AuthError`, except `authenticate` and `logout`, which
 * may wait for the user. The optional members are used where they exist.
 */
export interface AuthStrategy {
  /** Called with the deployment before any other method. */
  initialize(options: AuthStrategyInitializeOptions): Awaitable<void>
  /** Signs in, with the user where necessary, and calls `postAuthentication`. */
  authenticate(): Awaitable<void>
  /** A token that is valid now, or null when there is none. */
  getToken(): Awaitable<string | null>
  /** Releases timers and listeners. Stored tokens may stay. */
  cleanup?(): Awaitable<void>
  /** Host that authenticates, for display. */
  getDomain?(): string | undefined
  /** Sets the scopes of the tokens from now on. */
  updateScopes?(scopes: readonly string[]): Awaitable<void>
  /** Obtains a new token although the present one may still be valid. Without it, `getToken` is called again. */
  refresh?(): Awaitable<string | null>
  /**
   * Signs out where the tokens came from. Everything local has to be gone, and a window opened, before it awaits anything.
   * Without it the token is dropped here only.
   *
   * @param options `after`: settles when the chat has been left. A login goes to its provider no earlier.
   */
  logout?(options?: LogoutOptions): Awaitable<void>
  /** Takes a token that the host obtained itself. Without it, such a token is used until it is about to expire. */
  updateToken?(token: string): Awaitable<void>
  /** For a strategy that knows an expiry which the token itself does not contain. */
  setTokenExpiringCallback?(callback: TokenExpiringCallback): void
}

/** Options of `logout()` of a strategy. */
export interface LogoutOptions {
  /** Settles when the chat has been left; never rejects. */
  after?: Promise<unknown> | undefined
}

/** A strategy that obtains tokens without the user: by a request, or from the host. */
export interface TokenSource extends AuthStrategy {
  /** Whether `getToken` renews a token that is about to expire. The host is then told only when that fails. */
  readonly autoRenews?: boolean
  /** How long before its expiry a token counts as about to expire, in milliseconds. @default 300_000 */
  readonly expiryBufferMs?: number | undefined
  /**
   * Expiry of the strategy's present token, in milliseconds since the epoch by the clock of this device, where it differs
   * from the token's `exp`.
   */
  readonly expiresAt?: number | undefined
}

/** A strategy whose tokens belong to a user who signed in. */
export interface InteractiveLogin extends TokenSource {
  /** Whether a user is signed in. Without a session there is no token before `authenticate()`. */
  readonly hasSession: boolean
  /** Issuer and subject of the signed-in user's ID token, where there is one. */
  readonly identity?: string | undefined
  /** Sets what is called when the user signed out, or another one signed in, in another tab. */
  setSignedOutCallback?(callback: () => void): void
}

/** The least a host can bring: something that gives a token whenever one is needed. */
export interface AuthProvider {
  /** A token that can be used now, or null. Asked whenever one is needed, so it should keep the token itself. */
  getToken(): Awaitable<string | null>
}

/** Where the anonymous token is kept. Independent of `AiAgentConfig.cache`. */
export type AnonymousAuthCacheConfig = CacheConfig

/** Settings of the anonymous token. */
export interface AnonymousAuthConfig {
  /** Where the token is kept. @default the tab's store */
  cache?: AnonymousAuthCacheConfig | undefined
}

/** A token for anyone, asked of the deployment. What an agent uses when no `auth` is given. */
export interface AnonymousAuthServiceConfig {
  type: 'anonymous'
  config?: AnonymousAuthConfig | undefined
}

/** A token that the host got by itself, and where the next one comes from. */
export interface PreAuthConfig {
  /**
   * A token that the host got by itself. From a login of its own it needs the scopes `core.aiservices.read`,
   * `knowledge.portalmgr.manage` and `core.customermgr.read`.
   */
  accessToken: string
  /** Brings a new token when the present one is about to expire or was refused. */
  refreshTokenFn?: (() => Awaitable<string>) | undefined
  /** How long before its expiry the token is replaced, in milliseconds. @default 300_000 */
  expiryBufferMs?: number | undefined
}

/** A token that the host already has. */
export interface PreAuthServiceConfig extends PreAuthConfig {
  type: 'pre-auth'
}

/**
 * The older name of {@link PreAuthServiceConfig}.
 *
 * @deprecated Use `{ type: 'pre-auth', accessToken }`.
 */
export type TokenAuthServiceConfig = { type: 'token' } & ({ accessToken: string } | { token: string })

/** How a person gets to the login page: in a window of its own, or by leaving this page and coming back. */
export type AuthScheme = 'popup' | 'redirect'

/** A login of the host's own, by authorization code with PKCE. What stands here is never changed. */
export interface PKCEAuthConfig {
  /** The client's id at the provider. */
  clientId: string
  /**
   * Where the provider sends its answers: the page that this package ships, served by the host's own origin. With
   * `authScheme: 'redirect'` it may also be a page of the application, which then has to initialize the agent.
   */
  redirectUri: string
  /** Hosts that may sign people in. The first one is the authority where `authorizationUrl` is not given. */
  knownAuthorities: readonly string[]
  /** The authority: the address under which the provider's OpenID configuration stands. */
  authorizationUrl?: string | undefined
  /** @deprecated Not used: the provider's own configuration says where tokens are had. */
  tokenUrl?: string | undefined
  /** Sent exactly as given. Without them `initParams.scopes` are, and without those `openid profile offline_access`. */
  scopes?: readonly string[] | undefined
  /** @default 'redirect' */
  authScheme?: AuthScheme | undefined
  /** How long a login is remembered: as the tab, or as the browser. @default 'sessionStorage' */
  cacheLocation?: 'sessionStorage' | 'localStorage' | undefined
  /** The provider's OpenID configuration as JSON text, where it is not to be fetched. */
  authorityMetadata?: string | undefined
  /** Where a login or logout by redirect comes back to. @default the address of the page */
  nextRoute?: string | undefined
  /** Asks the provider for its local accounts instead of a federated login. @default false */
  localLogin?: boolean | undefined
  /** Further parameters of the login address, such as `domain_hint`. */
  extraQueryParameters?: Readonly<Record<string, string>> | undefined
}

/** A login through an identity provider. */
export interface PKCEAuthServiceConfig {
  type: 'pkce'
  config: PKCEAuthConfig
  /** The identity library to use. @default the one of `@aiagent/client/pkce`, loaded on demand */
  identityClient?: IdentityClientFactory | undefined
}

/** The credentials of a program, and where they count. */
export interface ClientCredentialsAuthConfig {
  /** Address of the token endpoint. Plain http is refused unless it is on this machine or the deployment has it too. */
  tokenUrl: string
  clientId: string
  clientSecret: string
  /** Sent as given. @default none */
  scopes?: readonly string[] | undefined
  /** Whether the secret may be used in a page, where everyone can read it. @default false */
  allowInBrowser?: boolean | undefined
}

/** A token for a program that talks to the agent on its own behalf. */
export interface ClientCredentialsAuthServiceConfig {
  type: 'client-credentials'
  config: ClientCredentialsAuthConfig
}

/** The ways to get tokens that the library has, by their `type`. */
export type AuthenticationServiceConfig =
  | AnonymousAuthServiceConfig
  | ClientCredentialsAuthServiceConfig
  | PKCEAuthServiceConfig
  | PreAuthServiceConfig
  | TokenAuthServiceConfig

/** Everything that `auth` of the configuration can be; nothing means anonymous. */
export type AuthenticationInput = AuthenticationServiceConfig | AuthStrategy | AuthProvider

/** Which way to get tokens is in use. Providers and strategies of the host's count as `pre-auth`. */
export type AuthenticationType = 'anonymous' | 'pkce' | 'pre-auth' | 'client-credentials'
