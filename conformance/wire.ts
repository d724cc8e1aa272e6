import { AiAgent, type AiAgentConfig, type Environment } from '@aiagent/client'
import { createEmulator, type Emulator, type EmulatorFaults, type EmulatorOptions } from '@aiagent/emulator'
import { serveEmulator } from '@aiagent/emulator/node'
import type { ClientMessage, ServerMessage } from '@aiagent/protocol'
import { eventually, ManualClock, turnEventLoop } from '@aiagent/test-support'
import { ObservedClock, systemClock } from './observed-clock.ts'
import { type RawHandler, type RawService, rawServiceInProcess, rawServiceOverPort } from './raw-service.ts'
import { newTab, type Place } from './tab.ts'
import { reply, WORLD } from './world.ts'

/** A request as the service saw it; the opening of a chat is one, with status 101. */
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
 * What a scenario asks of the service beside talking to it. Small on purpose: any deployment that offers these few
 * things can be put to the same scenarios.
 */
export interface ServiceControl {
  /** Closes every chat with a code; without one they break as a lost network does. */
  dropSockets(code?: number): void
  /** Sends a frame to whoever is connected to a session; text goes as it is, readable or not. */
  pushFrame(sessionId: string, frame: ServerMessage | string): void
  endSession(sessionId: string): boolean
  forgetSession(sessionId: string): boolean
  /** A token for a person who signed in: by default a customer. */
  issueToken(options?: { lifeSeconds?: number; subject?: string }): string
  requests(): readonly SeenRequest[]
  frames(sessionId: string): readonly { readonly data: unknown; readonly message?: ClientMessage }[]
  change(behaviour: Partial<ServiceBehaviour>): void
}

export interface ServiceOptions {
  /**
   * Who moves the time of client and service: the scenario with `elapse()`, or nobody. Over a port it passes by itself
   * unless it is moved by hand; in process it is always moved by hand.
   */
  readonly time?: 'by hand'
}

/** A way between client and service. */
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

/** A running service as a scenario sees it: an endpoint, a few things to ask of it, and agents that talk to it. */
export class Service {
  readonly endpoint: string
  readonly control: ServiceControl
  /** What goes wrong on request. */
  readonly faults: EmulatorFaults
  /** The time of every agent made here. */
  readonly clock: ObservedClock
  /** Lines that agents have printed. */
  readonly printed: string[] = []
  readonly #parts: ServiceParts
  readonly #agents: AiAgent[] = []
  readonly #raw: RawService[] = []

  constructor(parts: ServiceParts) {
    this.#parts = parts
    this.endpoint = parts.endpoint
    this.control = parts.control
    this.faults = parts.faults
    this.clock = new ObservedClock(parts.time ?? systemClock)
  }

  /** What an agent or a helper needs to reach the service, from a place of its own unless one is given. */
  environment(place: Place = newTab()): Partial<Environment> {
    const print = (...words: unknown[]) => void this.printed.push(words.map(String).join(' '))
    const console = { debug: print, info: print, warn: print, error: print }
    return { ...this.#parts.environment, ...place, clock: this.clock, console }
  }

  /** An agent that is not initialized yet: of the open help desk, unless the configuration says otherwise. */
  newAgent(config: Partial<AiAgentConfig> = {}, environment: Partial<Environment> = this.environment()): AiAgent {
    const agent = new AiAgent({ id: 'help', endpoint: this.endpoint, ...config }, environment)
    this.#agents.push(agent)
    return agent
  }

  /** An agent whose chat is open. */
  async connectedAgent(config?: Partial<AiAgentConfig>, environment?: Partial<Environment>): Promise<AiAgent> {
    const agent = this.newAgent(config, environment)
    await agent.initialize()
    await agent.connect()
    return agent
  }

  /** Lets time pass where it is moved by hand; elsewhere it passes by itself. */
  async elapse(ms: number): Promise<void> {
    await this.#parts.time?.advance(ms)
  }

  /** Time passes, and timers that fall due meanwhile come late, as in a hidden tab. */
  async oversleep(ms: number): Promise<void> {
    this.#parts.time?.jump(ms)
    await this.#parts.time?.advance(0)
  }

  /** Lets the short waits of the client pass, one after the other, until a condition holds. */
  async until(probe: () => boolean, description = 'the condition'): Promise<void> {
    const end = Date.now() + LIMIT_MS
    while (!probe()) {
      if (Date.now() > end) throw new Error(`Within ${LIMIT_MS} ms ${description} did not hold.`)
      await turnEventLoop()
      const [soonest] = this.clock.pending.filter(delay => delay <= SHORT_WAIT_MS)
      if (soonest !== undefined) await this.elapse(soonest)
    }
  }

  /** Lets the short waits of the client pass until a promise settles, and returns what it brings. */
  async through<T>(promise: Promise<T>): Promise<T> {
    let settled = false
    const settle = () => {
      settled = true
    }
    promise.then(settle, settle)
    await this.until(() => settled, 'that the promise settles')
    return promise
  }

  /** The requests to a path so far. */
  requestsTo(path: string, method?: string): SeenRequest[] {
    return this.control
      .requests()
      .filter(request => request.path === path && request.status !== 101 && (!method || request.method === method))
  }

  /** The session ids with which chats were opened so far, in order. */
  get openings(): string[] {
    return this.control.requests().flatMap(({ status, query }) => (status === 101 ? [query['sessionId'] ?? ''] : []))
  }

  /** The session of the chat that was opened last. */
  get session(): string {
    return this.openings.at(-1) ?? ''
  }

  /** The readable frames that came in a session, the present one by default. */
  frames(sessionId: string = this.session): ClientMessage[] {
    return this.control.frames(sessionId).flatMap(({ message }) => message ?? [])
  }

  /** What people wrote in a session. */
  said(sessionId: string = this.session): (string | undefined)[] {
    return this.frames(sessionId).flatMap(({ role, content }) => (role === 'human' ? [content] : []))
  }

  /** Another service, which answers as the scenario says. */
  async rawService(handler: RawHandler): Promise<RawService> {
    const raw = await this.#parts.openRaw(handler)
    this.#raw.push(raw)
    return { ...raw, environment: { ...this.environment(), ...raw.environment } }
  }

  /** Ends every agent and the service, and fails when an agent leaves a timer behind. */
  async close(): Promise<void> {
    await Promise.all(this.#agents.map(agent => agent.destroy()))
    for (const raw of this.#raw) raw.close()
    await this.#parts.close()
    await eventually(() => this.clock.waiting === 0, 'that destroyed agents leave no timer')
  }
}

const inProcess: Wire = {
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
      // The platform's fetch, and the WebSocket that the client brings for it.
      environment: {},
      time,
      openRaw: rawServiceOverPort,
      close: () => server.close(),
    })
  },
}

const LIMIT_MS = 5_000
/** Longer ones are time limits, which a scenario moves past on purpose only. */
const SHORT_WAIT_MS = 1_000

/** Every way on which a scenario runs. */
export const WIRES: readonly Wire[] = [inProcess, overPort]

function controlOf(emulator: Emulator): ServiceControl {
  return { ...emulator.control, change: behaviour => void Object.assign(emulator.settings, behaviour) }
}
