import { AuthError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import { feature } from '../platform/feature.ts'
import { AnonymousAuthStrategy } from './anonymous-strategy.ts'
import type { AnonymousAuthCacheConfig, AuthenticationInput } from './auth-strategy.ts'
import { ClientCredentialsAuthStrategy } from './client-credentials-strategy.ts'
import { HostStrategy, hasMethod } from './host-strategy.ts'
import type { PKCEAuthStrategy } from './login/pkce-strategy.ts'
import { isOwnStrategy, type OwnStrategy } from './own-strategy.ts'
import { PreAuthStrategy } from './pre-auth-strategy.ts'

/**
 * The strategy of an `auth` option. Undefined for a login, whose code loads on demand: its option is only checked.
 *
 * @throws {AuthError} `invalid_input` for an unsupported shape; `not_supported` and `browser_unsupported` for one that does not
 *   work on this platform
 */
export function createStrategy(
  input: AuthenticationInput,
  environment: Environment,
  logger: Logger | undefined,
  cache: AnonymousAuthCacheConfig | undefined,
): OwnStrategy | undefined {
  if (typeof input !== 'object') throw invalid('is neither an object nor left out')
  if (isOwnStrategy(input)) return input
  const type: unknown = 'type' in input ? input.type : undefined
  if ('type' in input) {
    switch (input.type) {
      case 'anonymous':
        return new AnonymousAuthStrategy({ cache: input.config?.cache ?? cache }, environment, logger)
      case 'client-credentials':
        return new ClientCredentialsAuthStrategy(input.config, environment)
      case 'pre-auth':
        return new PreAuthStrategy(input, environment.clock)
      case 'token': {
        logger?.warn("auth.type 'token' is deprecated. Use { type: 'pre-auth', accessToken }.")
        const accessToken = 'accessToken' in input ? input.accessToken : input.token
        return new PreAuthStrategy({ accessToken }, environment.clock)
      }
      case 'pkce':
        if (typeof input.config !== 'object' || input.config === null) throw invalid("of type 'pkce' has no config")
        if (environment.page) return undefined
        throw new AuthError(
          'A login needs a browser. Elsewhere pass a token or client credentials.',
          'browser_unsupported',
        )
    }
  }
  if (hasMethod(input, 'getToken')) return new HostStrategy(input)
  throw invalid(typeof type === 'string' ? `has the unknown type '${type}'` : 'has an unsupported shape')
}

/** Loads the code of a login. */
export function loadLogin(): Promise<{ readonly PKCEAuthStrategy: typeof PKCEAuthStrategy }> {
  return feature('login', async () => (await import('./login/load-login.ts')).loadLogin())
}

function invalid(problem: string): AuthError {
  return new AuthError(
    `auth ${problem}. Give a config with a type, an AuthProvider, an AuthStrategy, or nothing.`,
    'invalid_input',
  )
}
