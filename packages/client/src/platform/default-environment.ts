import { WebSocketImplementation } from '#websocket'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import type { Environment, StorageLike, WebSocketLike, WebSocketOptions } from './environment.ts'
import { browserPage } from './page.ts'

/** Longest delay that timers of JavaScript engines keep. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** One for all agents of the process, as a tab's storage would be. Made with the first environment. */
let processMemory: MemoryCacheAdapter | undefined

/** The same for all agents, and so for nothing on the heap of each. Made when it is first needed. */
let platform: Environment | undefined

/**
 * The platform as it is: the one place where the library reads globals.
 *
 * Each is read when it is used, not when this file is imported, so that the library can be imported where there is no
 * such thing, and a global that a host replaces later is honoured.
 */
export function defaultEnvironment(): Environment {
  return (platform ??= Object.freeze(readPlatform()))
}

function readPlatform(): Environment {
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    WebSocket: WebSocketImplementation,
    clock: {
      now: () => Date.now(),
      monotonic: () => globalThis.performance.now(),
      setTimeout(callback, delayMs, options) {
        // A longer delay would overflow, and the timer would fire at once.
        const handle: unknown = globalThis.setTimeout(callback, Math.min(delayMs, LONGEST_TIMER_MS))
        // Only Node and its relatives return an object; browsers return a number and have no process to keep alive.
        if (options?.background) (handle as { unref?: () => void }).unref?.()
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
      return storage('sessionStorage')
    },
    get localStorage() {
      return storage('localStorage')
    },
    get page() {
      return typeof globalThis.document?.addEventListener === 'function' && typeof globalThis.window === 'object'
        ? browserPage(globalThis)
        : undefined
    },
    get globals() {
      return globalThis
    },
    // Bundlers are to leave it alone: the address is known at run time only.
    importModule: url => import(/* @vite-ignore */ /* webpackIgnore: true */ url),
    get memory() {
      return (processMemory ??= new MemoryCacheAdapter())
    },
  }
}

/**
 * The platform with parts replaced. A store given as undefined is forbidden; any other part given so is not replaced.
 *
 * Agents that reach the service through the same `fetch` share one memory, as those of a tab do. A `fetch` of the host's
 * own (a test's, or one that leads elsewhere) brings a memory of its own, so that answers never mix.
 */
export function resolveEnvironment(partial?: Partial<Environment>): Environment {
  if (partial === undefined) return defaultEnvironment()
  if (isComplete(partial)) return partial
  const environment = readPlatform()
  complete.add(environment)
  // Getters are copied as getters, so that what is read lazily stays so.
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(partial))) {
    if (descriptor.get || descriptor.value !== undefined || name.endsWith('Storage')) {
      Object.defineProperty(environment, name, descriptor)
    }
  }
  const { fetch, webSocketOptions } = partial
  if (webSocketOptions && !partial.WebSocket) {
    const Socket = WebSocketImplementation as new (url: string, options: WebSocketOptions) => WebSocketLike
    // A constructor may return an object of another class.
    const value = function openWithOptions(url: string) {
      return new Socket(url, webSocketOptions)
    }
    Object.defineProperty(environment, 'WebSocket', { value, enumerable: true })
  }
  if (fetch) {
    // The platform's own function refuses to be called as a method of another object.
    environment.fetch = (input, init) => fetch(input, init)
    if (!partial.memory) Object.defineProperty(environment, 'memory', { value: memoryOf(fetch), enumerable: true })
  }
  return environment
}

/** Environments that were resolved before: the parts of an agent pass theirs on. */
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
 * A browser's store. Its mere mention throws where the browser forbids it.
 *
 * Runtimes without a page may have a store of the same name that outlives the process or belongs to all of it; there
 * the library keeps to memory.
 */
function storage(name: 'sessionStorage' | 'localStorage'): StorageLike | undefined {
  try {
    return 'document' in globalThis ? (globalThis[name] ?? undefined) : undefined
  } catch {
    return undefined
  }
}

/** A page that is no secure context has `getRandomValues` but no `randomUUID`. */
function randomUUID(): string {
  const { crypto } = globalThis
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID()
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
