import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import { AnonymousAuthStrategy } from './anonymous-strategy.ts'
import type { AuthenticationInput } from './auth-input.ts'
import type {
  AnonymousAuthCacheConfig,
  AuthenticationType,
  AuthProvider,
  AuthStrategy,
  InteractiveLogin,
} from './auth-strategy.ts'
import { checkAuthInput, isStrategy } from './check-auth.ts'
import { ClientCredentialsAuthStrategy } from './client-credentials-strategy.ts'
import { PreAuthStrategy } from './pre-auth-strategy.ts'
import { ProviderStrategy } from './provider-strategy.ts'
import { LazyPkceStrategy } from './sign-in/pkce-login.ts'

export interface ChosenStrategy {
  type: AuthenticationType
  strategy: AuthStrategy
}

/** One period from `initialize()` to `logout()` or `cleanup()`, with the strategy in use. */
export interface StrategyInUse extends ChosenStrategy {
  readonly strategy: AuthStrategy & Partial<InteractiveLogin>
  /** An anonymous strategy that provides tokens until the user signs in. */
  readonly standIn?: AuthStrategy | undefined
  /** The anonymous strategy that was in use before the login. Logout removes its stored tokens. */
  readonly former?: AuthStrategy | undefined
  readonly isInitialized: boolean
}

export interface StrategyParts {
  environment: Environment
  logger: Logger | undefined
  /** Where the anonymous token is stored if the input does not specify it. */
  cache: AnonymousAuthCacheConfig | undefined
}

/**
 * The strategy for the `auth` option. Undefined means anonymous. A provider or strategy of the host counts as pre-auth,
 * so it is never replaced by a login.
 *
 * @throws {AuthError} `invalid_input` for any unsupported shape
 */
export function chooseStrategy(input: AuthenticationInput | null | undefined, parts: StrategyParts): ChosenStrategy {
  const { environment, logger } = parts
  checkAuthInput(input, environment.page !== undefined)
  if (input === undefined || input === null) return anonymous(parts.cache, parts)
  if ('type' in input) {
    switch (input.type) {
      case 'anonymous':
        return anonymous(input.config?.cache ?? parts.cache, parts)
      case 'client-credentials':
        return { type: 'client-credentials', strategy: new ClientCredentialsAuthStrategy(input.config, environment) }
      case 'pkce':
        return { type: 'pkce', strategy: new LazyPkceStrategy(input, { environment, logger }) }
      case 'pre-auth':
        return { type: 'pre-auth', strategy: new PreAuthStrategy(input, environment.clock) }
      case 'token': {
        logger?.warn("auth.type 'token' is deprecated. Use { type: 'pre-auth', accessToken }.")
        const accessToken = 'accessToken' in input ? input.accessToken : input.token
        return { type: 'pre-auth', strategy: new PreAuthStrategy({ accessToken }, environment.clock) }
      }
    }
  }
  const strategy = isStrategy(input) ? (input as AuthStrategy) : new ProviderStrategy(input as AuthProvider)
  return { type: 'pre-auth', strategy }
}

function anonymous(
  cache: AnonymousAuthCacheConfig | undefined,
  { environment, logger }: StrategyParts,
): ChosenStrategy {
  const warn = logger && ((message: string, details?: { error: unknown }) => logger.warn(message, details))
  return { type: 'anonymous', strategy: new AnonymousAuthStrategy({ cache }, environment, warn) }
}
