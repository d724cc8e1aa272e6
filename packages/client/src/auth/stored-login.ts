import type { Environment } from '../platform/environment.ts'
import { KeyedStore, KINDS, keysWith } from '../storage/keyed-store.ts'
import type { AuthenticationInput, PKCEAuthConfig } from './auth-strategy.ts'

/*
 * What an earlier page of the tab has stored of a login. Apart from the code of the login, which may not be loaded: a logout
 * removes it before it returns. The stores of a page answer at once.
 */

/** A login that must be ended at its provider. */
export interface StoredLogin {
  readonly config: PKCEAuthConfig
  /** What the provider needs. */
  readonly session: { readonly accessToken: string; readonly idToken?: string }
}

/** Version of the stored user. It is in its key, and in the name of the lock of its renewals. */
export const USER_VERSION = 1

/** The authority of a login, without a trailing slash. Nothing is checked. */
export function authorityOf({ authorizationUrl, knownAuthorities }: PKCEAuthConfig): string | undefined {
  const [host] = knownAuthorities ?? []
  const authority = authorizationUrl ?? (host?.includes('://') ? host : host && `https://${host}`)
  return authority?.replace(/\/+$/, '')
}

/** Key of the signed-in user of a login. */
export function userKey(authority: string, clientId: string): string {
  return keysWith(KINDS.loginUser, {}, { version: String(USER_VERSION), login: `${authority}:${clientId}` }).key
}

/** The store of the users of logins with a cache location. */
export function userStore<T>(environment: Environment, { cacheLocation }: PKCEAuthConfig): KeyedStore<T> {
  const storageType = cacheLocation === 'localStorage' ? 'local' : 'session'
  return new KeyedStore(KINDS.loginUser, { environment, cache: { storageType } })
}

/**
 * Remembers the login that a tab uses for an endpoint. The deployment defines this login, not the host's configuration;
 * without the entry, a logout before `initialize()` would not know which tokens to remove.
 *
 * @param endpoint without it, nothing is stored
 */
export function rememberLogin(environment: Environment, deployment: string | undefined, config: PKCEAuthConfig): void {
  const store = new KeyedStore<PKCEAuthConfig>(KINDS.rememberedLogin, { environment })
  if (deployment !== undefined) void store.set(store.key({ deployment }), config)
}

/** Removes and returns the remembered login; undefined for anything else that other code of the page may have written there. */
export function takeRememberedLogin(
  environment: Environment,
  deployment: string | undefined,
): PKCEAuthConfig | undefined {
  if (deployment === undefined) return undefined
  const store = new KeyedStore<PKCEAuthConfig>(KINDS.rememberedLogin, { environment })
  return take(store, store.key({ deployment }))
}

/**
 * Removes the stored user of an agent's login, and the remembered login. Undefined when there is nothing to end at a provider.
 */
export function takeStoredLogin(
  auth: AuthenticationInput | null | undefined,
  environment: Environment,
  endpoint: string | undefined,
): StoredLogin | undefined {
  const remembered = takeRememberedLogin(environment, endpoint)
  const own = auth && 'type' in auth && auth.type === 'pkce' ? auth.config : undefined
  const isAnonymous = !auth || ('type' in auth && auth.type === 'anonymous')
  const config = own ?? (isAnonymous ? remembered : undefined)
  if (!config) return undefined
  try {
    const store = userStore<Partial<StoredLogin['session']>>(environment, config)
    const { accessToken, idToken } = take(store, userKey(authorityOf(config) ?? '', config.clientId)) ?? {}
    if (typeof accessToken !== 'string') return undefined
    return { config, session: { accessToken, ...(typeof idToken === 'string' && { idToken }) } }
  } catch {
    return undefined
  }
}

/** Removes and returns the value of a key. */
function take<T>(store: KeyedStore<T>, key: string): T | undefined {
  const value = store.peek(key)
  void store.delete(key)
  return value
}
