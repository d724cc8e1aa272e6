import * as v from 'valibot'
import { IdSchema } from './id.ts'
import { UserProfileSchema } from './profile.ts'

const text = v.nullish(v.string())

/** A portal: one door of the help desk. */
export const PortalSchema = v.looseObject({
  id: IdSchema,
  name: text,
  description: text,
  department: v.nullish(v.looseObject({ id: v.nullish(IdSchema), name: text })),
})
export type Portal = v.InferOutput<typeof PortalSchema>

/** One page of portals. A missing list reads as empty. */
export const PortalListSchema = v.looseObject({
  portal: v.nullish(v.array(PortalSchema)),
  paginationInfo: v.nullish(
    v.looseObject({ count: v.number(), pagesize: v.number(), pagenum: v.nullish(v.number()) }),
  ),
})
export type PortalList = v.InferOutput<typeof PortalListSchema>

/** What a portal says of itself. */
export const PortalDetailsSchema = v.looseObject({
  name: text,
  departmentId: v.nullish(IdSchema),
  portalSettings: v.nullish(v.looseObject({ defaultUserProfile: v.nullish(v.partial(UserProfileSchema)) })),
})
export type PortalDetails = v.InferOutput<typeof PortalDetailsSchema>

/** Page size of a list call. */
export const PORTAL_PAGE_SIZE = 75
