import { setImmediate } from 'node:timers'
import { setTimeout as pause } from 'node:timers/promises'
import type { FleetEvents, FleetEventType } from './events.ts'
import { messageField, type ShardKeys, wellFormed } from './keys.ts'
import { type Connection, runScript } from './redis.ts'
import { COMMIT } from './scripts.ts'

/** Operations after which a commit takes no more. */
const BATCH = 500

/** Characters after which a commit takes no more: Redis stands still while it runs. */
const BATCH_CHARS = 4 * 1024 * 1024

/** Pause before a commit is repeated, in milliseconds. */
const RETRY_MS = 200

/** How often the same error of the store ends the writer. */
const EQUAL_ERRORS = 5

/** Answers of a server that cannot take any write for now, also as the reason inside the error of a script. */
const PASSING = /\b(?:OOM|READONLY|LOADING|MISCONF|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|BUSY|NOREPLICAS|MASTERDOWN)\b/

/** How long the ids of settled messages are kept, in milliseconds. */
const DONE_MS = 600_000

/** One change. A commit is a list of them. */
export type Operation =
  | readonly ['set', conversationId: string, field: string, value: string]
  | readonly ['delete', conversationId: string, field: string]
  | readonly ['forget', conversationId: string]
  | readonly ['mark', conversationId: string, messageId: string, sessionId: string]
  | readonly ['done', entryId: string]
  | readonly ['settle', conversationId: string, messageId: string]
  | readonly ['event', conversationId: string, type: string, payload: string]

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
  /** The store has refused a write for a reason that does not pass. Nothing of it is stored. */
  onFailed(error: unknown): void
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
    let chars = 0
    for (const operations of this.#entries) {
      chars += charsOf(operations)
      if (batch.length >= BATCH || (taken > 0 && chars > BATCH_CHARS)) break
      batch.push(...operations)
      taken++
    }
    this.#entries.splice(0, taken)
    return batch
  }

  async #commit(batch: readonly Operation[], count: number): Promise<boolean> {
    const { connection, keys, worker, number, keepEvents, isHeld, onRefused, onFailed, onCommit } = this.#options
    const { ids, operations } = arrange(batch)
    const all = [keys.owner, keys.commit, keys.in, keys.out, keys.pending, keys.counts, keys.ending, keys.ended]
    for (const id of ids) all.push(keys.conversation(id), keys.done(id), keys.events(id))
    const args = [`${worker}:${number}`, `${number}.${count}`, worker, keepEvents, Date.now(), DONE_MS]
    let last: string | undefined
    let equal = 0
    while (isHeld() && !this.#isStopped) {
      try {
        const answer = await runScript(connection, COMMIT, all, [...args, JSON.stringify([ids, operations])])
        if (answer === 1) {
          onCommit(operations.length)
          return true
        }
        break
      } catch (error) {
        const problem = lastingProblem(error)
        equal = problem !== undefined && problem === last ? equal + 1 : 1
        last = problem
        if (problem !== undefined && equal >= EQUAL_ERRORS) {
          this.stop()
          onFailed(error)
          return false
        }
        await pause(RETRY_MS)
      }
    }
    this.stop()
    onRefused()
    return false
  }
}

/** The conversations of a batch, and its operations with their places in that list, as the script expects them. */
function arrange(batch: readonly Operation[]): { ids: string[]; operations: (readonly (string | number)[])[] } {
  const places = new Map<string, number>()
  const operations = batch.map(operation => {
    const [kind, id, ...values] = operation
    if (kind === 'done') return operation
    const place = places.get(id) ?? places.size + 1
    places.set(id, place)
    const [first, ...others] = values.map(wellFormed)
    if (first === undefined) return [kind, place]
    return [kind, place, kind === 'mark' || kind === 'settle' ? messageField(id, first) : first, ...others]
  })
  return { ids: [...places.keys()], operations }
}

function charsOf(operations: readonly Operation[]): number {
  return operations.flat().reduce((sum, text) => sum + text.length, 0)
}

/** Text of an error that is neither of the connection nor of a server that cannot write for now. */
function lastingProblem(error: unknown): string | undefined {
  if (!(error instanceof Error) || PASSING.test(error.message)) return undefined
  const isLasting = error.name === 'ReplyError' || error instanceof RangeError || error instanceof TypeError
  return isLasting ? error.message : undefined
}

/** The operation that reports an event. */
export function eventOperation<Type extends FleetEventType>(type: Type, payload: FleetEvents[Type]): Operation {
  return ['event', payload.conversationId, type, JSON.stringify(payload)]
}
