import { AiAgent, type AiAgentConfig, type Environment } from '@aiagent/client'
import {
  createEmulator,
  type Emulator,
  type EmulatorFaults,
  type EmulatorOptions,
  type FaultInForce,
  type FaultSelection,
  WEATHERS,
  type WeatherName,
} from '@aiagent/emulator'
import { serveEmulator } from '@aiagent/emulator/node'
import type { ClientMessage, ServerMessage } from '@aiagent/protocol'
import { eventually, ManualClock, turnEventLoop } from '@aiagent/test-support'
import { ObservedClock, systemClock } from './observed-clock.ts'
import { type RawHandler, type RawService, rawServiceInProcess, rawServiceOverPort } from './raw-service.ts'
import { newTab, type Place } from './tab.ts'
import { reply, WORLD } from './world.ts'

/** A request as the service received it. A chat connection is one too, with status 101. */
export interface SeenRequest {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly status: number
  /** Id of the fault that spoiled it. */
  readonly fault?: string
}

/** Behaviour in which deployments differ. */
export interface ServiceBehaviour {
  postSession: boolean
  unknownSession: 'refuse' | 'close-4404'
  tokenLifeSeconds: number
  portalPageSize: number
}

/**
 * Controls of the service that scenarios use. Kept small, so that the same scenarios can run against another deployment
 * that offers them.
 */
export interface ServiceControl {
  /** Closes every chat with a code; without a code the connections break as with a lost network. */
  dropSockets(code?: number): void
  /** Sends a frame to the client of a session. A string is sent unchanged, valid or not. */
  pushFrame(sessionId: string, frame: ServerMessage | ClientMessage | string): void
  endSession(sessionId: string): boolean
  forgetSession(sessionId: string): boolean
  /** Issues a user token; for a customer by default. */
  issueToken(options?: { lifeSeconds?: number; subject?: string }): string
  requests(): readonly SeenRequest[]
  frames(sessionId: string): readonly { readonly data: unknown; readonly message?: ClientMessage }[]
  change(behaviour: Partial<ServiceBehaviour>): void
}

export interface ServiceOptions {
  /**
   * `by hand`: the scenario advances the time of client and service with `elapse()`. By default real time passes over a
   * port; in process the time is always advanced by hand.
   */
  readonly time?: 'by hand'
  /** Whether the scenario enters the weathers itself. */
  readonly entersWeather?: true
  /** The weathers with another outcome, each with its reason: what the scenario measures is the weather itself. */
  readonly differs?: Partial<Record<WeatherName, string>>
}

/** A transport between client and service. */
export interface Wire {
  readonly name: string
  serve(options: ServiceOptions): Promise<Service>
}

interface ServiceParts {
  endpoint: string
  control: ServiceControl
  faults: EmulatorFaults
  environment: Partial<Environment>
  time: ManualClock | undefined
  openRaw(handler: RawHandler): RawService | Promise<RawService>
  close(): void | Promise<void>
}

/** What a patient caller does not show: the errors of calls that have failed by a weather, and the limits of one. */
export const ofWeather = new WeakSet<object>()

/** A running service with its endpoint, its controls and the agents that use it. */
export class Service {
  readonly endpoint: string
  readonly control: ServiceControl
  /** Faults on request. */
  readonly faults: EmulatorFaults
  /** Clock of every agent created here. */
  readonly clock: ObservedClock
  /** Lines printed by the agents. */
  readonly printed: string[] = []
  readonly #parts: ServiceParts
  readonly #agents: AiAgent[] = []
  readonly #raw: RawService[] = []
  /** The faults of the weather by id, and how often each makes a call fail: 0 where it does not. */
  readonly #weather = new Map<string, number>()
  /** Calls of patient callers in progress, and how often the weather had struck before them. */
  #pendingCalls = 0
  #before = 0
  /** Whether the scenario makes calls fail itself. */
  #isCalm = false
  #isOver = false
  #fetch: Environment['fetch'] | undefined

  constructor(parts: ServiceParts) {
    this.#parts = parts
    this.endpoint = parts.endpoint
    // The scenario counts the requests that it causes, and neither those that the weather spoiled nor those that explain why.
    const isOwn = ({ fault = '', headers }: SeenRequest) => !this.#weather.has(fault) && !(EXPLAINS in headers)
    const requests = () => parts.control.requests().filter(isOwn)
    this.control = { ...parts.control, requests }
    this.faults = this.#besideWeather(parts.faults)
    this.clock = new ObservedClock(parts.time ?? systemClock)
  }

  /** Plays the rest of the scenario in a weather that passes. */
  enter(weather: WeatherName): void {
    for (const fault of WEATHERS[weather].passing) {
      const times = 'times' in fault ? fault.times : fault.kind === 'cut-idle' ? Infinity : 0
      this.#weather.set(this.#parts.faults.add(fault).id, times)
    }
  }

  /** How often the weather has made a call fail. */
  get #strikes(): number {
    const hits = new Map(this.#parts.faults.inForce().map(each => [each.id, each.hits]))
    // What has struck often enough is no longer in force.
    return [...this.#weather].reduce((sum, [id, times]) => sum + (times && (hits.get(id) ?? times)), 0)
  }

  /**
   * An object of the library, or a class of them, as a patient caller uses it: while a call waits because of the weather, time passes,
   * and a call that has failed by it is made again.
   */
  patient<T extends object>(made: T): T {
    if (!this.#mayFail) return made
    return new Proxy(made, {
      construct: (target, given) => this.patient(Reflect.construct(target as never, given)),
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => this.#outlast(() => Reflect.apply(value, target, given))
      },
    })
  }

  #outlast(call: () => unknown): unknown {
    if (this.#pendingCalls === 0) this.#before = this.#strikes
    const before = this.#before
    const result = call()
    if (!(result instanceof Promise)) return result
    this.#pendingCalls++
    void this.#passTime(result, before)
    return result.catch(error => {
      if (this.#isCalm || this.#strikes === before || !isOfNetwork(error)) throw error
      ofWeather.add(error)
      return this.#outlast(call)
    })
  }

  /** Lets the waits pass that the weather causes while a promise is pending. */
  async #passTime(promise: Promise<unknown>, before: number): Promise<void> {
    let isPending = true
    const settle = () => {
      isPending = false
      this.#pendingCalls--
    }
    promise.then(settle, settle)
    while (isPending && !this.#isOver) {
      await turnEventLoop(1)
      const waitMs = this.#strikes > before ? this.clock.untilNext(LONGEST_WAIT_MS) : undefined
      if (waitMs !== undefined && isPending) await this.elapse(waitMs)
    }
  }

  /** Ends what makes calls fail, once the scenario makes them fail itself. */
  #calm(): void {
    this.#isCalm = true
    for (const { id, hits } of this.#parts.faults.inForce()) {
      if (!this.#weather.get(id)) continue
      this.#weather.set(id, hits)
      this.#parts.faults.lift({ id })
    }
  }

  /** The faults of the scenario: it neither counts nor lifts the weather. */
  #besideWeather(all: EmulatorFaults): EmulatorFaults {
    const inForce = () => all.inForce().filter(({ id }) => !this.#weather.has(id))
    const fits = ({ id, fault }: FaultInForce, given: FaultSelection) =>
      (given.id ?? id) === id && (given.kind ?? fault.kind) === fault.kind
    return {
      add: fault => {
        this.#calm()
        return all.add(fault)
      },
      schedule: entries => {
        this.#calm()
        return all.schedule(entries)
      },
      inForce,
      lift: (given = {}) =>
        inForce()
          .filter(each => fits(each, given))
          .reduce((count, { id }) => count + all.lift({ id }), 0),
    }
  }

  /** Environment of an agent or a helper that uses the service; with a new tab unless one is given. */
  environment(place: Place = newTab()): Partial<Environment> {
    const print = (...words: unknown[]) => void this.printed.push(words.map(String).join(' '))
    const console = { debug: print, info: print, warn: print, error: print }
    return { ...this.#parts.environment, ...place, clock: this.clock, console, ...this.#markedFetch() }
  }

  /** Marks what explains a failure: only such a request has options, and no method among them. One function, as agents of a process share it. */
  #markedFetch(): Partial<Environment> {
    const { fetch = globalThis.fetch } = this.#parts.environment
    if (!this.#mayFail) return {}
    this.#fetch ??= (input, init) =>
      fetch(input, !init || init.method ? init : { ...init, headers: { [EXPLAINS]: '1' } })
    return { fetch: this.#fetch }
  }

  /** Whether the weather makes calls fail. */
  get #mayFail(): boolean {
    return [...this.#weather.values()].some(times => times > 0)
  }

  /** Creates an agent, by default of the anonymous help desk, without initializing it. */
  newAgent(config: Partial<AiAgentConfig> = {}, environment: Partial<Environment> = this.environment()): AiAgent {
    const agent = new AiAgent({ id: 'help', endpoint: this.endpoint, ...config }, environment)
    this.#agents.push(agent)
    agent.on('rateLimited', ({ payload }) => this.#mayFail && ofWeather.add(payload))
    return this.patient(agent)
  }

  /** Creates an agent and connects it. */
  async connectedAgent(config?: Partial<AiAgentConfig>, environment?: Partial<Environment>): Promise<AiAgent> {
    const agent = this.newAgent(config, environment)
    await agent.initialize()
    await agent.connect()
    return agent
  }

  /** Advances the time where it is advanced by hand; otherwise waits for nothing. */
  async elapse(ms: number): Promise<void> {
    await this.#parts.time?.advance(ms)
  }

  /** Advances the time so that due timers fire late, as in a hidden tab. */
  async oversleep(ms: number): Promise<void> {
    this.#parts.time?.jump(ms)
    await this.#parts.time?.advance(0)
  }

  /** Advances the time past the short waits of the client, one by one, until a condition holds. */
  async until(probe: () => boolean, description = 'the condition holds'): Promise<void> {
    const end = Date.now() + LIMIT_MS
    while (!probe()) {
      if (Date.now() > end) throw new Error(`Not true within ${LIMIT_MS} ms: ${description}.`)
      await turnEventLoop()
      const longest = this.#strikes > 0 ? LONGEST_WAIT_MS : SHORT_WAIT_MS
      const [soonest] = this.clock.pending.filter(delay => delay <= longest)
      if (soonest !== undefined) await this.elapse(soonest)
    }
  }

  /** Advances the time past the short waits of the client until a promise settles, and returns its value. */
  async through<T>(promise: Promise<T>): Promise<T> {
    let settled = false
    const settle = () => {
      settled = true
    }
    promise.then(settle, settle)
    await this.until(() => settled, 'the promise settled')
    return promise
  }

  /** The requests so far, with those that a weather has spoiled. */
  everyRequest(): readonly SeenRequest[] {
    return this.#parts.control.requests()
  }

  /** The requests to a path so far. */
  requestsTo(path: string, method?: string): SeenRequest[] {
    return this.control
      .requests()
      .filter(request => request.path === path && request.status !== 101 && (!method || request.method === method))
  }

  /** Session ids of the chat connections so far, in order. */
  get openings(): string[] {
    return this.control.requests().flatMap(({ status, query }) => (status === 101 ? [query['sessionId'] ?? ''] : []))
  }

  /** Session id of the last chat connection. */
  get session(): string {
    return this.openings.at(-1) ?? ''
  }

  /** Readable frames received in a session, by default the current one. */
  frames(sessionId: string = this.session): ClientMessage[] {
    return this.control.frames(sessionId).flatMap(({ message }) => message ?? [])
  }

  /** Contents of the user messages in a session. */
  said(sessionId: string = this.session): (string | undefined)[] {
    return this.frames(sessionId).flatMap(({ role, content }) => (role === 'human' ? [content] : []))
  }

  /** Starts another service, whose responses the scenario defines. */
  async rawService(handler: RawHandler): Promise<RawService> {
    const raw = await this.#parts.openRaw(handler)
    this.#raw.push(raw)
    return { ...raw, environment: { ...this.environment(), ...raw.environment } }
  }

  /** Destroys every agent and closes the service; fails if an agent leaves a timer behind. */
  async close(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#agents.map(agent => agent.destroy()))
    for (const raw of this.#raw) raw.close()
    await this.#parts.close()
    await eventually(() => this.clock.waiting === 0, 'destroyed agents leave no timer')
  }
}

export const inProcess: Wire = {
  name: 'in process',
  async serve() {
    const time = new ManualClock()
    const emulator = createEmulator({ world: WORLD, reply, clock: time })
    return new Service({
      endpoint: emulator.origin,
      control: controlOf(emulator),
      faults: emulator.faults,
      environment: { fetch: emulator.fetch, WebSocket: emulator.WebSocket },
      time,
      openRaw: rawServiceInProcess,
      close: () => emulator.close(),
    })
  },
}

export const overPort: Wire = {
  name: 'over a port',
  async serve(options) {
    const time = options.time === 'by hand' ? new ManualClock() : undefined
    const emulation: EmulatorOptions = { world: WORLD, reply, ...(time && { clock: time }) }
    const server = await serveEmulator(emulation)
    return new Service({
      endpoint: server.url,
      control: controlOf(server.emulator),
      faults: server.emulator.faults,
      // The platform's fetch and the client's own WebSocket for it.
      environment: {},
      time,
      openRaw: rawServiceOverPort,
      close: () => server.close(),
    })
  },
}

const LIMIT_MS = 15_000
/** Longer timers are time limits, which a scenario passes only on purpose. */
const SHORT_WAIT_MS = 1_000
/** Name of the header of requests that explain a failure. */
const EXPLAINS = 'x-explains'
/** Longest wait that a weather causes. */
const LONGEST_WAIT_MS = 4_000

/** Whether something on the way has failed a call, rather than the host, its parts or its user. */
function isOfNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { status, httpStatus, reason, cause } = error as Error &
    Partial<Record<'status' | 'httpStatus' | 'reason', unknown>>
  return (status ?? httpStatus) !== undefined || reason === 'network' || reason === 'body' || isOfNetwork(cause)
}

function controlOf(emulator: Emulator): ServiceControl {
  return { ...emulator.control, change: behaviour => void Object.assign(emulator.settings, behaviour) }
}
