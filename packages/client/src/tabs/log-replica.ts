import { PERSONA, ROLE } from '@aiagent/protocol'
import type { SDKError } from '../errors.ts'
import {
  type DeliveryOutcome,
  type DeliveryReason,
  type DeliveryRecord,
  type DeliveryState,
  isSettled,
  stateOf,
} from '../log/delivery.ts'
import type { Message } from '../log/message.ts'
import { SETTLED_LIMIT } from '../log/message-log.ts'
import { knownMessage, readHistory } from '../log/reconcile.ts'
import {
  findShownOfTabs,
  type MessageSnapshot,
  recordOf,
  showOnce,
  snapshotOf,
  writtenElsewhere,
} from '../log/reconcile-pages.ts'
import { fnv1a } from '../util/text.ts'
import type { TabLink } from './tab-link.ts'
import type { KnownMessages, TabEnvelope, TabMessage, TabState } from './tab-message.ts'
import type { TabParts } from './tab-parts.ts'

/** How many of its last messages a tab names when it asks for those that it has missed. */
const KNOWN = 100

type Action = 'retry' | 'cancel'

/** A record of the log of a message that another tab has sent. */
type ElsewhereRecord = DeliveryRecord & { readonly elsewhere: NonNullable<DeliveryRecord['elsewhere']> }

/**
 * Keeps the log of this tab the same as those of the other tabs: what they have sent, with its delivery as they report it, and as
 * histories of the session show it.
 */
export class LogReplica {
  readonly #parts: TabParts
  readonly #link: TabLink
  /** Messages that have arrived, as another tab has reported before this one knew them; the oldest first. */
  readonly #arrived = new Set<string>()
  /** When this tab had its first leader, in milliseconds since the epoch. */
  #joinedAt: number | undefined
  /** The timer of a {@link recall}. */
  #recalling: unknown
  /** When the last socket opened, in milliseconds since the epoch: a history may show what was said before. */
  #openedAt = Infinity

  constructor(parts: TabParts, link: TabLink) {
    this.#parts = parts
    this.#link = link
  }

  get #now(): number {
    return this.#parts.scope.environment.clock.now()
  }

  /** The messages of the other tabs, those that are settled included. */
  get #records(): ElsewhereRecord[] {
    return this.#parts.log.accepted.filter(isElsewhere)
  }

  /** The host of this tab repeats or withdraws a message of another one. Returns whether that is possible. */
  act(record: DeliveryRecord, action: Action): boolean {
    if (this.#parts.log.find(record.id) !== record || !isPossible(record, action)) return false
    void this.handleAct(this.#link.id, record.id, action)
    return true
  }

  /**
   * The host of a tab repeats or withdraws a message. The tab that has sent it does so; where that one has ended, this tab.
   *
   * @param from the tab of the host, or another one that takes this tab for the sender
   */
  async handleAct(from: string, id: string, action: Action): Promise<void> {
    const { log, outbox, scope } = this.#parts
    const record = log.find(id)
    const owner = record?.elsewhere?.owner
    if (owner !== undefined && owner !== from && (await this.#link.isLiving(owner)))
      return this.#link.post(owner, { kind: 'act', id, action })
    if (!record || !isPossible(record, action)) return
    record.elsewhere = undefined
    try {
      outbox[action](record)
    } catch (error) {
      scope.reportError(error as SDKError)
    }
  }

  /** The outbox has accepted a message of this tab, which may have been another one's. */
  handleAccepted(record: DeliveryRecord): void {
    this.#link.post(undefined, this.#said(record))
  }

  #said(record: DeliveryRecord): TabMessage & { readonly kind: 'said' } {
    const { message, reply, elsewhere } = record
    const isQuestion = elsewhere ? !elsewhere.mayBeSent : reply !== undefined
    // The id of another session opens a conversation that the others may not know.
    const sessionId = message.sessionId === this.#parts.scope.facts.sessionId ? message.sessionId : undefined
    return { kind: 'said', message: { ...snapshotOf(record), sessionId }, ...(isQuestion && { isQuestion }) }
  }

  // ── What the other tabs say ───────────────────────────────────────────────────────────────────────────────────────

  /** A tab has sent a message, or repeats one that was sent before. */
  receive(from: string, message: TabMessage & { readonly kind: 'said' }): void {
    const { message: said, owner = from, state, reason } = message
    const { log } = this.#parts
    const known = log.find(said.id)
    // The one of this tab.
    if (known && !isElsewhere(known)) return
    if (owner !== from && state) {
      if (known) {
        // A tab repeats what became of another one's message. Of the rest it may know less than this one.
        const isOutcome = hasEnded(state) || (from === this.#link.leader && isSettled(state))
        const isWrite = known.state === 'queued' && state === 'sent'
        if (isOutcome || isWrite) this.#set(known, state, reason, said)
        return
      }
      this.#link.watch(owner)
      if (!hasEnded(state) && from !== this.#link.leader) this.#recallSoon()
    }
    if (known) known.elsewhere.owner = owner
    else this.#add(owner, message)
    if (state === undefined) return
    // A tab repeats what it knew when it was asked.
    if (this.#arrived.delete(said.id)) this.update(owner, said.id, 'acknowledged', undefined, said)
    else this.update(owner, said.id, state, reason, said)
  }

  #noteArrived(id: string): void {
    this.#arrived.add(id)
    if (this.#arrived.size > SETTLED_LIMIT) for (const oldest of this.#arrived) return void this.#arrived.delete(oldest)
  }

  /** Reports messages that arrive after this tab has left the tabs that sent them: it does not learn what becomes of them. */
  reportUnheard(envelopes: readonly TabEnvelope[], reason: DeliveryReason): void {
    const { ledger } = this.#parts.outbox
    const unheard = new Map<string, DeliveryRecord>()
    for (const { from, message } of envelopes) {
      if (message.kind === 'said' && message.state === undefined)
        unheard.set(message.message.id, createRecord(from, message))
      const record = message.kind === 'delivery' && unheard.get(message.id)
      if (!record) continue
      if (message.state !== 'sent') unheard.delete(message.id)
      else {
        record.isUnreported = true
        ledger.report(record)
      }
    }
    for (const record of unheard.values()) ledger.tell(record, stateOf(record), 'unknown', reason)
  }

  /** Adds a message, and shows it unless a history has shown it before it arrived, under another id. */
  #add(owner: string, message: TabMessage & { readonly kind: 'said' }): void {
    const { log, outbox } = this.#parts
    const { message: said, state } = message
    const record = createRecord(owner, message)
    log.add(record, log.elsewhere)
    const oldest = log.elsewhere.size > SETTLED_LIMIT && log.elsewhere.first
    if (oldest) outbox.ledger.settle(oldest, 'unknown', 'limit')
    const mayBeShown = said.timestamp <= this.#openedAt || (state !== undefined && state !== 'queued')
    showOnce(log, record, said.content?.length ?? 0, entry => mayBeShown || entry.recovered === true)
  }

  /** A socket has opened. */
  handleOpened(): void {
    this.#openedAt = this.#now
  }

  /**
   * The tab that sent it reports its delivery.
   *
   * @param said the message, if it was sent before this report
   */
  update(owner: string, id: string, state: TabState, reason?: DeliveryReason, said?: MessageSnapshot): void {
    const record = this.#parts.log.find(id)
    if (!record && state === 'acknowledged') this.#noteArrived(id)
    if (!record || !isElsewhere(record)) return
    const { elsewhere } = record
    elsewhere.owner = owner
    elsewhere.sentAt = said?.timestamp ?? this.#now
    if (!isSettled(state) && state !== record.state) elsewhere.isInHistory = elsewhere.isLeft = false
    this.#set(record, state, reason, said)
  }

  // ── Messages of before: a browser may drop what is posted to a page that it has stopped ───────────────────────────

  /** Tells the others, before this page is left, which messages have not arrived: one of them may have missed them. */
  handOver(): void {
    this.#tell(undefined, isOpen)
  }

  /** Tells a new tab, or all others when this one is new, which messages of this one have not arrived. */
  greet(tab: string | undefined): void {
    this.#tell(tab, record => !record.elsewhere && isOpen(record))
  }

  /**
   * Asks for what was said: all other tabs, since the leader may have missed it and the tab that said it may have ended. A
   * follower that has just joined has missed nothing, and asks the leader alone, which tells it of every change that follows.
   */
  recall(): void {
    const { leader, isLeader } = this.#link
    if (leader === undefined) return
    const joinedAt = this.#joinedAt
    this.#joinedAt ??= this.#now
    if (joinedAt === undefined) {
      this.#link.post(isLeader ? undefined : leader, { kind: 'recall' })
      // What was queued before it had joined.
      this.greet(undefined)
      // It may have been stopped after it had heard of messages.
      if (this.#records.length === 0) return
    }
    this.#link.post(undefined, { kind: 'recall', known: this.#known(this.#joinedAt) })
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
    const { since = Infinity } = known ?? {}
    const ids = new Set(known?.ids)
    const asked = new Set(known?.open)
    this.#tell(tab, record => {
      const { id, message, elsewhere, trace } = record
      const { role, timestamp = 0 } = message
      if (elsewhere?.owner === tab) return false
      if (asked.has(id)) return true
      // Without its text it can be shown no more.
      if (trace) return false
      const isMissed = timestamp >= since && !ids.has(id)
      const isUnsettled = elsewhere !== undefined && isOpen(record)
      // No history shows a rating.
      return isMissed || isUnsettled || (!known && role === ROLE.FEEDBACK)
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
  #tell(to: string | undefined, isWanted: (record: DeliveryRecord) => boolean): void {
    const { log } = this.#parts
    const shown = log.entries().flatMap(({ message }) => log.find(message.messageId ?? '') ?? [])
    const others = this.#records.sort((one, other) => one.timestamp - other.timestamp)
    for (const record of new Set([...shown, ...others])) {
      if (!isWanted(record)) continue
      const { reason, elsewhere } = record
      this.#link.post(to, {
        ...this.#said(record),
        state: stateOf(record),
        ...(reason && { reason }),
        ...(elsewhere && { owner: elsewhere.owner }),
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
    const open = this.#records.filter(isOpen).map(({ id }) => id)
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
      const record = log.find(id)
      if (!record) continue
      if (!isElsewhere(record)) {
        outbox.ledger.acknowledge(record)
        continue
      }
      const { state, reason, elsewhere } = record
      elsewhere.isInHistory = true
      if (elsewhere.isLeft || (state === 'unknown' && reason === 'page_ended')) this.#settle(record, 'acknowledged')
    }
  }

  /** Whether anything is to be done about tabs that have ended. */
  hasUnsettled(tabs: readonly string[]): boolean {
    return [...this.#parts.log.elsewhere].some(({ elsewhere }) => elsewhere && tabs.includes(elsewhere.owner))
  }

  /** Sends what tabs left unsent, whose pages are gone. Where the service drops repetitions also what it may not have. */
  takeOver(tabs: readonly string[]): void {
    const { log, outbox, scope, liveness } = this.#parts
    const { ledger } = outbox
    const left = [...log.elsewhere].filter(isElsewhere).filter(({ elsewhere }) => tabs.includes(elsewhere.owner))
    const records = left.filter(record => {
      const { mayBeSent, isInHistory } = record.elsewhere
      return record.state === 'queued' ? mayBeSent && !isInHistory : ledger.isRepeatable(record)
    })
    outbox.adopt(records, ({ id, state, message }) => {
      // The other tabs learn whose they are now.
      scope.shared?.handleUpdate({ id, state, previousState: 'queued' })
      if (message.persona === PERSONA.CUSTOMER) liveness.handleSent()
    })
    if (records.some(({ state }) => state === 'queued')) outbox.connectForMessage()
  }

  /**
   * Tabs have ended. What another tab does not send for them is `unknown`, unless a history shows it. What was sent long ago
   * stays `sent`.
   */
  async handleEnded(tabs: readonly string[]): Promise<void> {
    const left = () => this.#records.filter(({ elsewhere }) => tabs.includes(elsewhere.owner))
    if (left().some(record => this.#isInDoubt(record))) await this.#readHistory()
    // A leader that was stopped may notice meanwhile that another one has followed, which decides.
    if (!this.#link.isLeader) return this.#link.watch(...tabs)
    for (const record of left()) {
      const { state, elsewhere } = record
      if (elsewhere.isInHistory) this.#settle(record, 'acknowledged')
      else if (state === 'queued' || this.#isInDoubt(record)) this.#settle(record, 'unknown', 'page_ended')
      else elsewhere.isLeft = true
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
    for (const record of this.#records) {
      record.elsewhere.sentAt = Infinity
      if (record.elsewhere.isLeft) this.#settle(record, 'unknown', 'session_ended')
    }
  }

  /**
   * The session goes on without this tab: no history will show its messages. What is sent and answered stays so.
   *
   * @param by the tab that has taken the session with it, and tells this one no more of what it has sent
   */
  leaveSession(by: string | undefined, isAnswered: (id: string) => boolean): void {
    for (const record of this.#records) {
      const { id, state, elsewhere } = record
      // That tab may be the one that has taken it.
      if (by === undefined) elsewhere.mayBeSent = false
      if (state === 'sent' && isAnswered(id)) elsewhere.sentAt = -Infinity
      else if (elsewhere.owner === by && !isSettled(state)) this.#set(record, 'unknown', 'session_ended')
    }
  }

  #isInDoubt({ state, elsewhere: { isInHistory, sentAt } }: ElsewhereRecord): boolean {
    return state === 'sent' && !isInHistory && !(this.#now - sentAt >= this.#parts.scope.config.doubtAfterMs)
  }

  /** Settles a message of a tab that has ended, and tells the other tabs. */
  #settle(record: ElsewhereRecord, state: DeliveryOutcome, reason?: DeliveryReason): void {
    if (this.#set(record, state, reason)) this.#link.post(undefined, { kind: 'delivery', id: record.id, state, reason })
  }

  /** This tab leaves the others: it does not hear what becomes of their messages. */
  clear(reason: DeliveryReason): void {
    const { log, outbox } = this.#parts
    this.#arrived.clear()
    this.#joinedAt = undefined
    this.#openedAt = Infinity
    for (const record of [...log.elsewhere]) outbox.ledger.settle(record, 'unknown', reason)
  }

  /**
   * Returns whether the state has changed. Another tab may report what it knew before there was an outcome.
   *
   * @param said the message, if it was sent before this report. Its session may be an earlier one; it is repeated in no other
   */
  #set(record: ElsewhereRecord, state: TabState, reason: DeliveryReason | undefined, said?: MessageSnapshot): boolean {
    const { state: previous } = record
    const { log, outbox, scope } = this.#parts
    const { ledger } = outbox
    if (state === previous || (isSettled(previous) && !mayFollow(previous, state))) return false
    // Repeated, as this tab has not heard.
    if (previous === 'failed' || (previous === 'unknown' && state === 'queued')) {
      if (!ledger.reopen(record, previous)) return true
      log.elsewhere.add(record)
    }
    if (isSettled(state)) ledger.settle(record, state, reason)
    else if (state === 'sent') {
      const { sessionId } = said ?? scope.facts
      log.elsewhere.add(record)
      record.written = writtenElsewhere(sessionId === undefined ? undefined : fnv1a(sessionId))
      record.isUnreported = true
      ledger.report(record)
    }
    return true
  }
}

function isElsewhere(record: DeliveryRecord): record is ElsewhereRecord {
  return record.elsewhere !== undefined
}

function createRecord(
  owner: string,
  { message: said, isQuestion }: TabMessage & { readonly kind: 'said' },
): ElsewhereRecord {
  const elsewhere = { owner, mayBeSent: !isQuestion, sentAt: said.timestamp, isInHistory: false, isLeft: false }
  return { ...recordOf(said), elsewhere }
}

/** Whether a message can be withdrawn, or repeated: for that its text is needed. */
function isPossible({ state, trace }: DeliveryRecord, action: Action): boolean {
  return action === 'cancel' ? state === 'queued' : (state === 'unknown' || state === 'failed') && !trace
}

/** Whether it is certain what became of a message, or that nothing more will. */
function hasEnded(state: DeliveryState): boolean {
  return state === 'acknowledged' || state === 'cancelled'
}

/** Whether a message has not arrived, as far as is known. */
function isOpen(record: DeliveryRecord): boolean {
  return !hasEnded(stateOf(record))
}

/** Whether a state may follow an outcome: evidence, or a `retry()`, where the message may not have arrived. */
function mayFollow(outcome: DeliveryOutcome, state: TabState): boolean {
  return !hasEnded(outcome) && (state === 'acknowledged' || state === 'queued' || state === 'sent')
}
