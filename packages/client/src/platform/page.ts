/** What the library needs of the page it runs in. Absent outside a browser, where nothing of it is needed. */
export interface Page {
  /** Whether the page is in the background, where its timers are throttled to one a second or a minute. */
  isHidden(): boolean
  /**
   * Runs a callback in a task of its own, as soon as the page gets to it. Not throttled in the background.
   */
  nextTask(callback: () => void): void
  /**
   * Calls back when the page may have come back to life: the network is there again, the page is seen again, was shown
   * from the back/forward cache, or resumed after a freeze. A reason to look at once, no proof of anything.
   *
   * @returns the undo
   */
  onReturn(listener: () => void): () => void
  /** Adds a script of others to the page, which starts to load it. */
  addScript(attributes: ScriptAttributes): PageScript
  /** The window itself, for what only a part that loads on demand needs: a login opens others and leaves the page. */
  readonly window?: PageWindow | undefined
}

/** What a script tag says. The script is asked for without cookies, as `integrity` needs it. */
export interface ScriptAttributes {
  readonly src: string
  readonly integrity?: string | undefined
  readonly nonce?: string | undefined
}

/** A script on the page. */
export interface PageScript {
  /**
   * Resolves when the script has run, to what it threw if it did; rejects when it could not be loaded or was refused,
   * of which a page does not tell which.
   */
  readonly ran: Promise<{ readonly thrown?: unknown }>
  /** Whether the script is running at this moment. */
  isCurrent(): boolean
  /** Removes the tag. A script that has not run yet never runs then; what has run stays. */
  remove(): void
}

/** A window with the globals that stand in it. */
export interface PageWindow extends Window {
  readonly BroadcastChannel: new (
    name: string,
  ) => {
    onmessage: ((event: never) => unknown) | null
    postMessage(message: unknown): void
    close(): void
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

/** The page of a browser. Listens to nothing until somebody wants to know. */
export function browserPage({ window, document, MessageChannel }: PageGlobals): Page {
  const isHidden = () => document.visibilityState === 'hidden'
  const run = (script: HTMLScriptElement) =>
    new Promise<{ thrown?: unknown }>((resolve, reject) => {
      const outcome: { thrown?: unknown } = {}
      // A script that throws counts as loaded, and what it threw goes to the window while it is the current one.
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
      script.src = src
      return {
        ran: run(script),
        isCurrent: () => document.currentScript === script,
        // A removed script still runs once it is fetched, unless its tag has moved to another document by then.
        remove: () => void document.implementation.createHTMLDocument('').adoptNode(script),
      }
    },
    onReturn(listener) {
      const returned = () => {
        if (!isHidden()) listener()
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
