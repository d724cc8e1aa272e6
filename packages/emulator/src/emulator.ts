import { CLOSE_CODE } from '@aiagent/protocol'
import { builtInReply } from './chat/built-in-reply.ts'
import { ChatService } from './chat/chat-service.ts'
import { createSocketClass, type EmulatedSocketClass } from './chat/emulated-socket.ts'
import type { Reply } from './chat/reply.ts'
import type { Upgrade } from './chat/socket-end.ts'
import { type Clock, systemClock } from './clock.ts'
import { createControl, type EmulatorControl } from './control.ts'
import { CALLBACK_PAGE } from './oauth/callback-page.ts'
import { TokenKeys, type TokenVerifier } from './oauth/keys.ts'
import { createRandom } from './random.ts'
import { createRestApp } from './rest/app.ts'
import { DEFAULT_WORLD, type WorldSeed } from './seed.ts'
import { DEFAULT_SETTINGS, type EmulatorSettings } from './settings.ts'
import { World } from './world.ts'

export interface EmulatorOptions {
  /** Everything random comes from this number: the same seed gives the same ids, keys and choices. @default 1 */
  seed?: number
  /** @default the system's time */
  clock?: Clock
  /** Address under which the service believes to live; the addresses it hands out begin with it. @default 'http://emulator.test' */
  origin?: string
  /** The agent. Without one, it says that it has no articles. */
  reply?: Reply
  /** Tenants, agents and clients; a list that is given takes the place of the default one. */
  world?: Partial<WorldSeed>
  settings?: Partial<EmulatorSettings>
  /** Whether the metadata names the logins, for an identity provider under the same origin. A port has one. @default false */
  offersLogin?: boolean
  /** HTML of the page that a login returns to. @default a page that passes its address on and closes itself */
  callbackPage?: string
}

/** The hosted service in one object. */
export interface Emulator {
  /** Where the service lives, without a slash at the end. */
  readonly origin: string
  /** What it knows. */
  readonly world: World
  /** How it behaves; changes take effect at once. */
  readonly settings: EmulatorSettings
  readonly control: EmulatorControl
  /** In place of the global function, for addresses of this service. Others reject with a TypeError, as unknown hosts do. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** In place of the browser's class, for chat addresses of this service. Connections to other hosts fail with 1006. */
  readonly WebSocket: EmulatedSocketClass
  /** Answers a request from a real port, whatever host it names. */
  handle(request: Request): Promise<Response>
  /** Judges the address of a chat connection from a real port, before it is accepted. */
  upgrade(url: URL, headers?: Readonly<Record<string, string>>): Upgrade
  /** Lets tokens of a further issuer under the same origin count: those that the function recognizes. */
  admitTokens(verify: TokenVerifier): void
  /** The next place in the order of issue, for a token of a further issuer. */
  nextTokenSerial(): number
  /** Shuts down: every chat connection is closed with 1001, no timer is left, and later calls fail like a dead host. */
  close(): void
}

/**
 * Makes a service that lives in this process, in a page or in Node, without a port.
 *
 * @throws {TypeError} when the origin is not an http or https address
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const { seed = 1, clock = systemClock, reply = builtInReply } = options
  const { offersLogin = false, callbackPage = CALLBACK_PAGE } = options
  const origin = readOrigin(options.origin ?? 'http://emulator.test')
  const settings: EmulatorSettings = { ...DEFAULT_SETTINGS, ...options.settings }
  const world = new World({ ...DEFAULT_WORLD, ...options.world }, settings)
  const random = createRandom(seed)
  const keys = new TokenKeys(clock, random, world.tenant.id)
  const chat = new ChatService({ world, clock, settings, keys, random, reply })
  const app = createRestApp({ world, clock, random, settings, keys, origin, offersLogin, callbackPage })
  const hosts = new Set([new URL(origin).host, `chat.${world.tenant.aiAgentDomain}`])
  let closed = false

  const upgrade = (url: URL, headers?: Readonly<Record<string, string>>): Upgrade =>
    closed ? SHUT_DOWN : chat.upgrade(url, headers)

  return {
    origin,
    world,
    settings,
    control: createControl({ chat, keys, settings, world }),
    fetch: async (input, init) => {
      const request = new Request(input, init)
      if (closed || new URL(request.url).origin !== origin)
        throw new TypeError('fetch failed', {
          cause: new Error(`No service answers at ${new URL(request.url).origin}.`),
        })
      return untilAborted(request.signal, () => Promise.resolve(app.fetch(request)))
    },
    WebSocket: createSocketClass(url => (hosts.has(url.host) ? upgrade(url) : NO_SUCH_HOST)),
    handle: async request => app.fetch(request),
    upgrade,
    admitTokens: verify => keys.admit(verify),
    nextTokenSerial: () => keys.nextSerial(),
    close: () => {
      closed = true
      chat.drop(CLOSE_CODE.GOING_AWAY, 'The service shuts down')
      chat.stop()
    },
  }
}

const SHUT_DOWN: Upgrade = { accepted: false, status: 503, code: '503-001', message: 'The service has shut down.' }
/** No status: there is nobody who could answer. */
const NO_SUCH_HOST: Upgrade = { accepted: false, status: 0, code: '', message: 'No such host.' }

function readOrigin(address: string): string {
  const url = new URL(address)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError(`The emulator needs an http or https origin, not ${address}.`)
  return url.origin
}

/** The result of the work, or the signal's reason as soon as it aborts. */
async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
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
