import { AuthError } from '../errors.ts'
import type { AuthenticationInput } from './auth-input.ts'
import type { ClientCredentialsAuthConfig } from './auth-strategy.ts'

/*
 * The checks of the `auth` option. Apart from the strategies, since the code of a login loads on demand: a wrong option is
 * refused by the constructor of the agent.
 */

const METHODS = ['initialize', 'authenticate', 'getToken'] as const

/**
 * @param isPage whether a login can open a window, and everyone can read a secret
 * @throws {AuthError} `invalid_input` for an unsupported shape; `not_supported` and `browser_unsupported` for one that does not
 *   work on this platform
 */
export function checkAuthInput(input: AuthenticationInput, isPage: boolean): void {
  if (typeof input !== 'object') throw invalid('is neither an object nor left out')
  const { type } = input as { type?: unknown }
  switch (type) {
    case 'anonymous':
    case 'pre-auth':
    case 'token':
      return
    case 'client-credentials':
      return checkClientCredentials((input as { config: ClientCredentialsAuthConfig }).config, isPage)
    case 'pkce': {
      const { config } = input as { config: unknown }
      if (typeof config !== 'object' || config === null) throw invalid("of type 'pkce' has no config")
      if (!isPage)
        throw new AuthError(
          'A login needs a browser. Elsewhere pass a token or client credentials.',
          'browser_unsupported',
        )
      return
    }
  }
  if (hasMethod(input, 'getToken')) return
  throw invalid(typeof type === 'string' ? `has the unknown type '${type}'` : 'has an unsupported shape')
}

/**
 * @throws {AuthError} `invalid_input` when address, id or secret is missing; `not_supported` in a browser, unless
 *   `allowInBrowser` permits that everyone can read the secret
 */
export function checkClientCredentials(config: ClientCredentialsAuthConfig, isPage: boolean): void {
  for (const field of ['tokenUrl', 'clientId', 'clientSecret'] as const) {
    if (typeof config?.[field] !== 'string' || !config[field].trim())
      throw new AuthError(`auth.config.${field} is missing. Client credentials need it.`, 'invalid_input')
  }
  if (isPage && !config.allowInBrowser)
    throw new AuthError(
      'Client credentials are not for browsers: everyone could read the secret. Use another auth, or set allowInBrowser.',
      'not_supported',
    )
}

/** Whether the host supplied a whole strategy, not only a source of tokens. */
export function isStrategy(input: object): boolean {
  return METHODS.every(name => hasMethod(input, name))
}

function hasMethod(input: object, name: string): boolean {
  return name in input && typeof (input as Record<string, unknown>)[name] === 'function'
}

function invalid(problem: string): AuthError {
  return new AuthError(
    `auth ${problem}. Give a config with a type, an AuthProvider, an AuthStrategy, or nothing.`,
    'invalid_input',
  )
}
