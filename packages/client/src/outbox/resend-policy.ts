import { PERSONA } from '@aiagent/protocol'
import type { AgentScope } from '../scope.ts'
import type { DeliveryLedger } from './ledger.ts'
import type { OutboxEntry } from './outbox-entry.ts'

/** Which messages without evidence are sent again by themselves. */
export class ResendPolicy {
  readonly #scope: AgentScope<never>

  constructor(scope: AgentScope<never>) {
    this.#scope = scope
  }

  /** Whether messages in doubt are repeated, although the service may have them. */
  get isInsistent(): boolean {
    return this.#scope.config.delivery === 'at-least-once'
  }

  /** Whether the service recognizes a repetition of the message. */
  hasKey({ message: { persona } }: OutboxEntry): boolean {
    return this.#scope.facts.hasReceipts && (persona === PERSONA.CUSTOMER || persona === PERSONA.SYSTEM)
  }

  /** Whether an entry without evidence is sent again by itself. */
  isSentAgain(entry: OutboxEntry): boolean {
    return this.hasKey(entry) && entry.written?.sessionId === this.#scope.facts.sessionId
      ? true
      : this.isInsistent && entry.isInDoubt === true
  }

  /**
   * Decides about the messages without evidence: nothing more will be found out about those in doubt.
   *
   * @returns the entries to send again, in order; the others in doubt are `unknown`
   */
  decide(ledger: DeliveryLedger): OutboxEntry[] {
    const again: OutboxEntry[] = []
    for (const entry of ledger.unproven())
      if (this.isSentAgain(entry)) again.push(entry)
      else if (entry.isInDoubt) {
        entry.isInDoubt = false
        if (entry.state === 'sent') ledger.settle(entry, 'unknown', 'connection_lost')
      }
    return again
  }
}
