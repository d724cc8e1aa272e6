import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import {
  ACCESS_TOKEN_REFRESH_BUFFER_MS,
  type AuthenticationType,
  type AuthStrategy,
  type AuthStrategyInitializeOptions,
  type LogoutOptions,
  type TokenExpiringCallback,
} from './auth-strategy.ts'

/** The service that uses a strategy. */
export interface StrategyOwner {
  readonly environment: Environment
  readonly logger: Logger | undefined
  /** Reports an expiry that only the strategy knows. */
  readonly onExpiring: TokenExpiringCallback
  /** Reports that the user signed out, or another one signed in, in another tab. */
  readonly onSignedOut: () => void
}

/** A strategy of this library. It has all members, so that the service never asks whether one exists. */
export abstract class OwnStrategy implements Required<Omit<AuthStrategy, 'setTokenExpiringCallback'>> {
  /** The method that the service reports. */
  abstract readonly authenticationType: AuthenticationType
  /** What the last {@link initialize} received. */
  protected given: AuthStrategyInitializeOptions | undefined

  /** Whether a token is available without user interaction. False for a login without a signed-in user. */
  get hasSession(): boolean {
    return true
  }

  /** Whether `getToken` renews a token that is about to expire. The host is then notified only if that fails. */
  get autoRenews(): boolean {
    return false
  }

  /** Whether `updateToken` replaces the strategy's own token. Otherwise the service uses the given one for a time. */
  get acceptsTokens(): boolean {
    return false
  }

  /** How long before its expiry a token counts as about to expire, in milliseconds. @default 300_000 */
  get expiryBufferMs(): number {
    return ACCESS_TOKEN_REFRESH_BUFFER_MS
  }

  /**
   * Expiry of the current token, in milliseconds since the epoch by the clock of this device, if it differs from the token's
   * `exp`.
   */
  get expiresAt(): number | undefined {
    return undefined
  }

  /** Issuer and subject of the signed-in user's ID token, if there is one. */
  get identity(): string | undefined {
    return undefined
  }

  /** Called once, by the service that uses the strategy. */
  attach(_owner: StrategyOwner): void {}

  /** Receives the deployment, before tokens are requested. */
  initialize(options: AuthStrategyInitializeOptions): Awaitable<void> {
    this.given = options
  }

  /** Obtains a token and calls `postAuthentication`. */
  async authenticate(): Promise<void> {
    const accessToken = await this.getToken()
    await this.given?.postAuthentication?.({ accessToken })
  }

  /**
   * A token that is valid now.
   *
   * @param mayAsk for a login, called when only the user can help: whether to ask. @default always
   */
  abstract getToken(mayAsk?: () => boolean): Awaitable<string | null>

  /** A new token, even if the current one is still valid. */
  abstract refresh(): Awaitable<string | null>

  /** Sets the scopes of the tokens from now on. */
  updateScopes(_scopes: readonly string[]): Awaitable<void> {}

  /** Uses a token that the host obtained itself. */
  updateToken(_token: string): Awaitable<void> {}

  /** Ends the session of the user here and at the token issuer. */
  logout(_options?: LogoutOptions): Awaitable<void> {}

  /**
   * Removes the user's tokens here: the user signed out in another tab, which has contacted the token issuer. @default as
   * {@link logout}
   */
  forget(): Awaitable<void> {
    return this.logout()
  }

  /** Ends a sign-in in progress, with its window, and ignores a later answer. Returns whether there was one. */
  cancelLogin(): boolean {
    return false
  }

  /** Releases timers and listeners. Stored tokens remain. */
  cleanup(): Awaitable<void> {}

  /** Host name of the authentication server, for display. */
  getDomain(): string | undefined {
    return undefined
  }

  /** As `Opaque` has it, which is in another file of the build. */
  get [Symbol.toStringTag](): string {
    return 'AiAgentSdk'
  }
}

/** Whether a strategy is one of this library, also of another copy of it: an entry may be in a separate bundle. */
export function isOwnStrategy(strategy: object): strategy is OwnStrategy {
  return 'authenticationType' in strategy && 'cancelLogin' in strategy
}
