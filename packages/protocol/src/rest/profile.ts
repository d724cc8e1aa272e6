import * as v from 'valibot'
import { jsonObject, recordList } from '../json-object.ts'
import { IdSchema } from './id.ts'

/** A personalization profile of a user within a portal. */
export const UserProfileSchema = jsonObject({
  id: IdSchema,
  name: v.nullish(v.string()),
  isLastUsedInPortal: v.nullish(v.boolean()),
})
/** A personalization profile of a user within a portal. */
export type UserProfile = v.InferOutput<typeof UserProfileSchema>

/** Answer of the profile list. A missing list reads as empty. */
export const UserProfileListSchema = jsonObject({ profile: v.nullish(recordList(UserProfileSchema)) })
/** The profiles of a user within a portal. */
export type UserProfileList = v.InferOutput<typeof UserProfileListSchema>
