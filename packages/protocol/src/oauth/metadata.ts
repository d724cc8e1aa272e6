import * as v from 'valibot'

const text = v.nullish(v.string())
const endpoints = v.nullish(v.array(v.looseObject({ authURL: text, accessTokenURL: text })))

/** The token and login addresses of a deployment. `GET …/metadata/deployment` or `…/metadata/tenant/{tenantId}`. */
export const OAuthMetadataSchema = v.looseObject({
  authenticationDetails: v.nullish(
    v.looseObject({
      oAuthAnonymousCustomer: endpoints,
      oAuthUser: endpoints,
      oAuthCustomer: endpoints,
      apiPermissionPrefix: text,
    }),
  ),
  idpPolicies: v.nullish(v.looseObject({ userSigninPolicy: text, customerSigninPolicy: text })),
  apiMetadata: v.nullish(
    v.looseObject({
      CORE: v.nullish(
        v.looseObject({ iApiPermissionPrefix: text, eApiPermissionPrefix: text, apiPermissionPrefix: text }),
      ),
    }),
  ),
})
export type OAuthMetadata = v.InferOutput<typeof OAuthMetadataSchema>

/** Stands in the anonymous token address for the deployment's tenant id. */
export const TENANT_PLACEHOLDER = '<DOMAIN_NAME>'
