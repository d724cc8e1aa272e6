import { readHistory } from '../conversation/history-merge.ts'
import type { DeliveryUpdate } from '../log/delivery-state.ts'
import type { Message } from '../log/message.ts'
import { CLOCK_SKEW_MS, type ShownMessage } from '../outbox/evidence.ts'
import { withTimeLimit } from '../util/abort.ts'
import type { ForeignMessages } from './foreign-messages.ts'
import type { TabParts } from './tab-parts.ts'

/** Time limit for the history that shows what an ended tab has sent, in milliseconds. */
const HISTORY_LIMIT_MS = 5_000

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
    const ids = findShownIds(
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
    const { scope, session } = this.#parts
    const { id: sessionId } = this.#session
    if (sessionId === undefined) return
    const load = (signal: AbortSignal) => session.loadTranscript(sessionId, signal)
    const { environment, facts } = scope
    const list = await withTimeLimit(environment.clock, HISTORY_LIMIT_MS, undefined, load).catch(() => [])
    const history = readHistory(list, { agentName: facts.agentName, agentId: facts.agentId, sessionId })
    if (sessionId === this.#session.id) this.handleHistory(history.map(({ message }) => message))
  }
}

/**
 * The ids of the messages that a history of their session shows. It does not name them, and several tabs may have said the
 * same: a text counts only if the history has it as often as it was sent, from a minute before the message on.
 *
 * @param entries what the tabs have sent in the session, and what was recovered of it
 */
function findShownIds(history: readonly Message[], entries: readonly ShownMessage[]): string[] {
  const shown = new Map<string, number[]>()
  for (const { timestamp, ...message } of history) if (timestamp !== undefined) addTo(shown, keyOf(message), timestamp)
  const sent = new Map<string, ShownMessage[]>()
  for (const entry of entries)
    if (entry.direction === 'sent' && entry.message.content !== undefined) addTo(sent, keyOf(entry.message), entry)
  return [...sent].flatMap(([key, same]) => {
    const times = (shown.get(key) ?? []).sort((one, other) => one - other)
    same.sort((one, other) => one.timestamp - other.timestamp)
    let earlierShown = 0
    let earlierSent = 0
    return same.flatMap(({ message, timestamp }) => {
      const since = timestamp - CLOCK_SKEW_MS
      while ((times[earlierShown] ?? since) < since) earlierShown++
      while ((same[earlierSent]?.timestamp ?? since) < since) earlierSent++
      const isShown = times.length - earlierShown >= same.length - earlierSent
      return isShown && message.messageId !== undefined ? [message.messageId] : []
    })
  })
}

function addTo<T>(groups: Map<string, T[]>, key: string, element: T): void {
  const group = groups.get(key)
  if (group) group.push(element)
  else groups.set(key, [element])
}

function keyOf({ persona, role, content }: Pick<Message, 'persona' | 'role'> & { readonly content?: unknown }): string {
  return JSON.stringify([persona, role, content])
}
