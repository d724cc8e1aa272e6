import { listOf, optional, type Reader, readRecord, readText } from '../reading.ts'

/** Addresses of one OAuth provider. */
export interface OAuthEndpoint {
  /** Address of the authorization endpoint. */
  authURL?: string | null
  /** Address of the token endpoint. `<DOMAIN_NAME>` in it means the tenant id, see {@link TENANT_PLACEHOLDER}. */
  accessTokenURL?: string | null
}

/** Providers of a deployment by kind of user; the first of a list is used. */
export interface AuthenticationDetails {
  /** Providers of anonymous tokens. */
  oAuthAnonymousCustomer?: OAuthEndpoint[] | null
  /** Providers for users of the contact center. */
  oAuthUser?: OAuthEndpoint[] | null
  /** Providers for customers. */
  oAuthCustomer?: OAuthEndpoint[] | null
  /** Prefix of each scope of an anonymous token. */
  apiPermissionPrefix?: string | null
}

/** Sign-in policies, a segment of the provider's address. */
export interface IdpPolicies {
  /** Policy for users of the contact center. */
  userSigninPolicy?: string | null
  /** Policy for customers. */
  customerSigninPolicy?: string | null
}

/** Prefixes of the scopes of one API. */
export interface ApiPermissionPrefixes {
  /** Prefix for users of the contact center. */
  iApiPermissionPrefix?: string | null
  /** Prefix for customers. */
  eApiPermissionPrefix?: string | null
  /** Prefix where the two above are missing. */
  apiPermissionPrefix?: string | null
}

/** Facts about the APIs of a deployment, by name. */
export interface ApiMetadata {
  /** The API that agents belong to. */
  CORE?: ApiPermissionPrefixes | null
}

/**
 * Token and login addresses of a deployment, from `GET …/metadata/deployment` or `GET …/metadata/tenant/{tenantId}`.
 * Every level may be missing.
 */
export interface OAuthMetadata {
  /** Providers by kind of user. */
  authenticationDetails?: AuthenticationDetails | null
  /** Sign-in policies. */
  idpPolicies?: IdpPolicies | null
  /** Scope prefixes by API. */
  apiMetadata?: ApiMetadata | null
}

/** @throws {ProtocolError} when the value is not an object, or a level has the wrong type */
export const parseOAuthMetadata: Reader<OAuthMetadata> = (value, path) => {
  const text = optional(readText)
  const endpoints = optional(
    listOf((endpoint, at) => readRecord<OAuthEndpoint>(endpoint, at, { authURL: text, accessTokenURL: text })),
  )
  return readRecord<OAuthMetadata>(value, path, {
    authenticationDetails: optional((details, at) =>
      readRecord<AuthenticationDetails>(details, at, {
        oAuthAnonymousCustomer: endpoints,
        oAuthUser: endpoints,
        oAuthCustomer: endpoints,
        apiPermissionPrefix: text,
      }),
    ),
    idpPolicies: optional((policies, at) =>
      readRecord<IdpPolicies>(policies, at, { userSigninPolicy: text, customerSigninPolicy: text }),
    ),
    apiMetadata: optional((apis, at) =>
      readRecord<ApiMetadata>(apis, at, {
        CORE: optional((core, inner) =>
          readRecord<ApiPermissionPrefixes>(core, inner, {
            iApiPermissionPrefix: text,
            eApiPermissionPrefix: text,
            apiPermissionPrefix: text,
          }),
        ),
      }),
    ),
  })
}

/** Placeholder of the deployment's tenant id in the anonymous token address. */
export const TENANT_PLACEHOLDER = '<DOMAIN_NAME>'
