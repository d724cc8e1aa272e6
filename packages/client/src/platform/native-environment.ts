import { resolveEnvironment } from './default-environment.ts'
import type { Environment } from './environment.ts'
import { uuidOf } from './environment.ts'
import type { Page } from './page.ts'

/** The part of React Native's `AppState` that is used. */
export interface AppStateLike {
  /** `'active'`, `'background'`, or another state in which the app still runs, such as `'inactive'`. */
  readonly currentState?: string | null
  /** Calls back when the state changes. */
  addEventListener(type: 'change', listener: (state: string) => void): { remove(): void }
}

/** The part of the state of `@react-native-community/netinfo` that is used. */
export interface NetInfoStateLike {
  /** Kind of network, such as `'wifi'` or `'cellular'`. */
  readonly type?: string
  /** False without a network; null while it is unknown. */
  readonly isConnected: boolean | null
}

/** The part of `@react-native-community/netinfo` that is used. */
export interface NetInfoLike {
  /** Calls back with the present state, and with each change. Returns the undo. */
  addEventListener(listener: (state: NetInfoStateLike) => void): () => void
}

/** What the host hands in from React Native and its modules. */
export interface NativeParts extends Partial<Environment> {
  /**
   * Fills an array with random bytes and returns it: `crypto.getRandomValues` of `react-native-get-random-values`, or the
   * function of `expo-crypto`.
   */
  // `Uint8Array<ArrayBuffer>` for compilers before TypeScript 5.7 too.
  getRandomValues(bytes: Uint8Array & { readonly buffer: ArrayBuffer }): Uint8Array
  /** `AppState`: an app that comes to the foreground checks its connection at once. */
  appState: AppStateLike
  /** The default export of NetInfo: an app whose network returns or changes reconnects at once. */
  netInfo?: NetInfoLike
}

/**
 * The replacements for React Native: the second argument of `AiAgent`. The app in the background counts as a hidden page.
 * Further parts of the platform, such as `fetch` and `WebSocket`, may be given with it; by default they are React Native's
 * own.
 */
export function nativeEnvironment(parts: NativeParts): Partial<Environment> {
  const { getRandomValues, appState, netInfo, ...replacements } = parts
  const environment = resolveEnvironment(replacements)
  return {
    randomUUID: () => uuidOf(getRandomValues(new Uint8Array(16))),
    page: nativePage(appState, netInfo, environment.clock),
    sessionStorage: undefined,
    localStorage: undefined,
    ...replacements,
    // React Native's `fetch` has no cache that could answer, and adds a parameter to the address instead of `cache: 'no-store'`.
    fetch: (input, { cache: _, ...init } = {}) => environment.fetch(input, init),
    get memory() {
      return environment.memory
    },
  }
}

function nativePage(appState: AppStateLike, netInfo: NetInfoLike | undefined, clock: Environment['clock']): Page {
  const isHidden = () => appState.currentState === 'background'
  return {
    isHidden,
    nextTask: callback => void clock.setTimeout(callback, 0),
    onReturn(listener) {
      let hiddenSince = isHidden() ? clock.now() : undefined
      const subscription = appState.addEventListener('change', state => {
        if (state === 'background') hiddenSince ??= clock.now()
        if (state !== 'active' || hiddenSince === undefined) return
        const awayMs = Math.max(0, clock.now() - hiddenSince)
        hiddenSince = undefined
        listener(awayMs)
      })
      let before: NetInfoStateLike | undefined
      const unsubscribe = netInfo?.addEventListener(state => {
        const { isConnected, type } = before ?? state
        before = state
        // Another network has another address, which no connection survives.
        if (state.isConnected && (isConnected === false || type !== state.type)) listener(Infinity)
      })
      return () => {
        subscription.remove()
        unsubscribe?.()
      }
    },
    addScript: () => ({
      ran: Promise.reject(new Error('React Native has no script tags.')),
      isCurrent: () => false,
      remove: () => {},
    }),
  }
}

/** The classes to complete. */
export interface AbortGlobals {
  /** The platform's `AbortController`. */
  readonly AbortController: { readonly prototype: object }
  /** The platform's `AbortSignal`. */
  readonly AbortSignal: { readonly prototype: object }
}

interface BareController {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}

/**
 * Adds what React Native's `AbortController` lacks and the library needs: the reason of an abort, and `throwIfAborted()`.
 * Call it once, before the first agent is created. It does nothing where signals have them.
 *
 * @param globals the global object: `globalThis`
 */
export function completeAbortSignals(globals: AbortGlobals): void {
  const signals = globals.AbortSignal.prototype
  if ('throwIfAborted' in signals) return
  const controllers = globals.AbortController.prototype as BareController
  const { abort } = controllers
  controllers.abort = function (reason = new Error('The operation was aborted.')) {
    // Before the listeners of the signal are called, which read it.
    if (!this.signal.aborted) Object.defineProperty(this.signal, 'reason', { value: reason, configurable: true })
    abort.call(this)
  }
  Object.defineProperty(signals, 'throwIfAborted', {
    configurable: true,
    writable: true,
    value(this: AbortSignal) {
      if (this.aborted) throw this.reason
    },
  })
}
