import type { Environment, StorageLike } from '../../platform/environment.ts'
import type { AuthenticationInput, PKCEAuthServiceConfig } from '../auth-input.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import { RememberedLogin } from '../remembered-login.ts'
import type { IdentitySession } from './identity-client.ts'
import { authorityOf, userKey } from './provider-address.ts'

/*
 * What an earlier page has stored of a login. Apart from the code of the login, which may not be loaded: a logout removes
 * it before it returns.
 */

/** A login that must be ended at its provider. */
export interface StoredLogin {
  readonly input: PKCEAuthServiceConfig
  /** What the provider needs; undefined where the host's identity library knows it. */
  readonly session?: IdentitySession
}

/** Removes the stored user of an agent's login. Undefined when there is nothing to end at a provider. */
export function takeStoredLogin(
  auth: AuthenticationInput | null | undefined,
  environment: Environment,
  endpoint: string,
): StoredLogin | undefined {
  const remembered = new RememberedLogin(environment.sessionStorage, endpoint).take()
  const type = auth ? (auth as { type?: unknown }).type : 'anonymous'
  const input =
    type === 'pkce'
      ? (auth as PKCEAuthServiceConfig)
      : type === 'anonymous' && remembered
        ? { type: 'pkce' as const, config: remembered }
        : undefined
  if (!input) return undefined
  if ('identityClient' in input && input.identityClient) return { input }
  const session = takeStoredUser(input.config, environment)
  return session && { input, session }
}

/** Removes the stored user. Returns what the provider needs to end the session. */
export function takeStoredUser(
  config: PKCEAuthConfig,
  { sessionStorage, localStorage }: Pick<Environment, 'sessionStorage' | 'localStorage'>,
): IdentitySession | undefined {
  const store: StorageLike | undefined = config.cacheLocation === 'localStorage' ? localStorage : sessionStorage
  const key = userKey(authorityOf(config), config.clientId)
  const text = store?.getItem(key)
  if (!store || !text) return undefined
  store.removeItem(key)
  try {
    const { accessToken, idToken } = JSON.parse(text) as Partial<IdentitySession>
    return typeof accessToken === 'string'
      ? { accessToken, ...(typeof idToken === 'string' && { idToken }) }
      : undefined
  } catch {
    return undefined
  }
}
