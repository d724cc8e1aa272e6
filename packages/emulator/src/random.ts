/** The seeded source of all random values of an emulator. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** Hex digits, of the given number. */
  hex(digits: number): string
  bytes(count: number): Uint8Array<ArrayBuffer>
}

/**
 * The same seed gives the same numbers, in every runtime. Mulberry32: small and sufficient for tests, not for secrets.
 */
export function createRandom(seed: number): Random {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    hex: digits => Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join(''),
    bytes: count => Uint8Array.from({ length: count }, () => Math.floor(next() * 256)),
  }
}

/** Values of the platform that nobody can guess or repeat, in the same form. */
export const platformRandom: Random = {
  next: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
  hex: digits => {
    const bytes = crypto.getRandomValues(new Uint8Array(Math.ceil(digits / 2)))
    return Array.from(bytes, byte => byte.toString(16).padStart(2, '0'))
      .join('')
      .slice(0, digits)
  },
  bytes: count => crypto.getRandomValues(new Uint8Array(count)),
}
