import type { Environment } from '../../platform/environment.ts'
import type { Awaitable } from '../../storage/cache-adapter.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import type { LogoutPlan } from './logout-plan.ts'

/*
 * The port between the library and whatever speaks OpenID. The library decides when somebody signs in or out and what
 * happens when it fails; an identity client knows how. A host that runs an identity library already brings its own.
 */

/** A signed-in account. Whoever holds it keeps it out of logs and errors. */
export interface IdentitySession {
  /** What calls are made with. */
  readonly accessToken: string
  /** When the access token expires, in milliseconds since the epoch, where the token itself does not tell. */
  readonly expiresAt?: number | undefined
  /** Proves to the provider, on logout, whose session ends. */
  readonly idToken?: string | undefined
}

/** What an identity client is made for. */
export interface IdentityClientSettings {
  /** The login, with its scopes as they are sent and with its scheme. */
  readonly config: PKCEAuthConfig & { readonly scopes: readonly string[] }
  /** Address under which the provider's OpenID configuration stands. */
  readonly authority: string
  /** The platform, where page, stores and clock come from. */
  readonly environment: Environment
}

/** Makes an {@link IdentityClient}, once it is known which login it is for. */
export type IdentityClientFactory = (settings: IdentityClientSettings) => Awaitable<IdentityClient>

/** How one login is to happen. */
export interface LoginRequest {
  /** In a window of its own, or by leaving the page. */
  scheme: 'popup' | 'redirect'
  /** Parameters to add to the login address. */
  extraQueryParameters: Readonly<Record<string, string>>
  /** Where to come back to, without its hash; with scheme `redirect` only. It goes to the provider in `state`. */
  nextRoute?: string | undefined
}

/**
 * Speaks with an identity provider.
 *
 * Failures are `AuthError`s whose `reason` tells them apart: `interaction_required`, `popup_blocked`, `popup_closed`,
 * `popup_timeout`, `browser_unsupported`, else `token_request_failed`. They hold no answer and no request of the provider.
 */
export interface IdentityClient {
  /**
   * The session that a redirect to this page brings, else the one that an earlier page left; null where there is none.
   * Its token may have expired.
   */
  restore(): Promise<IdentitySession | null>
  /**
   * Lets a person sign in. A popup opens before anything is awaited, since browsers allow it within a click only. A
   * redirect leaves the page, so its promise never settles.
   */
  login(request: LoginRequest): Promise<IdentitySession>
  /** Gets a new access token without a person; `current` is the session whose token is not good enough. */
  renew(current: IdentitySession): Promise<IdentitySession>
  /** Ends the session here and at the provider. As with `login`, a popup opens first, and a redirect never settles. */
  logout(plan: LogoutPlan): Promise<void>
}
