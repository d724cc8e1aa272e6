import * as v from 'valibot'

/** What our own service half answers on a failure. A client shows it when it is there and never depends on it. */
export const ErrorBodySchema = v.looseObject({ code: v.string(), message: v.string() })
export type ErrorBody = v.InferOutput<typeof ErrorBodySchema>
