import type { INavigator, IWindow, NavigateParams, NavigateResponse } from 'oidc-client-ts'
import { AuthError } from '../../errors.ts'
import type { Clock } from '../../platform/clock.ts'
import { CHANNEL_PREFIX, MESSAGE_SOURCE } from './callback-page.ts'
import { type LoginPage, type LoginWindow, whenClosed } from './login-page.ts'

/** How long a person has to sign in. */
export const POPUP_LIMIT_MS = 10 * 60_000

/**
 * Popups for the identity library, since its own do not tell blocked, closed and timed-out windows apart.
 *
 * One window at a time: whoever opens the next one takes it over, and the wait for the earlier answer ends. So a person who
 * closed a window which the provider had cut off from this page can simply start again.
 */
export class PopupNavigator implements INavigator {
  readonly #page: LoginPage
  readonly #clock: Clock
  /** The newest window. Whoever holds an earlier one has no say any more. */
  #current: LoginWindow | undefined
  #abandon: () => void = () => {}

  constructor(page: LoginPage, clock: Clock) {
    this.#page = page
    this.#clock = clock
  }

  /**
   * Opens the window that the next `prepare()` uses. To be called before anything is awaited.
   *
   * @throws {AuthError} `popup_blocked`
   */
  open(): LoginWindow {
    this.#abandon()
    const opened = this.#page.open()
    if (!opened)
      throw new AuthError(
        'The browser blocked the sign-in window. Start the sign-in within a click, or allow popups for this page.',
        'popup_blocked',
      )
    opened.focus()
    this.#current = opened
    return opened
  }

  /**
   * Whether a window is still the newest, to be asked right before the library prepares.
   *
   * @throws {AuthError} `popup_closed` when another one has taken its place
   */
  requireCurrent(opened: LoginWindow): void {
    if (this.#current !== opened) throw superseded()
  }

  /** Closes a window, unless another one has taken its place: the two may be one and the same to the browser. */
  close(opened: LoginWindow): void {
    if (this.#current === opened) opened.close()
  }

  async prepare(): Promise<IWindow> {
    const opened = this.#current ?? this.open()
    return { navigate: params => this.#navigate(opened, params), close: () => this.close(opened) }
  }

  /** Only the library's own pages would call it. */
  async callback(): Promise<void> {}

  async #navigate(opened: LoginWindow, { url, state }: NavigateParams): Promise<NavigateResponse> {
    if (opened.state() === 'gone') throw closed()
    opened.navigate(url)
    const settled = new AbortController()
    try {
      return { url: await this.#answer(opened, state, settled.signal) }
    } finally {
      settled.abort()
      this.close(opened)
    }
  }

  #answer(opened: LoginWindow, state: string | undefined, signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const give = (message: unknown) => {
        const address = answerOf(message, state)
        if (address !== undefined) resolve(address)
      }
      const stopListening = this.#page.listen(CHANNEL_PREFIX + (state ?? 'logout'), give)
      const timeOut = () =>
        reject(new AuthError('Nobody signed in within ten minutes. Start the sign-in again.', 'popup_timeout'))
      const timer = this.#clock.setTimeout(timeOut, POPUP_LIMIT_MS)
      signal.addEventListener('abort', () => (stopListening(), this.#clock.clearTimeout(timer)), { once: true })
      void whenClosed(opened, this.#clock, signal).then(() => reject(closed()))
      this.#abandon = () => reject(superseded())
    })
  }
}

/** The address that a message of the callback page holds, if it is the answer to this request. */
function answerOf(message: unknown, state: string | undefined): string | undefined {
  const { source, url } = (message ?? {}) as { source?: unknown; url?: unknown }
  if (source !== MESSAGE_SOURCE || typeof url !== 'string' || !URL.canParse(url)) return undefined
  const { searchParams } = new URL(url)
  const given = searchParams.get('state')?.split(';', 1)[0]
  const fits = state === undefined ? searchParams.get('logout') === 'true' : given === state
  return fits ? url : undefined
}

function closed(): AuthError {
  return new AuthError('The sign-in window was closed before the sign-in was complete.', 'popup_closed')
}

function superseded(): AuthError {
  return new AuthError('Another sign-in window took the place of this one.', 'popup_closed')
}
