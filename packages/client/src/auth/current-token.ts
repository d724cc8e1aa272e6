import { AuthError } from '../errors.ts'
import type { Clock, Environment } from '../platform/environment.ts'
import type { AgentScope } from '../scope.ts'
import { sleep, TimeLimitError } from '../util/abort.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { subjectOf } from '../util/jwt.ts'
import { ClockSkew, ClockTime } from './access-token.ts'
import type { AuthenticationServiceOptions, TokenExpiringCallback } from './auth-strategy.ts'
import { answerInTime } from './host-call.ts'

/** Longest single timer, because a sleeping laptop stops all timers. */
const LONGEST_STEP_MS = 60_000

/** Shortest time between a failed renewal and the next one, in milliseconds. */
const RENEWAL_SPACING_MS = 1_000

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
  readonly bufferMs: number
  /** For a host-supplied token: until when it overrides those of the strategy. */
  readonly until?: number | undefined
  /** The host states that it belongs to another user. */
  readonly userChanged?: boolean | undefined
}

/** The token in use: its state, its expiry, and the user behind it. */
export class CurrentToken {
  readonly #environment: Pick<Environment, 'clock' | 'page'>
  readonly #options: AuthenticationServiceOptions
  readonly #scope: Pick<AgentScope<never>, 'shared'> | undefined
  readonly #renew: () => Promise<unknown> | undefined
  readonly #onExpiring: TokenExpiringCallback
  /** Created with the first token of the host. */
  #skew: ClockSkew | undefined
  #state: TokenState = NO_TOKEN
  #leaving: string | null = null
  #user: TokenUser = {}
  /**
   * When the token counts as about to expire. The first of the two clocks decides: the monotonic one may stop while a laptop
   * sleeps, and the wall clock may be set back. Undefined when that has been handled.
   */
  #due: { readonly wall: number; readonly monotonic: number } | undefined
  #timer: unknown
  #stopListening: (() => void) | undefined
  #isSuspended = false

  /**
   * @param renew called when the token is about to expire; returns undefined if only the host can renew it
   * @param onExpiring called once per token, when it is about to expire and was not renewed
   */
  constructor(
    environment: Pick<Environment, 'clock' | 'page'>,
    options: AuthenticationServiceOptions,
    scope: Pick<AgentScope<never>, 'shared'> | undefined,
    renew: () => Promise<unknown> | undefined,
    onExpiring: TokenExpiringCallback,
  ) {
    this.#environment = environment
    this.#options = options
    this.#scope = scope
    this.#renew = renew
    this.#onExpiring = onExpiring
  }

  /** The token, whether or not it has expired. */
  get value(): string | null {
    return this.#state.token
  }

  /** The token of the user who leaves: while another user takes over the previous one, which nothing else uses, else the current one. */
  get leaving(): string | null {
    return this.#leaving ?? this.value
  }

  /** Whether the token is known to be of a user who signed in. */
  get hasUser(): boolean {
    return this.#user.isAnonymous === false
  }

  /** A host-supplied token that currently overrides those of the strategy. */
  get supplied(): string | undefined {
    const state = this.#state
    return state.kind === 'supplied' && !state.until.isPast ? state.token : undefined
  }

  /** Expiry of a token of the host by the clock of this device, in milliseconds since the epoch. */
  expiryOf(token: string): number | undefined {
    this.#skew ??= new ClockSkew(this.#environment.clock)
    return this.#skew.expiryOf(token)
  }

  /**
   * Makes a token the current one. If it belongs to another user, there is no token until the handler has finished.
   *
   * @returns whether it is still valid
   * @throws what the handler throws; the signal's reason when it is aborted meanwhile
   */
  async adopt(arrived: ArrivedToken, signal: AbortSignal): Promise<boolean> {
    const { token, isAnonymous, identity, until, bufferMs, userChanged } = arrived
    const user: TokenUser = isAnonymous ? { isAnonymous } : { isAnonymous, access: subjectOf(token), identity }
    const known = userChanged && !this.#user.isAnonymous ? undefined : sameUser(this.#user, user)
    if (!known) {
      const leaving = this.value
      this.drop()
      await this.#changeUser(leaving, signal)
    } else if (this.#user.isAnonymous && !isAnonymous) {
      await this.#scope?.shared?.handleUser()
      signal.throwIfAborted()
    }
    this.#user = known ?? user
    const { clock } = this.#environment
    const previous = this.#state
    const isSame = previous.token === token
    const expiresAt = arrived.expiresAt ?? this.expiryOf(token)
    const expiry = ClockTime.of(clock, expiresAt)
    const isAnnounced = isSame && previous.isAnnounced
    const current = { token, expiry, isAnnounced }
    this.#state =
      until === undefined
        ? { kind: 'held', ...current }
        : { kind: 'supplied', until: new ClockTime(clock, until), ...current }
    const isOver = expiresAt !== undefined && expiresAt <= clock.now()
    if (!isSame) {
      if (!isAnonymous) this.#scope?.shared?.handleToken(token)
      // Do not call a host function that returns expired tokens in a loop.
      this.#watch(expiresAt === undefined || isOver ? undefined : expiresAt - bufferMs)
      if (isOver) this.announce(expiresAt)
    }
    // A disconnected agent has no timer that would do so (AUTH-05).
    if (this.#isSuspended) this.checkExpiry()
    return !isOver
  }

  /** Notifies the host, once per token, that it is about to expire. */
  announce(expiresAt: number): void {
    if (this.#state.isAnnounced) return
    this.#state = { ...this.#state, isAnnounced: true }
    this.#onExpiring({ expiresAt })
  }

  /** The service rejected the token: a host-supplied one no longer overrides those of the strategy. */
  refuse(): void {
    if (this.#state.kind === 'supplied') this.#state = { ...this.#state, kind: 'held' }
  }

  /** Drops the token; its user is still known. */
  drop(): void {
    this.#state = NO_TOKEN
    this.#watch(undefined)
  }

  /** Drops the token and its user. */
  forget(): void {
    this.drop()
    this.#user = {}
  }

  /** Drops the token of a user who is no longer signed in, and all other data of that user. */
  async signOut(signal: AbortSignal): Promise<void> {
    const { hasUser, value } = this
    this.forget()
    if (hasUser) await this.#changeUser(value, signal)
  }

  async #changeUser(leaving: string | null, signal: AbortSignal): Promise<void> {
    const { logger, onUserChange } = this.#options
    logger?.info('Everything of the previous user is removed.')
    this.#leaving = leaving
    try {
      if (onUserChange)
        await answerInTime(this.#environment.clock, 'The handler of the user change', signal, onUserChange)
    } finally {
      this.#leaving = null
    }
    signal.throwIfAborted()
  }

  // ── The expiry ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Whether the expiry is watched: a disconnected agent holds no timer, and does not renew tokens (REL-02). @default true */
  watchExpiry(isWatched: boolean): void {
    if (this.#isSuspended !== isWatched) return
    this.#isSuspended = !isWatched
    if (isWatched) this.#arm()
    else this.#disarm()
  }

  /** Renews or reports the token if it is about to expire, since timers stop while a laptop sleeps or a page is frozen. */
  checkExpiry(): void {
    const { clock } = this.#environment
    const due = this.#due
    if (!due || (clock.now() < due.wall && clock.monotonic() < due.monotonic)) return
    this.#watch(undefined)
    void this.#handleDue()
  }

  /** A token that can be renewed is; the host is notified only if that fails. */
  async #handleDue(): Promise<void> {
    const { token, expiry } = this.#state
    if (!expiry) return
    const renewed = this.#renew()
    if (!renewed) return this.announce(expiry.at)
    try {
      await renewed
      // A fresh token with a short life is used until it expires.
      if (token === this.#state.token && !expiry.isPast) this.#watch(expiry.at)
    } catch (error) {
      this.#options.logger?.warn('The access token could not be renewed.', {
        reason: error instanceof AuthError ? error.reason : undefined,
      })
      if (token !== this.#state.token) return
      this.announce(expiry.at)
      // Tried again at the next look, or when the page or the network returns.
      if (!isRefusal(error) && !expiry.isPast)
        this.#watch(this.#environment.clock.now() + RENEWAL_SPACING_MS, LONGEST_STEP_MS)
    }
  }

  /**
   * Watches the given time, by the wall clock, instead of the previous one.
   *
   * @param leastMs when the timer looks first, in milliseconds; a return of the page or the network looks sooner
   */
  #watch(wall: number | undefined, leastMs = 0): void {
    const { clock } = this.#environment
    this.#disarm()
    this.#due = wall === undefined ? undefined : { wall, monotonic: clock.monotonic() + wall - clock.now() }
    this.#arm(leastMs)
  }

  /** Looks at the clocks at least once a minute. So a laptop that slept detects the expiry soon after waking. */
  #arm(leastMs = 0): void {
    if (!this.#due || this.#isSuspended) return
    const { clock, page } = this.#environment
    const { wall, monotonic } = this.#due
    const leftMs = Math.max(leastMs, Math.min(wall - clock.now(), monotonic - clock.monotonic()))
    // Neither may keep an agent in memory that the host has dropped (REL-01).
    const token = new WeakRef(this)
    this.#stopListening ??= page?.onReturn(() => token.deref()?.checkExpiry())
    this.#timer = clock.setTimeout(() => token.deref()?.look(), Math.min(leftMs, LONGEST_STEP_MS), { background: true })
  }

  #disarm(): void {
    this.#environment.clock.clearTimeout(this.#timer)
    this.#stopListening?.()
    this.#timer = this.#stopListening = undefined
  }

  /** Called by the timer. */
  look(): void {
    const due = this.#due
    this.checkExpiry()
    if (due && due === this.#due) this.#arm()
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
  | { readonly kind: 'none'; readonly token: null; readonly expiry: undefined; readonly isAnnounced: true }
  | ({ readonly kind: 'held' } & TokenInUse)
  /** Supplied by the host. It overrides the tokens of the strategy until `until`. */
  | ({ readonly kind: 'supplied'; readonly until: ClockTime } & TokenInUse)

/** A token that may be sent. */
export interface TokenInUse {
  readonly token: string
  /** Undefined where it is unknown. */
  readonly expiry: ClockTime | undefined
  /** Whether the host was notified that this token is about to expire. */
  readonly isAnnounced: boolean
}

/** The state without a token. */
const NO_TOKEN: TokenState = { kind: 'none', token: null, expiry: undefined, isAnnounced: true }

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

/**
 * The known user, extended by a further token; undefined for a token of another user. From anonymous to a user is not a change:
 * the conversation continues. From a user to anonymous is one.
 */
function sameUser(previous: TokenUser, next: TokenUser): TokenUser | undefined {
  if (previous.isAnonymous !== false) return next
  const { access = previous.access, identity = previous.identity } = next
  const isKnown = previous.identity !== undefined && next.identity !== undefined
  const isSame = isKnown ? identity === previous.identity : (previous.access ?? access) === access
  return isSame && !next.isAnonymous ? { isAnonymous: false, access, identity } : undefined
}

/** Codes with which a provider ends a login: only the user can continue. */
const REFUSALS: ReadonlySet<unknown> = /* @__PURE__ */ new Set(['invalid_grant', 'interaction_required'])

/** Whether a renewal failed for good, rather than by the network or by a service that is down or limits the rate. */
function isRefusal(error: unknown): boolean {
  // The causes of a host's error may form a circle.
  for (let each = error, depth = 0; typeof each === 'object' && each !== null && depth < 5; depth++) {
    // One that hangs is not called again beside itself.
    if (each instanceof TimeLimitError) return true
    const { reason, status, code, error: oauthCode, cause } = each as Partial<Record<string, unknown>>
    if ([reason, code, oauthCode].some(value => REFUSALS.has(value))) return true
    if (typeof status === 'number') return status >= 400 && status < 500 && status !== 429
    each = cause
  }
  return false
}

/** Why a token is obtained: it is needed, the current one was rejected, or the host supplied it. */
type RenewalKind = 'ordinary' | 'forced' | 'supplied'

/** A request that takes longer is started again after a disconnect, in milliseconds. */
const SLOW_MS = 5_000

/** Minimum average time between forced refreshes, in milliseconds. */
const REFRESH_SPACING_MS = 5_000

/** How many forced refreshes may run without a delay. */
const REFRESH_BURST = 3

/**
 * Obtains one token at a time. Callers join the request in flight.
 *
 * Once the signal of a request is aborted, its result must be discarded. Callers never wait for an aborted request.
 */
export class Renewal {
  readonly #clock: Clock
  readonly #request = new JoinedTask<string>()
  #kind: RenewalKind = 'ordinary'
  /** When the latest request began, on the monotonic clock. */
  #startedAt = 0
  #isGivenUp = false
  /** When the full burst of forced refreshes is available again, in milliseconds since the epoch. */
  #fullAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Joins the request in flight, or starts one. A forced request replaces an ordinary one. */
  join(kind: RenewalKind, work: (signal: AbortSignal) => Promise<string>): Promise<string> {
    const isEnough = this.#request.isRunning && !this.#isGivenUp && (kind === 'ordinary' || this.#kind !== 'ordinary')
    return isEnough ? this.#request.join(work) : this.replace(kind, work)
  }

  /** Starts a request. The callers of the one in flight receive the outcome of this one. */
  replace(kind: RenewalKind, work: (signal: AbortSignal) => Promise<string>): Promise<string> {
    this.#isGivenUp = false
    this.#kind = kind
    this.#startedAt = this.#clock.monotonic()
    return this.#request.replace(work)
  }

  /** The next caller does not wait for a slow request: it starts another one, whose outcome all callers receive. */
  giveUpSlow(): void {
    this.#isGivenUp = this.#clock.monotonic() - this.#startedAt >= SLOW_MS
  }

  /** Rejects the callers of the request in flight and discards its result. */
  end(error: unknown): void {
    this.#request.abort(error)
  }

  /**
   * Delays refreshes that the service forces by rejecting tokens. The first {@link REFRESH_BURST} run without a delay; after
   * that, at most one in five seconds on average.
   */
  async space(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now()
    // The wall clock may have been set back since.
    const ahead = Math.min(Math.max(0, this.#fullAt - now), REFRESH_BURST * REFRESH_SPACING_MS)
    this.#fullAt = now + ahead + REFRESH_SPACING_MS
    const waitMs = ahead - (REFRESH_BURST - 1) * REFRESH_SPACING_MS
    if (waitMs > 0) await sleep(this.#clock, waitMs, signal)
  }
}
