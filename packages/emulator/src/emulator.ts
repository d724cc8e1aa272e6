import { CLOSE_CODE } from '@aiagent/protocol'
import { ChatService } from './chat/chat-service.ts'
import { createSocketClass, type EmulatedSocketClass } from './chat/emulated-socket.ts'
import type { Reply } from './chat/reply.ts'
import type { SessionFaultKind } from './chat/service-session.ts'
import type { Upgrade } from './chat/socket-end.ts'
import { createUpgradeHandler, NO_RESPONSE } from './chat/upgrade-handler.ts'
import { type Clock, systemClock } from './clock.ts'
import { refuseControl } from './control/access.ts'
import { createControl, type EmulatorControl } from './control/control.ts'
import { CONTROL_PATH, createControlApp } from './control/control-app.ts'
import { Desk } from './desk/desk.ts'
import type { RequestConnection } from './faults/apply-faults.ts'
import type { FaultOf } from './faults/fault.ts'
import type { FaultSchedule } from './faults/fault-schedule.ts'
import { type EmulatorFaults, Faults } from './faults/faults.ts'
import { Availability, unreachable } from './lifecycle/availability.ts'
import { createRestarter, type PortListener } from './lifecycle/restart.ts'
import { CALLBACK_PAGE } from './oauth/callback-page.ts'
import { TokenKeys, type TokenVerifier } from './oauth/keys.ts'
import { PageLogin } from './oauth/page-login.ts'
import { buildPkceConfig, type PkceConfig, type PkceConfigOptions } from './oauth/pkce-config.ts'
import { createRandom, platformRandom } from './random.ts'
import { createRestApp } from './rest/app.ts'
import { DEFAULT_SETTINGS, type EmulatorSettings } from './settings.ts'
import { ServiceState } from './state/service-state.ts'
import { SessionKeeper } from './state/session-keeper.ts'
import type { StateStore } from './state/state-store.ts'
import { DEFAULT_WORLD } from './world/default-world.ts'
import type { WorldSeed } from './world/seed.ts'
import { World } from './world/world.ts'

/** Options of {@link createEmulator}. All have defaults. */
export interface EmulatorOptions {
  /**
   * Seed of all random values: the same seed gives the same ids, keys and choices.
   *
   * @default 1, and behind a port values that cannot be guessed
   */
  seed?: number
  /** @default the system's time */
  clock?: Clock
  /** Own address of the service; all addresses that it returns begin with it. @default 'http://emulator.test' */
  origin?: string
  /**
   * Parent of the chat host, with its port, for all tenants: clients find the chat at `chat.<chatDomain>`.
   *
   * @default each tenant's `aiAgentDomain`
   */
  chatDomain?: string
  /** The agent. Without one, it answers that it has no articles. */
  reply?: Reply
  /** Tenants, agents and clients; a given list replaces the default one. */
  world?: Partial<WorldSeed>
  /** Initial behaviour, where it differs from {@link DEFAULT_SETTINGS}. */
  settings?: Partial<EmulatorSettings>
  /**
   * Whether the metadata contains the logins, for an identity provider under the same origin. True on a port. @default
   * false
   */
  offersLogin?: boolean
  /**
   * Address of a page of the host on which users sign in, for an emulator in a page. It calls `readPageLogin()` and
   * `answerPageLogin()`. With it, `offersLogin` is true.
   */
  loginPage?: string
  /** HTML of the callback page of logins. @default a page that passes its address on and closes itself */
  callbackPage?: string
  /**
   * Keeps sessions, the secret of the tokens and the choices of users beyond this emulator. The next emulator with the same
   * store goes on where this one stopped, however it ended. Without one, everything ends with the object.
   */
  store?: StateStore
  /** Faults and their times, counted from the start. */
  faults?: FaultSchedule
}

/** The sender of a request on a real port. */
export interface PortRequest extends RequestConnection {
  /** Address of the peer. Only this machine may use the controls. */
  remoteAddress?: string | undefined
}

/** The hosted service in one object. */
export interface Emulator {
  /** Address of the service, without a trailing slash. */
  readonly origin: string
  /** The data of the service. */
  readonly world: World
  /** The behaviour of the service; changes take effect at once. */
  readonly settings: EmulatorSettings
  /** Controls for tests: tokens, time limits, agent messages and restarts. */
  readonly control: EmulatorControl
  /** The chats between customers and colleagues. A test plays the colleague. */
  readonly desk: Desk
  /** Faults on request. */
  readonly faults: EmulatorFaults
  /**
   * Replaces the global function, for addresses of this service. Others reject with a TypeError, like unknown hosts.
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** Replaces the browser's class, for chat addresses of this service. Connections to other hosts fail with 1006. */
  readonly WebSocket: EmulatedSocketClass
  /**
   * The configuration of a login at this emulator, for `auth: { type: 'pkce', config }` of the client.
   *
   * @throws {Error} when the emulator offers no login, or the tenant has no client id for such users
   */
  pkceConfig(options: PkceConfigOptions): PkceConfig
  /** Answers a request from a real port, regardless of its host. */
  handle(request: Request, carrier?: PortRequest): Promise<Response>
  /**
   * Validates the address of a chat connection from a real port, before it is accepted. Delayed while a fault holds it.
   */
  upgrade(url: URL, headers?: Readonly<Record<string, string>>): Upgrade | Promise<Upgrade>
  /** Lets a real port go down and return when the service restarts. */
  setPortListener(listener: PortListener): void
  /** Accepts tokens of another issuer under the same origin: those that the function recognizes. */
  addTokenVerifier(verify: TokenVerifier): void
  /** The next serial number of issued tokens, for a token of another issuer. */
  nextTokenSerial(): number
  /**
   * Shuts down: every chat connection is closed with 1001, no timer remains, and later calls fail like those to an
   * unknown host.
   */
  close(): void
  /** Calls {@link Emulator.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Creates a service that runs in this process, in a page or in Node, without a port.
 *
 * @param isServed behind a port, which any page of the machine can call: without a `seed` nobody can guess its ids and keys
 * @throws {TypeError} when the origin is not an http or https address
 * @throws {FaultError} when the schedule of faults is invalid
 */
export function createEmulator(options: EmulatorOptions = {}, isServed = false): Emulator {
  const { seed = 1, clock = systemClock, reply = defaultReply } = options
  const { chatDomain, loginPage, offersLogin = loginPage !== undefined, callbackPage = CALLBACK_PAGE } = options
  const origin = readOrigin(options.origin ?? 'http://emulator.test')
  const settings: EmulatorSettings = { ...DEFAULT_SETTINGS, ...options.settings }
  const { store } = options
  const state = new ServiceState(store)
  const world = new World({ ...DEFAULT_WORLD, ...options.world }, settings, store && new SessionKeeper(store))
  for (const choice of state.choices) world.lastUsedProfiles.set(...choice)
  world.lastUsedProfiles.onChange = () => state.keepChoices(world.lastUsedProfiles.entries())
  // The ids of a later start must not repeat those of an earlier one.
  const random =
    isServed && options.seed === undefined ? platformRandom : createRandom(seed + (state.starts - 1) * 0x9e3779b1)
  const keys = new TokenKeys(
    clock,
    random,
    world.tenants.map(({ id }) => id),
    state,
  )
  const faults = new Faults(clock, seed)
  const availability = new Availability(origin)
  const isStruckBy = (kind: SessionFaultKind, sessionId: string) =>
    faults.rules.strike(kind, ({ fault }) => concernsFrames(fault, sessionId)) !== undefined
  const chat = new ChatService({ world, clock, settings, keys, random, reply, isStruckBy })
  const desk = new Desk(clock, store)
  const control = createControl({ chat, keys, settings, world })
  let listener: PortListener | undefined
  const restarter = createRestarter({ chat, desk, clock, availability, waits: faults.waits, listener: () => listener })
  faults.bind({ chat, control, world, restart: restarter.restart })

  const pageLogin =
    loginPage === undefined ? undefined : new PageLogin({ world, clock, settings, keys, origin, loginPage })
  const app = createRestApp({
    world,
    pageLogin,
    clock,
    random,
    settings,
    keys,
    origin,
    chatDomain,
    offersLogin,
    callbackPage,
    faults,
    desk,
  })
  const controlApp = createControlApp({
    control,
    desk,
    faults,
    settings,
    waits: faults.waits,
    world,
    isConnected: id => chat.isConnected(id),
  })
  const upgrade = createUpgradeHandler({ chat, clock, faults, availability, settings, world })
  const hosts = new Set([new URL(origin).host, `chat.${chatDomain ?? world.tenant.aiAgentDomain}`])
  const close = () => {
    restarter.stop()
    availability.close()
    faults.stop()
    chat.drop(CLOSE_CODE.GOING_AWAY, 'The service shuts down')
    chat.stop()
  }
  if (options.faults) faults.schedule(options.faults)
  chat.goOn()

  return {
    origin,
    world,
    settings,
    control,
    desk,
    faults,
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const url = new URL(request.url)
      if (availability.isClosed || url.origin !== origin) throw unreachable(url.origin)
      // The owner of the object may control it: no address is checked, and it works during a restart.
      if (isControl(url)) return controlApp.fetch(request)
      let isCut = false
      const carrier: RequestConnection = { abandon: () => void (isCut = true) }
      const response = await rejectOnAbort(request.signal, () =>
        availability.whileUp(async () => app.fetch(request, carrier)),
      )
      if (isCut) throw unreachable(url.origin)
      return response
    },
    WebSocket: createSocketClass(url => (hosts.has(url.host) ? upgrade(url) : NO_RESPONSE)),
    handle: async (request, carrier = {}) => {
      if (!isControl(new URL(request.url))) return app.fetch(request, carrier)
      const refusal = refuseControl(request, carrier.remoteAddress)
      if (refusal === undefined) return controlApp.fetch(request)
      return Response.json({ code: '403-000', message: refusal }, { status: 403 })
    },
    upgrade,
    setPortListener: portListener => {
      listener = portListener
    },
    addTokenVerifier: verify => keys.admit(verify),
    nextTokenSerial: () => keys.nextSerial(),
    pkceConfig: pkceOptions => {
      if (!offersLogin)
        throw new Error('This emulator offers no login. Start it with serveEmulator(), or with a `loginPage`.')
      return buildPkceConfig(origin, world.tenants, pkceOptions)
    },
    close,
    [Symbol.asyncDispose]: async () => close(),
  }
}

const concernsFrames = (fault: FaultOf<SessionFaultKind>, sessionId: string) =>
  !('only' in fault && fault.only === 'requests') && (fault.sessionId === undefined || fault.sessionId === sessionId)

const isControl = ({ pathname }: URL) => pathname === CONTROL_PATH || pathname.startsWith(`${CONTROL_PATH}/`)

function readOrigin(address: string): string {
  const url = new URL(address)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`The emulator needs an http or https origin, not ${address}.`)
  return url.origin
}

/** Answers if the emulator has no agent: it states what is missing instead of inventing an answer. */
const defaultReply: Reply = ({ text }) => ({
  content: text.trim()
    ? 'I have no articles to answer from. Start the emulator with a folder of articles, or give it a reply function.'
    : 'Your message is empty. What would you like to know?',
  messageData: { reasoning: 'No knowledge was given to this emulator.' },
})

/** The result of the work, or the reason of the signal as soon as it aborts. */
async function rejectOnAbort<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  let onAbort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort)
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
