import { randomUUID } from 'node:crypto'
import { FleetError, type FleetErrorCode } from './errors.ts'
import { EventHub } from './event-hub.ts'
import type { FleetEventType, FleetListener } from './events.ts'
import { messageField, metaKeys, ShardKeys, shardOf, wellFormed } from './keys.ts'
import { createCounters, type FleetMetrics } from './metrics.ts'
import { type FleetOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import {
  type Connection,
  closeConnection,
  openConnection,
  readEntries,
  readEvictionPolicies,
  runScript,
} from './redis.ts'
import { BEAT, END, OPEN, SEND } from './scripts.ts'
import { LateError, within } from './within.ts'
import { Worker } from './worker.ts'

/** How long the number of conversations is trusted, in milliseconds. */
const COUNT_MS = 1_000

const ADVICE: Partial<Record<FleetErrorCode, string>> = {
  unknown_conversation: 'The conversation is not open. Call `open()` first.',
  conversation_ending: 'The conversation is ending. Wait for the event `ended`.',
  too_many_pending:
    'Too many messages of the conversation are not delivered yet. Try again later, or raise `maxPending`.',
}

/** What is known of a conversation. */
export interface ConversationInfo {
  /** The id that `open()` was given, or that it chose. */
  readonly id: string
  /** `ending` until the agent has been left; `unknown` when the fleet does not have it, or has ended it. */
  readonly state: 'open' | 'ending' | 'unknown'
  /** Number of its shard, from 0. */
  readonly shard: number
  /** Unsettled messages. */
  readonly pending: number
  /** Id of the worker that holds it. */
  readonly worker: string | undefined
}

/**
 * Conversations that many processes hold together, over Redis. Any process may send and listen; each conversation is held
 * by one worker at a time, and by another one when that worker ends.
 */
export class Fleet {
  readonly #options: ResolvedOptions
  readonly #counters = createCounters()
  readonly #events: EventHub
  #connection: Connection | undefined
  #worker: Worker | undefined
  #isClosed = false
  #closing: Promise<void> | undefined
  #count: { readonly at: number; readonly value: number } | undefined
  readonly #onSignal = (signal: NodeJS.Signals) => void this.#endBy(signal)

  /** @throws {FleetError} code `config_invalid`, naming the option */
  constructor(options: FleetOptions) {
    this.#options = resolveOptions(options)
    const { redis, name, shards, redeliverAfterMs, keepEventsMs, log } = this.#options
    this.#events = new EventHub({ redis, name, shards, redeliverAfterMs, keepEventsMs, log })
  }

  /**
   * Connects to the store and begins to hold conversations, if this process is a worker. Logs a warning if the server may
   * evict what is stored.
   *
   * @throws {FleetError} `config_invalid` when the fleet has another number of shards, `store_unavailable`. It can then be
   *   called again
   */
  async start(): Promise<void> {
    if (this.#isClosed) throw new FleetError('closed', 'The fleet is closed. Create another one.')
    if (this.#connection) return
    const { redis, name, shards, worker } = this.#options
    const connection = openConnection(redis)
    this.#connection = connection
    try {
      const { settings } = metaKeys(name)
      await this.#bounded(connection.hsetnx(settings, 'shards', String(shards)))
      const stored = await this.#bounded(connection.hget(settings, 'shards'))
      if (stored !== String(shards)) {
        const text = `The fleet "${name}" has ${stored} shards. Set \`shards\` to that number.`
        throw new FleetError('config_invalid', text)
      }
      await this.#bounded(Promise.all([this.#events.start(), this.#warnOfEviction(connection)]))
    } catch (error) {
      this.#connection = undefined
      closeConnection(connection)
      throw error
    }
    if (!worker) return
    this.#worker = new Worker(this.#options, worker, connection, this.#counters)
    for (const signal of worker.signals) process.on(signal, this.#onSignal)
    await this.#worker.start()
  }

  /**
   * Opens a conversation. Resolves when that is stored; a worker then starts it.
   *
   * @param conversationId the host's name for it, or a new UUID; nothing happens if it is open already
   * @param options.context attributes of the conversation. They are stored as they are given
   * @returns the id. Half a surrogate pair in it, which cannot be stored, is replaced by U+FFFD
   * @throws {FleetError} `too_many_conversations`, `conversation_ending`, `invalid`, `store_unavailable`
   */
  async open(
    conversationId: string = randomUUID(),
    options: { context?: Record<string, unknown> } = {},
  ): Promise<string> {
    const { id, keys, connection } = this.#place(conversationId)
    await this.#requireRoom(id)
    const context = options.context === undefined ? '' : JSON.stringify(options.context)
    const all = [keys.in, keys.open, keys.ending, keys.conversation(id)]
    const opened = runScript(connection, OPEN, all, [id, context, Date.now()])
    this.#require(await this.#bounded(opened, id), id)
    return id
  }

  /**
   * Sends a message of the user. Resolves when it is stored: from then on it is delivered, or its outcome is told by
   * `deliveryUpdate`, whatever becomes of this process. A repeated call with the same id has no effect.
   *
   * @param options.id id of the message, unique in its conversation, for a call that is repeated after `store_unavailable`.
   *   @default a new UUID
   * @returns the message's id, with half a surrogate pair replaced by U+FFFD
   * @throws {FleetError} `unknown_conversation`, `conversation_ending`, `too_many_pending`, `invalid`, `mask_failed`,
   *   `store_unavailable`
   */
  async send(conversationId: string, text: string, options: { id?: string } = {}): Promise<string> {
    const { id: conversation, keys, connection } = this.#place(conversationId)
    if (typeof text !== 'string' || text === '') throw new FleetError('invalid', 'The text of a message is missing.')
    const id = wellFormed(String(options.id ?? randomUUID()))
    const { mask, maxPending } = this.#options
    const masked = mask === false ? text : await this.#masked(mask, text, conversationId)
    const all = [keys.in, keys.open, keys.ending, keys.pending, keys.counts, keys.done(conversation)]
    const limit = Number.isFinite(maxPending) ? maxPending : Number.MAX_SAFE_INTEGER
    const args = [conversation, messageField(conversation, id), id, masked, limit, Date.now()]
    const sent = runScript(connection, SEND, all, args)
    this.#require(await this.#bounded(sent, conversation), conversation)
    return id
  }

  /**
   * Ends a conversation after its messages are settled, and removes what is stored of it. The event `ended` follows. The
   * conversation's events are removed once all groups of listeners have handled them, a few seconds after `ended` at the
   * earliest and after `keepEventsMs` at the latest.
   *
   * @throws {FleetError} `unknown_conversation`, `store_unavailable`
   */
  async end(conversationId: string): Promise<void> {
    const { id, keys, connection } = this.#place(conversationId)
    const ended = runScript(connection, END, [keys.in, keys.open, keys.ending], [id])
    this.#require(await this.#bounded(ended, id), id)
  }

  /**
   * Listens to the events of all conversations, from whatever worker. Without a group every process that listens gets each
   * event while it runs. With a group, one process of that group gets each event, also one that happened while none ran; an
   * event whose listener fails is delivered again.
   */
  on<Type extends FleetEventType>(type: Type, listener: FleetListener<Type>, options: { group?: string } = {}): this {
    this.#events.on(type, listener, options.group)
    return this
  }

  /** Removes a listener, of every group. */
  off<Type extends FleetEventType>(type: Type, listener: FleetListener<Type>): this {
    this.#events.off(type, listener)
    return this
  }

  /** What the store knows of a conversation. */
  async conversation(conversationId: string): Promise<ConversationInfo> {
    const { id, keys, connection, shard } = this.#place(conversationId)
    const [isOpen, isEnding, pending, owner] = await this.#bounded(
      Promise.all([
        connection.sismember(keys.open, id),
        connection.sismember(keys.ending, id),
        connection.hget(keys.counts, id),
        connection.get(keys.owner),
      ]),
    )
    return {
      id,
      state: isOpen ? 'open' : isEnding ? 'ending' : 'unknown',
      shard,
      pending: Number(pending ?? 0),
      worker: owner?.slice(0, owner.lastIndexOf(':')),
    }
  }

  /** Numbers of this process and of the whole fleet. Asks each shard. */
  async metrics(): Promise<FleetMetrics> {
    const connection = this.#requireConnection()
    const { name, shards, worker } = this.#options
    const states = await this.#bounded(
      Promise.all(
        Array.from({ length: shards }, async (_, index) => {
          const keys = new ShardKeys(name, index)
          const [owner, conversations, pending, oldest] = await Promise.all([
            connection.exists(keys.owner),
            connection.scard(keys.open),
            connection.hlen(keys.pending),
            connection.xrange(keys.in, '-', '+', 'COUNT', 1),
          ])
          return { owner, conversations, pending, oldest: Number(readEntries(oldest)[0]?.id.split('-')[0] ?? Infinity) }
        }),
      ),
    )
    const beat = runScript(connection, BEAT, [metaKeys(name).workers], ['', worker?.leaseMs ?? 20_000])
    const live = await this.#bounded(beat)
    const oldest = Math.min(...states.map(state => state.oldest))
    const sum = (of: 'conversations' | 'pending') => states.reduce((total, state) => total + state[of], 0)
    return {
      worker: {
        ...structuredClone(this.#counters),
        id: this.#worker?.id ?? '',
        shards: this.#worker?.shardCount ?? 0,
      },
      fleet: {
        workers: Array.isArray(live) ? live.length : 0,
        shards,
        orphanedShards: states.filter(({ owner }) => owner === 0).length,
        conversations: sum('conversations'),
        pending: sum('pending'),
        oldestPendingMs: Number.isFinite(oldest) ? Math.max(0, Date.now() - oldest) : 0,
      },
    }
  }

  /** Gives the conversations of this process to the other workers at once. Sending and listening go on. */
  async drain(): Promise<void> {
    await this.#worker?.drain()
  }

  /** Drains, and releases every connection, timer and listener. */
  close(): Promise<void> {
    this.#isClosed = true
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    for (const signal of this.#options.worker?.signals ?? []) process.off(signal, this.#onSignal)
    await this.#worker?.drain().catch(error => this.#options.log('warn', 'The drain failed.', { error }))
    await this.#worker?.stop()
    await this.#events.close()
    if (this.#connection) closeConnection(this.#connection)
  }

  /** A server whose memory is full would remove messages that `send()` has stored, and nothing would tell their outcome. */
  async #warnOfEviction(connection: Connection): Promise<void> {
    const { storeTimeoutMs, log } = this.#options
    const policies = await within(storeTimeoutMs / 2, () => readEvictionPolicies(connection)).catch(() => [])
    for (const policy of policies) {
      if (policy === 'noeviction') continue
      const text = `Redis removes stored messages and sessions when its memory is full (maxmemory-policy "${policy}").`
      log('warn', `${text} Set \`maxmemory-policy\` to "noeviction" for the store of a fleet.`, { policy })
    }
  }

  async #endBy(signal: NodeJS.Signals): Promise<void> {
    await this.close()
    // Without another listener the process ends as if nothing had caught the signal.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  }

  #requireConnection(): Connection {
    if (this.#isClosed) throw new FleetError('closed', 'The fleet is closed.')
    if (!this.#connection) throw new FleetError('not_started', 'The fleet is not started. Await `start()` first.')
    return this.#connection
  }

  async #masked(mask: Exclude<ResolvedOptions['mask'], false>, text: string, conversationId: string): Promise<string> {
    const { storeTimeoutMs } = this.#options
    try {
      const masked: unknown = await within(storeTimeoutMs, async () => mask(text, conversationId))
      if (typeof masked === 'string' && masked !== '') return masked
      throw new TypeError('It returned no text.')
    } catch (cause) {
      const problem = 'The text could not be masked. Nothing was stored.'
      throw new FleetError('mask_failed', problem, { conversationId, cause })
    }
  }

  #place(conversationId: string) {
    if (typeof conversationId !== 'string' || conversationId === '' || conversationId.length > 500)
      throw new FleetError('invalid', 'The id of a conversation is a text of 1 to 500 characters.')
    const connection = this.#requireConnection()
    const id = wellFormed(conversationId)
    const shard = shardOf(id, this.#options.shards)
    return { id, connection, shard, keys: new ShardKeys(this.#options.name, shard) }
  }

  #require(answer: unknown, conversationId: string): void {
    const advice = ADVICE[answer as FleetErrorCode]
    if (advice) throw new FleetError(answer as FleetErrorCode, advice, { conversationId })
  }

  async #requireRoom(conversationId: string): Promise<void> {
    const { maxConversations } = this.#options
    if (maxConversations === Number.POSITIVE_INFINITY) return
    const now = performance.now()
    if (!this.#count || now - this.#count.at > COUNT_MS)
      this.#count = { at: now, value: (await this.metrics()).fleet.conversations }
    const { value, at } = this.#count
    if (value >= maxConversations)
      throw new FleetError(
        'too_many_conversations',
        `The fleet holds ${value} conversations already. End some, or raise \`maxConversations\`.`,
        { conversationId },
      )
    this.#count = { at, value: value + 1 }
  }

  /** The result of a command, unless the store fails or takes too long. */
  async #bounded<T>(command: Promise<T>, conversationId?: string): Promise<T> {
    const { storeTimeoutMs } = this.#options
    const unavailable = (problem: string, cause: unknown) => {
      const text = `${problem} What was asked may still be done: repeat the call with the same id.`
      return new FleetError('store_unavailable', text, {
        cause,
        ...(conversationId !== undefined && { conversationId }),
      })
    }
    try {
      return await within(storeTimeoutMs, () => command)
    } catch (cause) {
      const isLate = cause instanceof LateError
      throw unavailable(
        isLate ? `The store did not answer within ${storeTimeoutMs} ms.` : 'The store has failed.',
        cause,
      )
    }
  }
}
