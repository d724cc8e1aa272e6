import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import type { StateStore } from '../state/state-store.ts'
import { DeskChat, type DeskChatRecord } from './desk-chat.ts'
import { type DeskContext, fittingContext } from './desk-context.ts'

const DOCUMENT = 'desk'
/** Chats that are kept; of more, the oldest ended ones are dropped. */
const CHAT_LIMIT = 200
/** Chats that may wait for a colleague. */
const WAITING_LIMIT = 50

const MessageSchema = v.object({
  id: v.string(),
  from: v.picklist(['customer', 'colleague']),
  text: v.string(),
  at: v.number(),
})
/** The conversation before a chat, as a page sends it. */
export const ConversationSchema = v.array(
  v.object({
    from: v.picklist(['customer', 'agent', 'colleague']),
    name: v.exactOptional(v.string()),
    text: v.string(),
    at: v.number(),
  }),
)
const StateSchema = v.object({
  version: v.literal(1),
  chats: v.array(
    v.object({
      handle: v.string(),
      id: v.string(),
      startedAt: v.number(),
      state: v.picklist(['waiting', 'open', 'ended']),
      name: v.exactOptional(v.string()),
      conversation: v.exactOptional(ConversationSchema),
      messages: v.array(MessageSchema),
    }),
  ),
})

/** Owns the chats between customers and colleagues, and keeps them in the store of the emulator. */
export class Desk {
  readonly #clock: Clock
  readonly #store: StateStore | undefined
  /** By the handle of the customer, oldest first. */
  readonly #chats = new Map<string, DeskChat>()
  /** Called after each change of any chat. */
  readonly listeners = new Set<() => void>()
  #lastId = 0

  /** Continues with the chats that the store keeps, if any. */
  constructor(clock: Clock, store: StateStore | undefined) {
    this.#clock = clock
    this.#store = store
    const read = v.safeParse(StateSchema, store?.readDocument(DOCUMENT))
    for (const { handle, ...record } of read.success ? read.output.chats : []) this.#add(handle, record)
  }

  /** All chats, oldest first. */
  get chats(): readonly DeskChat[] {
    return [...this.#chats.values()]
  }

  /**
   * Joins the chat that has waited longest, or the next one that is opened.
   *
   * @param name name of the colleague. @default 'Support'
   */
  async join(name?: string): Promise<DeskChat> {
    for (;;) {
      const waiting = this.chats.find(({ state }) => state === 'waiting')
      if (waiting) {
        waiting.join(name)
        return waiting
      }
      await new Promise<void>(resolve => {
        const wake = () => {
          this.listeners.delete(wake)
          resolve()
        }
        this.listeners.add(wake)
      })
    }
  }

  /** The chat of a customer; undefined for an unknown handle. */
  find(handle: string): DeskChat | undefined {
    return this.#chats.get(handle)
  }

  /**
   * Opens a chat for a customer. A repetition has no effect.
   *
   * @param before the conversation before the chat, of which the end is kept
   * @returns false when too many chats wait already
   */
  open(handle: string, before: readonly DeskContext[] = []): boolean {
    if (this.#chats.has(handle)) return true
    if (this.chats.filter(({ state }) => state === 'waiting').length >= WAITING_LIMIT) return false
    const conversation = fittingContext(before)
    this.#add(handle, {
      id: `chat-${this.#lastId + 1}`,
      startedAt: this.#clock.now(),
      state: 'waiting',
      ...(conversation.length > 0 && { conversation }),
      messages: [],
    })
    for (const [key, { state }] of this.#chats)
      if (this.#chats.size > CHAT_LIMIT && state === 'ended') this.#chats.delete(key)
    this.#change()
    return true
  }

  /** Removes all chats, as if they had never existed. */
  forgetAll(): void {
    this.#chats.clear()
    this.#change()
  }

  #add(handle: string, record: DeskChatRecord): void {
    this.#lastId = Number(record.id.slice('chat-'.length))
    this.#chats.set(handle, new DeskChat(record, this.#clock, () => this.#change()))
  }

  #change(): void {
    const chats = [...this.#chats].map(([handle, { record }]) => ({ handle, ...record }))
    this.#store?.writeDocument(DOCUMENT, { version: 1, chats })
    for (const wake of [...this.listeners]) wake()
  }
}
