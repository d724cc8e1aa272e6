import type { ConversationEscalation, ConversationMessage } from './conversation-message.ts'
import type { DeskScope } from './desk-scope.ts'
import type { DeskTabs } from './desk-tabs.ts'

/** How long a tab leaves an escalation to the tab in which the user wrote last, in milliseconds. */
const DEFER_MS = 1_000

/** The rule which tab offers an escalation to the host: the one in which the user wrote last, otherwise any, and only one. */
export class DeskOffer {
  readonly #scope: DeskScope
  readonly #tabs: DeskTabs
  /** Id of the message with the last escalation that was seen. */
  #known: string | undefined
  /** Ids of the messages that this tab has sent to the agent. */
  readonly #sent = new Set<string>()

  /** @param before an escalation that is not offered, nor are those before it */
  constructor(scope: DeskScope, tabs: DeskTabs, before?: ConversationEscalation) {
    this.#scope = scope
    this.#tabs = tabs
    if (before) this.#known = this.#last(each => each.escalation === before)?.id
  }

  /** Resolves with an escalation that has arrived and that this tab is to offer: the desk may open here then. */
  async next(): Promise<ConversationEscalation | undefined> {
    const { record, signal } = this.#scope
    const { heard } = this.#tabs
    const { escalation, id } = this.#lastEscalation() ?? {}
    if (!escalation || id === this.#known) return undefined
    this.#known = id
    /** The user has gone on with the agent or has left, or a desk was offered meanwhile. */
    const isStale = () =>
      signal.aborted ||
      record.open !== undefined ||
      this.#tabs.isElsewhere ||
      this.#tabs.heard !== heard ||
      this.#last(each => each.escalation !== undefined || each.author === 'user')?.id !== id
    if (!this.#sent.has(this.#lastQuestion())) await this.#scope.pause(DEFER_MS)
    if (isStale()) return undefined
    await this.#tabs.look()
    if (isStale() || !(await this.#tabs.acquire())) return undefined
    if (!isStale()) return escalation
    if (!record.open) this.#tabs.release()
    return undefined
  }

  /** The escalations that have arrived so far are not offered. */
  skip(): void {
    this.#known = this.#lastEscalation()?.id
  }

  /** Passes on the id of a message that this tab sends to the agent. */
  async watch(sending: Promise<string>): Promise<string> {
    // An agent that is ready has recorded it, and may answer before the promise settles.
    this.#sent.add(this.#lastQuestion())
    const id = await sending
    this.#sent.add(id)
    return id
  }

  #last(isMatch: (message: ConversationMessage) => boolean): ConversationMessage | undefined {
    return this.#scope.views.first.list.transcript().findLast(isMatch)
  }

  #lastEscalation(): ConversationMessage | undefined {
    return this.#last(each => each.escalation !== undefined)
  }

  #lastQuestion(): string {
    return this.#last(({ author }) => author === 'user')?.id ?? ''
  }
}
