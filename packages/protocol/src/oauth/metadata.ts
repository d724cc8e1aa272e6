import * as v from 'valibot'
import { jsonObject } from '../json-object.ts'

const text = v.nullish(v.string())
const endpoints = v.nullish(v.array(jsonObject({ authURL: text, accessTokenURL: text })))

/** The token and login addresses of a deployment. `GET …/metadata/deployment` or `…/metadata/tenant/{tenantId}`. */
export const OAuthMetadataSchema = jsonObject({
  authenticationDetails: v.nullish(
    jsonObject({
      oAuthAnonymousCustomer: endpoints,
      oAuthUser: endpoints,
      oAuthCustomer: endpoints,
      apiPermissionPrefix: text,
    }),
  ),
  idpPolicies: v.nullish(jsonObject({ userSigninPolicy: text, customerSigninPolicy: text })),
  apiMetadata: v.nullish(
    jsonObject({
      CORE: v.nullish(
        jsonObject({ iApiPermissionPrefix: text, eApiPermissionPrefix: text, apiPermissionPrefix: text }),
      ),
    }),
  ),
})
/** The token and login addresses of a deployment. */
export type OAuthMetadata = v.InferOutput<typeof OAuthMetadataSchema>

/** Stands in the anonymous token address for the deployment's tenant id. */
export const TENANT_PLACEHOLDER = '<DOMAIN_NAME>'
