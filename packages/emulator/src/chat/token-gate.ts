import { SESSION_MIN_TOKEN_LIFE_SECONDS } from '@aiagent/protocol'
import { type Clock, watchTimer } from '../clock.ts'
import { ANONYMOUS_SUBJECT, type TokenKeys, type VerifiedToken } from '../oauth/keys.ts'

/**
 * Owns the token of one chat connection and says whether messages may pass.
 *
 * Asks for a new token once when the present one has less than 290 seconds left. It does not ask again while only
 * short-lived tokens come, which would go on for ever where every token is short-lived.
 */
export class TokenGate {
  readonly #keys: TokenKeys
  readonly #clock: Clock
  readonly #required: boolean
  readonly #onStale: () => void
  #token: VerifiedToken | undefined
  #asked = false
  #timer: unknown

  constructor(keys: TokenKeys, clock: Clock, required: boolean, onStale: () => void) {
    this.#keys = keys
    this.#clock = clock
    this.#required = required
    this.#onStale = onStale
  }

  get isOpen(): boolean {
    return !this.#required || (this.#token !== undefined && this.#keys.secondsLeft(this.#token) > 0)
  }

  /** Judges what a token frame brought. A token that does not hold, or is anybody's, counts as none. */
  present(text: string): void {
    const token = this.#keys.verify(text)
    this.#token = token && token.subject !== ANONYMOUS_SUBJECT ? token : undefined
    this.watch()
  }

  /** Looks at the token's life now, and again when it gets short. */
  watch(): void {
    this.stop()
    if (!this.#required || !this.#token) return
    const left = this.#keys.secondsLeft(this.#token)
    if (left <= 0) return
    if (left < SESSION_MIN_TOKEN_LIFE_SECONDS) {
      if (this.#asked) return
      this.#asked = true
      this.#onStale()
      return
    }
    this.#asked = false
    // One millisecond past the border, where less than the minimum is left.
    const delayMs = Math.floor((left - SESSION_MIN_TOKEN_LIFE_SECONDS) * 1000) + 1
    this.#timer = watchTimer(this.#clock, () => this.watch(), delayMs)
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
