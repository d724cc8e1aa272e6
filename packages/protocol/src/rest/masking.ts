import * as v from 'valibot'
import { jsonObject, recordList } from '../json-object.ts'

const count = v.fallback(v.nullish(v.number()), undefined)
const text = v.fallback(v.nullish(v.string()), undefined)
const flag = v.fallback(v.nullish(v.boolean()), undefined)

/** One rule of what to hide. What is odd reads as absent, which hides more rather than less. */
export const MaskingPatternSchema = jsonObject({
  name: text,
  description: text,
  /** Rules run in ascending order, each on the result of the one before. */
  order: count,
  /** Without it the rule means nothing, and the others hold. */
  javascriptRegularExpression: text,
  numOfCharsToUnmaskFromLeft: count,
  numOfCharsToUnmaskFromRight: count,
  applyLuhnAlgorithm: flag,
  maskingCharacter: text,
})
/** One rule of what to hide. */
export type MaskingPattern = v.InferOutput<typeof MaskingPatternSchema>

/** The rules of a department. */
export const MaskingPatternsSchema = jsonObject({
  patterns: v.nullish(recordList(MaskingPatternSchema)),
  configuration: v.nullish(jsonObject({ htmlTagMatcherRegEx: text })),
})
/** The rules of a department. */
export type MaskingPatterns = v.InferOutput<typeof MaskingPatternsSchema>
