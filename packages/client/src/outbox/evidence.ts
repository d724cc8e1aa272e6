import { PERSONA } from '@aiagent/protocol'
import type { Message } from '../log/message.ts'
import type { AgentScope } from '../scope.ts'
import type { DeliveryLedger } from './ledger.ts'
import { findShown } from './match-history.ts'

/** Longest wait for the history after a reopening, in milliseconds, when nothing says that none will come. */
const EVIDENCE_LIMIT_MS = 15_000

/** By how much the service's clock may be behind, in milliseconds. */
export const CLOCK_SKEW_MS = 60_000

/** A message of the transcript, as far as it is compared. */
export interface ShownMessage {
  readonly message: Message
  readonly direction: 'sent' | 'received'
  /** Milliseconds since the epoch. */
  readonly timestamp: number
  readonly sessionId: string | undefined
}

/** The sending half of the outbox, as the evidence uses it. */
export interface EvidenceOwner {
  readonly ledger: DeliveryLedger
  /** Whether this page created the session, so that nothing was said in it before. */
  readonly isOwnSession: boolean
  /** Everything that could show the messages in doubt has been read. */
  handleDecided(): void
}

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
  readonly #owner: EvidenceOwner
  #sessionId: string | undefined
  /** The point before every unproven message. */
  #point: Message | 'start' | undefined
  /** Whether a message was written after that point. */
  #hasWritten = false
  #wait: Wait | undefined

  constructor(scope: AgentScope<never>, owner: EvidenceOwner) {
    this.#scope = scope
    this.#owner = owner
  }

  /** Whether messages in doubt wait for a history. */
  get isPending(): boolean {
    return this.#wait !== undefined
  }

  handleConnected(): void {
    const { origin, environment, facts } = this.#scope
    const { clock } = environment
    const { ledger, isOwnSession } = this.#owner
    if (origin.sessionId !== this.#sessionId) {
      this.#sessionId = origin.sessionId
      this.#point = isOwnSession ? 'start' : undefined
      this.#hasWritten = false
    }
    this.end()
    // With receipts no history is waited for.
    if (facts.hasReceipts || !ledger.unproven().some(({ isInDoubt }) => isInDoubt)) return
    this.#wait = { timer: clock.setTimeout(() => this.#decide(this.#wait), EVIDENCE_LIMIT_MS) }
  }

  handleWritten(): void {
    this.#hasWritten = true
  }

  /** A message of the service has arrived. */
  handleMessage(message: Message): void {
    if (!this.#hasWritten && message.persona === PERSONA.AGENT) this.#point = message
  }

  /** A history of the session has arrived; without one, none will. */
  read(history: readonly Message[] = []): void {
    const { ledger } = this.#owner
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
    this.#owner.handleDecided()
  }
}

/**
 * Whether an entry has the author, the text and about the time of a sent message: a history of the plain wire does not name
 * the ids of the sender.
 */
export function showsAgain(
  { message, direction, timestamp }: Pick<ShownMessage, 'message' | 'direction' | 'timestamp'>,
  sent: Pick<Message, 'persona' | 'role'> & Partial<Pick<Message, 'content' | 'timestamp'>>,
): boolean {
  const isSame = message.persona === sent.persona && message.role === sent.role && message.content === sent.content
  return isSame && direction === 'sent' && timestamp >= (sent.timestamp ?? 0) - CLOCK_SKEW_MS
}
