import type { Canary } from './canary.ts'

/** How a value was written where it was found. */
export type CanaryForm = 'plain' | 'with separators' | 'percent-encoded' | 'base64' | 'hexadecimal'

/** An occurrence of a canary in a text. */
export interface Occurrence {
  readonly form: CanaryForm
  /** The text around it. */
  readonly excerpt: string
}

/** A search for one canary in every form. */
export type CanaryFinder = (text: string) => Occurrence | undefined

/** Characters of an excerpt before and after the occurrence. */
const AROUND = 40

/** Makes the search for a canary: as it is, encoded, and a card number also with separators. */
export function createFinder({ kind, place, value }: Canary): CanaryFinder {
  const isToken = kind === 'token'
  // The payload of a token contains the facts of its user, encoded: that is the token itself.
  const isClaim = place === 'token' && !isToken
  const parts = isToken ? value.split('.').slice(1) : [value]
  const patterns = parts.flatMap((part): [CanaryForm, RegExp][] => [
    ['plain', literal(part)],
    ...(kind === 'card' ? [withSeparators(part)] : []),
    ['percent-encoded', literal(encodeURIComponent(part))],
    ['percent-encoded', literal(encodeURIComponent(part).replaceAll('%20', '+'))],
    ['hexadecimal', literal(toHexadecimal(part))],
    ...(isClaim ? [] : toBase64(part).map(each => ['base64', new RegExp(each)] as [CanaryForm, RegExp])),
  ])
  return text => {
    for (const [form, pattern] of patterns) {
      const match = pattern.exec(text)
      if (!match) continue
      const excerpt = text.slice(Math.max(0, match.index - AROUND), match.index + match[0].length + AROUND)
      return { form, excerpt }
    }
    return undefined
  }
}

const withSeparators = (digits: string): [CanaryForm, RegExp] => [
  'with separators',
  new RegExp([...digits].join('[^0-9A-Za-z]{0,2}')),
]
const literal = (text: string) => new RegExp(escapePattern(text), 'i')
const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const toHexadecimal = (text: string) =>
  [...new TextEncoder().encode(text)].map(byte => byte.toString(16).padStart(2, '0')).join('')

/** The characters of Base64 that a text has in any longer one, for each of the three ways it can be aligned. */
function toBase64(text: string): string[] {
  return [0, 1, 2].map(offset => {
    const encoded = btoa(String.fromCharCode(...new TextEncoder().encode(' '.repeat(offset) + text)))
    const whole = encoded.replace(/=+$/, '')
    // The first characters belong to the bytes before the text, the last one to those after it.
    const own = whole.slice(offset === 0 ? 0 : offset + 1, whole.length === encoded.length ? undefined : -1)
    return escapePattern(own)
      .replace(/\\\+|-/g, '[+-]')
      .replace(/\/|_/g, '[/_]')
  })
}
