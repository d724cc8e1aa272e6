import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import type {
  AnonymousAuthCacheConfig,
  AuthStrategyInitializeOptions,
  PostAuthenticationCallback,
} from './auth-strategy.ts'

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
