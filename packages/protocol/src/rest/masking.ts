import * as v from 'valibot'
import { jsonObject } from '../json-object.ts'

const count = v.fallback(v.nullish(v.number()), undefined)

/** One rule of what to hide. Odd numbers read as absent, which hides more rather than less. */
export const MaskingPatternSchema = jsonObject({
  name: v.nullish(v.string()),
  description: v.nullish(v.string()),
  /** Rules run in ascending order, each on the result of the one before. */
  order: count,
  javascriptRegularExpression: v.string(),
  numOfCharsToUnmaskFromLeft: count,
  numOfCharsToUnmaskFromRight: count,
  applyLuhnAlgorithm: v.nullish(v.boolean()),
  maskingCharacter: v.nullish(v.string()),
})
export type MaskingPattern = v.InferOutput<typeof MaskingPatternSchema>

/** The rules of a department. */
export const MaskingPatternsSchema = jsonObject({
  patterns: v.nullish(v.array(MaskingPatternSchema)),
  configuration: v.nullish(jsonObject({ htmlTagMatcherRegEx: v.nullish(v.string()) })),
})
export type MaskingPatterns = v.InferOutput<typeof MaskingPatternsSchema>
