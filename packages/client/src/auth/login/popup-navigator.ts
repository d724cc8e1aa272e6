import { AuthError } from '../../errors.ts'
import type { Clock } from '../../platform/environment.ts'
import { Era } from '../../util/era.ts'
import { CHANNEL_PREFIX, MESSAGE_SOURCE } from './callback-page.ts'
import type { LoginPage, LoginWindow } from './login-page.ts'

/** How long the provider may take to answer in a hidden frame, in milliseconds. */
const FRAME_LIMIT_MS = 10_000
/** Interval at which an open window is checked, in milliseconds. */
export const LOOK_MS = 150
/** How often a window must be observed on another origin before its end counts as closing. */
export const SETTLED_LOOKS = 10
/** Longest time between two checks of a page that was not frozen or throttled meanwhile, in milliseconds. */
const LONGEST_GAP_MS = 5_000
/** How long after the end of a window its answer may arrive, and this page gains focus, in milliseconds. */
const GRACE_MS = 500
/** How often a loaded page that has the answer must be observed before it counts as one that does not pass it on. */
const SILENT_LOOKS = 14

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
   *   the page that received the answer does not pass it on; the signal's reason when it is aborted
   */
  async answer(opened: LoginWindow, address: string, state: string | undefined, signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted()
    if (this.#current !== opened) throw superseded()
    if (opened.state() === 'gone') throw closed()
    opened.navigate(address)
    return this.#answer(state, signal, (reject, settled) => {
      const receives = (page: string) => receivesAnswer(page, address, state)
      void windowEnd(opened, receives, this.#page, this.#clock, settled).then(reject)
      this.#abandon = () => reject(superseded())
    }).finally(() => this.close(opened))
  }

  /**
   * Loads an address in a hidden frame and waits for the answer of the callback page.
   *
   * @throws {AuthError} `interaction_required` when it does not answer: the provider does not receive its cookies
   *   there, or forbids framing
   */
  async answerInFrame(address: string, state: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    return this.#answer(state, signal, (reject, settled) => {
      const required = new AuthError('The identity provider requires the user.', 'interaction_required')
      const timer = this.#clock.setTimeout(() => reject(required), FRAME_LIMIT_MS)
      settled.addEventListener('abort', () => this.#clock.clearTimeout(timer))
      settled.addEventListener('abort', this.#page.openFrame(address))
    })
  }

  /** Waits for the answer to a request. `settled` is aborted when the wait has ended. */
  async #answer(
    state: string | undefined,
    signal: AbortSignal | undefined,
    begin: (reject: (error: AuthError) => void, settled: AbortSignal) => void,
  ): Promise<string> {
    const waiting = new Era()
    const settled = waiting.signal
    try {
      return await new Promise<string>((resolve, reject) => {
        const stopListening = this.#page.listen(CHANNEL_PREFIX + (state ?? 'logout'), message => {
          const answer = answerOf(message, state)
          if (answer !== undefined) resolve(answer)
        })
        settled.addEventListener('abort', stopListening)
        signal?.addEventListener('abort', () => reject(signal.reason), { signal: settled })
        begin(reject, settled)
      })
    } finally {
      waiting.end()
    }
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

/**
 * Whether a page of this origin has received the answer to a request: it is the one that the request names, or its address has the
 * request's `state`. Other pages of the application may stand between the provider and that one. Of a request that names
 * none, any page has.
 */
function receivesAnswer(page: string, request: string, state: string | undefined): boolean {
  const { searchParams } = new URL(request)
  const callback = searchParams.get('redirect_uri') ?? searchParams.get('post_logout_redirect_uri')
  if (callback === null || withoutQuery(page) === withoutQuery(callback)) return true
  const { search, hash } = new URL(page)
  const isOurs = (parameters: string) => new URLSearchParams(parameters.slice(1)).get('state') === state
  return state !== undefined && (isOurs(search) || isOurs(hash))
}

const withoutQuery = (address: string): string => address.split(/[?#]/, 1)[0] ?? ''

/**
 * Resolves with an error when a window has been closed by its user, or the page that received the answer does not pass it on: it
 * stays silent once it is loaded, or is left for another page of this origin.
 *
 * A provider's opener policy separates the window from this page as soon as its page loads, which looks as if it had
 * been closed. A window that was last seen on this origin was closed, since its pages separate nothing. From another origin, `gone`
 * counts as closed only under three conditions. The window was observed on the provider's origin
 * for a while (a policy separates it immediately). This page was not frozen meanwhile. And the focus returned to this
 * page, as it does when a window closes in front of it. In every other case nothing is reported: the login ends with
 * its answer, with the next login, or with its signal.
 */
function windowEnd(
  opened: LoginWindow,
  receives: (address: string) => boolean,
  page: Pick<LoginPage, 'hasFocus'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<AuthError> {
  return new Promise(resolve => {
    let looks = 0
    let silentLooks = 0
    let lookedAt = clock.now()
    let last: ReturnType<LoginWindow['state']> | undefined
    /** The page that received the answer. */
    let receiver: string | undefined
    let timer: unknown
    const after = (delayMs: number, next: () => void) => {
      timer = clock.setTimeout(next, delayMs)
    }
    const look = () => {
      const state = opened.state()
      const gap = clock.now() - lookedAt
      lookedAt = clock.now()
      if (state === 'gone') {
        if (last === 'returned') return after(GRACE_MS, () => resolve(closed()))
        const isCertain = looks >= SETTLED_LOOKS && gap <= LONGEST_GAP_MS
        if (isCertain) after(GRACE_MS, () => page.hasFocus() && resolve(closed()))
        return
      }
      last = state
      if (state === 'away') looks++
      const shown = state === 'returned' ? opened.location() : undefined
      const isReceiver = shown !== undefined && receives(shown.address)
      if (shown?.isLoaded && !isReceiver && receiver !== undefined) {
        const left = receiver
        return after(GRACE_MS, () => resolve(silent(left)))
      }
      receiver = isReceiver ? withoutQuery(shown.address) : shown && receiver
      silentLooks = isReceiver && shown.isLoaded ? silentLooks + 1 : 0
      if (receiver !== undefined && silentLooks >= SILENT_LOOKS) return resolve(silent(receiver))
      after(LOOK_MS, look)
    }
    look()
    signal.addEventListener('abort', () => clock.clearTimeout(timer), { once: true })
  })
}

function closed(): AuthError {
  return new AuthError('The sign-in window was closed before the sign-in was complete.', 'popup_closed')
}

function superseded(): AuthError {
  return new AuthError('Another sign-in window replaced this one.', 'popup_closed')
}

function silent(address: string): AuthError {
  return new AuthError(
    `The sign-in window ended on ${address}, which does not pass the answer on. Serve the callback page of this package there.`,
    'invalid_input',
  )
}
