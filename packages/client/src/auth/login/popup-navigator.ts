import { AuthError } from '../../errors.ts'
import type { Clock } from '../../platform/clock.ts'
import { CHANNEL_PREFIX, MESSAGE_SOURCE } from './callback-page.ts'
import type { LoginPage, LoginWindow } from './login-page.ts'
import { windowEnd } from './window-watch.ts'

/** How long the provider may take to answer in a hidden frame, in milliseconds. */
const FRAME_LIMIT_MS = 10_000

/**
 * The popups and hidden frames of a login.
 *
 * One popup at a time: the next one reuses its window, and the wait for the earlier answer ends. So a user who closed a
 * window that the provider had separated from this page can simply start again.
 */
export class PopupNavigator {
  readonly #page: LoginPage
  readonly #clock: Clock
  /** The newest window. */
  #current: LoginWindow | undefined
  #abandon: () => void = () => {}

  constructor(page: LoginPage, clock: Clock) {
    this.#page = page
    this.#clock = clock
  }

  /**
   * Opens a window. Call it before the first await.
   *
   * @throws {AuthError} `popup_blocked`
   */
  open(): LoginWindow {
    this.#abandon()
    this.#abandon = () => {}
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

  /** Closes a window, unless a newer login uses it: the browser reuses the same window. */
  close(opened: LoginWindow): void {
    if (this.#current === opened) opened.close()
  }

  /**
   * Shows an address in a window and waits for the answer of the callback page.
   *
   * @param state the request's `state`; undefined for a logout, which has none
   * @returns the address of the callback page
   * @throws {AuthError} `popup_closed` when the user closed the window or another one replaced it, `invalid_input` when
   *   it ended on a page of this origin that is not the callback page; the signal's reason when it is aborted
   */
  async answer(opened: LoginWindow, address: string, state: string | undefined, signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted()
    if (this.#current !== opened) throw superseded()
    if (opened.state() === 'gone') throw closed()
    opened.navigate(address)
    const settled = new AbortController()
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#listen(state, settled.signal, resolve)
        void windowEnd(opened, this.#page, this.#clock, settled.signal).then(end =>
          reject(end === 'closed' ? closed() : stray(opened.location())),
        )
        signal?.addEventListener('abort', () => reject(signal.reason), { signal: settled.signal })
        this.#abandon = () => reject(superseded())
      })
    } finally {
      settled.abort()
      this.close(opened)
    }
  }

  /**
   * Loads an address in a hidden frame and waits for the answer of the callback page.
   *
   * @throws {AuthError} `interaction_required` when it does not answer: the provider does not receive its cookies
   *   there, or forbids framing
   */
  async answerInFrame(address: string, state: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const settled = new AbortController()
    let remove = () => {}
    let timer: unknown
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#listen(state, settled.signal, resolve)
        timer = this.#clock.setTimeout(
          () => reject(new AuthError('The identity provider requires the user.', 'interaction_required')),
          FRAME_LIMIT_MS,
        )
        signal.addEventListener('abort', () => reject(signal.reason), { signal: settled.signal })
        remove = this.#page.openFrame(address)
      })
    } finally {
      settled.abort()
      this.#clock.clearTimeout(timer)
      remove()
    }
  }

  #listen(state: string | undefined, signal: AbortSignal, resolve: (address: string) => void): void {
    const stopListening = this.#page.listen(CHANNEL_PREFIX + (state ?? 'logout'), message => {
      const address = answerOf(message, state)
      if (address !== undefined) resolve(address)
    })
    signal.addEventListener('abort', stopListening, { once: true })
  }
}

/** The address in a message of the callback page, if it is the answer to this request. */
function answerOf(message: unknown, state: string | undefined): string | undefined {
  const { source, url } = (message ?? {}) as { source?: unknown; url?: unknown }
  if (source !== MESSAGE_SOURCE || typeof url !== 'string' || !URL.canParse(url)) return undefined
  const { searchParams } = new URL(url)
  const isAnswer = state === undefined ? searchParams.get('logout') === 'true' : searchParams.get('state') === state
  return isAnswer ? url : undefined
}

function closed(): AuthError {
  return new AuthError('The sign-in window was closed before the sign-in was complete.', 'popup_closed')
}

function superseded(): AuthError {
  return new AuthError('Another sign-in window replaced this one.', 'popup_closed')
}

function stray(address = 'an unknown page'): AuthError {
  return new AuthError(
    `The sign-in window ended on ${address}, which does not pass the answer on. Serve the callback page of this package there.`,
    'invalid_input',
  )
}
