import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { ConversationStore } from './conversation-store.ts'
import { metaKeys, ShardKeys } from './keys.ts'
import type { Counters } from './metrics.ts'
import type { ResolvedOptions, WorkerOptions } from './options.ts'
import { CLOSE_LIMIT_MS, OwnedShard, type WorkerParts } from './owned-shard.ts'
import { Pacer } from './pacer.ts'
import { POLL_MS, PollPlan } from './poll-plan.ts'
import {
  type Connection,
  closeConnection,
  isCluster,
  openConnection,
  readStreams,
  runScript,
  type StreamEntry,
  settled,
} from './redis.ts'
import { ACQUIRE, BEAT } from './scripts.ts'
import { StartQueue } from './start-queue.ts'

/** Longest wait of a read, in milliseconds: a new shard is read at the latest then. */
const BLOCK_MS = 250

/** Entries of one stream that are read at once. */
const READ_COUNT = 256

/** Renewals in the time of one tick are spread, so that Redis is asked evenly. */
const TICKS_PER_RENEWAL = 5

/**
 * Holds conversations: owns the leases of its shards, takes a fair share of all shards, and reads what is to be done.
 *
 *   each tick: heartbeat ─► live workers ─► target = shards / workers ─┬─ fewer: acquire free shards
 *                                                                     └─ more: give surplus back, a few at a time
 */
export class Worker {
  readonly id: string
  readonly #options: ResolvedOptions
  readonly #clock: WorkerParts['clock']
  readonly #worker: Required<WorkerOptions>
  readonly #connection: Connection
  readonly #reader: Connection
  readonly #shards = new Map<number, OwnedShard>()
  /** Where streams are in different slots. */
  readonly #plan = new PollPlan()
  readonly #parts: WorkerParts
  /** Until when this worker leaves a shard to the others whose commits the store refused. */
  readonly #avoided = new Map<number, number>()
  #live = 1
  #ticks = 0
  #isRunning = false
  #isDraining = false
  #drained: Promise<void> | undefined
  #loops: Promise<void>[] = []
  #acquiring: Promise<void> | undefined
  readonly #givingBack = new Set<Promise<void>>()

  constructor(options: ResolvedOptions, worker: Required<WorkerOptions>, connection: Connection, counters: Counters) {
    this.id = `${hostname().replaceAll(/[^\w-]/g, '-')}-${process.pid}-${randomUUID().slice(0, 8)}`
    this.#options = options
    this.#clock = options.environment?.clock ?? { now: Date.now, monotonic: () => performance.now(), setTimeout }
    this.#worker = worker
    this.#connection = connection
    this.#reader = openConnection(options.redis)
    const queue = new StartQueue(worker.concurrentStarts)
    this.#parts = {
      options,
      worker,
      workerId: this.id,
      connection,
      store: new ConversationStore((index, number, conversationId) => {
        const shard = this.#shards.get(index)
        return shard?.number === number ? shard.conversations.get(conversationId) : undefined
      }),
      starts: new Pacer(options.rateLimit.startsPerSecond, this.#clock),
      messages: new Pacer(options.rateLimit.messagesPerSecond, this.#clock),
      counters,
      clock: this.#clock,
      enqueueStart: queue.add,
    }
  }

  /** Number of shards that it holds. */
  get shardCount(): number {
    return this.#shards.size
  }

  async start(): Promise<void> {
    this.#isRunning = true
    await this.#tick()
    this.#loops = [this.#tickLoop(), this.#readLoop()]
  }

  /**
   * Gives every shard back: what can be settled soon is settled, everything else is stored. Where the store does not answer,
   * the shards are dropped, and their leases expire.
   */
  drain(): Promise<void> {
    this.#isDraining = true
    return (this.#drained ??= this.#drain())
  }

  async #drain(): Promise<void> {
    const { drainMs } = this.#worker
    const ending = new AbortController()
    const late = pause(drainMs + CLOSE_LIMIT_MS + this.#options.storeTimeoutMs, 'late', { signal: ending.signal })
    const isLate = (await Promise.race([this.#giveAllBack(drainMs), late.catch(() => {})])) === 'late'
    ending.abort()
    if (!isLate) return
    this.#options.log('warn', 'The store did not answer while the worker drained; its leases expire.')
    for (const shard of this.#shards.values()) shard.lose()
  }

  async #giveAllBack(drainMs: number): Promise<void> {
    const absent = this.#connection.zrem(metaKeys(this.#options.name).workers, this.id).catch(() => {})
    await this.#acquiring?.catch(() => {})
    await Promise.all([...this.#shards.values()].map(shard => this.#giveBack(shard, drainMs)))
    await Promise.all(this.#givingBack)
    await absent
  }

  /** Ends everything without a word, as a process that dies. */
  async stop(): Promise<void> {
    this.#isRunning = false
    for (const shard of this.#shards.values()) shard.lose()
    closeConnection(this.#reader)
    await settled(Promise.all(this.#loops))
  }

  get #tickMs(): number {
    return this.#worker.renewEveryMs / TICKS_PER_RENEWAL
  }

  async #tickLoop(): Promise<void> {
    while (this.#isRunning) {
      await pause(this.#tickMs)
      // A store that hangs must not stop the watch over the deadlines.
      this.#dropLost()
      void this.#tick()
    }
  }

  #isTicking = false

  async #tick(): Promise<void> {
    if (this.#isTicking) return
    this.#isTicking = true
    try {
      this.#ticks++
      for (const shard of this.#shards.values()) {
        if (shard.index % TICKS_PER_RENEWAL === this.#ticks % TICKS_PER_RENEWAL) void shard.renew()
        shard.sweep()
      }
      if (this.#isDraining) return
      const workers = metaKeys(this.#options.name).workers
      const live = await runScript(this.#connection, BEAT, [workers], [this.id, this.#worker.leaseMs])
      this.#live = Math.max(1, Array.isArray(live) ? live.length : 1)
      const { startsPerSecond, messagesPerSecond } = this.#options.rateLimit
      this.#parts.starts.setRate(startsPerSecond / this.#live)
      this.#parts.messages.setRate(messagesPerSecond / this.#live)
      await this.#balance()
    } catch (error) {
      if (this.#isRunning) this.#options.log('warn', 'The store did not answer.', { error })
    } finally {
      this.#isTicking = false
    }
  }

  #dropLost(): void {
    for (const shard of this.#shards.values()) {
      if (!shard.isHeld() && !shard.isClosing) shard.lose()
      if (!shard.isLost) continue
      this.#shards.delete(shard.index)
      if (shard.isGivenUp) this.#avoided.set(shard.index, performance.now() + 2 * this.#worker.leaseMs)
    }
  }

  async #balance(): Promise<void> {
    const target = Math.ceil(this.#options.shards / this.#live)
    const held = [...this.#shards.values()].filter(shard => !shard.isClosing)
    const surplus = held.length - target
    if (surplus > 0)
      for (const shard of held.slice(0, Math.ceil(surplus / 4))) void this.#giveBack(shard, this.#worker.drainMs)
    else if (surplus < 0) {
      this.#acquiring = this.#acquire(-surplus)
      await this.#acquiring
    }
  }

  /** Tries the shards that it does not hold, in a random order, until it has as many as it wants. */
  async #acquire(wanted: number): Promise<void> {
    const free = Array.from({ length: this.#options.shards }, (_, index) => index)
      .filter(index => !this.#shards.has(index) && !((this.#avoided.get(index) ?? 0) > performance.now()))
      .map(index => ({ index, order: Math.random() }))
      .sort((one, other) => one.order - other.order)
    for (let missing = wanted; missing > 0 && free.length > 0 && !this.#isDraining; ) {
      const tried = free.splice(0, missing)
      const taken = await Promise.all(tried.map(({ index }) => this.#acquireOne(index)))
      missing -= taken.filter(Boolean).length
    }
  }

  async #acquireOne(index: number): Promise<boolean> {
    const keys = new ShardKeys(this.#options.name, index)
    const askedAt = this.#clock.monotonic()
    const all = [keys.owner, keys.number, keys.in, keys.history, keys.commit]
    const number = await runScript(this.#connection, ACQUIRE, all, [this.id, this.#worker.leaseMs])
    if (typeof number !== 'number' || number === 0 || !this.#isRunning) return false
    const shard = new OwnedShard(this.#parts, index, number, askedAt)
    this.#shards.set(index, shard)
    this.#parts.counters.leasesAcquired++
    try {
      await shard.load(from => this.#readAgain(shard, from))
    } catch (error) {
      shard.lose()
      this.#options.log('warn', 'A shard could not be loaded.', { shard: index, error })
    }
    return true
  }

  async #giveBack(shard: OwnedShard, waitMs: number): Promise<void> {
    const work = (async () => {
      try {
        await shard.giveBack(waitMs)
        this.#parts.counters.leasesGivenBack++
      } catch (error) {
        shard.lose()
        this.#options.log('warn', 'A shard could not be given back; its lease expires.', { shard: shard.index, error })
      }
      if (this.#shards.get(shard.index) === shard) this.#shards.delete(shard.index)
    })()
    this.#givingBack.add(work)
    await work
    this.#givingBack.delete(work)
  }

  async #readLoop(): Promise<void> {
    const inCluster = isCluster(this.#reader)
    while (this.#isRunning) {
      const shards = [...this.#shards.values()].filter(shard => shard.isLoaded && !shard.isClosing && shard.isHeld())
      if (shards.length === 0) {
        await pause(POLL_MS)
        continue
      }
      try {
        const found = inCluster ? await this.#readEach(shards) : await this.#readAll(shards)
        if (inCluster && !found) await pause(POLL_MS)
      } catch (error) {
        if (!this.#isRunning) return
        // The group of a shard is gone: another worker has taken the shard over.
        await Promise.all(shards.map(shard => shard.renew()))
        this.#dropLost()
        this.#options.log('info', 'A read of the streams failed.', { error })
        await pause(POLL_MS)
      }
    }
  }

  async #readAll(shards: readonly OwnedShard[]): Promise<boolean> {
    const keys = shards.map(({ keys }) => keys.in)
    const newest = shards.map(() => '>')
    const group = ['GROUP', this.id, 'worker'] as const
    const answer = await this.#reader.xreadgroup(
      ...group,
      'COUNT',
      READ_COUNT,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      ...keys,
      ...newest,
    )
    return this.#take(shards, answer)
  }

  /**
   * The entries that were read in the group of a shard before this worker knew that it has the shard. A read that waits under
   * an earlier lease of this worker ends so: the group has the same name.
   */
  async #readAgain({ keys }: OwnedShard, from: string): Promise<StreamEntry[]> {
    const group = ['GROUP', this.id, 'worker'] as const
    const answer = await this.#connection.xreadgroup(...group, 'COUNT', READ_COUNT, 'STREAMS', keys.in, from)
    return readStreams(answer)[0]?.entries ?? []
  }

  async #readEach(shards: readonly OwnedShard[]): Promise<boolean> {
    const due = shards.filter(({ keys }) => this.#plan.isDue(keys.in, performance.now()))
    const reads = due.map(async ({ keys }) => {
      const group = ['GROUP', this.id, 'worker'] as const
      const answer = await this.#reader.xreadgroup(...group, 'COUNT', READ_COUNT, 'STREAMS', keys.in, '>')
      const hasEntries = this.#take(shards, answer)
      this.#plan.note(keys.in, hasEntries, performance.now())
      return hasEntries
    })
    return (await Promise.all(reads)).some(Boolean)
  }

  #take(shards: readonly OwnedShard[], answer: unknown): boolean {
    const streams = readStreams(answer)
    for (const { key, entries } of streams) {
      const read = shards.find(({ keys }) => keys.in === key)
      // The shard may have been lost and acquired again meanwhile.
      if (read) this.#shards.get(read.index)?.take(entries)
    }
    return streams.length > 0
  }
}
