import type { AiAgent } from '@aiagent/client'
import type { MessageList } from './message-list.ts'

/** Counts what the user has not read. Tabs count the messages of the agent alike; those of a colleague are in one tab only. */
export class UnreadCount {
  readonly #agent: AiAgent
  readonly #list: Pick<MessageList, 'find'>
  readonly #onChange: (count: number) => void
  /** Undefined until something is known. */
  #ofAgent: number | undefined
  #ofDesk = 0
  /** Message that was read in another tab, and that the transcript does not have yet. */
  #pending: string | undefined

  constructor(agent: AiAgent, list: Pick<MessageList, 'find'>, onChange: (count: number) => void) {
    this.#agent = agent
    this.#list = list
    this.#onChange = onChange
  }

  /** A message of the agent has arrived. */
  add(): void {
    this.#set((this.#ofAgent ?? 0) + 1)
  }

  /** A message of a colleague has arrived. */
  addOfDesk(): void {
    this.#ofDesk++
    this.#set(this.#ofAgent)
  }

  /** @param count `undefined` for another user, of whom nothing is known */
  reset(count: 0 | undefined): void {
    this.#pending = undefined
    this.#ofDesk = 0
    this.#set(count)
  }

  /** Everything up to a message was read when the data of the session was stored. */
  adopt(messageId: string): void {
    // What has arrived meanwhile is behind it too; after everything was read here it is outdated.
    if (this.#ofAgent !== 0) this.#set(this.#countSince(messageId) ?? this.#ofAgent ?? 0)
  }

  /** Everything up to a message was read in another tab. */
  readElsewhere(messageId: string): void {
    const count = this.#countSince(messageId)
    if (count === undefined) this.#pending = messageId
    // What came after it is unread here too. A view that has counted nothing was opened later.
    else this.#set(Math.min(this.#ofAgent ?? count, count))
  }

  /** The transcript was restored. */
  restored(): void {
    const count = this.#pending === undefined ? undefined : this.#countSince(this.#pending)
    if (count === undefined) return
    this.#pending = undefined
    this.#set(count)
  }

  #set(count: number | undefined): void {
    this.#ofAgent = count
    this.#onChange((count ?? 0) + this.#ofDesk)
  }

  /** Number of shown messages of the agent behind one of them; undefined where the transcript does not have it. */
  #countSince(messageId: string): number | undefined {
    const received = this.#agent.getTranscript({ direction: 'received' })
    const index = received.map(({ message }) => message.messageId).lastIndexOf(messageId)
    return index < 0 && messageId ? undefined : received.slice(index + 1).filter(({ id }) => this.#list.find(id)).length
  }
}
