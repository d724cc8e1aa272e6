import { strategies } from '#strategies'
import { AuthError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import { feature } from '../platform/feature.ts'
import { AnonymousAuthStrategy } from './anonymous-strategy.ts'
import type {
  AnonymousAuthCacheConfig,
  AuthenticationInput,
  AuthenticationType,
  PKCEAuthConfig,
} from './auth-strategy.ts'
import { HostStrategy, hasMethod } from './host-strategy.ts'
import type { PKCEAuthStrategy } from './login/pkce-strategy.ts'
import { isOwnStrategy, type OwnStrategy } from './own-strategy.ts'
import { requireCredentials } from './token-request.ts'

/** The strategy of an `auth` option, or how to load it. */
export interface ChosenStrategy {
  readonly type: AuthenticationType
  readonly strategy?: OwnStrategy
  readonly load?: () => Promise<OwnStrategy>
}

/**
 * Chooses the strategy of an `auth` option. Its code may load on demand; the option is checked at once.
 *
 * @throws {AuthError} `invalid_input` for an unsupported shape; `not_supported` and `browser_unsupported` for one that does not
 *   work on this platform
 */
export function chooseStrategy(
  input: AuthenticationInput,
  environment: Environment,
  logger: Logger | undefined,
  cache: AnonymousAuthCacheConfig | undefined,
): ChosenStrategy {
  if (typeof input !== 'object') throw invalid('is neither an object nor left out')
  // Never replaced by a login, not even an anonymous one.
  if (isOwnStrategy(input)) return { type: input.authenticationType === 'pkce' ? 'pkce' : 'pre-auth', strategy: input }
  const type: unknown = 'type' in input ? input.type : undefined
  if ('type' in input) {
    switch (input.type) {
      case 'anonymous': {
        const config = { cache: input.config?.cache ?? cache }
        return { type: input.type, strategy: new AnonymousAuthStrategy(config, environment, logger) }
      }
      case 'client-credentials':
        requireCredentials(input.config, environment)
        return loadable(input.type, environment, part => {
          part.warnAboutFields(input, logger)
          return new part.ClientCredentialsAuthStrategy(input.config, environment)
        })
      case 'pre-auth':
        return loadable(input.type, environment, part => {
          part.warnAboutFields(input, logger)
          return new part.PreAuthStrategy(input, environment.clock)
        })
      case 'token': {
        logger?.warn("auth.type 'token' is deprecated. Use { type: 'pre-auth', accessToken }.")
        const accessToken = 'accessToken' in input ? input.accessToken : input.token
        return loadable('pre-auth', environment, part => new part.PreAuthStrategy({ accessToken }, environment.clock))
      }
      case 'pkce':
        if (typeof input.config !== 'object' || input.config === null) throw invalid("of type 'pkce' has no config")
        if (environment.page) return { type: input.type, load: () => createLogin(input.config, environment, logger) }
        throw new AuthError(
          'A login needs a browser. Elsewhere pass a token or client credentials.',
          'browser_unsupported',
        )
    }
  }
  if (hasMethod(input, 'getToken')) return { type: 'pre-auth', strategy: new HostStrategy(input) }
  throw invalid(typeof type === 'string' ? `has the unknown type '${type}'` : 'has an unsupported shape')
}

/** A strategy that is created at once where the code is loaded already. */
function loadable(
  type: AuthenticationType,
  { clock }: Environment,
  create: (part: Awaited<ReturnType<typeof strategies.load>>) => OwnStrategy,
): ChosenStrategy {
  const { loaded, load } = strategies
  return loaded
    ? { type, strategy: create(loaded) }
    : { type, load: async () => create(await feature(clock, 'auth', load)) }
}

/** Loads the code of a login, and creates it. */
export async function createLogin(
  config: PKCEAuthConfig,
  environment: Environment,
  logger: Logger | undefined,
): Promise<PKCEAuthStrategy> {
  const { PKCEAuthStrategy } = await loadLogin(environment)
  return new PKCEAuthStrategy(config, { environment, logger })
}

/** Loads the code of a login. */
export function loadLogin({
  clock,
}: Pick<Environment, 'clock'>): Promise<{ readonly PKCEAuthStrategy: typeof PKCEAuthStrategy }> {
  return feature(clock, 'login', async () => (await import('./login/load-login.ts')).loadLogin())
}

function invalid(problem: string): AuthError {
  return new AuthError(
    `auth ${problem}. Give a config with a type, an AuthProvider, an AuthStrategy, or nothing.`,
    'invalid_input',
  )
}
