import type { DeliveryOutcome, DeliveryReason, DeliveryState, DeliveryUpdate } from '../log/delivery-state.ts'
import type { TranscriptEntry } from '../log/entry.ts'
import { Message } from '../log/message.ts'
import { findEntry } from '../log/reconcile.ts'
import { Delivery, isSettled, type OutboxEntry } from '../outbox/delivery.ts'
import { openMessage } from './said-messages.ts'
import type { SaidMessage, TabMessage } from './tab-message.ts'
import type { TabParts } from './tab-parts.ts'

/** How many messages of other tabs are remembered. */
const KEPT = 1_000

interface Foreign {
  owner: string
  readonly entry: OutboxEntry
  /** The last state that was reported: `sending` is none of the entry. */
  reported: DeliveryState
  /** When it was sent, in milliseconds since the epoch; infinite for an earlier conversation. */
  sentAt: number
  /** Whether a history of the session has shown it since. */
  isShown: boolean
  /** Whether its tab has ended, and nothing is in doubt. */
  isLeft: boolean
}

type Shown = Pick<TabParts, 'transcript' | 'outbox'>

export interface ForeignMessagesOptions {
  /** Milliseconds since the epoch. */
  now(): number
  readonly doubtAfterMs: number
  /** The delivery of a message has changed. */
  updated(update: DeliveryUpdate): void
  /** Asks the tab that sent it to repeat or to withdraw it. */
  act(owner: string, id: string, action: 'retry' | 'cancel'): void
}

/** Messages that other tabs have sent, with their delivery as those tabs report it. */
export class ForeignMessages {
  readonly #options: ForeignMessagesOptions
  readonly #messages = new Map<string, Foreign>()
  readonly #claimed = new WeakSet<TranscriptEntry>()
  /** When the last socket opened, in milliseconds since the epoch: a history may show what was said before. */
  #openedAt = Number.POSITIVE_INFINITY

  constructor(options: ForeignMessagesOptions) {
    this.#options = options
  }

  /** The delivery of a message; undefined for one that no other tab has sent. */
  delivery(id: string): Delivery | undefined {
    const foreign = this.#messages.get(id)
    if (!foreign) return undefined
    const ask = (action: 'retry' | 'cancel', states: readonly DeliveryState[]) => {
      const isPossible = states.includes(new Delivery(foreign.entry, NO_ACTIONS).state)
      if (isPossible) this.#options.act(foreign.owner, id, action)
      return isPossible
    }
    return new Delivery(foreign.entry, {
      retry: () => ask('retry', ['unknown', 'failed']),
      cancel: () => ask('cancel', ['queued']),
    })
  }

  /** Another tab has sent a message. Returns it unless it is known already. */
  add(owner: string, { id, persona, role, content, messageData, timestamp }: SaidMessage): Message | undefined {
    const known = this.#messages.get(id)
    if (known) known.owner = owner
    if (known) return undefined
    const message = new Message(persona, role, content, { messageId: id, messageData, timestamp })
    const entry: OutboxEntry = { id, timestamp, message, state: 'queued' }
    this.#messages.set(id, { owner, entry, reported: 'queued', sentAt: timestamp, isShown: false, isLeft: false })
    const [oldest] = this.#messages.size > KEPT ? this.#messages.values() : []
    if (oldest) {
      this.#messages.delete(oldest.entry.id)
      if (!isSettled(oldest.entry.state)) this.#set(oldest, 'unknown', 'limit')
    }
    return message
  }

  /** The messages that have not arrived, as far as is known, without those of one tab. */
  open(without: string): TabMessage[] {
    return [...this.#messages.values()]
      .filter(({ owner }) => owner !== without)
      .flatMap(({ owner, entry }) => openMessage(entry.message, entry, owner) ?? [])
  }

  /** Who has sent a message, and its delivery; undefined for one that no other tab has sent. */
  find(id: string): { owner: string; delivery: OutboxEntry } | undefined {
    const { owner, entry } = this.#messages.get(id) ?? {}
    return owner === undefined || entry === undefined ? undefined : { owner, delivery: entry }
  }

  /** A socket has opened, `now` in milliseconds since the epoch. */
  handleOpened(now: number): void {
    this.#openedAt = now
  }

  /** Shows a message in the transcript, unless a history has shown it before it arrived, under another id. */
  show(message: Message, said: SaidMessage, state: string | undefined, { transcript, outbox }: Shown): void {
    const mayBeShown = said.timestamp <= this.#openedAt || (state !== undefined && state !== 'queued')
    const claimed = this.#claimed
    const shown = findEntry(transcript.get(), said, entry => {
      const { messageId = '' } = entry.message
      const isOther = outbox.delivery(messageId) || this.#messages.has(messageId) || claimed.has(entry)
      return (mayBeShown || entry.recovered === true) && !isOther
    })
    if (shown) claimed.add(shown)
    else transcript.record(message, 'sent', said.timestamp, undefined, said.content?.length ?? 0)
  }

  /**
   * The tab that sent it reports its delivery.
   *
   * @param isEarlier whether it was reached before
   */
  update(owner: string, id: string, state: string, reason: string | undefined, isEarlier = false): void {
    const foreign = this.#messages.get(id)
    if (!foreign || !isState(state)) return
    foreign.owner = owner
    if (state === 'sending' || state === 'queued') foreign.isShown = foreign.isLeft = false
    if (!isEarlier) foreign.sentAt = this.#options.now()
    this.#set(foreign, state, isReason(reason) ? reason : undefined)
  }

  /** A history of the session shows messages. Returns what has changed of those whose tab has ended. */
  handleShown(ids: Iterable<string>): DeliveryUpdate[] {
    const changes: DeliveryUpdate[] = []
    for (const id of ids) {
      const foreign = this.#messages.get(id)
      if (!foreign) continue
      foreign.isShown = true
      const { state, reason } = foreign.entry
      if (foreign.isLeft || (state === 'unknown' && reason === 'page_ended'))
        changes.push(...this.#settle(foreign, 'acknowledged'))
    }
    return changes
  }

  /** Whether a history is needed to know what became of the messages of a tab that has ended. */
  hasDoubt(owner: string): boolean {
    return [...this.#messages.values()].some(foreign => foreign.owner === owner && this.#isInDoubt(foreign))
  }

  /**
   * A tab has ended. What another tab does not send for it is `unknown`, unless a history shows it. What was sent long ago
   * stays `sent`.
   *
   * @returns the changes, of which the other tabs do not know
   */
  settle(owner: string, isAdopted: (id: string) => boolean): DeliveryUpdate[] {
    return [...this.#messages.values()].flatMap(foreign => {
      const { id, state } = foreign.entry
      if (foreign.owner !== owner) return []
      if (isAdopted(id)) {
        this.#messages.delete(id)
        return []
      }
      if (foreign.isShown) return this.#settle(foreign, 'acknowledged')
      if (state === 'queued' || this.#isInDoubt(foreign)) return this.#settle(foreign, 'unknown', 'page_ended')
      foreign.isLeft = true
      return []
    })
  }

  /** The conversation has ended: no history of the next one shows its messages. */
  endConversation(): DeliveryUpdate[] {
    return [...this.#messages.values()].flatMap(foreign => {
      foreign.sentAt = Number.POSITIVE_INFINITY
      return foreign.isLeft ? this.#settle(foreign, 'unknown', 'session_ended') : []
    })
  }

  /**
   * The session goes on without this tab: no history will show its messages. What is sent and answered stays so.
   *
   * @param by the tab that has taken the session with it, and tells this one no more of what it has sent
   */
  leaveSession(by: string | undefined, isAnswered: (id: string) => boolean): void {
    for (const foreign of this.#messages.values()) {
      const { id, state } = foreign.entry
      if (state === 'sent' && isAnswered(id)) foreign.sentAt = Number.NEGATIVE_INFINITY
      else if (foreign.owner === by && !isSettled(state)) this.#set(foreign, 'unknown', 'session_ended')
    }
  }

  #isInDoubt({ entry, isShown, sentAt }: Foreign): boolean {
    const { now, doubtAfterMs } = this.#options
    return entry.state === 'sent' && !isShown && !(now() - sentAt >= doubtAfterMs)
  }

  #settle(foreign: Foreign, state: DeliveryState, reason?: DeliveryReason): DeliveryUpdate[] {
    const { entry, reported: previousState } = foreign
    foreign.isLeft = false
    return this.#set(foreign, state, reason) ? [{ id: entry.id, state, previousState, ...(reason && { reason }) }] : []
  }

  /** The message is this tab's own from now on. */
  remove(id: string): void {
    this.#messages.delete(id)
  }

  /** Forgets every message. What happens to those that are not settled is not heard any more. */
  clear(reason: DeliveryReason): void {
    const messages = [...this.#messages.values()]
    this.#messages.clear()
    this.#openedAt = Number.POSITIVE_INFINITY
    for (const foreign of messages) if (!isSettled(foreign.entry.state)) this.#set(foreign, 'unknown', reason)
  }

  /** Returns whether the state has changed. Another tab may report what it knew before there was an outcome. */
  #set(foreign: Foreign, state: DeliveryState, reason: DeliveryReason | undefined): boolean {
    const { entry, reported: previousState } = foreign
    if (state === previousState || (isSettled(previousState) && !mayFollow(previousState, state))) return false
    foreign.reported = state
    // The host knows `sending` only from the event, as with its own messages.
    entry.state = state === 'sending' ? 'sent' : state
    entry.reason = reason
    if (isSettled(state)) {
      for (const resolve of entry.waiting ?? []) resolve(state)
      entry.waiting = undefined
    }
    this.#options.updated({ id: entry.id, state, previousState, ...(reason && { reason }) })
    return true
  }
}

/** Whether a state may follow an outcome: evidence, or a `retry()`, where the message may not have arrived. */
function mayFollow(outcome: DeliveryOutcome, state: DeliveryState): boolean {
  const isOpen = outcome === 'unknown' || outcome === 'failed'
  return isOpen && (state === 'acknowledged' || state === 'queued' || state === 'sending')
}

const NO_ACTIONS = { retry: () => false, cancel: () => false }

const STATES: readonly string[] = ['queued', 'sending', 'sent', 'acknowledged', 'unknown', 'failed', 'cancelled']

function isState(state: string): state is DeliveryState {
  return STATES.includes(state)
}

const REASONS: Readonly<Record<DeliveryReason, true>> = {
  connection_lost: true,
  session_ended: true,
  refused: true,
  page_ended: true,
  limit: true,
  cleared: true,
  signed_out: true,
  destroyed: true,
  closed: true,
  encoding_failed: true,
  queue_full: true,
  masking_unavailable: true,
}

/** Any script of the origin may post a reason that is unknown here. */
function isReason(reason: string | undefined): reason is DeliveryReason {
  return reason !== undefined && Object.hasOwn(REASONS, reason)
}
