import * as v from 'valibot'

/** An id of a record: services send text or a number, and compare as text. */
export const IdSchema = v.union([v.string(), v.number()])
/** An id of a record: text or a number. Two ids are compared with {@link sameId}. */
export type Id = v.InferOutput<typeof IdSchema>

/** Whether two ids name the same record: neither is missing or empty, and their text is equal. */
export function sameId(a: Id | null | undefined, b: Id | null | undefined): boolean {
  if (a === null || a === undefined || a === '') return false
  if (b === null || b === undefined || b === '') return false
  return String(a) === String(b)
}
