import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import { subjectOf } from '../util/subject-fingerprint.ts'
import { ACCESS_TOKEN_REFRESH_BUFFER_MS, type TokenExpiringCallback } from './auth-strategy.ts'
import { ClockSkew } from './clock-skew.ts'
import { answerInTime } from './host-call.ts'

/** Called when a token belongs to another user, before the token is used. */
export type UserChangeHandler = () => Awaitable<void>

/** Called when a user replaces an anonymous one, before the token is used. */
export type UserHandler = () => Awaitable<void>

/** What is known about a token when it arrives. */
export interface ArrivedToken {
  readonly token: string
  /** Whether the token is anonymous. */
  readonly isAnonymous: boolean
  /** Issuer and subject of the ID token issued with it. */
  readonly identity?: string | undefined
  /** Expiry by the clock of this device, where it differs from the token's `exp`. */
  readonly expiresAt?: number | undefined
  /** How long before its expiry it counts as about to expire, in milliseconds. */
  readonly bufferMs?: number | undefined
  /** For a host-supplied token: until when it overrides those of the strategy. */
  readonly until?: number | undefined
  /** The host states that it belongs to another user. */
  readonly userChanged?: boolean | undefined
}

/** The token in use: its state, its expiry, and the user behind it. */
export class CurrentToken implements ExpiryOwner {
  readonly #environment: Environment
  readonly #options: { readonly logger?: Logger | undefined }
  readonly #expiry: ExpiryWatch
  /** Created with the first token of the host. */
  #skew: ClockSkew | undefined
  readonly #onExpiring: (expiresAt: number) => void
  #state: TokenState = NO_TOKEN
  #user: TokenUser = {}
  #announce: TokenExpiringCallback | undefined
  #onUserChange: UserChangeHandler | undefined
  #onUser: UserHandler | undefined
  #onToken: ((token: string) => void) | undefined

  /** @param onExpiring called when the token is about to expire; it renews it, or calls {@link announce} */
  constructor(
    environment: Environment,
    options: { readonly logger?: Logger | undefined },
    onExpiring: (expiresAt: number) => void,
  ) {
    this.#environment = environment
    this.#options = options
    this.#onExpiring = onExpiring
    this.#expiry = new ExpiryWatch(environment, this)
  }

  get state(): TokenState {
    return this.#state
  }

  /** The token, whether or not it has expired. */
  get value(): string | null {
    return tokenOf(this.#state)
  }

  /** Whether the token is known to be of a user who signed in. */
  get hasUser(): boolean {
    return this.#user.isAnonymous === false
  }

  get hasExpired(): boolean {
    const { expiresAt } = this.#state.kind === 'none' ? {} : this.#state
    return expiresAt !== undefined && expiresAt <= this.#environment.clock.now()
  }

  /** Whether a host-supplied token currently overrides those of the strategy. */
  get supplied(): string | undefined {
    const state = this.#state
    return state.kind === 'supplied' && this.#environment.clock.now() < state.until ? state.token : undefined
  }

  /** Expiry of a token of the host by the clock of this device, in milliseconds since the epoch. */
  expiryOf(token: string): number | undefined {
    this.#skew ??= new ClockSkew()
    return this.#skew.expiryOf(token, this.#environment.clock.now())
  }

  setExpiringCallback(callback: TokenExpiringCallback): void {
    this.#announce = callback
  }

  setUserChangeHandler(handler: UserChangeHandler): void {
    this.#onUserChange = handler
  }

  setUserHandler(handler: UserHandler): void {
    this.#onUser = handler
  }

  setTokenHandler(handler: (token: string) => void): void {
    this.#onToken = handler
  }

  /**
   * Makes a token the current one. If it belongs to another user, there is no token until the handler has finished.
   *
   * @throws what the handler throws; the signal's reason when it is aborted meanwhile
   */
  async adopt(arrived: ArrivedToken, signal: AbortSignal): Promise<void> {
    const { token, isAnonymous, identity, until, bufferMs, userChanged } = arrived
    const user = userOf(token, isAnonymous, identity)
    if (isOtherUser(this.#user, user) || (userChanged && !this.#user.isAnonymous)) {
      this.drop()
      await this.#changeUser(signal)
      this.#user = {}
    } else if (this.#user.isAnonymous && !isAnonymous) {
      await this.#onUser?.()
      signal.throwIfAborted()
    }
    this.#user = mergeUser(this.#user, user)
    const previous = this.#state
    const isSame = tokenOf(previous) === token
    const expiresAt = arrived.expiresAt ?? this.expiryOf(token)
    const isAnnounced = previous.kind !== 'none' && isSame && previous.isAnnounced
    const current = { token, expiresAt, isAnnounced }
    this.#state = until === undefined ? { kind: 'held', ...current } : { kind: 'supplied', until, ...current }
    if (isSame) return
    if (!isAnonymous) this.#onToken?.(token)
    this.#expiry.stop()
    if (expiresAt === undefined) return
    // Do not call a host function that returns expired tokens in a loop.
    if (expiresAt <= this.#environment.clock.now()) return this.announce(expiresAt)
    this.#expiry.start(expiresAt - (bufferMs ?? ACCESS_TOKEN_REFRESH_BUFFER_MS), expiresAt)
  }

  /** The token is about to expire. */
  handleDue(expiresAt: number): void {
    this.#onExpiring(expiresAt)
  }

  /** Reports the expiry of the token once more at the given time. */
  watch(expiresAt: number): void {
    this.#expiry.start(expiresAt, expiresAt)
  }

  /** Whether the expiry is watched. @default true */
  watchExpiry(isWatched: boolean): void {
    if (isWatched) this.#expiry.resume()
    else this.#expiry.suspend()
  }

  checkExpiry(): void {
    this.#expiry.check()
  }

  /** Notifies the host, once per token, that it is about to expire. */
  announce(expiresAt: number): void {
    if (this.#state.kind === 'none' || this.#state.isAnnounced) return
    this.#state = { ...this.#state, isAnnounced: true }
    this.#announce?.({ expiresAt })
  }

  /** The service rejected the token: a host-supplied one no longer overrides those of the strategy. */
  refuse(): void {
    if (this.#state.kind === 'supplied') this.#state = { ...this.#state, kind: 'held' }
  }

  /** Drops the token; its user is still known. */
  drop(): void {
    this.#state = NO_TOKEN
    this.#expiry.stop()
  }

  /** Drops the token and its user. */
  forget(): void {
    this.drop()
    this.#user = {}
  }

  /** Drops the token of a user who is no longer signed in, and all other data of that user. */
  async signOut(signal: AbortSignal): Promise<void> {
    const isKnown = this.#user.isAnonymous === false
    this.forget()
    if (isKnown) await this.#changeUser(signal)
  }

  async #changeUser(signal: AbortSignal): Promise<void> {
    this.#options.logger?.info('Everything of the previous user is removed.')
    const handler = this.#onUserChange
    if (handler) await answerInTime(this.#environment.clock, 'The handler of the user change', signal, handler)
    signal.throwIfAborted()
  }
}

/**
 * The access token of an {@link AuthenticationService}:
 *
 *   none ── obtained ──► held ── renewed ──► held
 *    ▲                    │ ▲
 *    │  logout, cleanup   │ │ about to expire, refused, or renewed
 *    └────────────────────┤ │
 *                         ▼ │
 *                      supplied      updateToken(), for a strategy that obtains tokens itself
 */
export type TokenState =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'held' } & TokenInUse)
  /** Supplied by the host. It overrides the tokens of the strategy until `until`, in milliseconds since the epoch. */
  | ({ readonly kind: 'supplied'; readonly until: number } & TokenInUse)

/** A token that may be sent. */
export interface TokenInUse {
  readonly token: string
  /** Expiry in milliseconds since the epoch, by the clock of this device. Undefined where it is unknown. */
  readonly expiresAt: number | undefined
  /** Whether the host was notified that this token is about to expire. */
  readonly isAnnounced: boolean
}

/** The state without a token. */
const NO_TOKEN: TokenState = { kind: 'none' }

/** The token of a state, or null. */
function tokenOf(state: TokenState): string | null {
  return state.kind === 'none' ? null : state.token
}

/**
 * The user of the tokens so far. An anonymous token has no user; an unreadable token counts as one of the same user. ID
 * tokens are compared with ID tokens, and access tokens with access tokens, since providers may use different issuers
 * and subjects in them.
 */
export interface TokenUser {
  /** Absent before the first token. */
  readonly isAnonymous?: boolean
  /** Issuer and subject of the access token. */
  readonly access?: string | undefined
  /** Issuer and subject of the ID token. */
  readonly identity?: string | undefined
}

/** The user of a new token. `identity` is the subject of the ID token issued with it. */
function userOf(token: string, isAnonymous: boolean, identity?: string): TokenUser {
  return isAnonymous ? { isAnonymous } : { isAnonymous, access: subjectOf(token), identity }
}

/**
 * Whether a token belongs to another user than the tokens before it. From anonymous to a user is not a change: the
 * conversation continues. From a user to anonymous is one.
 */
function isOtherUser(previous: TokenUser, next: TokenUser): boolean {
  if (previous.isAnonymous !== false) return false
  if (next.isAnonymous) return true
  if (previous.identity !== undefined && next.identity !== undefined) return previous.identity !== next.identity
  return previous.access !== undefined && next.access !== undefined && previous.access !== next.access
}

/** The known user, extended by a further token of the same user. */
function mergeUser(previous: TokenUser, next: TokenUser): TokenUser {
  if (next.isAnonymous || previous.isAnonymous !== false) return next
  return {
    isAnonymous: false,
    access: next.access ?? previous.access,
    identity: next.identity ?? previous.identity,
  }
}

interface WatchedExpiry {
  /** When the token counts as about to expire, in milliseconds since the epoch. */
  readonly moment: number
  readonly expiresAt: number
}

/** Who has the watched token. */
export interface ExpiryOwner {
  /** Called once per watched token, with its expiry. */
  handleDue(expiresAt: number): void
}

/** Longest single timer, because a sleeping laptop stops all timers. */
const LONGEST_STEP_MS = 60_000

/**
 * Watches the expiry of one token, with one timer. The clock is also read when the page or the network returns, since
 * timers stop while a laptop sleeps or a page is frozen.
 */
export class ExpiryWatch {
  readonly #environment: Pick<Environment, 'clock' | 'page'>
  readonly #owner: ExpiryOwner
  #watched: WatchedExpiry | undefined
  #timer: unknown
  #stopListening: (() => void) | undefined
  #isSuspended = false

  constructor(environment: Pick<Environment, 'clock' | 'page'>, owner: ExpiryOwner) {
    this.#environment = environment
    this.#owner = owner
  }

  /** Watches a token instead of the previous one. */
  start(moment: number, expiresAt: number): void {
    this.stop()
    this.#watched = { moment, expiresAt }
    this.#arm()
  }

  stop(): void {
    this.#disarm()
    this.#watched = undefined
  }

  /** Holds no timer and no listener until {@link resume}: a disconnected agent does not renew tokens (REL-02). */
  suspend(): void {
    this.#isSuspended = true
    this.#disarm()
  }

  /** Reverts {@link suspend}. */
  resume(): void {
    if (!this.#isSuspended) return
    this.#isSuspended = false
    this.#arm()
  }

  /** Calls back if the token is due. */
  check(): void {
    const watched = this.#watched
    if (!watched || this.#environment.clock.now() < watched.moment) return
    this.stop()
    this.#owner.handleDue(watched.expiresAt)
  }

  #arm(): void {
    if (!this.#watched || this.#isSuspended) return
    const { page } = this.#environment
    if (page) {
      const watch = new WeakRef(this)
      this.#stopListening = page.onReturn(() => watch.deref()?.check())
    }
    this.#wait(this.#watched.moment)
  }

  #disarm(): void {
    this.#environment.clock.clearTimeout(this.#timer)
    this.#stopListening?.()
    this.#timer = this.#stopListening = undefined
  }

  /** Looks at the clock at least once a minute. So a laptop that slept detects the expiry soon after waking. */
  #wait(moment: number): void {
    const { clock } = this.#environment
    const delayMs = Math.min(Math.max(0, moment - clock.now()), LONGEST_STEP_MS)
    // A timer must not keep an agent in memory that the host has dropped (REL-01).
    const watch = new WeakRef(this)
    this.#timer = clock.setTimeout(() => void watch.deref()?.look(), delayMs, { background: true })
  }

  /** Called by the timer. */
  look(): void {
    const watched = this.#watched
    this.check()
    // Not due yet. Otherwise another token may be watched by now.
    if (watched && watched === this.#watched) this.#wait(watched.moment)
  }
}
