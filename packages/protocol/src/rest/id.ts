import { type Reader, refuse } from '../reading.ts'

/** An id of a record: text or a safe integer. Compare two ids with {@link sameId}. */
export type Id = string | number

/** Whether a value can be an id. Another number is not the one that was sent: the JSON parser rounds it, to another id. */
export const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isSafeInteger(value)

export const readId: Reader<Id> = (value, path) =>
  isId(value)
    ? value
    : refuse(
        typeof value === 'number' ? 'a safe integer, so an id has to be sent as text' : 'text or a safe integer',
        value,
        path,
      )

/** Whether two ids name the same record: neither is missing or empty, and their text is equal. */
export function sameId(a: Id | null | undefined, b: Id | null | undefined): boolean {
  if (a === null || a === undefined || a === '') return false
  if (b === null || b === undefined || b === '') return false
  return String(a) === String(b)
}
