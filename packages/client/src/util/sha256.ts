import { utf8Bytes } from './text.ts'

/**
 * SHA-256 of a text's UTF-8 bytes: 64 lower-case hex digits. Synchronous, and available where `crypto.subtle` is not:
 * on pages over plain http. For short texts.
 */
export function sha256(text: string): string {
  const bytes = utf8Bytes(text)
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 4, bytes.length * 8)
  const hash = Uint32Array.from(initialHash())
  const words = new Uint32Array(64)
  for (let offset = 0; offset < padded.length; offset += 64) {
    for (let i = 0; i < 64; i++) {
      words[i] = i < 16 ? view.getUint32(offset + 4 * i) : schedule(words, i)
    }
    compress(hash, words)
  }
  return Array.from(hash, word => word.toString(16).padStart(8, '0')).join('')
}

/** The tables of the standard: the first 32 bits of the fractional parts of roots of the first primes. */
const ROUNDS = /* @__PURE__ */ fractions(64, 1 / 3)
const initialHash = () => fractions(8, 1 / 2)

function fractions(count: number, power: number): number[] {
  const found: number[] = []
  for (let n = 2; found.length < count; n++) {
    let divisor = 2
    while (n % divisor) divisor++
    if (divisor === n) found.push(Math.floor((n ** power % 1) * 2 ** 32))
  }
  return found
}

function schedule(words: Uint32Array, i: number): number {
  const early = at(words, i - 15)
  const late = at(words, i - 2)
  const mixedEarly = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
  const mixedLate = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
  return at(words, i - 16) + mixedEarly + at(words, i - 7) + mixedLate
}

function compress(hash: Uint32Array, words: Uint32Array): void {
  let state = Array.from(hash)
  for (let i = 0; i < 64; i++) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
    const choice = (e & f) ^ (~e & g)
    const first = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + at(ROUNDS, i) + at(words, i)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority
    state = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g]
  }
  for (const [i, word] of state.entries()) hash[i] = at(hash, i) + word
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

function at(list: ArrayLike<number>, index: number): number {
  return list[index] ?? 0
}
