import { KINDS, keysWith } from '../../storage/keyed-store.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'

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
