import type { Environment } from '../platform/environment.ts'
import type { AuthenticationInput } from './auth-input.ts'
import type { PKCEAuthConfig } from './auth-strategy.ts'
import type { LoginSession } from './login/login.ts'
import { authorityOf, userKey } from './login/provider-address.ts'

/*
 * What an earlier page of the tab has stored of a login. Apart from the code of the login, which may not be loaded: a logout
 * removes it before it returns.
 */

type Stores = Pick<Environment, 'sessionStorage' | 'localStorage'>

/** A login that must be ended at its provider. */
export interface StoredLogin {
  readonly config: PKCEAuthConfig
  /** What the provider needs. */
  readonly session: LoginSession
}

/**
 * Remembers the login that a tab uses for an endpoint. The deployment defines this login, not the host's configuration;
 * without the entry, a logout before `initialize()` would not know which tokens to remove.
 *
 * @param endpoint without it, nothing is stored
 */
export function rememberLogin({ sessionStorage }: Stores, endpoint: string | undefined, config: PKCEAuthConfig): void {
  try {
    if (endpoint !== undefined) sessionStorage?.setItem(keyOf(endpoint), JSON.stringify(config))
  } catch {
    // The store is full. Only a logout before initialize() needs the entry.
  }
}

/** Removes and returns the remembered login; undefined for anything else that other code of the page may have written there. */
export function takeRememberedLogin(
  { sessionStorage }: Stores,
  endpoint: string | undefined,
): PKCEAuthConfig | undefined {
  const text = endpoint === undefined ? undefined : sessionStorage?.getItem(keyOf(endpoint))
  if (endpoint === undefined || !text) return undefined
  sessionStorage?.removeItem(keyOf(endpoint))
  try {
    return JSON.parse(text) as PKCEAuthConfig
  } catch {
    return undefined
  }
}

/**
 * Removes the stored user of an agent's login, and the remembered login. Undefined when there is nothing to end at a provider.
 */
export function takeStoredLogin(
  auth: AuthenticationInput | null | undefined,
  stores: Stores,
  endpoint: string | undefined,
): StoredLogin | undefined {
  const remembered = takeRememberedLogin(stores, endpoint)
  const own = auth && 'type' in auth && auth.type === 'pkce' ? auth.config : undefined
  const isAnonymous = !auth || ('type' in auth && auth.type === 'anonymous')
  const config = own ?? (isAnonymous ? remembered : undefined)
  if (!config) return undefined
  const store = config.cacheLocation === 'localStorage' ? stores.localStorage : stores.sessionStorage
  try {
    const key = userKey(authorityOf(config) ?? '', config.clientId)
    const text = store?.getItem(key)
    if (!text) return undefined
    store?.removeItem(key)
    const { accessToken, idToken } = JSON.parse(text) as Partial<LoginSession>
    if (typeof accessToken !== 'string') return undefined
    return { config, session: { accessToken, ...(typeof idToken === 'string' && { idToken }) } }
  } catch {
    return undefined
  }
}

function keyOf(endpoint: string): string {
  return `aiagent_auth_login:${endpoint}`
}
