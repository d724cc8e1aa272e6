import { DEFAULT_SCOPES, SCOPE } from '@aiagent/protocol'
import type { TenantSeed, UserSeed } from '../world/seed.ts'
import { loginPath } from './login-addresses.ts'

/** Options of `pkceConfig()`. */
export interface PkceConfigOptions {
  /** Page of the host app that the login returns to. It must be on this machine, or on the emulator's origin. */
  redirectUri: string
  /** Kind of user: customers, or staff of the deployment. @default 'customer' */
  userType?: UserSeed['userType']
  /** Id of the tenant. @default the first one */
  tenantId?: string
}

/** The fields of a `pkce` login, for the client's `auth: { type: 'pkce', config }`. */
export interface PkceConfig {
  /** Client id of the tenant for this kind of user. */
  clientId: string
  /** The given page of the host app. */
  redirectUri: string
  /** Address of the identity provider. */
  authorizationUrl: string
  /** The emulator's host, with its port. */
  knownAuthorities: string[]
  /** OpenID scopes, and the API scopes with the tenant's prefix. */
  scopes: string[]
}

/**
 * Builds the configuration of a login at an emulator.
 *
 * @throws {Error} when the tenant is unknown, or has no client id for such users
 */
export function buildPkceConfig(
  origin: string,
  tenants: readonly TenantSeed[],
  { redirectUri, userType = 'customer', tenantId }: PkceConfigOptions,
): PkceConfig {
  const tenant = tenantId === undefined ? tenants[0] : tenants.find(({ id }) => id === tenantId)
  if (!tenant)
    throw new Error(`Unknown tenant "${tenantId}". The tenants are: ${tenants.map(({ id }) => id).join(', ')}.`)
  const clientId = (userType === 'agent' ? tenant.intClientId : tenant.extClientId) ?? tenant.clientId
  if (clientId === undefined) throw new Error(`The tenant "${tenant.id}" has no client id for a login.`)
  const scopes = [...DEFAULT_SCOPES, ...(userType === 'customer' ? [SCOPE.CUSTOMER_MANAGER] : [])]
  return {
    clientId,
    redirectUri,
    authorizationUrl: origin + loginPath(tenant, userType),
    knownAuthorities: [new URL(origin).host],
    scopes: ['openid', 'profile', 'offline_access', ...scopes.map(scope => tenant.permissionPrefix + scope)],
  }
}
