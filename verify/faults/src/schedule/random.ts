/** Pseudo-random numbers from a seed (mulberry32): the same seed gives the same numbers on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    // Neighbouring seeds would start alike without the mixing.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
  }

  /** A number from 0 (included) to 1 (excluded). */
  next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  /** Whether an event of this probability happens. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** One of the values. */
  pick<T>(values: readonly T[]): T {
    if (values.length === 0) throw new RangeError('There is nothing to pick from.')
    return values[Math.floor(this.next() * values.length)] as T
  }

  /** One of the values, each as probable as its weight. */
  weighted<T>(entries: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.next() * entries.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, value] of entries) {
      left -= weight
      if (left < 0) return value
    }
    return (entries.at(-1) as readonly [number, T])[1]
  }

  /** A UUID of version 4. */
  uuid = (): string => {
    const hex = (digits: number) =>
      Math.floor(this.next() * 16 ** digits)
        .toString(16)
        .padStart(digits, '0')
    return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(8)}${hex(4)}`
  }
}
