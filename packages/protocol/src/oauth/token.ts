import * as v from 'valibot'
import { jsonObject } from '../json-object.ts'

/** Answer of a token endpoint. `token_type` may be missing and reads as Bearer. */
export const TokenResponseSchema = jsonObject({
  access_token: v.pipe(v.string(), v.nonEmpty()),
  token_type: v.optional(v.string(), 'Bearer'),
  /** Seconds. */
  expires_in: v.nullish(v.number()),
  scope: v.nullish(v.string()),
})
/** What a token endpoint answers. */
export type TokenResponse = v.InferOutput<typeof TokenResponseSchema>

/**
 * The credentials of the anonymous token request: literally these words. The gateway in front of the token endpoint
 * puts the real ones in their place.
 */
export const ANONYMOUS_CLIENT = { id: 'clientId', secret: 'clientSecret' } as const
