import type { Environment } from '../../platform/environment.ts'
import type { RateLimitCallback } from '../../platform/patient-fetch.ts'
import type { Awaitable } from '../../storage/cache-adapter.ts'
import type { AuthScheme, PKCEAuthConfig } from '../auth-strategy.ts'

/*
 * The port between the library and an OpenID client. The library decides when the user signs in or out and how failures
 * are handled; an identity client communicates with the provider. A host that already uses an identity library can
 * supply its own.
 */

/** A signed-in account. It must not appear in logs and errors. */
export interface IdentitySession {
  /** Access token for the calls of the service. */
  readonly accessToken: string
  /** Expiry of the access token in milliseconds since the epoch. @default the token's own `exp` */
  readonly expiresAt?: number | undefined
  /** ID token hint: tells the provider on logout which session ends. */
  readonly idToken?: string | undefined
}

/** Settings for the creation of an identity client. */
export interface IdentityClientSettings {
  /** The login, with its final scopes and scheme. */
  readonly config: PKCEAuthConfig & { readonly scopes: readonly string[] }
  /** Address below which the provider publishes its OpenID configuration. */
  readonly authority: string
  /** The platform: page, stores and clock. */
  readonly environment: Environment
  /** Call it before the wait when a rate limit of the provider delays a request. The agent then emits `rateLimited`. */
  readonly onRateLimited?: RateLimitCallback | undefined
}

/** Creates an {@link IdentityClient} for a login. */
export type IdentityClientFactory = (settings: IdentityClientSettings) => Awaitable<IdentityClient>

/** One login. */
export interface LoginRequest {
  /** In a popup, or by redirecting the page. */
  scheme: 'popup' | 'redirect'
  /** Parameters to add to the login address. */
  extraQueryParameters: Readonly<Record<string, string>>
  /** Return address, without its hash; with scheme `redirect` only. It goes to the provider in `state`. */
  nextRoute?: string | undefined
  /** Aborted by `logout()` and `destroy()`: the login and its window must then close. */
  signal?: AbortSignal | undefined
}

/** The decisions for a logout, made before any side effect. */
export interface LogoutPlan {
  /** The scheme of the login. */
  readonly scheme: AuthScheme
  /** The active account's id token. */
  readonly idTokenHint: string | undefined
  /** Where the provider redirects the user to. */
  readonly postLogoutRedirectUri: string
  /** Return address in the application; with scheme `redirect` only. */
  readonly state: string | undefined
  /** Logout address from the access token's claim. */
  readonly logoutClaim: string | undefined
  /** The usual end-session endpoint, if no source names one. */
  readonly constructedEndpoint: string
  /** Settles after the chat has closed: the provider is contacted no earlier. A window opens at once. */
  readonly after?: Promise<unknown> | undefined
}

/**
 * Communicates with an identity provider.
 *
 * Failures are `AuthError`s with a `reason`: `interaction_required`, `popup_blocked`, `popup_closed`, `popup_timeout`,
 * `browser_unsupported`, otherwise `token_request_failed`. They contain no request and no answer of the provider.
 */
export interface IdentityClient {
  /**
   * The session from a redirect to this page, otherwise the one that a previous page stored; null if there is none. Its
   * token may have expired.
   */
  restore(): Promise<IdentitySession | null>
  /**
   * Lets the user sign in. A popup opens before the first await, since browsers allow it only within a click. A
   * redirect leaves the page, so its promise never settles.
   */
  login(request: LoginRequest): Promise<IdentitySession>
  /**
   * Obtains a new access token without the user. It must be one of the same user.
   *
   * @param current the session whose token is about to expire or was refused
   */
  renew(current: IdentitySession): Promise<IdentitySession>
  /**
   * Ends the session here and at the provider. Removes the stored user before the first await, whatever happens
   * afterwards. As with `login`, a popup opens first, and a redirect never settles.
   */
  logout(plan: LogoutPlan): Promise<void>
  /**
   * Removes the stored user, synchronously. Called when there is no session to end at the provider.
   *
   * @returns the stored session, for a sign-out before `restore()`
   */
  forget?(): IdentitySession | null
  /**
   * The user of this page's session signed out in another tab, which has contacted the provider. Removes the stored user,
   * unless another one has signed in since. @default `forget()`
   */
  handleSignedOut?(): Awaitable<void>
  /**
   * Calls back when the user of this page's session signed out, or another one signed in, in another tab.
   *
   * @returns a function that unsubscribes
   */
  onSignedOut?(listener: () => void): () => void
}
