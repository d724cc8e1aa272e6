import * as v from 'valibot'

/** Whether a value is a JSON object: neither null nor a list. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const plain = v.custom<Record<string, unknown>>(isJsonObject, 'Invalid type: Expected a JSON object')

/**
 * The schema of a record of the wire. Members that are not listed pass through, lists are refused (a loose object alone
 * would take them), and members called `__proto__`, `prototype` or `constructor` are dropped.
 */
export const jsonObject = <const E extends v.ObjectEntries>(entries: E) => v.pipe(plain, v.looseObject(entries))

/**
 * A list of records. An element that cannot be read as one is left out: a portal without an id, which nobody could choose,
 * must not cost the others.
 */
export const recordList = <const Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(
    v.array(v.fallback(v.nullable(schema), null as never)),
    v.transform(elements => elements.filter(element => element !== null) as v.InferOutput<Schema>[]),
  )

/** An object whose members are the host's business. The same three names are dropped. */
export const openObject = v.pipe(plain, v.record(v.string(), v.unknown()))
