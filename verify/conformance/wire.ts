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
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly status: number
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
  /** Ids of the faults of the weather. */
  readonly #weather = new Set<string>()

  constructor(parts: ServiceParts) {
    this.#parts = parts
    this.endpoint = parts.endpoint
    this.control = parts.control
    this.faults = this.#besideWeather(parts.faults)
    this.clock = new ObservedClock(parts.time ?? systemClock)
  }

  /** Plays the rest of the scenario in a weather that passes. */
  enter(weather: WeatherName): void {
    for (const fault of WEATHERS[weather].passing) this.#weather.add(this.#parts.faults.add(fault).id)
  }

  /** The faults of the scenario: it neither counts nor lifts the weather. */
  #besideWeather(all: EmulatorFaults): EmulatorFaults {
    const inForce = () => all.inForce().filter(({ id }) => !this.#weather.has(id))
    const fits = ({ id, fault }: FaultInForce, given: FaultSelection) =>
      (given.id ?? id) === id && (given.kind ?? fault.kind) === fault.kind
    return {
      add: fault => all.add(fault),
      schedule: entries => all.schedule(entries),
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
    return { ...this.#parts.environment, ...place, clock: this.clock, console }
  }

  /** Creates an agent, by default of the anonymous help desk, without initializing it. */
  newAgent(config: Partial<AiAgentConfig> = {}, environment: Partial<Environment> = this.environment()): AiAgent {
    const agent = new AiAgent({ id: 'help', endpoint: this.endpoint, ...config }, environment)
    this.#agents.push(agent)
    return agent
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
      const [soonest] = this.clock.pending.filter(delay => delay <= SHORT_WAIT_MS)
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

function controlOf(emulator: Emulator): ServiceControl {
  return { ...emulator.control, change: behaviour => void Object.assign(emulator.settings, behaviour) }
}
