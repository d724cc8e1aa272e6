import { setFlagsFromString } from 'node:v8'
import { isMainThread } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMatcher, type FindAll } from './match.ts'
import { PatternRefusal, parsePattern } from './parse.ts'

// V8's optimised code gives `(?:(?=.)b|ab)*aa` another meaning from its second run on than its interpreter, which is
// right. A thread must not change how all others run; the mutation tests, which use threads, generate few enough
// patterns.
if (isMainThread) setFlagsFromString('--regexp-interpret-all')

/** Few enough characters that generated patterns often match, and one of each kind that patterns distinguish. */
const CHARS = ['a', 'b', 'A', '1', '0', '_', '-', ' ', '\n', '.', 'é', 'ſ', '\u2028', '\ud83d', '\ude00']

const ESCAPES = [
  ...String.raw`\d \D \w \W \s \S . \x61 \u0061 \u00e9 \n \. \- \1 \0 \61 \141 \8 \cJ \c \x6 \u{2} \p{2} \e \/`.split(
    ' ',
  ),
  ...String.raw`\$ \^ \( \| \* \? \{ \] \A \f \_ \k { } ] {,2}`.split(' '),
  '\\ ',
]
const CLASS_ITEMS = [
  ...String.raw`a b 1 - . ^ [ ( $ \d \w \s \D \W \S \b \B \n \] \- \\ \c1 \cJ \c \1 \08 \9 \^`.split(' '),
  ...String.raw`a-b 0-9 A-b \x30-\x39 \w-a a-\d \u2000-\uffff`.split(' '),
  ' ',
]
const QUANTIFIERS = ['*', '+', '?', '{2}', '{1,2}', '{0,3}', '{2,}', '{0}', '{0,}', '{1}', '{3,4}']

/** Patterns of the given atoms, with every construct of patterns. */
function patternsOf(atom: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const quantifier = fc.tuple(fc.constantFrom(...QUANTIFIERS), fc.constantFrom('', '?')).map(parts => parts.join(''))
  const group = (opening: readonly string[], tie: fc.LetrecLooselyTypedTie, times: fc.Arbitrary<string>) =>
    fc
      .tuple(fc.constantFrom(...opening), tie('pattern') as fc.Arbitrary<string>, times)
      .map(([open, body, quantity]) => `${open}${body})${quantity}`)
  const none = fc.constant('')
  return fc.letrec<{ pattern: string; sequence: string; term: string }>(tie => ({
    pattern: fc
      .array(tie('sequence'), { minLength: 1, maxLength: 3, size: 'xsmall' })
      .map(options => options.join('|')),
    sequence: fc.array(tie('term'), { maxLength: 4 }).map(terms => terms.join('')),
    term: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      { weight: 4, arbitrary: atom },
      { weight: 4, arbitrary: fc.tuple(atom, quantifier).map(parts => parts.join('')) },
      { weight: 1, arbitrary: fc.constantFrom('^', '$', '\\b', '\\B') },
      { weight: 6, arbitrary: group(['(', '(?:', '(?<n>'], tie, fc.oneof(none, quantifier, quantifier)) },
      { weight: 2, arbitrary: group(['(?=', '(?!', '(?<=', '(?<!'], tie, none) },
      { weight: 1, arbitrary: group(['(?=', '(?!'], tie, quantifier) },
    ),
  })).pattern
}

const classed = fc
  .tuple(fc.constantFrom('', '^'), fc.array(fc.constantFrom(...CLASS_ITEMS), { maxLength: 3 }))
  .map(([sign, items]) => `[${sign}${items.join('')}]`)

const WORLDS = [
  {
    name: 'of two letters',
    pattern: patternsOf(fc.constantFrom('a', 'b', 'a', 'b', '[ab]', '.')),
    char: fc.constantFrom('a', 'b'),
  },
  {
    name: 'with classes and escapes',
    pattern: patternsOf(fc.oneof(fc.constantFrom(...'aab11- _éA'), fc.constantFrom(...ESCAPES), classed)),
    char: fc.constantFrom(...CHARS, ...'aaabb11-'),
  },
]

/** Matches of a global expression, without empty ones. */
function nativePlaces(source: string, subject: string): number[] {
  const places: number[] = []
  for (const { 0: match, index } of subject.matchAll(new RegExp(source, 'g')))
    if (match) places.push(index, index + match.length)
  return places
}

const isNative = (source: string) => {
  try {
    return new RegExp(source) instanceof RegExp
  } catch {
    return false
  }
}

/** Undefined if the pattern refers back or becomes too large, which the generator cannot know. */
function matcherOf(source: string): FindAll | undefined {
  try {
    return createMatcher(parsePattern(source))
  } catch (error) {
    if (error instanceof PatternRefusal) return undefined
    throw error
  }
}

const RUNS = Number(process.env['MASKING_FUZZ_RUNS'] ?? 2000)
const SEED = Number(process.env['MASKING_FUZZ_SEED'] ?? 21_222)

describe('createMatcher', () => {
  it.each(WORLDS)(
    'finds what native expressions find, in patterns and texts $name',
    ({ pattern, char }) => {
      const texts = fc.array(fc.string({ unit: char, maxLength: 10 }), { minLength: 2, maxLength: 4 })
      const seen = { patterns: 0, refused: 0, matches: 0 }
      fc.assert(
        fc.property(pattern.filter(isNative), texts, (source, subjects) => {
          const findAll = matcherOf(source)
          if (!findAll) {
            seen.refused++
            return
          }
          seen.patterns++
          for (const subject of subjects) {
            const { places, gaveUpAt } = findAll(subject)
            expect(places, JSON.stringify([source, subject])).toEqual(nativePlaces(source, subject))
            expect(gaveUpAt).toBe(undefined)
            seen.matches += places.length / 2
          }
        }),
        { numRuns: RUNS, seed: SEED },
      )
      if (process.env['MASKING_FUZZ_RUNS']) console.log(seen)
      expect(seen.matches).toBeGreaterThan(seen.patterns / 2)
      expect(seen.refused).toBeLessThan(RUNS / 10)
    },
    300_000,
  )
})
