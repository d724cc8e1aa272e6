import type { DeliveryUpdate } from '../log/delivery-state.ts'
import type { Message } from '../log/message.ts'
import { findShownOfTabs, readHistory } from '../log/reconcile.ts'
import type { ForeignMessages } from './foreign-messages.ts'
import type { TabParts } from './tab-parts.ts'

/** Acknowledges the messages of all tabs that a history of the session shows. */
export class ShownMessages {
  readonly #parts: TabParts
  readonly #session: { readonly id: string | undefined }
  readonly #foreign: ForeignMessages
  readonly #changed: (change: DeliveryUpdate) => void

  /** @param changed called for messages of tabs that have ended */
  constructor(
    parts: TabParts,
    session: { readonly id: string | undefined },
    foreign: ForeignMessages,
    changed: (change: DeliveryUpdate) => void,
  ) {
    this.#parts = parts
    this.#session = session
    this.#foreign = foreign
    this.#changed = changed
  }

  /** A history of the session has arrived. */
  handleHistory(history: readonly Message[]): void {
    const { outbox, transcript } = this.#parts
    const { id: session } = this.#session
    const ids = findShownOfTabs(
      history,
      transcript.get().filter(({ sessionId = session }) => sessionId === session),
    )
    for (const id of ids) {
      const entry = outbox.ledger.get(id)
      if (entry) outbox.ledger.acknowledge(entry)
    }
    for (const change of this.#foreign.handleShown(ids)) this.#changed(change)
  }

  /** Loads the history: the service sends none over a connection that is untouched. */
  async read(): Promise<void> {
    const { scope, session, recovery } = this.#parts
    const { id: sessionId } = this.#session
    // The history that a reconnect needs shows it too.
    if (await recovery.requestHistory()) return
    if (sessionId === undefined || sessionId !== session.id) return
    const { facts } = scope
    const list = await session.loadHistory().catch(() => [])
    const history = readHistory(list, { agentName: facts.agentName, agentId: facts.agentId, sessionId })
    if (sessionId === this.#session.id) this.handleHistory(history.map(({ message }) => message))
  }
}
