import { setImmediate } from 'node:timers'
import { setTimeout as pause } from 'node:timers/promises'
import type { FleetEvents, FleetEventType } from './events.ts'
import type { ShardKeys } from './keys.ts'
import { type Connection, runScript } from './redis.ts'
import { COMMIT } from './scripts.ts'

/** Operations after which a commit takes no more. */
const BATCH = 500

/** Pause before a commit is repeated, in milliseconds. */
const RETRY_MS = 200

/** How long the ids of settled messages are kept, in milliseconds. */
const DONE_MS = 600_000

/** One change. A commit is a list of them. */
export type Operation =
  | readonly ['set', conversationId: string, field: string, value: string]
  | readonly ['delete', conversationId: string, field: string]
  | readonly ['forget', conversationId: string]
  | readonly ['mark', messageId: string, sessionId: string]
  | readonly ['done', entryId: string]
  | readonly ['settle', messageId: string, conversationId: string]
  | readonly ['event', type: string, conversationId: string, payload: string]

export interface ShardWriterOptions {
  readonly connection: Connection
  readonly keys: ShardKeys
  readonly worker: string
  /** The fencing number. */
  readonly number: number
  readonly keepEvents: number
  /** Whether the lease still lasts. */
  isHeld(): boolean
  /** The store has refused a write: another worker owns the shard. */
  onRefused(): void
  onCommit(operations: number): void
}

/**
 * Writes what a worker changes in its shard: in batches, one at a time, each as one step that Redis refuses to a worker
 * without the lease. A batch that is repeated after a broken connection changes nothing twice.
 */
export class ShardWriter {
  readonly #options: ShardWriterOptions
  /** What waits. The operations of one entry are stored together. */
  #entries: (readonly Operation[])[] = []
  #waiting: (() => void)[] = []
  #running: Promise<void> | undefined
  #commits = 0
  #isStopped = false

  constructor(options: ShardWriterOptions) {
    this.#options = options
  }

  /** Stores operations: all of them in one step, or none. */
  add(...operations: readonly Operation[]): void {
    if (this.#isStopped) return
    this.#entries.push(operations)
    this.#running ??= this.#run()
  }

  /** Resolves when everything so far is stored; false when the lease was lost before. */
  async flush(): Promise<boolean> {
    if (this.#entries.length > 0 || this.#running) await new Promise<void>(resolve => this.#waiting.push(resolve))
    return !this.#isStopped
  }

  /** Nothing more is written. */
  stop(): void {
    this.#isStopped = true
    this.#entries = []
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  async #run(): Promise<void> {
    // What happens in the same turn of the event loop is one commit.
    await new Promise<void>(resolve => void setImmediate(resolve))
    while (this.#entries.length > 0 && !this.#isStopped) {
      const batch = this.#nextBatch()
      const waiting = this.#entries.length === 0 ? this.#waiting.splice(0) : []
      const isStored = await this.#commit(batch, ++this.#commits)
      for (const resolve of waiting) resolve()
      if (!isStored) break
    }
    this.#running = undefined
    if (this.#isStopped) for (const resolve of this.#waiting.splice(0)) resolve()
    else if (this.#entries.length > 0) this.#running = this.#run()
    else for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #nextBatch(): Operation[] {
    const batch: Operation[] = []
    let taken = 0
    for (const operations of this.#entries) {
      if (batch.length >= BATCH) break
      batch.push(...operations)
      taken++
    }
    this.#entries.splice(0, taken)
    return batch
  }

  async #commit(batch: readonly Operation[], count: number): Promise<boolean> {
    const { connection, keys, worker, number, keepEvents, isHeld, onRefused, onCommit } = this.#options
    const conversations: string[] = []
    const place = (id: string) => {
      const known = conversations.indexOf(id)
      return known >= 0 ? known + 1 : conversations.push(id)
    }
    const operations = batch.map(operation => {
      const [kind, id, ...values] = operation
      if (kind === 'forget') return [kind, place(id), id]
      return kind === 'set' || kind === 'delete' ? [kind, place(id), ...values] : operation
    })
    const now = Date.now()
    const all = [
      keys.owner,
      keys.commit,
      keys.in,
      keys.out,
      keys.pending,
      keys.counts,
      keys.done,
      keys.open,
      keys.ending,
    ]
    const args = [`${worker}:${number}`, `${number}.${count}`, worker, keepEvents, now, now - DONE_MS]
    const places = conversations.map(id => keys.conversation(id))
    while (isHeld() && !this.#isStopped) {
      try {
        const answer = await runScript(connection, COMMIT, [...all, ...places], [...args, JSON.stringify(operations)])
        if (answer === 1) {
          onCommit(operations.length)
          return true
        }
        break
      } catch {
        await pause(RETRY_MS)
      }
    }
    this.stop()
    onRefused()
    return false
  }
}

/** The operation that reports an event. */
export function eventOperation<Type extends FleetEventType>(type: Type, payload: FleetEvents[Type]): Operation {
  return ['event', type, payload.conversationId, JSON.stringify(payload)]
}
