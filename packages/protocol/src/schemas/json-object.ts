import * as v from 'valibot'
import { isJsonObject } from '../json-object.ts'

const plain = v.custom<Record<string, unknown>>(isJsonObject, 'Invalid type: Expected a JSON object')

/**
 * Schema of an object of the wire. Fields that are not listed pass through, lists are refused (a loose object alone would
 * accept them), and fields named `__proto__`, `prototype` or `constructor` are dropped.
 */
export const jsonObject = <const E extends v.ObjectEntries>(entries: E) => v.pipe(plain, v.looseObject(entries))

/** Schema of a list. An element that does not fit is left out: it must not cost the others. */
export const listOf = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(
    v.array(v.unknown()),
    v.transform(elements =>
      elements.flatMap((element): v.InferOutput<Schema>[] => {
        const result = v.safeParse(schema, element)
        return result.success ? [result.output] : []
      }),
    ),
  )

/** Schema of an object whose fields belong to the host. The same three names are dropped. */
export const openObject = v.pipe(plain, v.record(v.string(), v.unknown()))

export const text = v.nullish(v.string())
export const flag = v.nullish(v.boolean())
