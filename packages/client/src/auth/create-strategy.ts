import { defaultEnvironment } from '../platform/default-environment.ts'
import { feature } from '../platform/feature.ts'
import type { AuthenticationInput } from './auth-input.ts'
import type { AuthProvider, AuthStrategy, PKCEAuthConfig } from './auth-strategy.ts'
import { ClientCredentialsAuthStrategy } from './client-credentials-strategy.ts'
import { HostStrategy } from './host-strategy.ts'
import type { LoginOptions } from './login/login.ts'
import type { PKCEAuthStrategy } from './login/pkce-strategy.ts'
import type { OwnStrategy } from './own-strategy.ts'
import { PreAuthStrategy } from './pre-auth-strategy.ts'

/*
 * The feature `auth`: all that an anonymous host never runs.
 */

/**
 * The strategy of a checked `auth` option that is not anonymous.
 *
 * @throws {AuthError} for a login that is not possible
 */
export async function createStrategy(input: AuthenticationInput, options: LoginOptions): Promise<OwnStrategy> {
  const { environment = defaultEnvironment(), logger } = options
  if ('type' in input) {
    switch (input.type) {
      case 'client-credentials':
        return new ClientCredentialsAuthStrategy(input.config, environment)
      case 'pkce':
        return createLogin(input.config, options)
      case 'pre-auth':
        return new PreAuthStrategy(input, environment.clock)
      case 'token': {
        logger?.warn("auth.type 'token' is deprecated. Use { type: 'pre-auth', accessToken }.")
        const accessToken = 'accessToken' in input ? input.accessToken : input.token
        return new PreAuthStrategy({ accessToken }, environment.clock)
      }
    }
  }
  return new HostStrategy(input as AuthStrategy | AuthProvider)
}

/** Loads the code of a login. */
export function loadLogin(): Promise<{ readonly PKCEAuthStrategy: typeof PKCEAuthStrategy }> {
  return feature('login', async () => (await import('./login/load-login.ts')).loadLogin())
}

/** @throws {AuthError} for a login that is not possible */
export async function createLogin(config: PKCEAuthConfig, options: LoginOptions): Promise<PKCEAuthStrategy> {
  const { PKCEAuthStrategy } = await loadLogin()
  return new PKCEAuthStrategy(config, options)
}
