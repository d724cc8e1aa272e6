import { type Reader, readTextOrNumber } from '../reading.ts'

/** An id of a record: text or a number. Compare two ids with {@link sameId}. */
export type Id = string | number

export const readId: Reader<Id> = readTextOrNumber

/** Whether two ids name the same record: neither is missing or empty, and their text is equal. */
export function sameId(a: Id | null | undefined, b: Id | null | undefined): boolean {
  if (a === null || a === undefined || a === '') return false
  if (b === null || b === undefined || b === '') return false
  return String(a) === String(b)
}
