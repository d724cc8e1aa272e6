import * as v from 'valibot'
import { jsonObject } from '../json-object.ts'

/** Messages of an earlier session. The shape of an element is open; our own service half sends frames. */
export const PreviousTranscriptSchema = jsonObject({ messages: v.nullish(v.array(v.unknown())) })
/** Messages of an earlier session. */
export type PreviousTranscript = v.InferOutput<typeof PreviousTranscriptSchema>
