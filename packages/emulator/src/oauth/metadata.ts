import { type OAuthMetadata, TENANT_PLACEHOLDER } from '@aiagent/protocol'
import type { TenantSeed } from '../seed.ts'

/** Paths of the token endpoints. Called with `:tenantId` they are route patterns. */
export const tokenPaths = {
  anonymous: (tenantId: string) => `/oauth/${tenantId}/anonymous/token`,
  clientCredentials: (tenantId: string) => `/oauth/${tenantId}/token`,
} as const

/** What clients need to know to ask for tokens. Login addresses are absent: there is no login here. */
export function describeOAuth(tenant: TenantSeed, origin: string): OAuthMetadata {
  const prefix = tenant.permissionPrefix
  return {
    authenticationDetails: {
      oAuthAnonymousCustomer: [{ accessTokenURL: origin + tokenPaths.anonymous(TENANT_PLACEHOLDER) }],
      apiPermissionPrefix: prefix,
    },
    apiMetadata: {
      CORE: { apiPermissionPrefix: prefix, iApiPermissionPrefix: prefix, eApiPermissionPrefix: prefix },
    },
  }
}
