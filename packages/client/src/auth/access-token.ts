import { type AccessTokenClaims, parseAccessTokenClaims } from '@aiagent/protocol'
import type { Clock } from '../platform/environment.ts'
import { jwtPayload } from '../util/jwt.ts'
import { ACCESS_TOKEN_REFRESH_BUFFER_MS } from './auth-strategy.ts'

/**
 * The claims of a token. Empty for an opaque or unreadable token.
 *
 * Nothing is verified: that is the service's task. It never throws.
 */
export function readClaims(token: string): AccessTokenClaims {
  try {
    return parseAccessTokenClaims(jwtPayload(token))
  } catch {
    return {}
  }
}

/** Expiry of a token from its `exp` claim, in milliseconds since the epoch. */
export function expiryOf(token: string): number | undefined {
  const { exp } = readClaims(token)
  return exp === undefined ? undefined : exp * 1000
}

/** Clock differences below this are network latency, in milliseconds. */
const SMALLEST_SKEW_MS = 60_000

/**
 * Expiry of a newly issued token, in milliseconds since the epoch by the clock of this device. If the clock were hours
 * ahead of the issuer's, every new token would look expired: the skew is computed from `iat`.
 *
 * @param expiresIn lifetime in seconds, for a token without a readable expiry
 */
export function expiryOfFresh(token: string, now: number, expiresIn?: number): number | undefined {
  const { exp, iat } = readClaims(token)
  if (exp === undefined) return expiresIn === undefined ? undefined : now + expiresIn * 1000
  const skew = iat === undefined ? 0 : now - iat * 1000
  return exp * 1000 + (Math.abs(skew) > SMALLEST_SKEW_MS ? skew : 0)
}

/**
 * When to renew a token, in milliseconds since the epoch: five minutes before it expires. A token with a shorter total lifetime
 * is used until it expires. Otherwise each such token would be renewed as soon as it was obtained.
 */
export function renewalTime(expiresAt: number, obtainedAt: number): number {
  const isLong = expiresAt - obtainedAt > ACCESS_TOKEN_REFRESH_BUFFER_MS
  return isLong ? expiresAt - ACCESS_TOKEN_REFRESH_BUFFER_MS : expiresAt
}

/** A time that does not come later when the wall clock is set back: the expiry of a token, or when to renew it. */
export class ClockTime {
  readonly #clock: Clock
  readonly #at: number
  /** How far the wall clock was ahead of the monotonic one. */
  readonly #offsetMs: number

  /** @param at in milliseconds since the epoch, by the wall clock as it is now */
  constructor(clock: Clock, at: number) {
    this.#clock = clock
    this.#at = at
    this.#offsetMs = clock.now() - clock.monotonic()
  }

  /** As the constructor; undefined for an unknown time. */
  static of(clock: Clock, at: number | undefined): ClockTime | undefined {
    return at === undefined ? undefined : new ClockTime(clock, at)
  }

  /** The time by the wall clock as it is now, in milliseconds since the epoch. */
  get at(): number {
    const setBackMs = this.#offsetMs - (this.#clock.now() - this.#clock.monotonic())
    return setBackMs > SMALLEST_SKEW_MS ? this.#at - setBackMs : this.#at
  }

  get isPast(): boolean {
    return this.#clock.now() >= this.at
  }
}

/**
 * How far the clock of this device is ahead of the issuer's, learned from tokens; a negative number for a clock that is
 * behind. Nothing is known of a clock after it was set back, which the monotonic clock shows.
 */
export class ClockSkew {
  readonly #clock: Clock
  #aheadMs = 0
  /** How far the wall clock was ahead of the monotonic one. It increases while a laptop sleeps. */
  #offsetMs: number
  /** The last token of the host. */
  #last: { readonly token: string; readonly iat: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
    this.#offsetMs = clock.now() - clock.monotonic()
  }

  /**
   * Expiry of a token of the host in milliseconds since the epoch, by the clock of this device. Undefined where it is unknown.
   *
   * The age of such a token is unknown. A token from the future shows that the clock is behind. A new token that looks
   * expired is taken as issued just now, by a clock that is ahead: the service decides whether it is. No clock is further ahead
   * than a token is old (REL-39).
   */
  expiryOf(token: string): number | undefined {
    const { exp, iat } = readClaims(token)
    if (exp === undefined) return undefined
    const expiresAt = exp * 1000
    if (iat === undefined) return expiresAt
    const offsetMs = this.#clock.now() - this.#clock.monotonic()
    if (offsetMs < this.#offsetMs - SMALLEST_SKEW_MS) this.#aheadMs = 0
    this.#offsetMs = offsetMs
    const age = this.#clock.now() - iat * 1000
    const isSame = token === this.#last?.token
    const isNewer = !isSame && (!this.#last || iat > this.#last.iat)
    this.#last = { token, iat }
    let aheadMs = this.#aheadMs
    // While time passes, the same token seems to be less far in the future.
    if (!isSame || age >= -SMALLEST_SKEW_MS) aheadMs = Math.max(0, aheadMs)
    if (age < aheadMs - SMALLEST_SKEW_MS) aheadMs = age < -SMALLEST_SKEW_MS ? age : Math.max(0, age)
    if (isNewer && exp > iat && expiresAt + aheadMs <= this.#clock.now()) aheadMs = age
    this.#aheadMs = aheadMs
    return expiresAt + aheadMs
  }
}
