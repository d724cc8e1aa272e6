import * as v from 'valibot'
import { jsonObject, recordList } from '../json-object.ts'
import { IdSchema } from './id.ts'

const text = v.nullish(v.string())

/** A portal: one door of the help desk. */
export const PortalSchema = jsonObject({
  id: IdSchema,
  name: text,
  description: text,
  department: v.nullish(jsonObject({ id: v.nullish(IdSchema), name: text })),
})
/** A portal: one door of the help desk. */
export type Portal = v.InferOutput<typeof PortalSchema>

/** One page of portals. A missing list reads as empty. */
export const PortalListSchema = jsonObject({
  portal: v.nullish(recordList(PortalSchema)),
  paginationInfo: v.nullish(jsonObject({ count: v.number(), pagesize: v.number(), pagenum: v.nullish(v.number()) })),
})
/** One page of portals. */
export type PortalList = v.InferOutput<typeof PortalListSchema>

/** What a portal says of itself. */
export const PortalDetailsSchema = jsonObject({
  name: text,
  departmentId: v.nullish(IdSchema),
  portalSettings: v.nullish(
    jsonObject({ defaultUserProfile: v.nullish(jsonObject({ id: v.nullish(IdSchema), name: text })) }),
  ),
})
/** What a portal says of itself. */
export type PortalDetails = v.InferOutput<typeof PortalDetailsSchema>

/** Answer of the call for a portal's details: the first element is the portal. */
export const PortalDetailsListSchema = jsonObject({ portal: v.nullish(v.array(PortalDetailsSchema)) })

/** Page size of a list call. */
export const PORTAL_PAGE_SIZE = 75
