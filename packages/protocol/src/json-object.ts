/** Whether a value is a JSON object: neither null nor a list. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A record that may have further fields, for programs that write records: the service may send fields that clients do not
 * know.
 */
export type OpenRecord<T> = T & { [field: string]: unknown }

/**
 * The record with all its fields, also those that its type does not name. The service may send further fields, which
 * pass through unchanged; the types name only the known ones, so that a typing error does not compile.
 *
 * @example allFields(portal)['openingHours']
 */
export function allFields(record: object): Readonly<Record<string, unknown>> {
  return record as Readonly<Record<string, unknown>>
}
