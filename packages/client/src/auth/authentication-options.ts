import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type {
  AnonymousAuthCacheConfig,
  AuthStrategyInitializeOptions,
  PostAuthenticationCallback,
} from './auth-strategy.ts'

/** What an `AuthenticationService` takes from its surroundings. */
export interface AuthenticationServiceOptions {
  /** Parts of the platform to replace. */
  environment?: Partial<Environment> | undefined
  /** Receives warnings and debug entries. @default none */
  logger?: Logger | undefined
  /** Endpoint of the agent. With it, `logout()` before `initialize()` ends the login that a previous page began. */
  endpoint?: string | undefined
  /** Where the anonymous token is stored unless the input says so itself. @default sessionStorage */
  cache?: AnonymousAuthCacheConfig | undefined
}

/** What `AuthenticationService.initialize()` takes. */
export interface AuthenticationServiceInitializeOptions
  extends Omit<AuthStrategyInitializeOptions, 'postAuthentication'> {
  /** Called at the end of every successful `authenticate()`, with the token that is in use then. */
  postAuthentication?: PostAuthenticationCallback | undefined
}
