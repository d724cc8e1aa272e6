import { PERSONA } from '@aiagent/protocol'
import type { Message } from '../log/message.ts'
import { findShown, type Point } from '../log/reconcile.ts'
import type { AgentScope } from '../scope.ts'
import type { DeliveryLedger } from './ledger.ts'
import type { ResendPolicy } from './resend-policy.ts'

/** Longest wait for the history after an opening, in milliseconds: then messages in doubt are `unknown`. */
const UNKNOWN_AFTER_MS = 5_000

/** As {@link UNKNOWN_AFTER_MS}, before a message is sent a second time. */
const RESEND_AFTER_MS = 15_000

/** The wait for a history, which may be replaced by that of the next reopening. */
interface Wait {
  readonly timer: unknown
}

/**
 * What the history of a session proves about our messages. Owns the point from which on a history counts, and the wait
 * for the history after a reopening.
 */
export class Evidence {
  readonly #scope: AgentScope<never>
  readonly #ledger: DeliveryLedger
  readonly #policy: ResendPolicy
  readonly #onDecided: () => void
  #sessionId: string | undefined
  /** The point before every unproven message. */
  #point: Point
  /** Whether a message was written after that point. */
  #hasWritten = false
  #wait: Wait | undefined

  /** @param onDecided everything that could show the messages in doubt has been read, or the wait for it is over */
  constructor(scope: AgentScope<never>, ledger: DeliveryLedger, policy: ResendPolicy, onDecided: () => void) {
    this.#scope = scope
    this.#ledger = ledger
    this.#policy = policy
    this.#onDecided = onDecided
  }

  /** Whether messages in doubt wait for a history. */
  get isPending(): boolean {
    return this.#wait !== undefined
  }

  /** @param isOwnSession whether this page created the session, so that nothing was said in it before */
  handleConnected(isOwnSession: boolean): void {
    const { environment, facts } = this.#scope
    const { clock } = environment
    if (facts.sessionId !== this.#sessionId) {
      this.#sessionId = facts.sessionId
      this.#point = isOwnSession ? 'start' : undefined
      this.#hasWritten = false
    }
    this.end()
    // With receipts no history is waited for.
    if (facts.hasReceipts || !this.#ledger.unproven().some(({ isInDoubt }) => isInDoubt)) return
    const limitMs = this.#policy.isInsistent ? RESEND_AFTER_MS : UNKNOWN_AFTER_MS
    this.#wait = { timer: clock.setTimeout(() => this.#decide(this.#wait), limitMs) }
  }

  handleWritten(): void {
    this.#hasWritten = true
  }

  /** A message of the service has arrived. */
  handleMessage(message: Message): void {
    if (!this.#hasWritten && message.persona === PERSONA.AGENT) this.#point = message
  }

  /** No history of the session will come. One that is late may still save the user a message that arrives twice. */
  handleNone(): void {
    if (!this.#policy.isInsistent) this.#decide(this.#wait)
  }

  /** A history of the session has arrived. */
  read(history: readonly Message[]): void {
    const ledger = this.#ledger
    const wait = this.#wait
    const last = history.at(-1)
    const point = ledger.hasGap ? undefined : this.#point
    const unproven = ledger.unproven().filter(({ written }) => written?.sessionId === this.#sessionId)
    if (last) {
      this.#point = last
      ledger.hasGap = false
      this.#hasWritten = ledger.sentCount > 0
    }
    if (last && unproven.length > 0) for (const entry of findShown(history, unproven, point)) ledger.acknowledge(entry)
    this.#decide(wait)
  }

  /** Ends the wait without a decision. */
  end(): void {
    this.#scope.environment.clock.clearTimeout(this.#wait?.timer)
    this.#wait = undefined
  }

  /** Clears the session. */
  clear(): void {
    this.end()
    this.#sessionId = this.#point = undefined
  }

  #decide(wait: Wait | undefined): void {
    if (!wait || wait !== this.#wait) return
    this.end()
    this.#onDecided()
  }
}
