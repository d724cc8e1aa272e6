import type { TranscriptEntry } from '@aiagent/client'

/** How many message ids are kept. */
const IDS = 20

/** Whether the agent said it. */
export function isOfAgent({ direction, message }: TranscriptEntry): boolean {
  return direction === 'received' && message.persona === 'agent'
}

/** How far the messages of the agent were told: the position of a conversation, which its next worker continues from. */
export class ToldMessages {
  #ids: string[]
  #at: number

  constructor(stored: string | undefined) {
    const { ids = [], at = 0 } = stored === undefined ? {} : (JSON.parse(stored) as { ids?: string[]; at?: number })
    this.#ids = ids
    this.#at = at
  }

  /** Notes a message. Returns false for one that was told before. */
  add(id: string | undefined, at: number): boolean {
    if (id !== undefined && this.#ids.includes(id)) return false
    if (id !== undefined) this.#ids = [...this.#ids, id].slice(-IDS)
    this.#at = Math.max(this.#at, at)
    return true
  }

  /** The entries of a history that were not told yet, in order. */
  missed(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
    const isTold = ({ message }: TranscriptEntry) =>
      message.messageId !== undefined && this.#ids.includes(message.messageId)
    const received = entries.filter(isOfAgent)
    const last = received.findLastIndex(isTold)
    if (last >= 0) return received.slice(last + 1)
    return received.filter(({ timestamp }) => timestamp > this.#at)
  }

  toString(): string {
    return JSON.stringify({ ids: this.#ids, at: this.#at })
  }
}
