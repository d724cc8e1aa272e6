import { type OAuthMetadata, TENANT_PLACEHOLDER } from '@aiagent/protocol'
import type { TenantSeed, UserSeed } from '../world/seed.ts'
import { LOGIN_ENDPOINTS, LOGIN_POLICY, loginPath } from './login-addresses.ts'

/** Paths of the token endpoints. Called with `:tenantId` they are route patterns. */
export const tokenPaths = {
  anonymous: (tenantId: string) => `/oauth/${tenantId}/anonymous/token`,
  clientCredentials: (tenantId: string) => `/oauth/${tenantId}/token`,
} as const

/** The metadata for token requests. Without a login, the login addresses are absent. */
export function describeOAuth(tenant: TenantSeed, origin: string, offersLogin: boolean): OAuthMetadata {
  const prefix = tenant.permissionPrefix
  return {
    authenticationDetails: {
      oAuthAnonymousCustomer: [{ accessTokenURL: origin + tokenPaths.anonymous(TENANT_PLACEHOLDER) }],
      ...(offersLogin && {
        oAuthUser: [describeLogin(tenant, origin, 'agent')],
        oAuthCustomer: [describeLogin(tenant, origin, 'customer')],
      }),
      apiPermissionPrefix: prefix,
    },
    ...(offersLogin && {
      idpPolicies: { userSigninPolicy: LOGIN_POLICY.agent, customerSigninPolicy: LOGIN_POLICY.customer },
    }),
    apiMetadata: {
      CORE: { apiPermissionPrefix: prefix, iApiPermissionPrefix: prefix, eApiPermissionPrefix: prefix },
    },
  }
}

function describeLogin(tenant: TenantSeed, origin: string, userType: UserSeed['userType']) {
  const authority = origin + loginPath(tenant, userType)
  return {
    authURL: authority + LOGIN_ENDPOINTS.authorization,
    accessTokenURL: authority + LOGIN_ENDPOINTS.token,
  }
}
