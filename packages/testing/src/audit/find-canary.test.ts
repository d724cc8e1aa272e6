import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Canaries } from './canary.ts'
import { createFinder } from './find-canary.ts'

const canaries = new Canaries().all
/** A fact of a token is encoded within the token itself, and not searched there. */
const areSearched = (encoding: string) =>
  canaries.filter(({ kind, place }) => kind === 'token' || place !== 'token' || !encoding.startsWith('Base64'))
const bytes = (text: string) => new TextEncoder().encode(text)
const hexadecimal = (text: string) => [...bytes(text)].map(byte => byte.toString(16).padStart(2, '0')).join('')
const base64 = (text: string) => btoa(String.fromCharCode(...bytes(text)))
const around = fc.string({ unit: 'grapheme', maxLength: 20 })

describe('a canary', () => {
  const encodings = {
    plain: (text: string) => text,
    'upper case': (text: string) => text.toUpperCase(),
    'percent-encoded': encodeURIComponent,
    'a query': (text: string) => new URLSearchParams({ text }).toString(),
    Base64: base64,
    'Base64 for addresses': (text: string) => base64(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
    hexadecimal,
  }

  it.each(Object.entries(encodings))('is found in any text: %s', (name, encode) => {
    fc.assert(
      fc.property(fc.constantFrom(...areSearched(name)), around, around, (canary, before, after) => {
        const text = encode(`${before}${canary.value}${after}`)
        expect(createFinder(canary)(text)?.excerpt).toBeDefined()
      }),
    )
  })

  it('is not found in a text without it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...canaries), around, (canary, text) => {
        const others = new Canaries().all.map(({ value }) => value)
        expect(createFinder(canary)(encodeURIComponent([text, ...others].join(' ')))).toBeUndefined()
      }),
    )
  })

  it('is a card number with a valid check digit, also found with separators', () => {
    for (const { kind, value, ...canary } of canaries.filter(({ kind }) => kind === 'card')) {
      const digits = [...value].map(Number).reverse()
      const weighted = digits.map((digit, index) => (index % 2 ? [0, 2, 4, 6, 8, 1, 3, 5, 7, 9][digit] : digit) ?? 0)
      expect(weighted.reduce((sum, digit) => sum + digit, 0) % 10).toBe(0)
      const grouped = value.replace(/(.{4})(?=.)/g, '$1 - ')
      expect(createFinder({ kind, value, ...canary })(grouped.replaceAll(' - ', ' '))).toMatchObject({
        form: 'with separators',
      })
    }
  })
})
