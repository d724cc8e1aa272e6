import type { LockPage } from '../../platform/locks.ts'
import { openChannel, type PageWindow } from '../../platform/page.ts'

/** A window that was opened for a login. */
export interface LoginWindow {
  /** Loads an address. */
  navigate(address: string): void
  /** Brings it to the front. */
  focus(): void
  /** Closes it. */
  close(): void
  /**
   * `blank`: open, and nothing has been loaded yet. `away`: open, on another origin. `returned`: open, on this origin.
   * `gone`: closed, or separated from this page by an opener policy; the two are indistinguishable.
   */
  state(): 'blank' | 'away' | 'returned' | 'gone'
  /** Its address, and whether its page is loaded, while it is on this origin. */
  location(): { readonly address: string; readonly isLoaded: boolean } | undefined
}

/** What a login needs from the page it runs in. */
export interface LoginPage {
  /** The page's address. */
  readonly address: string
  /** The origin of that address. */
  readonly origin: string
  /** Whether this page has the focus. */
  hasFocus(): boolean
  /** Opens a blank window, or returns null if the browser blocks it. Reuses the window of an earlier call. */
  open(): LoginWindow | null
  /** Loads an address in a hidden frame. Returns a function that removes it. */
  openFrame(address: string): () => void
  /** Navigates to another address. */
  leave(address: string): void
  /** Replaces this page by another address, also in the history. */
  replace(address: string): void
  /** Changes the displayed address without loading anything. */
  showAddress(address: string): void
  /**
   * Listens to messages of this origin: those sent to the page, and those on a channel. Returns a function that
   * unsubscribes.
   */
  listen(channel: string, listener: (message: unknown) => void): () => void
  /**
   * Calls back when another tab changes a key of localStorage, with the new value. Returns a function that
   * unsubscribes.
   */
  onStored(key: string, listener: (value: string | null) => void): () => void
  /** Calls back when the page is shown from the back/forward cache. Returns a function that unsubscribes. */
  onRestored(listener: () => void): () => void
  /** The locks of the browser. */
  readonly navigator: LockPage['navigator']
}

const WINDOW_NAME = 'aiagent-login'
const WIDTH = 520
const HEIGHT = 680

/** The page of a browser, as a login uses it. */
export function loginPage(window: PageWindow): LoginPage {
  return {
    get address() {
      return window.location.href
    },
    get origin() {
      return window.location.origin
    },
    hasFocus: () => window.document.hasFocus(),
    open() {
      const left = Math.max(0, Math.round(window.screenX + (window.outerWidth - WIDTH) / 2))
      const top = Math.max(0, Math.round(window.screenY + (window.outerHeight - HEIGHT) / 2))
      const features = `popup,width=${WIDTH},height=${HEIGHT},left=${left},top=${top}`
      const opened = window.open('', WINDOW_NAME, features)
      return opened && loginWindow(opened)
    },
    openFrame(address) {
      const frame = window.document.createElement('iframe')
      frame.hidden = true
      frame.src = address
      window.document.body.append(frame)
      return () => frame.remove()
    },
    leave: address => window.location.assign(address),
    replace: address => window.location.replace(address),
    showAddress: address => window.history.replaceState(window.history.state, '', address),
    listen(name, listener) {
      const onMessage = (event: MessageEvent<unknown>) => {
        if (event.origin === window.location.origin) listener(event.data)
      }
      window.addEventListener('message', onMessage)
      // Without one, as in old web views, answers come by message only.
      const channel = openChannel(window, name)
      if (channel) channel.onmessage = (event: MessageEvent<unknown>) => listener(event.data)
      return () => {
        window.removeEventListener('message', onMessage)
        channel?.close()
      }
    },
    onStored(key, listener) {
      const onStorage = (event: StorageEvent) => {
        // No key: the whole store was cleared.
        if (event.key === key || event.key === null) listener(event.key === null ? null : event.newValue)
      }
      window.addEventListener('storage', onStorage)
      return () => window.removeEventListener('storage', onStorage)
    },
    onRestored(listener) {
      const onShow = ({ persisted }: PageTransitionEvent) => {
        if (persisted) listener()
      }
      window.addEventListener('pageshow', onShow)
      return () => window.removeEventListener('pageshow', onShow)
    },
    navigator: window.navigator,
  }
}

/**
 * Resolves when the page is shown from the back/forward cache: the user came back from a redirect, which is over. What
 * waits for the redirect would wait endlessly.
 */
export function shownAgain(page: LoginPage, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => signal.addEventListener('abort', page.onRestored(resolve)))
}

function loginWindow(opened: Window): LoginWindow {
  /** The address, or undefined for one of another origin, which cannot be read. */
  const href = () => {
    try {
      return opened.location.href
    } catch {
      return undefined
    }
  }
  return {
    navigate: address => opened.location.replace(address),
    focus: () => opened.focus(),
    close: () => opened.close(),
    state() {
      if (opened.closed) return 'gone'
      const address = href()
      if (address === undefined) return 'away'
      return address === 'about:blank' ? 'blank' : 'returned'
    },
    location() {
      const address = href()
      return address === undefined ? undefined : { address, isLoaded: opened.document?.readyState === 'complete' }
    },
  }
}
