import type { Clock } from '../../platform/clock.ts'
import type { PageWindow } from '../../platform/page.ts'

/** A window that was opened for a login. */
export interface LoginWindow {
  navigate(address: string): void
  focus(): void
  close(): void
  /**
   * `blank`: open, and nothing has been loaded yet. `loaded`: open. `gone`: closed, or cut off from this page by an opener
   * policy, which look the same.
   */
  state(): 'blank' | 'loaded' | 'gone'
}

/** What a login needs of the page it runs in. */
export interface LoginPage {
  /** The page's address. */
  readonly address: string
  readonly origin: string
  /** Whether the network is there, as far as the browser knows. */
  isOnline(): boolean
  /** Opens a blank window, or gives null where the browser forbids it. A window of an earlier call is used again. */
  open(): LoginWindow | null
  /** Leaves for another address. */
  leave(address: string): void
  /** Puts another address into the place of this one, in the history too. */
  replace(address: string): void
  /** Changes the address that is shown, without loading anything. */
  showAddress(address: string): void
  /** Hears messages of this origin: those sent to the page, and those on a channel. Returns the undo. */
  listen(channel: string, listener: (message: unknown) => void): () => void
  /** Runs work while no other tab of the origin runs some under that name; at once where tabs cannot be told apart. */
  exclusively<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>
}

const WINDOW_NAME = 'aiagent-login'
const WIDTH = 520
const HEIGHT = 680

/** The page of a browser, as far as a login needs it. */
export function loginPage(window: PageWindow): LoginPage {
  return {
    get address() {
      return window.location.href
    },
    get origin() {
      return window.location.origin
    },
    isOnline: () => window.navigator.onLine,
    open() {
      const left = Math.max(0, Math.round(window.screenX + (window.outerWidth - WIDTH) / 2))
      const top = Math.max(0, Math.round(window.screenY + (window.outerHeight - HEIGHT) / 2))
      const features = `popup,width=${WIDTH},height=${HEIGHT},left=${left},top=${top}`
      const opened = window.open('', WINDOW_NAME, features)
      return opened && loginWindow(opened)
    },
    leave: address => window.location.assign(address),
    replace: address => window.location.replace(address),
    showAddress: address => window.history.replaceState(window.history.state, '', address),
    listen(name, listener) {
      const onMessage = (event: MessageEvent<unknown>) => {
        if (event.origin === window.location.origin) listener(event.data)
      }
      window.addEventListener('message', onMessage)
      const channel = new window.BroadcastChannel(name)
      channel.onmessage = (event: MessageEvent<unknown>) => listener(event.data)
      return () => {
        window.removeEventListener('message', onMessage)
        channel.close()
      }
    },
    async exclusively(name, signal, work) {
      // Absent where the page is no secure context.
      const locks: LockManager | undefined = window.navigator.locks
      return locks ? locks.request(name, { signal }, work) : work()
    },
  }
}

function loginWindow(opened: Window): LoginWindow {
  return {
    navigate: address => opened.location.replace(address),
    focus: () => opened.focus(),
    close: () => opened.close(),
    state() {
      if (opened.closed) return 'gone'
      try {
        return opened.location.href === 'about:blank' ? 'blank' : 'loaded'
      } catch {
        // The address of another origin must not be read.
        return 'loaded'
      }
    },
  }
}

/** How often an open window is looked at. */
const LOOK_MS = 150
/** How long an answer may be on its way after its window has closed. */
const GRACE_MS = 500

/**
 * Resolves when a window that has been seen at the provider is gone, for then its person closed it.
 *
 * A provider's opener policy cuts the window off as soon as it loads, which looks as if it had been closed: a window that
 * goes without ever having been seen there is not taken for closed.
 */
export function whenClosed(opened: LoginWindow, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    let seen = false
    let timer: unknown
    const look = () => {
      const state = opened.state()
      if (state === 'gone') {
        if (seen) timer = clock.setTimeout(resolve, GRACE_MS)
        return
      }
      seen ||= state === 'loaded'
      timer = clock.setTimeout(look, LOOK_MS)
    }
    look()
    signal.addEventListener('abort', () => clock.clearTimeout(timer), { once: true })
  })
}
