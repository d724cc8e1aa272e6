import { SESSION_MIN_TOKEN_LIFE_SECONDS } from '@aiagent/protocol'
import { type Clock, watchTimer } from '../clock.ts'
import { ANONYMOUS_SUBJECT, type TokenKeys, type VerifiedToken } from '../oauth/keys.ts'

/**
 * Owns the token of one chat connection and decides whether messages may pass.
 *
 * Requests a new token once when the current one has less than 290 seconds left. It does not repeat the request while
 * only short-lived tokens arrive, which would otherwise never end.
 */
export class TokenGate {
  readonly #keys: TokenKeys
  readonly #clock: Clock
  /** The tenant whose tokens are needed; undefined where everybody may write. */
  readonly #tenantId: string | undefined
  readonly #onStale: () => void
  #token: VerifiedToken | undefined
  #asked = false
  #timer: unknown

  constructor(keys: TokenKeys, clock: Clock, tenantId: string | undefined, onStale: () => void) {
    this.#keys = keys
    this.#clock = clock
    this.#tenantId = tenantId
    this.#onStale = onStale
  }

  get isOpen(): boolean {
    return !this.#tenantId || (this.#token !== undefined && this.#keys.secondsLeft(this.#token) > 0)
  }

  /** Checks the token of a token frame. An invalid or anonymous one, and one of another tenant, counts as none. */
  present(text: string): void {
    const token = this.#keys.verify(text)
    this.#token = token && token.subject !== ANONYMOUS_SUBJECT && token.tenantId === this.#tenantId ? token : undefined
    this.watch()
  }

  /** Checks the token's lifetime now, and again when it becomes short. */
  watch(): void {
    this.stop()
    if (!this.#tenantId || !this.#token) return
    const left = this.#keys.secondsLeft(this.#token)
    if (left <= 0) return
    if (left < SESSION_MIN_TOKEN_LIFE_SECONDS) {
      if (this.#asked) return
      this.#asked = true
      this.#onStale()
      return
    }
    this.#asked = false
    // One millisecond after the limit, when less than the minimum is left.
    const delayMs = Math.floor((left - SESSION_MIN_TOKEN_LIFE_SECONDS) * 1000) + 1
    this.#timer = watchTimer(this.#clock, () => this.watch(), delayMs)
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
