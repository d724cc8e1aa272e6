import type {
  AnonymousAuthServiceConfig,
  AuthProvider,
  AuthStrategy,
  ClientCredentialsAuthServiceConfig,
  PKCEAuthConfig,
  PreAuthServiceConfig,
  TokenAuthServiceConfig,
} from './auth-strategy.ts'

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
