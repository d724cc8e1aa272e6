import { PERSONA } from '@aiagent/protocol'
import { type KnownMessage, knownMessage } from '../log/known-message.ts'
import type { Message } from '../log/message.ts'

/** Most recovered messages of which a repetition is noticed. */
const KEPT = 500

/** What the transcript call has recovered: the chat may send it too, also after another reconnect. */
export class RecoveredMessages {
  #known: KnownMessage[] = []

  add(messages: readonly Message[]): void {
    this.#known = [...this.#known, ...messages.map(message => knownMessage(message, 'received'))].slice(-KEPT)
  }

  /** Whether a message that arrives was recovered before. True once for each. */
  isRepeated(message: Message): boolean {
    const known = this.#known
    if (!known.length || message.persona !== PERSONA.AGENT) return false
    const { id, fingerprint, timestamp } = knownMessage(message, 'received')
    const index = known.findIndex(
      each =>
        each.fingerprint === fingerprint &&
        (each.id !== undefined && id !== undefined ? each.id === id : each.timestamp === timestamp),
    )
    if (index < 0) return false
    known.splice(index, 1)
    return true
  }

  clear(): void {
    this.#known = []
  }
}
