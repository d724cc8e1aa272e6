import type { TenantSeed, UserSeed } from '../world/seed.ts'

/** The login of each kind of user, as it appears in addresses. */
export const LOGIN_POLICY: Readonly<Record<UserSeed['userType'], string>> = {
  agent: 'staff-sign-in',
  customer: 'customer-sign-in',
}

/** Paths of a login's endpoints, below its authority. */
export const LOGIN_ENDPOINTS = {
  authorization: '/oauth2/v2.0/authorize',
  token: '/oauth2/v2.0/token',
  endSession: '/oauth2/v2.0/logout',
  /** A second name of the same endpoint: the one in access tokens. */
  signOut: '/sign-out',
  userInfo: '/openid/v2.0/userinfo',
  keys: '/discovery/v2.0/keys',
  openIdConfiguration: '/.well-known/openid-configuration',
} as const

/** Path of the callback page of a login. */
export const AUTH_REDIRECT_PATH = '/system/templates/selfservice/auth-redirect.html'

/** Additional paths of endpoints. Clients look for the configuration in different places. */
const ALIASES: Readonly<Record<string, string>> = {
  [LOGIN_ENDPOINTS.signOut]: LOGIN_ENDPOINTS.endSession,
  [`/v2.0${LOGIN_ENDPOINTS.openIdConfiguration}`]: LOGIN_ENDPOINTS.openIdConfiguration,
}

/** Path of a login, without a trailing slash. With the origin before it, it is the authority. */
export function loginPath(tenant: TenantSeed, userType: UserSeed['userType']): string {
  return `/${tenant.identifier}/${LOGIN_POLICY[userType]}`
}

/** The issuer of a login in its tokens. Its OpenID configuration is published there too. */
export function loginIssuerPath(tenant: TenantSeed, userType: UserSeed['userType']): string {
  return `/tfp${loginPath(tenant, userType)}/v2.0/`
}

/** Splits a path into a login's own and the rest. Undefined if it belongs to no login of the tenant. */
export function readLoginPath(
  tenant: TenantSeed,
  path: string,
): { userType: UserSeed['userType']; below: string } | undefined {
  for (const userType of ['agent', 'customer'] as const) {
    const base = loginPath(tenant, userType)
    const issuer = loginIssuerPath(tenant, userType).slice(0, -1)
    if (path.startsWith(`${issuer}/`)) return { userType, below: path.slice(issuer.length) }
    if (!path.startsWith(`${base}/`)) continue
    const below = path.slice(base.length)
    return { userType, below: ALIASES[below] ?? below }
  }
  return undefined
}
