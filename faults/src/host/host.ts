import { AiAgent, type AiAgentConfig, type DeliveryState, MemoryCacheAdapter } from '@aiagent/client'
import { Random } from '../schedule/random.ts'
import type { Schedule, Step } from '../schedule/step.ts'
import type { RunService } from '../service/service.ts'
import { EventLog } from './event-log.ts'
import { TabStorage } from './tab-storage.ts'

/** A call of the host and what became of it. */
export interface HostCall {
  readonly name: string
  settled: boolean
  error?: unknown
}

/** A message of the host. Its content is unique and names the user who wrote it. */
export interface HostMessage {
  readonly index: number
  readonly content: string
  readonly user: number
  readonly kind: 'send' | 'ask'
  /** Set once `send()` has accepted it. */
  id?: string
  /** `accepted`: `send()` resolved, or `ask()` was answered. */
  result: 'pending' | 'accepted' | 'refused'
  /** What the agent reported last about the delivery of an accepted message. */
  fate?: DeliveryState
}

/** Marks everything that a user wrote, so that it is recognized wherever it appears. */
export const markOf = (user: number): string => `secret-of-user-${user}-`

/** Subject of a user's tokens. */
export const subjectOf = (user: number): string => `user-${user}`

/** Life of the tokens that the host obtains, in seconds. */
const TOKEN_LIFE_SECONDS = 3_600

/** The host app of a run: makes the calls that the schedule names, and records what became of them. */
export class Host {
  readonly agent: AiAgent
  readonly events: EventLog
  readonly calls: HostCall[] = []
  readonly messages: HostMessage[] = []
  readonly stores = { session: new TabStorage(), local: new TabStorage(), memory: new MemoryCacheAdapter() }
  /** The user at the screen. */
  user = 1
  /** Whether the user is leaving: a logout or a change of the user is in progress. */
  isLeaving = false
  readonly #service: RunService
  readonly #schedule: Schedule
  readonly #timers = new Set<unknown>()
  readonly #signals: AbortSignal[] = []
  /** The user whose token the agent has obtained last. */
  #knownUser: number | undefined

  constructor(service: RunService, schedule: Schedule) {
    this.#service = service
    this.#schedule = schedule
    const random = new Random(schedule.seed ^ 0x5eed)
    this.agent = new AiAgent(this.#config(), {
      ...service.environment,
      clock: service.clock.agent,
      random: random.next,
      randomUUID: random.uuid,
      sessionStorage: this.stores.session,
      localStorage: this.stores.local,
      memory: this.stores.memory,
    })
    this.events = new EventLog(this.agent, () => this.user)
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
        this.call('initialize()', this.agent.initialize(this.#options(step)))
        return true
      case 'connect':
        this.call('connect()', this.#connect(this.#options(step)))
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
        this.#leave('logout()', () => this.agent.logout())
        return true
      case 'change-user':
        if (this.#schedule.setup.agent === 'account') this.#leave('updateAccessToken()', () => this.#changeUser())
        return true
      case 'set-context':
        this.call('setContext()', this.agent.setContext(this.#context(), { sendImmediately: step.sendNow }))
        return true
      case 'throwing-listener':
        this.agent.on(step.event, () => {
          const error = new Error('A listener of the host failed.')
          if (step.rejects) return Promise.reject(error)
          throw error
        })
        return true
      default:
        return false
    }
  }

  /** Sends a message of the present user. */
  send(): HostMessage {
    const message = this.#newMessage('send')
    const sending = this.agent.send(message.content)
    this.call('send()', sending)
    sending.then(
      id => {
        Object.assign(message, { id, result: 'accepted' })
        this.#followDelivery(message, id)
      },
      () => Object.assign(message, { result: 'refused' }),
    )
    return message
  }

  /** Records whether a promise settles. */
  call(name: string, promise: Promise<unknown>): HostCall {
    const call: HostCall = { name, settled: false }
    this.calls.push(call)
    promise.then(
      () => {
        call.settled = true
      },
      error => Object.assign(call, { settled: true, error }),
    )
    return call
  }

  /** Names of the calls that have not settled. */
  get pending(): string[] {
    return this.calls.filter(({ settled }) => !settled).map(({ name }) => name)
  }

  /** The signals that were passed to the agent. */
  get signals(): readonly AbortSignal[] {
    return this.#signals
  }

  /** Cancels the host's own timers. */
  stop(): void {
    for (const timer of this.#timers) this.#service.clock.service.clearTimeout(timer)
  }

  #config(): AiAgentConfig {
    const { agent, delivery, maxQueueSize } = this.#schedule.setup
    return {
      id: agent,
      endpoint: this.#service.endpoint,
      baseReconnectDelay: 100,
      maxReconnectDelay: 2_000,
      maxQueueSize,
      delivery,
      enableLogging: false,
      ...(agent === 'account' && { auth: { getToken: async () => this.#obtainToken() } }),
    }
  }

  async #connect(options: { signal?: AbortSignal }): Promise<void> {
    await this.agent.initialize(options)
    await this.agent.connect(options)
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
    const message: HostMessage = {
      index,
      content: `${markOf(this.user)}message ${index}`,
      user: this.user,
      kind,
      result: 'pending',
    }
    this.messages.push(message)
    return message
  }

  /** Late evidence may change an outcome: the last report counts. */
  #followDelivery(message: HostMessage, id: string): void {
    const delivery = this.agent.delivery(id)
    if (!delivery) return
    message.fate = this.events.fates.get(id) ?? delivery.state
    this.events.onFate.set(id, fate => {
      message.fate = fate
    })
    void delivery.outcome.then(outcome => {
      if (this.events.fates.get(id) !== 'acknowledged') message.fate = outcome
    })
  }

  /** The next user comes when the call has settled. Until then the host acts for the user who leaves. */
  #leave(name: string, leave: () => Promise<void>): void {
    if (this.isLeaving) return
    this.isLeaving = true
    const leaving = leave()
    this.call(name, leaving)
    const done = () => {
      this.isLeaving = false
      this.user++
    }
    leaving.then(done, done)
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
    return control.issueToken({ subject: subjectOf(user), lifeSeconds: TOKEN_LIFE_SECONDS })
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
