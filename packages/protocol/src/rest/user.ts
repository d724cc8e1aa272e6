import * as v from 'valibot'
import { jsonObject } from '../json-object.ts'
import { IdSchema } from './id.ts'

/** The person who is signed in: a user of the desk or a customer. */
export const UserDetailsSchema = jsonObject({
  id: v.nullish(IdSchema),
  name: v.nullish(v.string()),
  email: v.nullish(v.string()),
})
/** The person who is signed in: a user of the desk or a customer. */
export type UserDetails = v.InferOutput<typeof UserDetailsSchema>

/** Answer of the call for a desk's user. */
export const UserListSchema = jsonObject({ user: v.nullish(v.array(UserDetailsSchema)) })
/** Answer of the call for a customer. */
export const CustomerListSchema = jsonObject({ customer: v.nullish(v.array(UserDetailsSchema)) })
