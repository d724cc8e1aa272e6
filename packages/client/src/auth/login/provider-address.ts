import type { PKCEAuthConfig } from '../auth-strategy.ts'

/** Start of the key for the signed-in user, followed by the provider's authority and the client id. */
const USER_PREFIX = 'aiagent_oidc_user.'

/** The authority of a login, without a trailing slash. Nothing is checked. */
export function authorityOf({ authorizationUrl, knownAuthorities }: PKCEAuthConfig): string | undefined {
  const [host] = knownAuthorities ?? []
  const authority = authorizationUrl ?? (host?.includes('://') ? host : host && `https://${host}`)
  return authority?.replace(/\/+$/, '')
}

/** Key of the signed-in user of a login. */
export function userKey(authority: string, clientId: string): string {
  return `${USER_PREFIX}${authority}:${clientId}`
}
