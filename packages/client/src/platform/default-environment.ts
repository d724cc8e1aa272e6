import { WebSocketImplementation } from '#websocket'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import type { Environment, StorageLike, WebSocketLike, WebSocketOptions } from './environment.ts'
import { uuidOf } from './environment.ts'
import { browserPage } from './page.ts'

/** Maximum delay of the timers of JavaScript engines. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Shared by all agents of the process, like a tab's storage. Created with the first environment. */
let processMemory: MemoryCacheAdapter | undefined

/** Shared by all agents, to save memory. Created on first use. */
let platform: Environment | undefined

/**
 * The default platform: the only place where the library reads globals.
 *
 * Each global is read when it is used, not when this file is imported. So the library can be imported on a platform
 * without it, and a global that a host replaces later is used.
 */
export function defaultEnvironment(): Environment {
  return (platform ??= Object.freeze(readPlatform()))
}

/** zone.js, with which Angular waits for every timer that was started in its zone before it counts as stable. */
interface ZoneGlobal {
  readonly root: { run<T>(work: () => T): T }
  readonly current: { wrap(callback: () => void, source: string): () => void }
}

function readPlatform(): Environment {
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    WebSocket: WebSocketImplementation,
    clock: {
      now: () => Date.now(),
      monotonic: () => globalThis.performance.now(),
      setTimeout(callback, delayMs, options) {
        const start = (run: () => void): unknown =>
          // A longer delay would overflow, and the timer would fire at once.
          globalThis.setTimeout(run, Math.min(delayMs, LONGEST_TIMER_MS))
        if (!options?.background) return start(callback)
        // A page may have another global of this name.
        const { root, current } = (globalThis as { Zone?: Partial<ZoneGlobal> }).Zone ?? {}
        const run = current?.wrap?.(callback, 'aiagent') ?? callback
        const handle = root?.run ? root.run(() => start(run)) : start(run)
        // Only Node and compatible runtimes return an object; browsers return a number and have no process to keep
        // alive.
        ;(handle as { unref?: () => void }).unref?.()
        return handle
      },
      clearTimeout: handle => globalThis.clearTimeout(handle as number | undefined),
    },
    random: () => Math.random(),
    randomUUID,
    get console() {
      return globalThis.console
    },
    get sessionStorage() {
      return pageStorage('session')
    },
    get localStorage() {
      return pageStorage('local')
    },
    get page() {
      return typeof globalThis.document?.addEventListener === 'function' && typeof globalThis.window === 'object'
        ? browserPage(globalThis, () => Date.now())
        : undefined
    },
    get globals() {
      return globalThis
    },
    // Bundlers must not resolve it: the address is known at run time only.
    importModule: url => import(/* @vite-ignore */ /* webpackIgnore: true */ url),
    get memory() {
      return (processMemory ??= new MemoryCacheAdapter())
    },
  }
}

/**
 * The platform with parts replaced. A store given as undefined is disabled; any other part given as undefined keeps its
 * default.
 *
 * Agents with the same `fetch` share one memory, like those of a tab. A custom `fetch` (of a test, or for another
 * network) has a separate memory, so that responses never mix.
 */
export function resolveEnvironment(partial?: Partial<Environment>): Environment {
  if (partial === undefined) return defaultEnvironment()
  if (isComplete(partial)) return partial
  const environment = readPlatform()
  complete.add(environment)
  // Getters are copied as getters, so that they stay lazy.
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(partial))) {
    if (descriptor.get || descriptor.value !== undefined || name.endsWith('Storage')) {
      Object.defineProperty(environment, name, descriptor)
    }
  }
  const { fetch, webSocketOptions } = partial
  if (webSocketOptions && !partial.WebSocket) {
    const Socket = WebSocketImplementation as new (url: string, options: WebSocketOptions) => WebSocketLike
    // A constructor may return an object of another class.
    const openWithOptions = function openWithOptions(url: string) {
      return new Socket(url, webSocketOptions)
    }
    const value = Object.assign(openWithOptions, { revealsStatus: WebSocketImplementation.revealsStatus })
    Object.defineProperty(environment, 'WebSocket', { value, enumerable: true })
  }
  if (fetch) {
    // The platform's own function throws when it is called as a method of another object.
    environment.fetch = (input, init) => fetch(input, init)
    if (!partial.memory) Object.defineProperty(environment, 'memory', { value: memoryOf(fetch), enumerable: true })
  }
  return environment
}

/** Environments that were resolved before: parts of an agent pass theirs on. */
const complete = new WeakSet<Partial<Environment>>()

function isComplete(partial: Partial<Environment>): partial is Environment {
  return partial === platform || complete.has(partial)
}

const memories = new WeakMap<Environment['fetch'], MemoryCacheAdapter>()

function memoryOf(fetch: Environment['fetch']): MemoryCacheAdapter {
  const known = memories.get(fetch) ?? new MemoryCacheAdapter()
  memories.set(fetch, known)
  return known
}

/**
 * The store of a page. Runtimes without a page may have a store of the same name that outlives the process or is shared by
 * it; the library uses that only if the host names it.
 */
function pageStorage(name: 'session' | 'local'): StorageLike | undefined {
  return 'document' in globalThis ? browserStorage(name) : undefined
}

/** The runtime's store of a name. Access to it throws if the browser forbids it. */
export function browserStorage(name: 'session' | 'local'): StorageLike | undefined {
  try {
    return globalThis[`${name}Storage`] ?? undefined
  } catch {
    return undefined
  }
}

/** A page that is not a secure context has `getRandomValues` but no `randomUUID`. */
function randomUUID(): string {
  const { crypto } = globalThis
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID()
  return uuidOf(crypto.getRandomValues(new Uint8Array(16)))
}
