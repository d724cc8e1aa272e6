import type { PageWindow } from '../platform/page.ts'
import { parseEnvelope, type TabEnvelope, type TabMessage } from './tab-message.ts'

/*
 * The channel between the tabs of one conversation.
 *
 * A browser delivers the messages of a tab in order, but may drop those to a page that it has stopped. So each tab numbers
 * what it posts, and the others see by the numbers what they have missed.
 */
export class TabChannel {
  readonly #window: PageWindow
  readonly #id: string
  #channel: InstanceType<PageWindow['BroadcastChannel']> | undefined
  /** Messages that this tab has posted, also those that no tab could receive. */
  #posted = 0
  /** The number of the last message of each other tab. */
  #numbers = new Map<string, number>()
  /** What is being received. */
  #received: TabEnvelope | undefined

  /** @param id unique for this tab and agent */
  constructor(window: PageWindow, id: string) {
    this.#window = window
    this.#id = id
  }

  /** Receives what the other tabs post under a name. */
  open(name: string, receive: (envelope: TabEnvelope) => void): void {
    const channel = new this.#window.BroadcastChannel(name)
    channel.onmessage = ({ data }: { data: unknown }) => {
      const envelope = parseEnvelope(data)
      if (!envelope || envelope.from === this.#id) return
      this.#received = envelope
      receive(envelope)
      this.#received = undefined
    }
    this.#channel = channel
  }

  /** The page ends, or is kept frozen. The numbers of the others are kept for {@link open}. */
  close(): void {
    this.post(undefined, { kind: 'bye' })
    this.#channel?.close()
    this.#channel = undefined
  }

  /**
   * Leaves the others. What they had posted by then, and this tab has not received yet, is passed on together, without what
   * follows a gap.
   */
  leave(heard: (envelopes: readonly TabEnvelope[]) => void): void {
    const channel = this.#channel
    const numbers = this.#numbers
    this.#channel = undefined
    this.#numbers = new Map()
    if (!channel) return
    const envelopes: TabEnvelope[] = []
    const add = (envelope: TabEnvelope) => {
      const { from, number } = envelope
      if (number !== (numbers.get(from) ?? Number.NaN) + 1) return
      numbers.set(from, number)
      envelopes.push(envelope)
    }
    if (this.#received) add(this.#received)
    // A browser delivers in the order of the posts: what arrives before the own goodbye was posted before it.
    const goodbye = new this.#window.BroadcastChannel(channel.name)
    channel.onmessage = ({ data }: { data: unknown }) => {
      const envelope = parseEnvelope(data)
      if (!envelope) return
      if (envelope.from !== this.#id) return add(envelope)
      channel.close()
      goodbye.close()
      heard(envelopes)
    }
    goodbye.postMessage(this.#envelope(undefined, { kind: 'bye' }))
  }

  /**
   * Sends a message to one tab, or to all others.
   *
   * @throws {DOMException} when the browser cannot copy the message
   */
  post(to: string | undefined, message: TabMessage): void {
    const data = this.#envelope(to, message)
    this.#channel?.postMessage(data)
  }

  /** Notes the number of a received message. Returns whether one before it was missed. */
  count({ from, number }: TabEnvelope): boolean {
    const last = this.#numbers.get(from) ?? number
    this.#numbers.set(from, number)
    return number > last + 1
  }

  /** Forgets the number of a tab that has ended. */
  forget(tab: string): void {
    this.#numbers.delete(tab)
  }

  #envelope(to: string | undefined, message: TabMessage): TabEnvelope {
    return { from: this.#id, to, number: ++this.#posted, message }
  }
}
