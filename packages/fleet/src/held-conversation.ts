import { type AiAgent, type AiAgentConfig, type DeliveryUpdate, Message, SDKError } from '@aiagent/client'
import { CAPABILITY, CLOSE_CODE, readFencedReason } from '@aiagent/protocol'
import type { StoredFields } from './conversation-store.ts'
import type { FleetDeliveryReason, FleetEvents } from './events.ts'
import { wellFormed } from './keys.ts'
import type { Pacer } from './pacer.ts'
import { eventOperation, type Operation, type ShardWriter } from './shard-writer.ts'
import { isOfAgent, ToldMessages } from './told-messages.ts'

/** Most messages that are marked together. */
const BATCH = 50

/** How long `end` waits for unsettled messages, in milliseconds. */
const END_LIMIT_MS = 10_000

/** On a service without receipts: how long the connection must work after a message was written, in milliseconds. */
const SENT_AFTER_MS = 20_000

/** Wait before a failed start is repeated, in milliseconds: doubled each time. */
const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 60_000

const NEEDS_CHOICE =
  'The agent needs a choice of portal, agent or profile. Make it by `initParams` of its configuration.'

/** What is to be done in a conversation: one entry of the stream of its shard. */
export type Command =
  | { readonly kind: 'open'; readonly entryId: string }
  | { readonly kind: 'end'; readonly entryId: string }
  | {
      readonly kind: 'message'
      readonly entryId: string
      readonly id: string
      readonly text: string
      readonly timestamp: number
      /** The session in which an earlier worker may have written the message. */
      readonly mark: string | undefined
    }

type MessageCommand = Extract<Command, { kind: 'message' }>

/** The agent of a conversation, for one lease. */
export interface ShardAgent {
  readonly agent: AiAgent
  /** Whether its last connection worked until both sides closed it. */
  hasClosedInOrder(): boolean
}

/** What a conversation uses of the shard that holds it. */
export interface ConversationShard {
  readonly writer: ShardWriter
  isHeld(): boolean
  /** Asks the store whether the lease is still held. */
  renew(): Promise<void>
  /** The service has refused the fencing number, because it knows a higher one. */
  onFenced(number: number | undefined): void
  /** Starts the conversation when it is its turn. */
  startLater(held: HeldConversation): Promise<void>
  /** Creates the agent of a conversation, for this lease. */
  createAgent(conversationId: string, config: AiAgentConfig, hasFencing: () => boolean): ShardAgent
  configFor(conversationId: string): Promise<AiAgentConfig>
  loadFields(conversationId: string): Promise<Map<string, string>>
  readonly messages: Pacer
  onSettled(state: FleetEvents['deliveryUpdate']['state']): void
  onAgentMessage(): void
  onStarted(isRunning: boolean): void
  onEnded(conversationId: string): void
}

/** One conversation that this worker holds: its agent, and the messages between the stream and the agent. */
export class HeldConversation implements StoredFields {
  readonly id: string
  fields = new Map<string, string>()
  readonly #shard: ConversationShard
  #commands: Command[] = []
  /** Handed to the agent and unsettled: message id → entry id. */
  readonly #inFlight = new Map<string, string>()
  /** Messages of the last batch, whose marks are stored. */
  #marked: readonly string[] = []
  /** Without receipts: when each message was written. */
  readonly #written = new Map<string, number>()
  #config: AiAgentConfig | undefined
  #agent: AiAgent | undefined
  #hasClosedInOrder = () => false
  #hasReceipts = false
  #hasFencing = false
  #told = new ToldMessages(undefined)
  #isReady = false
  #isPumping = false
  #isOver = false
  #failures = 0
  /** Whether the last start has failed, and the next one has not begun. */
  #isWaitingToStart = false
  #timer: NodeJS.Timeout | undefined
  #endBy: number | undefined

  constructor(id: string, shard: ConversationShard) {
    this.id = id
    this.#shard = shard
  }

  /** Whether anything waits for the conversation, so that it starts before those that are idle. */
  get isWanted(): boolean {
    return this.#commands.length > 0
  }

  /** Whether something that may have been written is unsettled. */
  get isBusy(): boolean {
    return this.#inFlight.size > 0
  }

  enqueue(command: Command): void {
    this.#commands.push(command)
    if (!this.#endUnstarted()) void this.#pump()
  }

  set(field: string, value: string): void {
    this.#shard.writer.add(this.#setting(field, value))
  }

  /** The session of the agent, as a mark has it. */
  get #session(): string | undefined {
    const id = this.#agent?.getSessionId()
    return id ? wellFormed(id) : undefined
  }

  #setting(field: string, value: string): Operation {
    this.fields.set(field, value)
    return ['set', this.id, field, value]
  }

  delete(field: string): void {
    if (this.fields.delete(field)) this.#shard.writer.add(['delete', this.id, field])
  }

  /**
   * Asks the host for the configuration, before the conversation takes a place among those that start: a host that never
   * answers holds up no other one. A failure is told, and repeated later.
   *
   * @returns whether it can start
   */
  async prepare(): Promise<boolean> {
    try {
      this.#config = await this.#shard.configFor(this.id)
      return !this.#isOver
    } catch (error) {
      this.#startFailed(error)
      return false
    }
  }

  /** Restores or starts the conversation. A failure is told, and repeated later. */
  async start(): Promise<void> {
    const shard = this.#shard
    try {
      this.fields = await shard.loadFields(this.id)
      this.#told = new ToldMessages(this.fields.get('told'))
      const config = this.#config
      if (!config || this.#isOver || !shard.isHeld()) return
      const { agent, hasClosedInOrder } = shard.createAgent(this.id, config, () => this.#hasFencing)
      this.#agent = agent
      this.#hasClosedInOrder = hasClosedInOrder
      this.#listen(agent)
      const context = this.fields.get('context')
      const { status } = await agent.initialize(context === undefined ? {} : { context: JSON.parse(context) })
      if (status !== 'ready') throw new SDKError(NEEDS_CHOICE, 'CONFIG_INVALID')
      const { capabilities } = await agent.getDeploymentInfo()
      this.#hasReceipts = capabilities?.includes(CAPABILITY.RECEIPTS) === true
      this.#hasFencing = capabilities?.includes(CAPABILITY.FENCING) === true
      // The session keeps the context from now on.
      this.delete('context')
      // The session must be stored before anything is said in it.
      if (!(await shard.writer.flush()) || this.#isOver) return
      if (this.fields.get('isTold') === undefined) {
        const opened = eventOperation('opened', { conversationId: this.id })
        shard.writer.add(this.#setting('isTold', '1'), opened)
      }
      this.#isReady = true
      this.#failures = 0
      shard.onStarted(true)
      void agent.connect().catch(() => {})
      void this.#pump()
    } catch (error) {
      this.#startFailed(error)
    }
  }

  /** Lets go of the conversation. What is unsettled stays in the stream for the next worker. */
  async stop(): Promise<void> {
    if (this.#isReady) this.#shard.onStarted(false)
    this.#isOver = true
    this.#isReady = false
    clearTimeout(this.#timer)
    await this.#agent?.destroy()
  }

  /**
   * After {@link stop}, before another worker may have the shard. On a service without receipts the next worker must doubt
   * every marked message. After an orderly close it is certain which messages the service has and which ones were not sent.
   */
  handOver(): void {
    if (this.#hasReceipts || !this.#hasClosedInOrder()) return
    const unsent = new Set([...this.#marked, ...this.#inFlight.keys()])
    for (const id of [...this.#written.keys()]) {
      unsent.delete(id)
      this.#settle(id, 'sent')
    }
    // For a message that is settled already, this has no effect.
    for (const id of unsent) this.#shard.writer.add(['mark', this.id, id, ''])
  }

  /** Settles what has been written long enough ago, on a service without receipts. */
  sweep(now: number): void {
    for (const [id, at] of this.#written) if (now - at >= SENT_AFTER_MS) this.#settle(id, 'sent')
    if (this.#endBy !== undefined || this.#commands.length > 0) void this.#pump()
  }

  #listen(agent: AiAgent): void {
    const isCurrent = () => this.#agent === agent && !this.#isOver && this.#shard.isHeld()
    agent.on('connected', () => void this.#pump())
    agent.on('closed', ({ payload: { code, reason } }) => {
      if (!isCurrent()) return
      if (code === CLOSE_CODE.FENCED) this.#shard.onFenced(readFencedReason(reason, Date.now()))
      // The session was opened elsewhere, or ended.
      else if (code === CLOSE_CODE.NORMAL) void this.#shard.renew()
    })
    // The event of every message, live or recovered after an outage, with everything that the service sent.
    agent.on('transcriptUpdate', ({ payload }) => {
      const { entry } = payload
      if (isCurrent() && isOfAgent(entry)) this.#tell(entry.message, entry.timestamp, false)
    })
    agent.on('transcriptRestored', ({ payload }) => {
      if (!isCurrent()) return
      for (const { message, timestamp } of this.#told.missed(payload.entries)) this.#tell(message, timestamp, true)
    })
    agent.on('deliveryUpdate', ({ payload }) => {
      if (isCurrent()) this.#updated(payload)
    })
  }

  #tell(message: Message, timestamp: number, isRecovered: boolean): void {
    if (!this.#told.add(message.messageId, timestamp)) return
    const { persona, role, content, messageData, messageId } = message
    this.#shard.onAgentMessage()
    const event = eventOperation('agentMessage', {
      conversationId: this.id,
      message: { persona, role, content, messageData, messageId, timestamp },
      ...(isRecovered && { recovered: true }),
    })
    this.#shard.writer.add(event, this.#setting('told', this.#told.toString()))
  }

  #updated({ id, state, reason }: DeliveryUpdate): void {
    if (!this.#inFlight.has(id)) {
      // A message that was settled before, as when a history shows an unknown one.
      if (state === 'acknowledged') this.#shard.writer.add(this.#outcome(id, state))
      return
    }
    if (state === 'acknowledged' || state === 'unknown' || state === 'failed' || state === 'cancelled')
      this.#settle(id, state, reason)
    else if (state === 'sent' && !this.#hasReceipts) this.#written.set(id, performance.now())
  }

  #settle(id: string, state: FleetEvents['deliveryUpdate']['state'], reason?: FleetDeliveryReason): void {
    const entryId = this.#inFlight.get(id)
    this.#inFlight.delete(id)
    this.#written.delete(id)
    const done: Operation[] = entryId === undefined ? [] : [['done', entryId]]
    this.#shard.writer.add(...done, ['settle', this.id, id], this.#outcome(id, state, reason))
    this.#shard.onSettled(state)
    if (this.#endBy !== undefined) void this.#pump()
  }

  #outcome(id: string, state: FleetEvents['deliveryUpdate']['state'], reason?: FleetDeliveryReason): Operation {
    return eventOperation('deliveryUpdate', { conversationId: this.id, id, state, ...(reason && { reason }) })
  }

  /** Works through the commands as far as the conversation allows it. */
  async #pump(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    try {
      while (this.#isReady && this.#shard.isHeld()) {
        const [first] = this.#commands
        if (!first || !(await this.#work(first))) break
      }
    } finally {
      this.#isPumping = false
    }
  }

  /** Returns false when it cannot go on for now. */
  async #work(first: Command): Promise<boolean> {
    const { writer } = this.#shard
    if (first.kind === 'open') {
      this.#commands.shift()
      writer.add(['done', first.entryId])
      return true
    }
    if (first.kind === 'end') return this.#end(first.entryId)
    if (this.#giveUp(first)) return true
    const agent = this.#agent
    if (!agent?.isConnected()) {
      if (agent?.getState() === 'CLOSED') void agent.connect().catch(() => {})
      return false
    }
    const batch: MessageCommand[] = [first]
    for (const command of this.#commands.slice(1, BATCH)) {
      if (command.kind !== 'message' || command.mark !== undefined) break
      batch.push(command)
    }
    const session = this.#session ?? '?'
    this.#marked = batch.map(({ id }) => id)
    for (const { id } of batch) writer.add(['mark', this.id, id, session])
    // Before a message may leave, the store knows in which session.
    if (!(await writer.flush())) return false
    for (const command of batch) {
      await this.#shard.messages.take()
      if (this.#isOver || !this.#shard.isHeld()) return false
      this.#commands.shift()
      await this.#send(agent, command)
    }
    return true
  }

  /** Settles a message that an earlier worker may have sent, unless the service recognizes a repetition. */
  #giveUp({ id, entryId, mark }: MessageCommand): boolean {
    if (mark === undefined || (this.#hasReceipts && mark === this.#session)) return false
    this.#commands.shift()
    this.#inFlight.set(id, entryId)
    this.#settle(id, 'unknown', 'worker_lost')
    return true
  }

  async #send(agent: AiAgent, { id, entryId, text, timestamp }: MessageCommand): Promise<void> {
    this.#inFlight.set(id, entryId)
    try {
      await agent.send(new Message('customer', 'human', text, { messageId: id, timestamp }))
    } catch (error) {
      if (this.#isOver) return
      const { reason } = error as { reason?: FleetDeliveryReason }
      this.#settle(id, 'failed', reason ?? 'encoding_failed')
    }
  }

  async #end(entryId: string): Promise<boolean> {
    this.#endBy ??= performance.now() + END_LIMIT_MS
    if (this.isBusy && performance.now() < this.#endBy) return false
    for (const id of [...this.#inFlight.keys()]) this.#settle(id, 'unknown', 'session_ended')
    await this.#agent?.disconnect().catch(() => {})
    if (this.#isOver || !this.#shard.isHeld()) return false
    await this.stop()
    this.#forget(entryId)
    return false
  }

  /** Ends a conversation that does not start. What was not sent has failed. Returns whether that was wanted. */
  #endUnstarted(): boolean {
    const end = this.#commands.find(({ kind }) => kind === 'end')
    if (!end || !this.#isWaitingToStart || this.#isOver || !this.#shard.isHeld()) return false
    for (const command of this.#commands.splice(0)) {
      if (command.kind === 'message') {
        this.#inFlight.set(command.id, command.entryId)
        this.#settle(command.id, command.mark === undefined ? 'failed' : 'unknown', 'session_ended')
      } else if (command !== end) this.#shard.writer.add(['done', command.entryId])
    }
    void this.stop()
    this.#forget(end.entryId)
    return true
  }

  #forget(entryId: string): void {
    const ended = eventOperation('ended', { conversationId: this.id })
    this.#shard.writer.add(['done', entryId], ended, ['forget', this.id])
    this.#shard.onEnded(this.id)
  }

  #startFailed(error: unknown): void {
    const agent = this.#agent
    this.#agent = undefined
    void agent?.destroy()
    if (this.#isOver || !this.#shard.isHeld()) return
    const { code = 'UNKNOWN', message } = error as Error & { code?: string }
    const failure = { conversationId: this.id, code: String(code), message }
    this.#shard.writer.add(eventOperation('conversationError', failure))
    this.#isWaitingToStart = true
    if (this.#endUnstarted()) return
    const wait = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures++)
    this.#timer = setTimeout(() => {
      this.#isWaitingToStart = false
      void this.#shard.startLater(this)
    }, wait)
  }
}
