import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { FleetEvents, FleetEventType, FleetListener } from './events.ts'
import { ShardKeys } from './keys.ts'
import type { FleetLog } from './options.ts'
import { POLL_MS, PollPlan } from './poll-plan.ts'
import {
  BLOCK_MS,
  type Connection,
  closeConnection,
  isCluster,
  openConnection,
  type RedisSource,
  readEntries,
  readStreams,
  runScript,
  type StreamEntry,
  settled,
} from './redis.ts'
import { REMOVE_CONSUMERS } from './scripts.ts'
import { LateError, within } from './within.ts'

/** Most entries of one stream that are read at once. */
const READ_COUNT = 256

/** The same in a group: what waits behind a slow listener counts as not handled after `redeliverAfterMs`. */
const GROUP_READ_COUNT = 16

/** Most unreadable events of a shard that are kept. */
const UNREADABLE_COUNT = 1_000

type AnyListener = (payload: FleetEvents[FleetEventType]) => unknown

export interface EventHubOptions {
  readonly redis: RedisSource
  readonly name: string
  readonly shards: number
  /** After how long an unhandled event of a group is delivered again, in milliseconds. */
  readonly redeliverAfterMs: number
  /** How long events are kept, in milliseconds. */
  readonly keepEventsMs: number
  readonly log: FleetLog
}

/** Reads what was said in all shards, for the listeners of this process: live, or once for each named group. */
export class EventHub {
  readonly #options: EventHubOptions
  readonly #feeds = new Map<string, Feed>()
  #isStarted = false

  constructor(options: EventHubOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    this.#isStarted = true
    await Promise.all([...this.#feeds.values()].map(feed => feed.start()))
  }

  on<Type extends FleetEventType>(type: Type, listener: FleetListener<Type>, group = ''): void {
    const feed = this.#feeds.get(group) ?? new Feed(this.#options, group)
    this.#feeds.set(group, feed)
    feed.add(type, listener as AnyListener)
    if (this.#isStarted)
      feed.start().catch(error => this.#options.log('error', 'The events cannot be read.', { error }))
  }

  off<Type extends FleetEventType>(type: Type, listener: FleetListener<Type>): void {
    for (const feed of this.#feeds.values()) feed.remove(type, listener as AnyListener)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#feeds.values()].map(feed => feed.close()))
  }
}

/** One reader of all shards: with a group, or alone. */
class Feed {
  readonly #options: EventHubOptions
  readonly #group: string
  readonly #consumer = randomUUID()
  readonly #listeners = new Map<string, Set<AnyListener>>()
  readonly #keys: string[]
  /** Streams of unreadable events, by stream. */
  readonly #unreadable: Map<string, string>
  /** Last id that was read, by stream. Without a group. */
  readonly #positions = new Map<string, string>()
  readonly #plan = new PollPlan()
  #connection: Connection | undefined
  #started: Promise<void> | undefined
  #loop: Promise<void> = Promise.resolve()
  #claimedAt = 0
  #isClosed = false

  constructor(options: EventHubOptions, group: string) {
    this.#options = options
    this.#group = group
    const shards = Array.from({ length: options.shards }, (_, shard) => new ShardKeys(options.name, shard))
    this.#keys = shards.map(({ out }) => out)
    this.#unreadable = new Map(shards.map(({ out, unreadable }) => [out, unreadable]))
  }

  add(type: string, listener: AnyListener): void {
    const listeners = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, listeners.add(listener))
  }

  remove(type: string, listener: AnyListener): void {
    this.#listeners.get(type)?.delete(listener)
  }

  start(): Promise<void> {
    this.#started ??= this.#start().catch(error => {
      this.#started = undefined
      if (this.#connection) closeConnection(this.#connection)
      throw error
    })
    return this.#started
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#connection) closeConnection(this.#connection)
    await settled(this.#loop)
  }

  async #start(): Promise<void> {
    const connection = openConnection(this.#options.redis)
    this.#connection = connection
    await Promise.all(this.#keys.map(key => this.#prepare(connection, key)))
    this.#claimedAt = performance.now()
    this.#loop = this.#run(connection)
  }

  async #prepare(connection: Connection, key: string): Promise<void> {
    if (this.#group === '') {
      const [last] = readEntries(await connection.xrevrange(key, '+', '-', 'COUNT', 1))
      this.#positions.set(key, last?.id ?? '0')
      return
    }
    await connection.xgroup('CREATE', key, this.#group, '$', 'MKSTREAM').catch((error: Error) => {
      if (!error.message.startsWith('BUSYGROUP')) throw error
    })
  }

  async #run(connection: Connection): Promise<void> {
    const inCluster = isCluster(connection)
    const { redeliverAfterMs } = this.#options
    while (!this.#isClosed) {
      try {
        const isBusy = inCluster ? await this.#readEach(connection) : await this.#read(connection, this.#keys, BLOCK_MS)
        if (inCluster && !isBusy) await pause(POLL_MS)
        if (this.#group !== '' && performance.now() - this.#claimedAt > redeliverAfterMs) await this.#claim(connection)
      } catch (error) {
        if (this.#isClosed) return
        this.#options.log('warn', 'The events could not be read.', { error })
        await pause(BLOCK_MS)
      }
    }
  }

  async #readEach(connection: Connection): Promise<boolean> {
    const due = this.#keys.filter(key => this.#plan.isDue(key, performance.now()))
    const reads = due.map(async key => {
      const hasEntries = await this.#read(connection, [key], undefined)
      this.#plan.note(key, hasEntries, performance.now())
      return hasEntries
    })
    return (await Promise.all(reads)).some(Boolean)
  }

  async #read(connection: Connection, keys: readonly string[], blockMs: number | undefined): Promise<boolean> {
    const count = this.#group === '' ? READ_COUNT : GROUP_READ_COUNT
    const limits = ['COUNT', count, ...(blockMs === undefined ? [] : ['BLOCK', blockMs])]
    const from = keys.map(key => (this.#group === '' ? (this.#positions.get(key) ?? '0') : '>'))
    const group = this.#group === '' ? [] : ['GROUP', this.#group, this.#consumer]
    const command = this.#group === '' ? 'XREAD' : 'XREADGROUP'
    const answer = readStreams(await connection.call(command, ...group, ...limits, 'STREAMS', ...keys, ...from))
    await Promise.all(answer.map(({ key, entries }) => this.#deliver(connection, key, entries)))
    return answer.length > 0
  }

  async #deliver(connection: Connection, key: string, entries: readonly StreamEntry[]): Promise<void> {
    const handled: string[] = []
    for (const entry of entries) {
      if (this.#group === '') {
        void this.#tell(connection, key, entry)
        this.#positions.set(key, entry.id)
      } else if (await this.#tellInTime(connection, key, entry)) handled.push(entry.id)
    }
    if (handled.length > 0) await connection.xack(key, this.#group, ...handled)
  }

  /** A listener that never ends must not hold up all other events. */
  async #tellInTime(connection: Connection, key: string, entry: StreamEntry): Promise<boolean> {
    const { redeliverAfterMs, log } = this.#options
    try {
      return await within(redeliverAfterMs, () => this.#tell(connection, key, entry))
    } catch (error) {
      if (!(error instanceof LateError)) throw error
      log('warn', `A listener of ${entry.fields['k']} takes too long: the event is delivered again.`)
      return false
    }
  }

  /** Resolves with whether every listener has handled the event. */
  async #tell(connection: Connection, key: string, entry: StreamEntry): Promise<boolean> {
    const { k: type = '', d: data = '' } = entry.fields
    const listeners = this.#listeners.get(type)
    if (!listeners?.size) return true
    const payload = parsePayload(data)
    if (!payload) {
      await this.#keepAside(connection, key, entry)
      return true
    }
    const told = [...listeners].map(async listener => listener(payload))
    const results = await Promise.allSettled(told)
    for (const result of results)
      if (result.status === 'rejected')
        this.#options.log('error', `A listener of ${type} failed.`, { error: result.reason })
    return results.every(({ status }) => status === 'fulfilled')
  }

  /** An event that no listener can read must hold up no other one. It counts as handled. */
  async #keepAside(connection: Connection, key: string, { id, fields }: StreamEntry): Promise<void> {
    const { log, keepEventsMs } = this.#options
    const aside = this.#unreadable.get(key) ?? ''
    log('error', `An event could not be read. It is kept in the stream ${aside}, and not delivered.`, { key, id })
    try {
      // The id of the event: other processes that read it add nothing.
      await connection.xadd(aside, 'MAXLEN', '~', UNREADABLE_COUNT, id, ...Object.entries(fields).flat())
      await connection.pexpire(aside, Math.ceil(keepEventsMs))
    } catch {
      // Another process has added it, or a later one.
    }
  }

  /** Takes over what processes of the group read and never finished, and removes those that are silent for as long. */
  async #claim(connection: Connection): Promise<void> {
    this.#claimedAt = performance.now()
    const { redeliverAfterMs } = this.#options
    for (const key of this.#keys) {
      const answer = await connection.xautoclaim(key, this.#group, this.#consumer, redeliverAfterMs, '0', 'COUNT', 100)
      await this.#deliver(connection, key, readEntries(answer[1]))
      await runScript(connection, REMOVE_CONSUMERS, [key], [this.#group, redeliverAfterMs])
    }
  }
}

function parsePayload(data: string): FleetEvents[FleetEventType] | undefined {
  try {
    const payload: unknown = JSON.parse(data)
    return typeof payload === 'object' && payload !== null && 'conversationId' in payload
      ? (payload as FleetEvents[FleetEventType])
      : undefined
  } catch {
    return undefined
  }
}
