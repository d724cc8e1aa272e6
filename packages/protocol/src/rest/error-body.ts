import * as v from 'valibot'
import { jsonObject } from '../json-object.ts'

/** What our own service half answers on a failure. A client shows it when it is there and never depends on it. */
export const ErrorBodySchema = jsonObject({ code: v.string(), message: v.string() })
/** What the service answers on a failure, where it answers in its own words. */
export type ErrorBody = v.InferOutput<typeof ErrorBodySchema>
