import type { AgentEventType, AiAgent, AiAgentConfig, Delivery, InitializationResult } from '@aiagent/client'
import { Random } from '../schedule/random.ts'
import type { Schedule, Step } from '../schedule/step.ts'
import { type RunService, subjectOf } from '../service/service.ts'
import { AgentLife } from './agent-life.ts'
import { EventLog } from './event-log.ts'
import { type HostMessage, markOf } from './host-message.ts'
import { HostStore } from './host-store.ts'
import { choose, pick } from './selection.ts'
import { TabStorage } from './tab-storage.ts'

/** A call of the host and what became of it. */
export interface HostCall {
  readonly name: string
  /** The process that waits for it. */
  readonly life: AgentLife
  settled: boolean
  error?: unknown
}

/** Life of the tokens that the host obtains, in seconds. */
const TOKEN_LIFE_SECONDS = 3_600

/** Start of the keys in the host's store: it names the conversation. */
const KEY_PREFIX = 'run_'

/** Name of the store that several users share. */
export const SHARED_STORE = 'the store of the host'

/** The host app of a run: makes the calls that the schedule names, and records what became of them. */
export class Host {
  readonly events: EventLog
  readonly calls: HostCall[] = []
  readonly messages: HostMessage[] = []
  readonly stores = { session: new TabStorage(), local: new TabStorage() }
  /** The host's own store, where the run has one. */
  readonly store: HostStore | undefined
  /** The user at the screen. */
  user = 1
  /** Access tokens of users who have left. */
  readonly formerTokens = new Set<string>()
  /** Whether the user is leaving: a logout or a change of the user is in progress. */
  isLeaving = false
  /** Users who have left a process that never had a token of theirs: what they stored before waits for their return. */
  readonly unnamedUsers = new Set<number>()
  /** Number of processes that the run has had. */
  lives = 0
  readonly #service: RunService
  readonly #schedule: Schedule
  readonly #random: Random
  readonly #timers = new Set<unknown>()
  readonly #signals: AbortSignal[] = []
  /** The tokens that each user has obtained. */
  readonly #tokens = new Map<number, readonly string[]>()
  #life: AgentLife
  /** The user whose token the agent has obtained last. */
  #knownUser: number | undefined

  constructor(service: RunService, schedule: Schedule) {
    this.#service = service
    this.#schedule = schedule
    this.#random = new Random(schedule.seed ^ 0x5eed)
    const { store } = schedule.setup
    this.store = store && new HostStore(store, service.clock.service)
    this.events = new EventLog(service.clock, () => this.user)
    this.#life = this.#begin()
  }

  get agent(): AiAgent {
    return this.#life.agent
  }

  /** What the present process holds in memory. */
  get memory(): AgentLife['memory'] {
    return this.#life.memory
  }

  /** What the present process has recorded. */
  get exports(): AgentLife['exports'] {
    return this.#life.exports
  }

  /** Every token that a user has obtained. */
  get tokens(): readonly string[] {
    return [...this.#tokens.values()].flat()
  }

  /** Whether the service has the agent mask texts. */
  get masks(): boolean {
    return this.#schedule.setup.agent === 'desk'
  }

  /** The stores of the present process, each as text. */
  storedTexts(): Record<string, string> {
    const { memory, store, stores } = this
    const texts = {
      'session storage': [...stores.session.entries],
      'local storage': [...stores.local.entries],
      memory: memory.keys().map(key => [key, memory.get(key)]),
      [SHARED_STORE]: [...(store?.entries ?? [])],
    }
    return Object.fromEntries(Object.entries(texts).map(([place, content]) => [place, JSON.stringify(content)]))
  }

  /** Makes the call of a step. Returns false for a step that is not the host's. */
  take(step: Step): boolean {
    switch (step.do) {
      case 'send':
        for (let left = step.count; left > 0; left--) this.send()
        return true
      case 'ask':
        for (let left = step.count; left > 0; left--) this.#ask(step)
        return true
      case 'initialize':
        this.call('initialize()', this.#initialize(this.#options(step)))
        return true
      case 'connect':
        this.call('connect()', this.connect(this.#options(step)))
        return true
      case 'restart':
        this.call('restartConnection()', this.agent.restartConnection(this.#options(step)))
        return true
      case 'disconnect':
        this.call('disconnect()', this.agent.disconnect({ skipGracefulDisconnect: step.skipGoodbye }))
        return true
      case 'clear-queue':
        this.agent.clearQueue()
        return true
      case 'logout':
        this.#noteStoredTokens()
        this.#leave('logout()', () => this.agent.logout())
        return true
      case 'change-user':
        if (this.#schedule.setup.agent !== 'help') this.#leave('updateAccessToken()', () => this.#changeUser())
        return true
      case 'set-context':
        this.call('setContext()', this.agent.setContext(this.#context(), { sendImmediately: step.sendNow }))
        return true
      case 'throwing-listener':
        this.#addThrowingListener(step.event, step.rejects)
        return true
      case 'retry':
      case 'cancel':
        this.#actOnDelivery(step.do, step.which)
        return true
      case 'pick-portal':
      case 'pick-agent':
      case 'change-profile':
      case 'back':
        this.call(step.do, pick(this.agent, this.events, step.do, step.which))
        return true
      default:
        return false
    }
  }

  /** Sends a message of the present user. */
  send(): HostMessage {
    const message = this.#newMessage('send')
    const life = this.#life
    const sending = this.agent.send(message.content)
    this.call('send()', sending)
    sending.then(
      id => {
        if (life.hasEnded) return
        Object.assign(message, { id, result: 'accepted', acceptedAt: this.#service.clock.awake() })
        this.#followDelivery(message, id)
      },
      () => Object.assign(message, { result: 'refused' }),
    )
    return message
  }

  /** Initializes the agent, with every selection that it asks for, and connects it. */
  async connect(options: { signal?: AbortSignal } = {}): Promise<void> {
    const { agent } = this
    let result = await this.#initialize(options)
    while (result.status === 'choose') result = await choose(agent, result, this.#random, options)
    await agent.connect(options)
  }

  /** Records whether a promise settles. */
  call(name: string, promise: Promise<unknown>): HostCall {
    const call: HostCall = { name, life: this.#life, settled: false }
    this.calls.push(call)
    promise.then(
      () => {
        call.settled = true
      },
      error => Object.assign(call, { settled: true, error }),
    )
    return call
  }

  /** Names of the calls that have not settled, without those of processes that have ended. */
  get pending(): string[] {
    return this.calls.filter(({ settled, life }) => !settled && !life.hasEnded).map(({ name }) => name)
  }

  /** The signals that were passed to an agent whose process has not ended. */
  get signals(): readonly AbortSignal[] {
    return this.#signals
  }

  /** Cancels the host's own timers. */
  stop(): void {
    for (const timer of this.#timers) this.#service.clock.service.clearTimeout(timer)
    this.#timers.clear()
  }

  /** Ends the process without a further call, and begins the next one with the same stores. */
  crash(): void {
    this.#noteEnd()
    this.stop()
    this.#signals.length = 0
    this.#life.end()
    this.isLeaving = false
    this.#life = this.#begin()
  }

  /** Destroys the agent, and begins the next one with the same stores. */
  replace(): void {
    this.#noteEnd()
    this.call('destroy()', this.agent.destroy())
    this.isLeaving = false
    this.#life = this.#begin()
  }

  #begin(): AgentLife {
    const random = this.#random
    this.lives++
    this.#knownUser = undefined
    const life = new AgentLife({
      service: this.#service,
      random: random.next,
      randomUUID: random.uuid,
      storages: this.store ? undefined : this.stores,
      config: hasEnded => this.#config(hasEnded),
    })
    this.events.follow(life)
    life.agent.on('initialized', () => this.#findStored(life, true))
    return life
  }

  #config(hasEnded: () => boolean): AiAgentConfig {
    const { agent, delivery, maxQueueSize, store } = this.#schedule.setup
    return {
      id: agent,
      endpoint: this.#service.endpoint,
      baseReconnectDelay: 100,
      maxReconnectDelay: 2_000,
      maxQueueSize,
      delivery,
      enableLogging: false,
      ...(agent === 'desk' && { masking: { required: true } }),
      ...(agent !== 'help' && { auth: { getToken: async () => this.#obtainToken() } }),
      ...(this.store && {
        persistQueue: true,
        resume: store?.resumes === true,
        cache: { adapter: this.store.open(hasEnded), contextPrefix: KEY_PREFIX },
      }),
    }
  }

  #initialize(options: { signal?: AbortSignal }): Promise<InitializationResult> {
    return this.agent.initialize(options)
  }

  #ask(step: Extract<Step, { do: 'ask' }>): void {
    const message = this.#newMessage('ask')
    const asking = this.agent.ask(message.content, { timeoutMs: step.timeoutMs, ...this.#options(step) })
    this.call('ask()', asking)
    asking.then(
      () => Object.assign(message, { result: 'accepted' }),
      () => Object.assign(message, { result: 'refused' }),
    )
  }

  #newMessage(kind: HostMessage['kind']): HostMessage {
    const index = this.messages.length
    const content = `${markOf(this.user)}message ${index}`
    const message: HostMessage = {
      index,
      content,
      user: this.user,
      kind,
      result: 'pending',
      writtenAt: [],
      retriedAt: [],
    }
    this.messages.push(message)
    return message
  }

  /** Late evidence may change an outcome: the last report counts. */
  #followDelivery(message: HostMessage, id: string): void {
    const delivery = this.agent.delivery(id)
    if (!delivery) return
    const life = this.#life
    const { events } = this
    message.fate = events.fates.get(id) ?? delivery.state
    message.writtenAt.push(...(events.writes.get(id) ?? []))
    events.onFate.set(id, (fate, at) => {
      message.fate = fate
      if (fate === 'sending') message.writtenAt.push(at)
    })
    void delivery.outcome.then(outcome => {
      if (life.hasEnded || life !== this.#life) return
      if (events.fates.get(id) !== 'acknowledged') message.fate = outcome
    })
  }

  #actOnDelivery(what: 'retry' | 'cancel', which: number): void {
    const message = this.messages.filter(({ result }) => result === 'accepted').at(-1 - which)
    const delivery = message?.id === undefined ? undefined : this.agent.delivery(message.id)
    if (!message || !delivery) return
    if (what === 'cancel') delivery.cancel()
    else if (this.#retries(delivery)) {
      message.retriedAt.push(this.#service.clock.elapsed())
      this.#followDelivery(message, delivery.id)
    }
  }

  /** A full queue refuses the message. */
  #retries(delivery: Delivery): boolean {
    const { retried } = this.events
    retried.add(delivery.id)
    try {
      return delivery.retry()
    } catch {
      return false
    } finally {
      retried.delete(delivery.id)
    }
  }

  /** The process is about to end: what it has not stored ends with it. */
  #noteEnd(): void {
    const { readyAt } = this.#life
    const now = this.#service.clock.awake()
    for (const message of this.messages) {
      const { fate, acceptedAt = now } = message
      if (fate !== 'queued' && fate !== 'sending' && fate !== 'sent') continue
      const since = readyAt === undefined ? now : Math.max(acceptedAt, readyAt)
      if (message.isStored) continue
      message.isStored = fate === 'queued' && this.#mustBeStored(since)
      message.fate = 'ended'
    }
  }

  /** Whether a message that was queued at a time is in the store by now, for whatever agent comes next. */
  #mustBeStored(since: number): boolean {
    const now = this.#service.clock.awake()
    if (!this.store || this.isLeaving || now === since) return false
    // The queue of a portal waits for that portal.
    return this.#schedule.setup.agent !== 'desk' && now - since >= this.store.lagMs
  }

  /** Whether the agent knows every message that must be in the store. A slow store returns some when it is ready already. */
  knowsStored(): boolean {
    this.#findStored(this.#life, false)
    return !this.messages.some(({ isStored, fate }) => isStored && fate === 'ended')
  }

  /** Follows what the process before has left, as far as the agent knows it. `isReady`: it has just become ready. */
  #findStored(life: AgentLife, isReady: boolean): void {
    if (life !== this.#life) return
    for (const message of this.messages) {
      // A slow store may still have what a restart has dropped right before the process ended.
      if (message.id === undefined || (message.fate !== 'ended' && message.fate !== 'failed')) continue
      const delivery = this.agent.delivery(message.id)
      message.isLate ||= isReady && !delivery
      if (!delivery || message.fate !== 'ended') continue
      message.isStored = false
      this.#followDelivery(message, message.id)
    }
  }

  #addThrowingListener(event: AgentEventType, rejects: boolean): void {
    this.agent.on(event, () => {
      const error = new Error('A listener of the host failed.')
      if (rejects) return Promise.reject(error)
      throw error
    })
  }

  /** The next user comes when the call has settled. Until then the host acts for the user who leaves. */
  #leave(name: string, leave: () => Promise<void>): void {
    if (this.isLeaving) return
    this.isLeaving = true
    const life = this.#life
    life.readyAt = undefined
    if (this.#knownUser !== this.user) this.unnamedUsers.add(this.user)
    const leaving = leave()
    this.call(name, leaving)
    // The store is emptied.
    for (const message of this.messages) message.isStored = false
    const done = () => {
      if (life !== this.#life) return
      for (const token of this.#tokens.get(this.user) ?? []) this.formerTokens.add(token)
      this.isLeaving = false
      this.user++
    }
    leaving.then(done, done)
  }

  /** A logout also removes the token of an anonymous user from a page. Agents of a process share it. */
  #noteStoredTokens(): void {
    if (this.isLeaving) return
    const token = /eyJ[\w-]+\.[\w-]+\.[\w-]+/g
    const { session, local } = this.stores
    for (const text of [...session.entries.values(), ...local.entries.values()])
      for (const [found] of text.matchAll(token)) this.formerTokens.add(found)
  }

  #context(): Record<string, unknown> {
    return { note: `${markOf(this.user)}context` }
  }

  #obtainToken(): string {
    this.#knownUser = this.user
    return this.#token(this.user)
  }

  /** The agent notices by itself that a token is another user's, if it had one of the present user before. */
  #changeUser(): Promise<void> {
    const options = this.#knownUser === this.user ? {} : { userChanged: true }
    return this.agent.updateAccessToken(this.#token(this.user + 1), options)
  }

  #token(user: number): string {
    const { control } = this.#service.emulator
    const token = control.issueToken({ subject: subjectOf(user), lifeSeconds: TOKEN_LIFE_SECONDS })
    this.#tokens.set(user, [...(this.#tokens.get(user) ?? []), token])
    return token
  }

  #options({ abortAfterMs }: { abortAfterMs?: number }): { signal?: AbortSignal } {
    if (abortAfterMs === undefined) return {}
    const controller = new AbortController()
    this.#signals.push(controller.signal)
    const { service } = this.#service.clock
    const timer = service.setTimeout(() => {
      this.#timers.delete(timer)
      controller.abort()
    }, abortAfterMs)
    this.#timers.add(timer)
    return { signal: controller.signal }
  }
}
