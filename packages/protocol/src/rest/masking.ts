import { isJsonObject } from '../json-object.ts'
import { listOf, optional, orAbsent, type Reader, readFlag, readNumber, readRecord, readText } from '../reading.ts'

/** One masking rule. A field of the wrong type reads as absent, which hides more rather than less. */
export interface MaskingPattern {
  /** Name of the rule. */
  name?: string | null
  /** A sentence about the rule. */
  description?: string | null
  /** Rules run in ascending order, each on the result of the one before. */
  order?: number | null
  /** The expression whose matches are hidden. A rule without one has no effect. */
  javascriptRegularExpression?: string | null
  /** How many characters at the start of a match stay readable. */
  numOfCharsToUnmaskFromLeft?: number | null
  /** How many characters at the end of a match stay readable. */
  numOfCharsToUnmaskFromRight?: number | null
  /** True when only numbers that pass the Luhn check are hidden. */
  applyLuhnAlgorithm?: boolean | null
  /** Character that replaces the hidden ones. */
  maskingCharacter?: string | null
}

/** Settings that all masking rules of a department share. */
export interface MaskingConfiguration {
  /** Expression that finds HTML tags, which are not masked. */
  htmlTagMatcherRegEx?: string | null
}

/** The masking rules of a department, from `GET …/departments/{departmentId}/maskingpatterns/{channel}`. */
export interface MaskingPatterns {
  /** The rules, in any order. */
  patterns?: MaskingPattern[] | null
  /** Settings that all rules share. */
  configuration?: MaskingConfiguration | null
}

/** @throws {ProtocolError} when the value is not an object with a list of rules */
export const parseMaskingPatterns: Reader<MaskingPatterns> = (value, path) => {
  const count = orAbsent(optional(readNumber))
  const text = orAbsent(optional(readText))
  // An element that is not an object is a rule without fields, so that the client refuses and reports it.
  const pattern: Reader<MaskingPattern> = (rule, at) =>
    readRecord<MaskingPattern>(isJsonObject(rule) ? rule : {}, at, {
      name: text,
      description: text,
      order: count,
      javascriptRegularExpression: text,
      numOfCharsToUnmaskFromLeft: count,
      numOfCharsToUnmaskFromRight: count,
      applyLuhnAlgorithm: orAbsent(optional(readFlag)),
      maskingCharacter: text,
    })
  return readRecord<MaskingPatterns>(value, path, {
    patterns: optional(listOf(pattern)),
    configuration: optional((settings, at) =>
      readRecord<MaskingConfiguration>(settings, at, { htmlTagMatcherRegEx: optional(readText) }),
    ),
  })
}
