import type { MaskingPattern, MaskingPatterns } from '@aiagent/protocol'
import { createMatcher, type FindAll, MAX_STEPS, type StepBudget } from './pattern/match.ts'
import { PatternRefusal, parsePattern } from './pattern/parse.ts'
import { type Characters, charactersOf } from './pattern/prefilter.ts'

/** A part of a text that masking replaces. */
export interface MaskedSpan {
  /** Name of the last rule that changed this part. */
  readonly rule: string
  /** Names of the earlier rules with replacements in this part, in order of application. */
  readonly earlierRules: readonly string[]
  /** Offset of the first UTF-16 code unit in the original text. */
  readonly start: number
  /** Offset after the last code unit. */
  readonly end: number
  /** The replacement, after all rules. */
  readonly replacement: string
}

/** A pattern that is not used. */
export interface RefusedPattern {
  /** Name of the rule, or `htmlTagMatcherRegEx`. */
  readonly name: string
  /** The problem, as the rest of a sentence about the pattern: "refers back to a group". */
  readonly reason: string
}

/** The compiled rules of a department. */
export interface DataMasker {
  /** Number of active rules; without any, every text stays unchanged. */
  readonly ruleCount: number
  /** The rejected patterns, in the order of the payload; a rejected tag matcher is replaced by the default. */
  readonly refused: readonly RefusedPattern[]
  /** The text after all replacements. */
  mask(text: string): string
  /** What {@link mask} would replace, from left to right; replacing these parts gives the same text. */
  preview(text: string): MaskedSpan[]
}

/** Removed from a match if the service specifies no other matcher: line breaks and tags. */
const DEFAULT_TAG_MATCHER = '(?:[\\r\\n]|<[^>]*>)+'

/** Nested tags can require repeated removal. Beyond this many rounds, the whole match is hidden. */
const MAX_TAG_REMOVALS = 100

/** Maximum number of rules. Real departments have about twenty. */
const MAX_RULES = 200

interface Rule {
  readonly name: string
  readonly order: number
  readonly findAll: FindAll
  readonly luhn: boolean
  readonly left: number
  readonly right: number
  readonly character: string
}

/**
 * Compiles the rules of a department, once. Applying them takes time linear in the text, whatever their patterns.
 *
 * Invalid numbers count as 0, so that more is hidden rather than less. All rules together have one budget of steps per
 * text, some tenths of a second, which only a long text with bad patterns exhausts. After that, each rule hides
 * everything from the first offset at which it could match.
 */
export function createDataMasker({ patterns, configuration }: MaskingPatterns): DataMasker {
  const refused: RefusedPattern[] = []
  const compile = (name: string, source: string | null | undefined): FindAll | undefined => {
    try {
      if (!source) throw new PatternRefusal('is missing')
      return createMatcher(parsePattern(source))
    } catch (error) {
      if (!(error instanceof PatternRefusal)) throw error
      refused.push(Object.freeze({ name, reason: error.message }))
      return undefined
    }
  }
  const rules: Rule[] = []
  for (const [index, pattern] of (patterns ?? []).entries()) {
    if (rules.length === MAX_RULES) {
      const name = `patterns from ${index + 1} on`
      refused.push(Object.freeze({ name, reason: `exceeds the limit of ${MAX_RULES} rules` }))
      break
    }
    const name = pattern.name || `pattern ${index + 1}`
    const findAll = compile(name, pattern.javascriptRegularExpression)
    if (findAll) rules.push(ruleOf(name, pattern, findAll))
  }
  rules.sort((a, b) => a.order - b.order)
  const given = configuration?.htmlTagMatcherRegEx
  const findTags = (given && compile('htmlTagMatcherRegEx', given)) || createMatcher(parsePattern(DEFAULT_TAG_MATCHER))
  /**
   * Applies the rules one after the other. `onReplaced` receives the replacements of each rule, relative to the result
   * of the earlier rules.
   */
  const apply = (text: string, onReplaced?: (found: readonly Replacement[], rule: string, masked: string) => void) => {
    const budget: StepBudget = { steps: MAX_STEPS }
    let masked = text
    let characters = charactersOf(text)
    for (const rule of rules) {
      const found = replacements(rule, masked, characters, findTags, budget)
      if (!found.length) continue
      onReplaced?.(found, rule.name, masked)
      masked = replaceAll(masked, found)
      characters = charactersOf(masked)
    }
    return masked
  }
  return Object.freeze({
    ruleCount: rules.length,
    refused: Object.freeze(refused),
    // Host code without types may pass null, which has nothing to mask.
    mask: (text: string) => (text ? apply(text) : text),
    preview(text: string) {
      let spans: MaskedSpan[] = []
      apply(text, (found, rule, masked) => {
        spans = mergeSpans(spans, found, rule, masked)
      })
      return spans
    },
  })
}

function ruleOf(name: string, pattern: MaskingPattern, findAll: FindAll): Rule {
  return {
    name,
    findAll,
    order: Number.isFinite(pattern.order) ? (pattern.order ?? 0) : 0,
    luhn: pattern.applyLuhnAlgorithm === true,
    left: countOf(pattern.numOfCharsToUnmaskFromLeft),
    right: countOf(pattern.numOfCharsToUnmaskFromRight),
    character: pattern.maskingCharacter || '*',
  }
}

const countOf = (value: number | null | undefined) => (Number.isInteger(value) && value && value > 0 ? value : 0)

interface Replacement {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** The replacements of a rule in a text, from left to right. */
function replacements(
  rule: Rule,
  text: string,
  characters: Characters,
  findTags: FindAll,
  budget: StepBudget,
): readonly Replacement[] {
  const { places, gaveUpAt } = rule.findAll(text, characters, budget)
  const found: Replacement[] = []
  for (let index = 0; index < places.length; index += 2) {
    const start = places[index] ?? 0
    const end = places[index + 1] ?? 0
    const replacement = replacementOf(text.slice(start, end), rule, findTags, budget)
    if (replacement !== undefined) found.push({ start, end, replacement })
  }
  if (gaveUpAt !== undefined)
    found.push({ start: gaveUpAt, end: text.length, replacement: rule.character.repeat(text.length - gaveUpAt) })
  return found
}

/** The replacement of a match; undefined if it stays unchanged. */
function replacementOf(match: string, rule: Rule, findTags: FindAll, budget: StepBudget): string | undefined {
  const { left, right, character } = rule
  const clean = withoutTags(match, findTags, budget)
  if (clean === undefined) return character.repeat(match.length)
  if (rule.luhn && !isLuhnNumber(clean)) return undefined
  const hidden = clean.length - left - right
  if (hidden <= 0) return undefined
  return clean.slice(0, left) + character.repeat(hidden) + clean.slice(clean.length - right)
}

/** A match after repeated removal of what the tag matcher finds; undefined if that takes too many rounds. */
function withoutTags(match: string, findTags: FindAll, budget: StepBudget): string | undefined {
  let clean = match
  for (let count = 0; count <= MAX_TAG_REMOVALS; count++) {
    const { places, gaveUpAt } = findTags(clean, undefined, budget)
    if (gaveUpAt !== undefined) return undefined
    if (!places.length) return clean
    let rest = ''
    for (let index = 0; index <= places.length; index += 2) rest += clean.slice(places[index - 1] ?? 0, places[index])
    clean = rest
  }
  return undefined
}

/** Whether a text has only digits, blanks, hyphens and dots, and a valid check digit. */
function isLuhnNumber(text: string): boolean {
  if (!/^[\d .-]*$/.test(text)) return false
  let sum = 0
  let doubled = false
  for (const char of text.replace(/\D/g, '').split('').reverse()) {
    const value = Number(char) * (doubled ? 2 : 1)
    sum += value > 9 ? value - 9 : value
    doubled = !doubled
  }
  return sum % 10 === 0
}

/** Replaces parts of a text; their offsets are relative to `offset`. */
function replaceAll(text: string, found: readonly Replacement[], offset = 0): string {
  let result = ''
  let done = 0
  for (const { start, end, replacement } of found) {
    result += text.slice(done, start - offset) + replacement
    done = end - offset
  }
  return result + text.slice(done)
}

/**
 * Merges the spans so far with the replacements of the next rule.
 *
 * Offsets of `found` refer to `masked`; those of the spans refer to the original text. Where both overlap they become
 * one span, whose replacement keeps the rest of the earlier one.
 */
function mergeSpans(
  spans: readonly MaskedSpan[],
  found: readonly Replacement[],
  rule: string,
  masked: string,
): MaskedSpan[] {
  const merged: MaskedSpan[] = []
  let [nextSpan, nextFound] = [0, 0]
  // The difference between an offset in the masked text and in the original text.
  let shift = 0
  while (nextSpan < spans.length || nextFound < found.length) {
    const placeOfSpan = () => (spans[nextSpan]?.start ?? Infinity) + shift
    const begin = Math.min(placeOfSpan(), found[nextFound]?.start ?? Infinity)
    const start = begin - shift
    const [firstSpan, firstFound] = [nextSpan, nextFound]
    let end = begin + 1
    for (;;) {
      const span = spans[nextSpan]
      const match = found[nextFound]
      if (span && placeOfSpan() < end) {
        end = Math.max(end, placeOfSpan() + span.replacement.length)
        shift += span.replacement.length - (span.end - span.start)
        nextSpan++
      } else if (match && match.start < end) {
        end = Math.max(end, match.end)
        nextFound++
      } else break
    }
    const joined = spans.slice(firstSpan, nextSpan)
    const applied = found.slice(firstFound, nextFound)
    if (!applied.length) merged.push(...joined)
    else
      merged.push({
        rule,
        earlierRules: joined.flatMap(span => [...span.earlierRules, span.rule]),
        start,
        end: end - shift,
        replacement: replaceAll(masked.slice(begin, end), applied, begin),
      })
  }
  return merged
}
