import * as v from 'valibot'
import { jsonObject } from '../json-object.ts'

/** What the library reads of an access token. It never verifies one: that is the service's part. */
export const AccessTokenClaimsSchema = jsonObject({
  /** Seconds since the epoch. */
  exp: v.optional(v.pipe(v.number(), v.finite())),
  iat: v.optional(v.number()),
  sub: v.optional(v.string()),
  oid: v.optional(v.string()),
  scope: v.optional(v.union([v.string(), v.array(v.string())])),
  /** Where a logout goes when the identity library cannot do it. */
  logout: v.optional(v.string()),
})
/** What an access token says of itself, as far as it is read. */
export type AccessTokenClaims = v.InferOutput<typeof AccessTokenClaimsSchema>
