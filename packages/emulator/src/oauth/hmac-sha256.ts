/**
 * HMAC with SHA-256, without a promise.
 *
 * The platform's own works in another thread, so it comes back at a moment that no clock and no seed decide. Tokens
 * signed here take their place in the order of events like everything else, and a run can be repeated exactly.
 */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(BLOCK_BYTES)
  block.set(key.length > BLOCK_BYTES ? sha256(key) : key)
  const inner = sha256(
    concat(
      block.map(byte => byte ^ 0x36),
      message,
    ),
  )
  return sha256(
    concat(
      block.map(byte => byte ^ 0x5c),
      inner,
    ),
  )
}

const BLOCK_BYTES = 64
const PRIMES = firstPrimes(64)
/** FIPS 180-4 takes its constants from the first bits behind the point of roots of the first primes. */
const bitsBehindPoint = (root: number) => Math.floor((root % 1) * 2 ** 32)
const INITIAL_HASH = PRIMES.slice(0, 8).map(prime => bitsBehindPoint(Math.sqrt(prime)))
const ROUND_CONSTANTS = Uint32Array.from(PRIMES, prime => bitsBehindPoint(Math.cbrt(prime)))

function sha256(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const hash = Uint32Array.from(INITIAL_HASH)
  const padded = pad(message)
  const view = new DataView(padded.buffer)
  const words = new Uint32Array(64)
  for (let offset = 0; offset < padded.length; offset += BLOCK_BYTES) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(offset + 4 * i)
    for (let i = 16; i < 64; i++)
      words[i] = at(words, i - 16) + small0(at(words, i - 15)) + at(words, i - 7) + small1(at(words, i - 2))
    mix(hash, words)
  }
  const digest = new DataView(new ArrayBuffer(32))
  hash.forEach((word, i) => digest.setUint32(4 * i, word))
  return new Uint8Array(digest.buffer)
}

function mix(hash: Uint32Array, words: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number]
  for (let i = 0; i < 64; i++) {
    const first = (h + big1(e) + ((e & f) ^ (~e & g)) + at(ROUND_CONSTANTS, i) + at(words, i)) | 0
    const second = (big0(a) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) hash[i] = at(hash, i) + word
}

const at = (words: Uint32Array, index: number): number => words[index] ?? 0
const turn = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits))
const small0 = (word: number) => turn(word, 7) ^ turn(word, 18) ^ (word >>> 3)
const small1 = (word: number) => turn(word, 17) ^ turn(word, 19) ^ (word >>> 10)
const big0 = (word: number) => turn(word, 2) ^ turn(word, 13) ^ turn(word, 22)
const big1 = (word: number) => turn(word, 6) ^ turn(word, 11) ^ turn(word, 25)

/** The message, a one bit, zeros, and the length in bits at the end of a block. */
function pad(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES)
  padded.set(message)
  padded[message.length] = 0x80
  new DataView(padded.buffer).setBigUint64(padded.length - 8, BigInt(message.length) * 8n)
  return padded
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate++)
    if (primes.every(prime => candidate % prime !== 0)) primes.push(candidate)
  return primes
}
