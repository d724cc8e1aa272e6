import { ROLE } from '@aiagent/protocol'
import { Delivery, type DeliveryRecord, isSettled, stateOf } from '../log/delivery.ts'
import type { DeliveryOutcome, DeliveryReason, DeliveryState } from '../log/delivery-state.ts'
import type { TranscriptEntry } from '../log/entry.ts'
import { Message } from '../log/message.ts'
import { findEntry, findShownOfTabs } from '../log/other-pages.ts'
import { knownMessage, readHistory } from '../log/reconcile.ts'
import type { TabLink } from './tab-link.ts'
import type { KnownMessages, SaidMessage, TabEnvelope, TabMessage } from './tab-message.ts'
import type { TabParts } from './tab-parts.ts'

/** How many of its last messages a tab names when it asks for those that it has missed. */
const KNOWN = 100

/** The states of a message that has not arrived, as far as is known. */
const OPEN_STATES: ReadonlySet<string | undefined> = new Set(['queued', 'sent', 'unknown', 'failed'])

/** How many messages of other tabs are remembered. */
const KEPT = 1_000

interface Foreign extends DeliveryRecord {
  owner: string
  /** The last state that was reported: `sending` is none of the entry. */
  reported: DeliveryState
  /** When it was sent, in milliseconds since the epoch; infinite for an earlier conversation. */
  sentAt: number
  /** Whether a history of the session has shown it since. */
  isShown: boolean
  /** Whether its tab has ended, and nothing is in doubt. */
  isLeft: boolean
}

/** A message that this tab or another one has sent. */
interface Sent {
  readonly id: string
  readonly message: Message
  /** The tab that has sent it; undefined for this one. */
  readonly owner: string | undefined
  readonly state: DeliveryState
}

/** Messages that other tabs have sent, with their delivery as those tabs report it, and as histories of the session show it. */
export class ForeignMessages {
  readonly #parts: TabParts
  readonly #link: TabLink
  readonly #messages = new Map<string, Foreign>()
  readonly #claimed = new WeakSet<TranscriptEntry>()
  /** Messages that have arrived, as another tab has reported before this one knew them; the oldest first. */
  readonly #arrived = new Set<string>()
  /** When this tab had its first leader, in milliseconds since the epoch. */
  #joinedAt: number | undefined
  /** The timer of a {@link recall}. */
  #recalling: unknown
  /** When the last socket opened, in milliseconds since the epoch: a history may show what was said before. */
  #openedAt = Number.POSITIVE_INFINITY

  constructor(parts: TabParts, link: TabLink) {
    this.#parts = parts
    this.#link = link
  }

  get #now(): number {
    return this.#parts.scope.environment.clock.now()
  }

  /** The delivery of a message; undefined for one that no other tab has sent. */
  delivery(id: string): Delivery | undefined {
    const foreign = this.#messages.get(id)
    return foreign && new Delivery(foreign, this)
  }

  /** Asks the tab that sent a message to repeat it. Returns whether that is possible. */
  retry({ id, state }: DeliveryRecord): boolean {
    return (state === 'unknown' || state === 'failed') && this.#ask(id, 'retry')
  }

  /** Asks the tab that sent a message to withdraw it. Returns whether that is possible. */
  cancel({ id, state }: DeliveryRecord): boolean {
    return state === 'queued' && this.#ask(id, 'cancel')
  }

  #ask(id: string, action: 'retry' | 'cancel'): boolean {
    const { owner } = this.#messages.get(id) ?? {}
    if (owner !== undefined) this.#link.post(owner, { kind: 'act', id, action })
    return owner !== undefined
  }

  /** The outbox has accepted a message of this tab, which may have been another one's. */
  handleAccepted(message: Message): void {
    const { messageId } = message
    if (messageId === undefined) return
    this.#messages.delete(messageId)
    this.#link.post(undefined, {
      kind: 'said',
      message: saidMessage(message, messageId, this.#parts.scope.facts.sessionId),
    })
  }

  // ── What the other tabs say ───────────────────────────────────────────────────────────────────────────────────────

  /** A tab has sent a message, or repeats one that was sent before. */
  receive(from: string, { message: said, owner = from, state, reason }: TabMessage & { readonly kind: 'said' }): void {
    if (owner !== from) {
      if (this.#parts.outbox.log.find(said.id)) return
      const known = this.#messages.get(said.id)
      if (known) return this.#learn(known, from, state, reason)
      this.#link.watch(owner)
      if (OPEN_STATES.has(state) && from !== this.#link.leader) this.#recallSoon()
    }
    const message = this.#add(owner, said)
    if (message) this.#show(message, said, state)
    if (state === undefined) return
    // A tab repeats what it knew when it was asked.
    if (this.#arrived.delete(said.id)) this.update(owner, said.id, 'acknowledged', undefined, said.timestamp)
    else this.update(owner, said.id, state, reason, said.timestamp)
  }

  #noteArrived(id: string): void {
    this.#arrived.add(id)
    if (this.#arrived.size > KEPT) for (const oldest of this.#arrived) return void this.#arrived.delete(oldest)
  }

  /** A tab repeats what became of another one's message. Of the rest it may know less than this one. */
  #learn(known: Foreign, from: string, state = '', reason?: string): void {
    const isProof = state === 'acknowledged' || state === 'cancelled'
    const isOutcome = isProof || (from === this.#link.leader && (state === 'unknown' || state === 'failed'))
    if (isOutcome) this.#set(known, state, isReason(reason) ? reason : undefined)
  }

  /** Reports messages that arrive after this tab has left the tabs that sent them: it does not learn what becomes of them. */
  reportUnheard(envelopes: readonly TabEnvelope[], reason: DeliveryReason): void {
    const unheard = new ForeignMessages(this.#parts, this.#link)
    for (const { from, message } of envelopes)
      if (message.kind === 'said' && message.state === undefined) unheard.#add(from, message.message)
      else if (message.kind === 'delivery') unheard.update(from, message.id, message.state, message.reason)
    unheard.clear(reason)
  }

  /** Returns the message unless it is known already. */
  #add(
    owner: string,
    { id, persona, role, content, messageData, sessionId, timestamp }: SaidMessage,
  ): Message | undefined {
    const known = this.#messages.get(id)
    if (known) known.owner = owner
    if (known) return undefined
    const message = new Message(persona, role, content, { messageId: id, messageData, sessionId, timestamp })
    const delivery = { reported: 'queued', sentAt: timestamp, isShown: false, isLeft: false } as const
    this.#messages.set(id, { id, timestamp, message, state: 'queued', owner, ...delivery })
    const [oldest] = this.#messages.size > KEPT ? this.#messages.values() : []
    if (oldest) {
      this.#messages.delete(oldest.id)
      if (!isSettled(oldest.state)) this.#set(oldest, 'unknown', 'limit')
    }
    return message
  }

  /** A socket has opened. */
  handleOpened(): void {
    this.#openedAt = this.#now
  }

  /** Shows a message in the transcript, unless a history has shown it before it arrived, under another id. */
  #show(message: Message, said: SaidMessage, state: string | undefined): void {
    const { log, outbox } = this.#parts
    const mayBeShown = said.timestamp <= this.#openedAt || (state !== undefined && state !== 'queued')
    const claimed = this.#claimed
    const shown = findEntry(log.entries(), said, entry => {
      const { messageId = '' } = entry.message
      const isOther = outbox.log.find(messageId) || this.#messages.has(messageId) || claimed.has(entry)
      return (mayBeShown || entry.recovered === true) && !isOther
    })
    if (shown) claimed.add(shown)
    else log.record(message, 'sent', said.timestamp, undefined, said.content?.length ?? 0)
  }

  /** The tab that sent it reports its delivery. */
  update(owner: string, id: string, state: string, reason?: string, sentAt = this.#now): void {
    const foreign = this.#messages.get(id)
    if (!foreign && state === 'acknowledged') this.#noteArrived(id)
    if (!foreign || !isState(state)) return
    foreign.owner = owner
    if (state === 'sending' || state === 'queued') foreign.isShown = foreign.isLeft = false
    foreign.sentAt = sentAt
    this.#set(foreign, state, isReason(reason) ? reason : undefined)
  }

  // ── Messages of before: a browser may drop what is posted to a page that it has stopped ───────────────────────────

  /** Tells the others, before this page is left, which messages have not arrived: one of them may have missed them. */
  handOver(): void {
    this.#tell(undefined, ({ state }) => OPEN_STATES.has(state))
  }

  /** Tells a new tab which messages of this one have not arrived. */
  greet(tab: string): void {
    this.#tell(tab, ({ owner, state }) => owner === undefined && OPEN_STATES.has(state))
  }

  /**
   * Asks for what was said: all other tabs, since the leader may have missed it and the tab that said it may have ended. A
   * follower that has just joined has missed nothing, and asks the leader alone, which tells it of every change that follows.
   */
  recall(): void {
    const { leader, isLeader } = this.#link
    if (leader === undefined) return
    const known = this.#joinedAt === undefined ? undefined : this.#known(this.#joinedAt)
    this.#joinedAt ??= this.#now
    this.#link.post(known || isLeader ? undefined : leader, { kind: 'recall', ...(known && { known }) })
  }

  /**
   * A tab that does not lead has told this one of another tab's message: it may have missed its outcome, and learn it alone. One
   * question for all messages that it tells.
   */
  #recallSoon(): void {
    this.#recalling ??= this.#parts.scope.environment.clock.setTimeout(() => {
      this.#recalling = undefined
      this.recall()
    }, 0)
  }

  /** Tells a tab which messages it has missed, and which of other tabs have not arrived, as far as it knows. */
  answer(tab: string, known?: KnownMessages): void {
    const { since = Number.POSITIVE_INFINITY } = known ?? {}
    const ids = new Set(known?.ids)
    const asked = new Set(known?.open)
    this.#tell(tab, ({ id, message: { role, timestamp = 0 }, owner, state }) => {
      if (owner === tab) return false
      const isMissed = (timestamp >= since && !ids.has(id)) || asked.has(id)
      const isOpen = owner !== undefined && OPEN_STATES.has(state)
      // No history shows a rating.
      return isMissed || isOpen || (!known && role === ROLE.FEEDBACK)
    })
  }

  /** This tab joins another group, with the messages that it has. */
  handleMoved(): void {
    this.#joinedAt = undefined
  }

  /**
   * Posts what was sent, as far as its delivery is known: in the order of the transcript, then what that does not show of other
   * tabs.
   */
  #tell(to: string | undefined, isWanted: (sent: Sent) => boolean): void {
    const { log, outbox, scope } = this.#parts
    const messages = new Map<string, Message>()
    for (const { message, direction } of log.entries())
      if (direction === 'sent' && message.messageId !== undefined) messages.set(message.messageId, message)
    for (const { id, message } of this.#messages.values()) if (!messages.has(id)) messages.set(id, message)
    for (const [id, message] of messages) {
      const own = outbox.log.find(id)
      const foreign = own ? undefined : this.#messages.get(id)
      const entry = own ?? foreign
      if (!entry) continue
      const { reason } = entry
      const owner = foreign?.owner
      const state = stateOf(entry)
      if (!isWanted({ id, message, owner, state })) continue
      this.#link.post(to, {
        kind: 'said',
        message: saidMessage(message, id, scope.facts.sessionId),
        state,
        ...(reason && { reason }),
        ...(owner && { owner }),
      })
    }
  }

  #known(joinedAt: number): KnownMessages {
    const { log } = this.#parts
    const shown = log.entries().slice(-KNOWN)
    const missing = log.missing.slice(-KNOWN)
    const since = Math.max(
      joinedAt,
      shown.length < KNOWN ? 0 : (shown[0]?.timestamp ?? 0),
      missing.length < KNOWN ? 0 : (missing[0]?.timestamp ?? 0),
    )
    const ids = [...missing.map(({ messageId }) => messageId), ...shown.map(({ message }) => message.messageId)]
    const open = [...this.#messages.values()].filter(({ state }) => OPEN_STATES.has(state)).map(({ id }) => id)
    return { ids: ids.filter(id => id !== undefined), since, open }
  }

  // ── What a history shows ──────────────────────────────────────────────────────────────────────────────────────────

  /** A history of the session has arrived: acknowledges the messages of all tabs that it shows. */
  handleHistory(history: readonly Message[]): void {
    const { outbox, log, scope } = this.#parts
    const { sessionId } = scope.facts
    const shown = log.entries({ direction: 'sent' })
    const known = shown.map(({ message, timestamp }) => ({ ...knownMessage(message, true), timestamp }))
    const ofSession = [...known, ...log.missing].filter(each => (each.sessionId ?? sessionId) === sessionId)
    for (const id of findShownOfTabs(history, ofSession)) {
      const own = outbox.log.find(id)
      if (own) outbox.ledger.acknowledge(own)
      const foreign = this.#messages.get(id)
      if (!foreign) continue
      foreign.isShown = true
      const { state, reason } = foreign
      if (foreign.isLeft || (state === 'unknown' && reason === 'page_ended')) this.#settle(foreign, 'acknowledged')
    }
  }

  /**
   * Tabs have ended. What another tab does not send for them is `unknown`, unless a history shows it. What was sent long ago
   * stays `sent`.
   */
  async handleEnded(tabs: readonly string[]): Promise<void> {
    const ofTab = (tab: string) => [...this.#messages.values()].filter(({ owner }) => owner === tab)
    if (tabs.some(tab => ofTab(tab).some(foreign => this.#isInDoubt(foreign)))) await this.#readHistory()
    // A leader that was stopped may notice meanwhile that another one has followed, which decides.
    if (!this.#link.isLeader) return this.#link.watch(...tabs)
    for (const foreign of tabs.flatMap(ofTab)) {
      const { id, state, isShown } = foreign
      if (this.#parts.outbox.log.find(id)) this.#messages.delete(id)
      else if (isShown) this.#settle(foreign, 'acknowledged')
      else if (state === 'queued' || this.#isInDoubt(foreign)) this.#settle(foreign, 'unknown', 'page_ended')
      else foreign.isLeft = true
    }
  }

  /** Loads a history: the service sends none over a connection that is untouched. */
  async #readHistory(): Promise<void> {
    const { scope, session, recovery } = this.#parts
    const { facts } = scope
    // The history that a reconnect needs shows it too.
    if (await recovery.requestHistory()) return
    const { sessionId } = facts
    if (sessionId === undefined) return
    const history = readHistory(await session.loadHistory().catch(() => []), facts)
    if (sessionId === facts.sessionId) this.handleHistory(history.map(({ message }) => message))
  }

  /** The conversation has ended: no history of the next one shows its messages. */
  endConversation(): void {
    for (const foreign of [...this.#messages.values()]) {
      foreign.sentAt = Number.POSITIVE_INFINITY
      if (foreign.isLeft) this.#settle(foreign, 'unknown', 'session_ended')
    }
  }

  /**
   * The session goes on without this tab: no history will show its messages. What is sent and answered stays so.
   *
   * @param by the tab that has taken the session with it, and tells this one no more of what it has sent
   */
  leaveSession(by: string | undefined, isAnswered: (id: string) => boolean): void {
    for (const foreign of this.#messages.values()) {
      const { id, state } = foreign
      if (state === 'sent' && isAnswered(id)) foreign.sentAt = Number.NEGATIVE_INFINITY
      else if (foreign.owner === by && !isSettled(state)) this.#set(foreign, 'unknown', 'session_ended')
    }
  }

  #isInDoubt({ state, isShown, sentAt }: Foreign): boolean {
    return state === 'sent' && !isShown && !(this.#now - sentAt >= this.#parts.scope.config.doubtAfterMs)
  }

  /** Settles a message of a tab that has ended, and tells the other tabs. */
  #settle(foreign: Foreign, state: DeliveryState, reason?: DeliveryReason): void {
    foreign.isLeft = false
    if (this.#set(foreign, state, reason))
      this.#link.post(undefined, { kind: 'delivery', id: foreign.id, state, reason })
  }

  /** Forgets every message. What happens to those that are not settled is not heard any more. */
  clear(reason: DeliveryReason): void {
    const messages = [...this.#messages.values()]
    this.#messages.clear()
    this.#arrived.clear()
    this.#joinedAt = undefined
    this.#openedAt = Number.POSITIVE_INFINITY
    for (const foreign of messages) if (!isSettled(foreign.state)) this.#set(foreign, 'unknown', reason)
  }

  /** Returns whether the state has changed. Another tab may report what it knew before there was an outcome. */
  #set(foreign: Foreign, state: DeliveryState, reason: DeliveryReason | undefined): boolean {
    const { reported: previousState } = foreign
    if (state === previousState || (isSettled(previousState) && !mayFollow(previousState, state))) return false
    foreign.reported = state
    // The host knows `sending` only from the event, as with its own messages.
    foreign.state = state === 'sending' ? 'sent' : state
    foreign.reason = reason
    if (isSettled(state)) {
      for (const resolve of foreign.waiting ?? []) resolve(state)
      foreign.waiting = undefined
    }
    this.#parts.outbox.ledger.tell(foreign, previousState, state, reason)
    return true
  }
}

/** Whether a state may follow an outcome: evidence, or a `retry()`, where the message may not have arrived. */
function mayFollow(outcome: DeliveryOutcome, state: DeliveryState): boolean {
  const isOpen = outcome === 'unknown' || outcome === 'failed'
  return isOpen && (state === 'acknowledged' || state === 'queued' || state === 'sending')
}

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

/**
 * A message of this tab as the others show it.
 *
 * @param present session of the tabs. The id of another one opens a conversation that the others may not know
 */
function saidMessage(
  { persona, role, content, messageData, sessionId, timestamp = 0 }: Message,
  id: string,
  present: string | undefined,
): SaidMessage {
  return {
    id,
    persona,
    role,
    timestamp,
    ...(content !== undefined && { content }),
    ...(messageData && { messageData }),
    ...(sessionId !== undefined && sessionId === present && { sessionId }),
  }
}
