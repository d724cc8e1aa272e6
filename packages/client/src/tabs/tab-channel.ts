import type { PageWindow } from '../platform/page.ts'
import { encodeEnvelope, parseEnvelope, type TabEnvelope, type TabMessage } from './tab-message.ts'

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
  readonly #numbers = new Map<string, number>()

  /** @param id unique for this tab and agent */
  constructor(window: PageWindow, id: string) {
    this.#window = window
    this.#id = id
  }

  /** False also while the page is in the back/forward cache, where it holds nothing. */
  get isOpen(): boolean {
    return this.#channel !== undefined
  }

  /** Receives what the other tabs post under a name. */
  open(name: string, receive: (envelope: TabEnvelope) => void): void {
    const channel = new this.#window.BroadcastChannel(name)
    channel.onmessage = ({ data }: { data: unknown }) => {
      const envelope = parseEnvelope(data)
      if (envelope && envelope.from !== this.#id) receive(envelope)
    }
    this.#channel = channel
  }

  /** Nothing more is received. The numbers of the others are kept for {@link open}. */
  close(): void {
    this.#channel?.close()
    this.#channel = undefined
  }

  /**
   * Sends a message to one tab, or to all others.
   *
   * @throws {DOMException} when the browser cannot copy the message
   */
  post(to: string | undefined, message: TabMessage): void {
    const envelope = { from: this.#id, to, number: ++this.#posted, message }
    this.#channel?.postMessage(encodeEnvelope(envelope))
  }

  /** Whether a message follows directly on the last one of its tab. */
  isNext({ from, number }: TabEnvelope): boolean {
    return number === (this.#numbers.get(from) ?? Number.NaN) + 1
  }

  /** Notes the number of a received message. Returns whether one before it was missed. */
  count({ from, number }: TabEnvelope): boolean {
    if (number === undefined) return false
    const last = this.#numbers.get(from) ?? number
    this.#numbers.set(from, number)
    return number > last + 1
  }

  /** Forgets the numbers of a tab that has ended, or of all. */
  forget(tab?: string): void {
    if (tab === undefined) this.#numbers.clear()
    else this.#numbers.delete(tab)
  }
}
