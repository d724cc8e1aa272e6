import type { ForeignMessages } from './foreign-messages.ts'
import { said } from './said-messages.ts'
import type { KnownMessages, TabMessage } from './tab-message.ts'
import type { TabParts } from './tab-parts.ts'

/** How many of its last messages a tab names when it asks for those that it has missed. */
const KNOWN = 100

/** Finds the messages of other tabs that a tab has missed: a browser may drop them for a page that it has stopped. */
export class Recall {
  readonly #parts: TabParts
  readonly #foreign: ForeignMessages
  /** When this tab had its first leader, in milliseconds since the epoch. */
  #joinedAt: number | undefined

  constructor(parts: TabParts, foreign: ForeignMessages) {
    this.#parts = parts
    this.#foreign = foreign
  }

  /** What this tab asks for. The first time it may have missed nothing. */
  ask(): TabMessage {
    const known = this.#joinedAt === undefined ? undefined : this.#known(this.#joinedAt)
    this.#joinedAt ??= this.#parts.scope.environment.clock.now()
    return { kind: 'recall', ...(known && { known }) }
  }

  /** The messages that another tab has missed, then those of others that have not arrived, as far as is known. */
  answer(tab: string, known: KnownMessages | undefined): TabMessage[] {
    return [...(known ? this.#missed(tab, known) : []), ...this.#foreign.open(tab)]
  }

  /** The tab leaves the others. */
  reset(): void {
    this.#joinedAt = undefined
  }

  #known(joinedAt: number): KnownMessages {
    const { transcript } = this.#parts
    const shown = transcript.get().slice(-KNOWN)
    const missing = transcript.missing.slice(-KNOWN)
    const since = Math.max(
      joinedAt,
      shown.length < KNOWN ? 0 : (shown[0]?.timestamp ?? 0),
      missing.length < KNOWN ? 0 : (missing[0]?.timestamp ?? 0),
    )
    const ids = [...missing.map(({ messageId }) => messageId), ...shown.map(({ message }) => message.messageId)]
    return { ids: ids.filter(id => id !== undefined), since }
  }

  #missed(tab: string, { ids, since }: KnownMessages): TabMessage[] {
    const { transcript, outbox } = this.#parts
    const known = new Set<string | undefined>(ids)
    return transcript.get().flatMap(({ message, direction, timestamp }) => {
      const { messageId: id } = message
      if (direction === 'received' || id === undefined || timestamp < since || known.has(id)) return []
      const own = outbox.delivery(id)
      const { owner, delivery = own } = own ? {} : (this.#foreign.find(id) ?? {})
      if (!delivery || owner === tab) return []
      const { state, reason } = delivery
      return { kind: 'said', message: said(message, id), state, ...(reason && { reason }), ...(owner && { owner }) }
    })
  }
}
