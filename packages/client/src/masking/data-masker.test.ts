import type { MaskingPattern } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { createDataMasker } from './data-masker.ts'

const masker = (...patterns: MaskingPattern[]) => createDataMasker({ patterns })

/** What one rule makes of a text. */
const mask = (pattern: string, options: MaskingPattern, text: string) =>
  masker({ javascriptRegularExpression: pattern, ...options }).mask(text)

describe('createDataMasker', () => {
  it('[FLOW-19] keeps as many characters at either end as the rule says', () => {
    const text = 'it is 123-45-6789, or 987-65-4321.'
    const pattern = String.raw`\d{3}-\d{2}-\d{4}`
    expect(mask(pattern, { numOfCharsToUnmaskFromRight: 4 }, text)).toBe('it is *******6789, or *******4321.')
    expect(mask(pattern, { numOfCharsToUnmaskFromLeft: 3 }, text)).toBe('it is 123********, or 987********.')
    expect(mask(pattern, { numOfCharsToUnmaskFromLeft: 1, numOfCharsToUnmaskFromRight: 2 }, text)).toBe(
      'it is 1********89, or 9********21.',
    )
  })
})
