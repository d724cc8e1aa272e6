import type { AiAgent } from '@aiagent/client'
import type { DESK_FAILED, DESK_MESSAGE_FAILED } from './conversation-error.ts'
import type { OpenLiveDesk } from './live-desk.ts'
import type { MessageList } from './message-list.ts'
import type { ViewFacts } from './view-state.ts'
import type { ViewStore } from './view-store.ts'

/** An error of the desk, as the snapshot has it. */
class DeskError extends Error {
  override readonly name = 'DeskError'
  readonly code: typeof DESK_FAILED | typeof DESK_MESSAGE_FAILED

  constructor(code: DeskError['code'], message: string, options: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The views of one agent that show its desk. They hold the same transcript: the first one is asked for it, and stores. */
export class DeskViews {
  readonly #agent: AiAgent
  /** The views, with the function of the host that opens a desk. */
  readonly #views = new Map<ViewStore, OpenLiveDesk>()
  #first: ViewStore
  #place: Parameters<MessageList['place']>[0]
  /** The error that was reported last, while it holds. */
  #error: DeskError | undefined

  constructor(agent: AiAgent, first: ViewStore, escalate: OpenLiveDesk) {
    this.#agent = agent
    this.#first = first
    this.#views.set(first, escalate)
  }

  get first(): ViewStore {
    return this.#first
  }

  /** Opens a desk of the host. */
  get escalate(): OpenLiveDesk | undefined {
    return this.#views.get(this.#first)
  }

  add(store: ViewStore, escalate: OpenLiveDesk): void {
    this.#views.set(store, escalate)
    store.list.place(this.#place)
    store.change({ desk: this.#first.getSnapshot().desk })
  }

  /** Removes a view that ends. Returns whether it was the last one. */
  remove(store: ViewStore): boolean {
    const isRemoved = this.#views.delete(store)
    const [next = store] = this.#views.keys()
    this.#first = next
    return isRemoved && this.#views.size === 0
  }

  change(facts?: ViewFacts): void {
    for (const store of this.#views.keys()) store.change(facts)
  }

  /** Counts a message of the colleague as unread. */
  count(): void {
    for (const store of this.#views.keys()) store.countDesk()
  }

  /** Sets what adds the messages of desks to the lists. */
  place(place: Parameters<MessageList['place']>[0]): void {
    this.#place = place
    for (const { list } of this.#views.keys()) list.place(place)
  }

  /** The transcript was emptied. */
  leave(): void {
    for (const { list } of this.#views.keys()) list.leave()
  }

  /** Stores what the next page needs of the desk. After the last view it does nothing: the next one stores its desk. */
  save(desk: unknown): void {
    if (this.#views.has(this.#first)) this.#first.save({ desk })
  }

  /** Logs an error of a desk by its name only: its message comes from the host, and may repeat what was written in the chat. */
  log(level: 'warn' | 'error', message: string, cause: unknown): void {
    this.#agent.logger[level](message, { error: cause instanceof Error ? cause.name : typeof cause })
  }

  /** Reports an error of the desk. */
  fail(message: string, cause: unknown, code: DeskError['code'] = 'DESK_FAILED'): void {
    this.log('error', message, cause)
    this.#error = new DeskError(code, message, { cause })
    this.change({ error: this.#error })
  }

  /** Removes the error of the desk from the views, since it no longer holds. @param code removes no other error */
  settle(code = this.#error?.code): void {
    const error = this.#error
    if (!error || error.code !== code) return
    this.#error = undefined
    for (const store of this.#views.keys())
      if (store.getSnapshot().error?.error === error) store.change({ error: undefined })
  }
}
