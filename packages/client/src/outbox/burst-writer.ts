import { addMessageId } from '@aiagent/protocol'
import type { Transport } from '../chat/transport.ts'
import type { DeliveryRecord } from '../log/delivery.ts'
import type { MessageLog } from '../log/message-log.ts'
import type { Clock } from '../platform/environment.ts'
import type { Page } from '../platform/page.ts'
import type { AgentScope } from '../scope.ts'
import type { DeliveryLedger } from './delivery-ledger.ts'
import type { TurnTaking } from './turn-taking.ts'

/*
 * Writes the entries to the socket. Owns the flush of the queue.
 *
 * Entries are sent in order: first those that are sent again after a reopening, then the queue, then new ones. They are
 * sent in bursts with a pause between them (FLOW-05), so that a long queue neither floods the service nor blocks the
 * page.
 */

/** Entries of one burst. */
export const BURST_SIZE = 16

/** Pause between two bursts, in milliseconds. */
export const BURST_PAUSE_MS = 5

/** A burst is skipped if the socket has more unsent bytes than this. */
const CONGESTED_BYTES = 256 * 1024

type Channel =
  | { readonly at: 'closed'; readonly transport: undefined }
  | {
      readonly at: 'flushing'
      readonly transport: Transport
      cancel?: (() => void) | undefined
      /** Unsent bytes of the socket at the last look. */
      buffered: number
    }
  | { readonly at: 'open'; readonly transport: Transport }

const CLOSED: Channel = { at: 'closed', transport: undefined }

export class BurstWriter {
  readonly #scope: AgentScope<'queueFlushed'>
  readonly #log: MessageLog
  readonly #ledger: DeliveryLedger
  readonly #turns: TurnTaking
  #channel: Channel = CLOSED
  /** Written from the queue since it was last empty. */
  #flushed = 0

  constructor(scope: AgentScope<'queueFlushed'>, log: MessageLog, ledger: DeliveryLedger, turns: TurnTaking) {
    this.#scope = scope
    this.#log = log
    this.#ledger = ledger
    this.#turns = turns
  }

  /** Writes a new entry if nothing is ahead of it. Otherwise the caller must queue it. */
  write(entry: DeliveryRecord, frame: string): boolean {
    return this.#channel.at === 'open' && !this.#ledger.limit && this.#write(entry, frame, this.#channel.transport)
  }

  /** Whether entries may be written at any time. */
  get isOpen(): boolean {
    return this.#channel.at !== 'closed'
  }

  /** Puts entries ahead of the queue. */
  prepend(entries: readonly DeliveryRecord[]): void {
    for (const entry of [...entries, ...this.#log.queued]) this.enqueue(entry)
    this.resume()
  }

  /** Appends an entry to the queue. */
  enqueue(entry: DeliveryRecord): void {
    entry.state = 'queued'
    this.#log.queued.add(entry)
    // Written again once the limit allows it.
    if (this.#channel.at === 'open') this.#channel = { at: 'flushing', transport: this.#channel.transport, buffered: 0 }
  }

  /** Entries may be written to a transport. */
  open(transport: Transport): void {
    if (this.#channel.transport === transport) return
    this.close()
    this.#channel = { at: 'flushing', transport, buffered: 0 }
    this.resume()
  }

  /** Nothing may be written at present. */
  close(): void {
    if (this.#channel.at === 'flushing') this.#channel.cancel?.()
    this.#channel = CLOSED
  }

  /** The limit may have changed, or what is sent again. */
  resume(): void {
    const { at, transport } = this.#channel
    if (at === 'open' && this.#ledger.again?.length) this.#channel = { at: 'flushing', transport, buffered: 0 }
    if (this.#channel.at === 'flushing' && !this.#channel.cancel) this.#flush(this.#channel, BURST_SIZE)
  }

  /** Takes out all entries that wait, for whatever. */
  takeAll(): DeliveryRecord[] {
    const { awaiting, queued, held } = this.#log
    this.#flushed = 0
    return this.#log.take(awaiting, queued, held)
  }

  /** Returns false when the socket is closing; its close event follows. */
  #write(entry: DeliveryRecord, frame: string, transport: Transport): boolean {
    try {
      transport.send(this.#ledger.hasKey(entry) ? addMessageId(frame, entry.id) : frame)
    } catch {
      this.close()
      return false
    }
    // The write is reported once the entry has left the queue.
    this.#ledger.handleWritten(entry)
    this.#turns.handleWritten(entry)
    return true
  }

  #flush(channel: Channel & { at: 'flushing' }, allowance: number): void {
    // Not to be resumed in the middle.
    channel.cancel = () => {}
    for (let left = allowance; left > 0 && this.#channel === channel; left--) {
      const { queued } = this.#log
      const { limit, again } = this.#ledger
      // Those that have been settled are skipped.
      while (again?.[0] && again[0].state !== 'sent' && again[0].state !== 'unknown') again.shift()
      const entry = again?.[0] ?? queued.first
      if (!entry) break
      if (limit === 'none' || (limit && entry.list === queued)) {
        channel.cancel = undefined
        return
      }
      // A failed write keeps the entry first in the queue.
      if (!this.#write(entry, entry.message.toPayloadString(), channel.transport)) return
      if (again?.[0]) again.shift()
      else this.#flushed++
      this.#ledger.report(entry)
    }
    if (this.#channel !== channel) return
    if (this.#ledger.again?.length || this.#log.queued.size > 0) return this.#pause(channel)
    this.#channel = { at: 'open', transport: channel.transport }
    const count = this.#flushed
    this.#flushed = 0
    if (count > 0) this.#scope.emit('queueFlushed', () => ({ count }))
  }

  #pause(channel: Channel & { at: 'flushing' }): void {
    const { clock, page } = this.#scope.environment
    const since = clock.monotonic()
    const unsent = channel.transport.bufferedAmount
    // A hidden page waits in tasks, which cost processor time: not while the socket accepts nothing.
    const isStalled = unsent > 0 && unsent >= channel.buffered
    channel.buffered = unsent
    channel.cancel = afterPause(clock, isStalled ? undefined : page, BURST_PAUSE_MS, () => {
      // A late call, as in a tab that has just been hidden, writes what the elapsed time allows.
      const bursts = Math.max(1, Math.floor((clock.monotonic() - since) / BURST_PAUSE_MS))
      const buffered = channel.transport.bufferedAmount
      this.#flush(channel, buffered === 0 ? bursts * BURST_SIZE : buffered < CONGESTED_BYTES ? 1 : 0)
    })
  }
}

/** Limit for a platform with a stopped clock: five milliseconds are some thousands of tasks. */
const MAX_TASKS = 50_000

/**
 * Runs a callback after a few milliseconds, also in a hidden tab.
 *
 * A browser delays the timers of a hidden page to one a second, and after minutes to one a minute. There the wait is
 * spent in tasks, one after the other. That costs processor time, so it is for short pauses only.
 *
 * @returns a function that cancels the call
 */
export function afterPause(clock: Clock, page: Page | undefined, pauseMs: number, callback: () => void): () => void {
  if (!page?.isHidden()) {
    const timer = clock.setTimeout(callback, pauseMs)
    return () => clock.clearTimeout(timer)
  }
  const end = clock.monotonic() + pauseMs
  let isWanted = true
  let tasks = 0
  const look = () => {
    if (!isWanted) return
    if (clock.monotonic() >= end || ++tasks > MAX_TASKS) callback()
    else page.nextTask(look)
  }
  page.nextTask(look)
  return () => {
    isWanted = false
  }
}
