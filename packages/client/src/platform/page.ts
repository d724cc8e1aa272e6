/** What the library needs from the page it runs in. Absent outside a browser. */
export interface Page {
  /** Whether the page is in the background, where its timers are throttled to one a second or a minute. */
  isHidden(): boolean
  /** Runs a callback in a separate task, as soon as possible. Not throttled in the background. */
  nextTask(callback: () => void): void
  /**
   * Calls back when the page may have become active again: the network returned, the page became visible, was restored
   * from the back/forward cache, or resumed after a freeze. A reason to check at once, not a proof.
   *
   * @param listener receives how long the page was hidden, in milliseconds; Infinity where its connections may be lost
   *   however long that was: after an outage of the network, a freeze, or a stay in the back/forward cache
   * @returns a function that unsubscribes
   */
  onReturn(listener: (awayMs: number) => void): () => void
  /** Adds a script tag to the page, which starts to load it. */
  addScript(attributes: ScriptAttributes): PageScript
  /** The window itself, for parts that load on demand: a login opens windows and navigates. */
  readonly window?: PageWindow | undefined
}

/** Attributes of a script tag. The script is requested without cookies, as `integrity` requires. */
export interface ScriptAttributes {
  /** Address of the script. */
  readonly src: string
  /** Hash that the script must have, in the form of subresource integrity. Without it, any content runs. */
  readonly integrity?: string | undefined
  /** Nonce of the page's content security policy. */
  readonly nonce?: string | undefined
}

/** A script on the page. */
export interface PageScript {
  /**
   * Resolves when the script has run, with the error that it threw, if any. Rejects when it could not be loaded or was
   * refused; a page does not reveal which.
   */
  readonly ran: Promise<{ readonly thrown?: unknown }>
  /** Whether the script is running at this moment. */
  isCurrent(): boolean
  /** Removes the tag. A script that has not run yet then never runs; one that has run stays. */
  remove(): void
}

/** A window with its global variables. */
export interface PageWindow extends Window {
  /** Messages between the tabs of an origin. */
  readonly BroadcastChannel: new (
    name: string,
  ) => {
    readonly name: string
    onmessage: ((event: never) => unknown) | null
    postMessage(message: unknown): void
    close(): void
  }
}

/** Opens a channel between the tabs of the origin; undefined where the browser has none, or denies it to the page. */
export function openChannel(
  window: PageWindow,
  name: string,
): InstanceType<PageWindow['BroadcastChannel']> | undefined {
  try {
    return window.BroadcastChannel && new window.BroadcastChannel(name)
  } catch {
    return undefined
  }
}

interface PageGlobals {
  readonly window: PageWindow
  readonly document: Pick<
    Document,
    | 'addEventListener'
    | 'removeEventListener'
    | 'visibilityState'
    | 'createElement'
    | 'currentScript'
    | 'head'
    | 'implementation'
  >
  readonly MessageChannel: typeof MessageChannel
}

const WINDOW_EVENTS = ['online', 'pageshow'] as const
const DOCUMENT_EVENTS = ['visibilitychange', 'resume'] as const

/**
 * The page of a browser. It adds listeners only for subscribers.
 *
 * @param now the wall clock, in milliseconds: unlike the monotonic one it runs while the device sleeps
 */
export function browserPage({ window, document, MessageChannel }: PageGlobals, now: () => number): Page {
  const isHidden = () => document.visibilityState === 'hidden'
  const run = (script: HTMLScriptElement) =>
    new Promise<{ thrown?: unknown }>((resolve, reject) => {
      const outcome: { thrown?: unknown } = {}
      // A script that throws counts as loaded; the window receives the error while it is the current script.
      const failed = (event: ErrorEvent) => {
        if (document.currentScript === script) outcome.thrown = event.error ?? event.message
      }
      const settle = (done: () => void) => () => {
        window.removeEventListener('error', failed)
        done()
      }
      window.addEventListener('error', failed)
      script.onload = settle(() => resolve(outcome))
      script.onerror = settle(() => reject(new Error('The browser did not load the script.')))
      document.head.append(script)
    })
  return {
    window,
    isHidden,
    nextTask(callback) {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => {
        port1.close()
        callback()
      }
      port2.postMessage(null)
    },
    addScript({ src, integrity, nonce }) {
      const script = document.createElement('script')
      script.async = true
      script.crossOrigin = 'anonymous'
      if (integrity) script.integrity = integrity
      if (nonce) script.nonce = nonce
      script.src = trusted(window, src)
      return {
        ran: run(script),
        isCurrent: () => document.currentScript === script,
        // A removed script still runs once it is fetched, unless its tag was moved to another document before.
        remove: () => void document.implementation.createHTMLDocument('').adoptNode(script),
      }
    },
    onReturn(listener) {
      let hiddenSince: number | undefined = isHidden() ? now() : undefined
      const returned = (event: Event) => {
        if (isHidden()) {
          hiddenSince ??= now()
          return
        }
        const hiddenMs = hiddenSince === undefined ? 0 : Math.max(0, now() - hiddenSince)
        hiddenSince = undefined
        const isShown = event.type === 'visibilitychange'
        const isLoaded = event.type === 'pageshow' && !(event as PageTransitionEvent).persisted
        listener(isShown || isLoaded ? hiddenMs : Infinity)
      }
      for (const name of WINDOW_EVENTS) window.addEventListener(name, returned)
      for (const name of DOCUMENT_EVENTS) document.addEventListener(name, returned)
      return () => {
        for (const name of WINDOW_EVENTS) window.removeEventListener(name, returned)
        for (const name of DOCUMENT_EVENTS) document.removeEventListener(name, returned)
      }
    },
  }
}

/** The members of a page's trusted types that are used. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(text: string): string },
  ): { createScriptURL(text: string): string }
}

/** The policy for connector scripts: a page allows one of its name, for all agents. */
let policy: ReturnType<TrustedTypes['createPolicy']> | undefined

/** The address in the form that a page with trusted types takes; as it is where the page does not allow the policy. */
function trusted(window: Window, address: string): string {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes }
  try {
    policy ??= trustedTypes?.createPolicy('aiagent-connector', { createScriptURL: text => text })
  } catch {}
  return policy?.createScriptURL(address) ?? address
}
