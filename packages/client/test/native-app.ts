import { createContext, runInContext } from 'node:vm'
import type { Emulator } from '@aiagent/emulator'
import type { ManualClock } from '@aiagent/test-support'
import { bundleForPage } from '@aiagent/test-support/chromium'
import type * as view from '@aiagent/view'
import type * as client from '../src/index.ts'
import type * as native from '../src/react-native.ts'

/** Names that an app in React Native does not have. */
const ABSENT = ['crypto', 'structuredClone', 'TextEncoder', 'TextDecoder', 'localStorage', 'document', 'window']

type Library = typeof client &
  typeof native &
  Pick<typeof view, 'createConversationView'> & { readonly globals: native.AbortGlobals }

/** The library as one script, for {@link startApp}. */
export const bundleForApp = (): Promise<string> =>
  bundleForPage(`
    import * as client from '@aiagent/client'
    import * as native from '@aiagent/client/react-native'
    import { createConversationView } from '@aiagent/view'
    globalThis.library = { ...client, ...native, createConversationView, globals: globalThis }
  `)

/** Runs the library in a new process of an app: a context with the globals of React Native, and no others. */
export function startApp(script: string, { fetch, WebSocket }: Emulator, clock: ManualClock): Library {
  const globals = {
    ...abortClasses(),
    WebSocket,
    URL,
    URLSearchParams,
    atob,
    console,
    performance: { now: clock.monotonic },
    setTimeout: clock.setTimeout,
    clearTimeout: clock.clearTimeout,
    fetch: (address: string, init?: RequestInit) => fetchWholeText(fetch, address, init),
    navigator: { product: 'ReactNative' },
  }
  const context = createContext(globals)
  const present = ABSENT.filter(name => runInContext(`typeof ${name} !== 'undefined'`, context))
  if (present.length > 0) throw new Error(`The app has ${present.join(', ')}.`)
  runInContext(script, context)
  return (globals as unknown as { library: Library }).library
}

/** The response without a stream, and signals of any class, as the `fetch` of React Native. */
async function fetchWholeText(fetch: Emulator['fetch'], address: string, init: RequestInit = {}): Promise<Response> {
  const controller = new AbortController()
  init.signal?.addEventListener('abort', () => controller.abort())
  const { ok, status, headers, ...response } = await fetch(address, { ...init, signal: controller.signal }).then(
    async answer => ({ ok: answer.ok, status: answer.status, headers: answer.headers, content: await answer.text() }),
  )
  return { ok, status, headers, text: async () => response.content } as Response
}

/** Classes with the members that those of React Native have: no reason, and no `throwIfAborted()`. */
function abortClasses() {
  class AbortSignal {
    aborted = false
    readonly listeners = new Set<() => void>()
    addEventListener(_type: 'abort', listener: () => void): void {
      this.listeners.add(listener)
    }
    removeEventListener(_type: 'abort', listener: () => void): void {
      this.listeners.delete(listener)
    }
  }
  class AbortController {
    readonly signal = new AbortSignal()
    abort(): void {
      if (this.signal.aborted) return
      this.signal.aborted = true
      for (const listener of [...this.signal.listeners]) listener()
    }
  }
  return { AbortController, AbortSignal }
}
