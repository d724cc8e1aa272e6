import * as v from 'valibot'
import { jsonObject, listOf, text } from './json-object.ts'

const scopes = v.union([v.string(), listOf(v.string())])

/** Schema of `AccessTokenClaims`. */
export const AccessTokenClaimsSchema = jsonObject({
  exp: v.optional(v.pipe(v.number(), v.finite())),
  iat: v.optional(v.number()),
  iss: v.optional(v.string()),
  sub: v.optional(v.string()),
  oid: v.optional(v.string()),
  scope: v.optional(scopes),
  logout: v.optional(v.string()),
})

const endpoints = v.nullish(listOf(jsonObject({ authURL: text, accessTokenURL: text })))

/** Schema of `OAuthMetadata`. */
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

/** Schema of `TokenResponse`. */
export const TokenResponseSchema = jsonObject({
  access_token: v.pipe(v.string(), v.nonEmpty()),
  token_type: v.optional(v.string(), 'Bearer'),
  expires_in: v.nullish(v.number()),
  scope: v.nullish(v.string()),
})
