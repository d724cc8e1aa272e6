import { AiAgent, type AiAgentConfig, type Clock } from '@aiagent/client'
import { type ConversationStore, keyPrefix } from './conversation-store.ts'
import type { FleetEvents } from './events.ts'
import { type GuardedSockets, guardSockets } from './guarded-sockets.ts'
import { type Command, type ConversationShard, HeldConversation, type ShardAgent } from './held-conversation.ts'
import { messageField, ShardKeys } from './keys.ts'
import type { Counters } from './metrics.ts'
import type { ResolvedOptions, WorkerOptions } from './options.ts'
import type { Pacer } from './pacer.ts'
import { type Connection, runScript, type StreamEntry } from './redis.ts'
import { FENCED, PURGE, RELEASE, RENEW } from './scripts.ts'
import { ShardWriter } from './shard-writer.ts'
import { within } from './within.ts'

/** How long closing sockets are waited for before a lease is given back, in milliseconds. */
export const CLOSE_LIMIT_MS = 2_000

/**
 * How long the events of an ended conversation stay for listeners without a group, and the pause before it is tried again to
 * remove those that a group has not handled yet, in milliseconds.
 */
const ENDED_MS = 5_000

/** Longest pause between two looks at the age of events, in milliseconds. */
const PURGE_MS = 300_000

/** Most conversations whose events are removed at once. */
const PURGE_COUNT = 50

/** What all shards of a worker share. */
export interface WorkerParts {
  readonly options: ResolvedOptions
  readonly worker: Required<WorkerOptions>
  readonly workerId: string
  readonly connection: Connection
  readonly store: ConversationStore
  readonly starts: Pacer
  readonly messages: Pacer
  readonly counters: Counters
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'setTimeout'>
  /** Runs a start when there is room for it. */
  enqueueStart(start: () => Promise<void>, isWanted: () => boolean): void
}

/**
 * A shard whose lease this worker holds, with its conversations.
 *
 * The lease has a deadline on the monotonic clock, counted from before its last renewal was sent. From `marginMs` before the
 * deadline nothing is sent or stored any more, whether or not the worker has noticed: a process that was suspended wakes
 * with the deadline passed.
 */
export class OwnedShard implements ConversationShard {
  readonly index: number
  readonly number: number
  readonly keys: ShardKeys
  readonly writer: ShardWriter
  readonly messages: Pacer
  readonly conversations = new Map<string, HeldConversation>()
  readonly #parts: WorkerParts
  readonly #sockets: GuardedSockets
  readonly #seen = new Set<string>()
  /** Entries that came before the shard was loaded. */
  readonly #early: StreamEntry[] = []
  /** Sessions in which earlier workers may have written messages, by {@link messageField}. */
  readonly #marks = new Map<string, string>()
  #deadline: number
  #isLost = false
  /** Whether new entries are left to the next owner. */
  isClosing = false
  /** When events are removed next. */
  #purgeAt = 0
  /** Whether what the store knew at the take-over has been read. */
  isLoaded = false
  /** Whether the store refuses what this worker wants to write, so that another worker should try. */
  isGivenUp = false

  constructor(parts: WorkerParts, index: number, number: number, askedAt: number) {
    const { options, workerId, connection, worker, counters } = parts
    this.#parts = parts
    this.index = index
    this.number = number
    this.messages = parts.messages
    this.keys = new ShardKeys(options.name, index)
    this.#deadline = askedAt + worker.leaseMs
    this.writer = new ShardWriter({
      connection,
      keys: this.keys,
      worker: workerId,
      number,
      keepEvents: options.keepEvents,
      isHeld: () => this.isHeld(),
      onRefused: () => this.lose(),
      onFailed: error => this.#giveUp(error),
      onCommit: operations => {
        counters.commits++
        counters.operations += operations
      },
    })
    this.#sockets = guardSockets(options.environment, { shard: index, number, isHeld: () => this.isHeld() })
  }

  /** A lease that was found to be over stays over: what was left out meanwhile, only the next owner makes up for. */
  isHeld(): boolean {
    if (this.#isLost) return false
    if (this.#parts.clock.monotonic() < this.#deadline - this.#parts.worker.marginMs) return true
    queueMicrotask(() => this.lose())
    this.#deadline = Number.NEGATIVE_INFINITY
    return false
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Extends the lease. Loses the shard when another worker has it. */
  async renew(): Promise<void> {
    const { connection, worker, workerId } = this.#parts
    const askedAt = this.#parts.clock.monotonic()
    try {
      const owner = `${workerId}:${this.number}`
      const isOurs = await runScript(connection, RENEW, [this.keys.owner], [owner, worker.leaseMs])
      if (isOurs !== 1) this.lose()
      // A renewal that arrives too late must not revive the lease.
      else if (this.isHeld()) this.#deadline = Math.max(this.#deadline, askedAt + worker.leaseMs)
    } catch {
      // The store does not answer: the deadline decides.
    }
  }

  /**
   * Reads the conversations of the shard and what is known of their messages.
   *
   * @param readAgain reads the entries after an id that were given to this worker before
   */
  async load(readAgain: (from: string) => Promise<StreamEntry[]>): Promise<void> {
    const { connection } = this.#parts
    const [open, ending, pending] = await Promise.all([
      connection.smembers(this.keys.open),
      connection.smembers(this.keys.ending),
      connection.hgetall(this.keys.pending),
    ])
    for (const [field, session] of Object.entries(pending)) if (session !== '') this.#marks.set(field, session)
    for (const id of new Set([...open, ...ending])) this.#hold(id)
    for (let from: string | undefined = '0'; from !== undefined; ) {
      const entries: StreamEntry[] = await readAgain(from)
      this.#take(entries)
      from = entries.at(-1)?.id
    }
    this.isLoaded = true
    this.#take(this.#early.splice(0))
  }

  /** Takes entries of the stream, in order. Those that come while the shard is loaded wait for what was before them. */
  take(entries: readonly StreamEntry[]): void {
    if (this.isLoaded) this.#take(entries)
    else this.#early.push(...entries)
  }

  #take(entries: readonly StreamEntry[]): void {
    for (const { id: entryId, fields } of entries) {
      if (this.#seen.has(entryId) || this.isClosing || !this.isHeld()) continue
      this.#seen.add(entryId)
      const { c: conversationId, k: kind } = fields
      if (conversationId === undefined) continue
      if (kind === 'open' || kind === 'end') this.#hold(conversationId).enqueue({ kind, entryId })
      else this.#hold(conversationId).enqueue(this.#message(conversationId, entryId, fields))
    }
  }

  async configFor(conversationId: string): Promise<AiAgentConfig> {
    const { agent, storeTimeoutMs } = this.#parts.options
    return typeof agent === 'function' ? within(storeTimeoutMs, async () => agent(conversationId)) : agent
  }

  createAgent(conversationId: string, config: AiAgentConfig, hasFencing: () => boolean): ShardAgent {
    const { store } = this.#parts
    const own: AiAgentConfig = {
      enableLogging: false,
      retryInitialize: false,
      auth: { type: 'anonymous', config: { cache: { adapter: store } } },
      ...config,
      // Every message passes it, since its events are those of the fleet.
      transcriptConfig: { maxEntries: config.transcriptConfig?.maxEntries ?? 200 },
      cache: { adapter: store, contextPrefix: keyPrefix(this.index, this.number, conversationId) },
      autoConnect: false,
      resume: true,
      persistQueue: false,
    }
    delete own.sessionId
    const { environment, hasClosedInOrder } = this.#sockets.forAgent(hasFencing)
    return { agent: new AiAgent(own, environment), hasClosedInOrder }
  }

  async loadFields(conversationId: string): Promise<Map<string, string>> {
    return new Map(Object.entries(await this.#parts.connection.hgetall(this.keys.conversation(conversationId))))
  }

  onSettled(state: FleetEvents['deliveryUpdate']['state']): void {
    this.#parts.counters.settled[state]++
  }

  onAgentMessage(): void {
    this.#parts.counters.agentMessages++
  }

  onStarted(isRunning: boolean): void {
    this.#parts.counters.running += isRunning ? 1 : -1
    if (isRunning) this.#parts.counters.starts++
  }

  /**
   * The service has refused the number of this lease: another worker has the shard, or the store has forgotten a number that
   * it gave out. The next lease has a number above the one that the service knows.
   */
  onFenced(number: number | undefined): void {
    const { connection, workerId, options } = this.#parts
    if (number === undefined) {
      const text =
        'The service refused the fencing number of a shard and named none, or one more than a day ahead of the clock. Compare the clocks of the service, Redis and the worker.'
      options.log('warn', text, { shard: this.index })
    }
    if (this.#isLost || number === undefined || number <= this.number) return
    options.log('warn', 'The service knows a later owner of a shard.', { shard: this.index, number })
    this.lose()
    const owner = `${workerId}:${this.number}`
    // Without it, the numbers of the next leases are refused until the time has passed the number.
    runScript(connection, FENCED, [this.keys.owner, this.keys.number], [owner, number]).catch(() => {})
  }

  onEnded(conversationId: string): void {
    this.conversations.delete(conversationId)
    this.#purgeAt = Math.min(this.#purgeAt, this.#parts.clock.monotonic() + ENDED_MS + 100)
  }

  /** Settles what has been written long enough ago, and forgets the entries that Redis has forgotten. */
  sweep(): void {
    const now = this.#parts.clock.monotonic()
    for (const conversation of this.conversations.values()) conversation.sweep(performance.now())
    if (now >= this.#purgeAt) void this.#purge(now)
    // Entries come in order: an old one returns only with a new lease.
    if (this.#seen.size > 10_000) for (const id of [...this.#seen].slice(0, 5_000)) this.#seen.delete(id)
  }

  /** Removes the events of conversations that have ended, and those that are too old. */
  async #purge(now: number): Promise<void> {
    const { connection, clock, options } = this.#parts
    const pause = Math.min(PURGE_MS, Math.max(1_000, options.keepEventsMs / 10))
    this.#purgeAt = now + pause
    try {
      const { keys } = this
      const ended = await connection.lrange(keys.ended, 0, PURGE_COUNT - 1)
      const all = [keys.out, keys.ended, keys.unreadable]
      for (const entry of ended) all.push(keys.events(entry.slice(entry.indexOf(' ') + 1)))
      const oldest = Math.max(0, Math.floor(clock.now() - options.keepEventsMs))
      const left = await runScript(connection, PURGE, all, [oldest, ENDED_MS, ...ended])
      if (left !== 0) this.#purgeAt = Math.min(this.#purgeAt, now + ENDED_MS)
    } catch (error) {
      options.log('warn', 'Old events could not be removed. This is repeated.', { shard: this.index, error })
    }
  }

  /** Another worker has the shard, or may have it: ends everything without a word. */
  lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#parts.counters.leaseLosses++
    this.writer.stop()
    this.#sockets.destroy()
    for (const conversation of this.conversations.values()) void conversation.stop()
  }

  /** The store answers, and does not take a commit. Conversations of other shards are not held up by it. */
  #giveUp(error: unknown): void {
    const text =
      'The store repeatedly refused a commit, so this worker gives up the shard. Check the data of the shard and the rights of the connection.'
    this.#parts.options.log('error', text, { shard: this.index, error })
    this.isGivenUp = true
    this.lose()
  }

  /** Gives the shard to the next worker: everything is settled or stored, and every socket closed, before it may have it. */
  async giveBack(waitMs: number): Promise<void> {
    const { connection, workerId } = this.#parts
    this.isClosing = true
    const until = performance.now() + waitMs
    const isBusy = () => [...this.conversations.values()].some(conversation => conversation.isBusy)
    while (isBusy() && performance.now() < until && this.isHeld()) await wait(10)
    await this.writer.flush()
    await Promise.all([...this.conversations.values()].map(conversation => conversation.stop()))
    await Promise.race([this.#sockets.closed(), wait(CLOSE_LIMIT_MS)])
    this.#sockets.destroy()
    for (const conversation of this.conversations.values()) conversation.handOver()
    if (!(await this.writer.flush())) return
    this.#isLost = true
    this.writer.stop()
    await runScript(connection, RELEASE, [this.keys.owner], [`${workerId}:${this.number}`])
  }

  #hold(conversationId: string): HeldConversation {
    const known = this.conversations.get(conversationId)
    if (known) return known
    const held = new HeldConversation(conversationId, this)
    this.conversations.set(conversationId, held)
    void this.startLater(held)
    return held
  }

  /** Starts a conversation when it is its turn. */
  async startLater(held: HeldConversation): Promise<void> {
    const { starts, enqueueStart } = this.#parts
    const start = async () => {
      await starts.take()
      if (this.isHeld() && !this.isClosing) await held.start()
    }
    if (await held.prepare()) enqueueStart(start, () => held.isWanted)
  }

  #message(conversationId: string, entryId: string, fields: StreamEntry['fields']): Command {
    const { i: id = '', d: text = '', t: time } = fields
    const mark = this.#marks.get(messageField(conversationId, id))
    return { kind: 'message', entryId, id, text, timestamp: Number(time), mark }
  }
}

function wait(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms).unref())
}
