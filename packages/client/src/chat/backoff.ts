import type { ResolvedConfig } from '../check-config.ts'
import type { Clock, Environment } from '../platform/environment.ts'
import type { Page } from '../platform/page.ts'
import type { AgentScope } from '../scope.ts'
import type { ConnectionState } from './connection-state.ts'

type ReconnectOptions = Pick<ResolvedConfig, 'maxReconnectAttempts' | 'baseReconnectDelay' | 'maxReconnectDelay'>

/** Beyond this the doubling has reached any sensible maximum, and a power would overflow. */
const LARGEST_EXPONENT = 40

/**
 * Decides how a lost connection is retried. Has no side effects.
 *
 * The wait doubles with each failed attempt, with jitter in the upper half of the step: with
 * c = min(base · 2^(attempt+1), max) it is uniform in [max(base, c/2), c]: 1–2, 2–4 … 15–30 s with the defaults. The jitter
 * prevents clients that lost the service together from reconnecting together.
 */
export class ReconnectPolicy {
  readonly #options: ReconnectOptions
  readonly #environment: Pick<Environment, 'random'>

  constructor(options: ReconnectOptions, environment: Pick<Environment, 'random'>) {
    this.#options = options
    this.#environment = environment
  }

  /** Number of attempts before the connection is closed. */
  get maxAttempts(): number {
    return this.#options.maxReconnectAttempts
  }

  /** Wait before attempt number `attempt` (from 0), in milliseconds; at least `leastMs`, up to the maximum. */
  delayFor(attempt: number, leastMs = 0): number {
    const { baseReconnectDelay, maxReconnectDelay: max } = this.#options
    const base = Math.min(baseReconnectDelay, max)
    const ceiling = Math.min(base * 2 ** Math.min(attempt + 1, LARGEST_EXPONENT), max)
    const floor = Math.max(base, ceiling / 2)
    return Math.max(Math.min(leastMs, max), floor + this.#environment.random() * (ceiling - floor))
  }
}

/** For this long, a return of the page counts as the cause of a failure, in milliseconds. */
const RECENT_MS = 2_000

/** Least time between two attempts that a page's return causes, in milliseconds. */
const RETURN_EVERY_MS = 1_000

/** What a failure says of the next attempt. */
export interface RetryPace {
  /** Whether the first attempt follows at once. @default false */
  readonly isUrgent?: boolean
  /** The wait that the service asked for, in milliseconds. Only {@link Retry.skip} shortens it. */
  readonly leastMs?: number | undefined
}

/** How often the wall clock is read during a wait, in milliseconds. */
const LOOK_EVERY_MS = 250

/** With a longer time between two checks, in milliseconds, the machine has slept or its clock was set forward. */
const JUMP_MS = 2_000

/** A wait for the next attempt. */
interface Wait {
  /** On the monotonic clock, so that a wall clock that is set back does not delay the attempt. */
  readonly dueAt: number
  readonly onDue: () => void
  /** Whether the service asked for it. */
  readonly isAsked: boolean
  /** Whether a return of the page causes the attempt. */
  readonly isReturned: boolean
}

/**
 * Repeats an attempt until it succeeds: counts the attempts, and waits for the next one as the policy says. A page that becomes
 * active again ends the wait: the network returned, the page is visible again, or the machine has slept.
 *
 * Owns the one timer, and the time of the last return of the page.
 */
export class Retry {
  readonly #clock: Clock
  readonly #page: Page | undefined
  readonly #policy: ReconnectPolicy
  /** Further attempts since the start, or since the service worked: set to zero then. During a wait, the number of the next one. */
  attempts = 0
  /** Attempts since then that the page caused: each that fails lengthens the next wait. */
  #unscheduled = 0
  /** When the last return of the page caused an attempt, on the monotonic clock. */
  #hurriedAt = -Infinity
  #stop: (() => void) | undefined
  /** On the monotonic clock; undefined once an attempt without a wait has followed. */
  #returnedAt: number | undefined
  #wait: Wait | undefined
  /** On the wall clock. */
  #lookedAt = 0
  #timer: unknown

  constructor(clock: Clock, page: Page | undefined, policy: ReconnectPolicy) {
    this.#clock = clock
    this.#page = page
    this.#policy = policy
  }

  /** Counts from zero, and listens to the page until {@link stop}. */
  start(): void {
    this.reset()
    this.#stop ??= this.#page?.onReturn(() => {
      this.#returnedAt = this.#clock.monotonic()
      this.hurry()
    })
  }

  /** Counts from zero again: the service works. */
  reset(): void {
    this.attempts = this.#unscheduled = 0
  }

  stop(): void {
    this.cancel()
    this.#stop?.()
    this.#stop = undefined
    this.#returnedAt = undefined
  }

  /**
   * Plans the next attempt, and returns the wait before it; undefined when the attempts are used up. After a return of the page less
   * than two seconds ago, which has probably caused the failure, the attempt is the return's: once for each return, so that a service
   * that keeps closing is not called at once each time.
   *
   * @param onDue called when the attempt is due. No wait is in progress then.
   */
  plan(onDue: () => void, { isUrgent = false, leastMs }: RetryPace = {}): number | undefined {
    if (this.attempts >= this.#policy.maxAttempts) return undefined
    const failed = this.attempts + this.#unscheduled
    const isAsked = leastMs !== undefined && leastMs > 0
    const isReturned = this.#consumeReturn() && !isAsked
    const delayMs = isReturned
      ? this.#restMs()
      : isUrgent && failed === 0 && !isAsked
        ? 0
        : this.#policy.delayFor(failed, leastMs)
    this.attempts++
    this.#wait = { dueAt: this.#clock.monotonic() + delayMs, onDue, isAsked, isReturned }
    this.#lookedAt = this.#clock.now()
    this.#arm(delayMs)
    return delayMs
  }

  /** Ends the wait: an attempt follows outside of the schedule, so the one that it replaces does not count. */
  skip(): void {
    this.cancel()
    this.attempts = Math.max(0, this.attempts - 1)
  }

  /** Ends the wait, without an attempt. */
  cancel(): void {
    this.#wait = undefined
    this.#clock.clearTimeout(this.#timer)
  }

  /**
   * Ends the wait with an attempt, at once or as soon as a second has passed since the last such attempt: the page is back, or the
   * cause of the failures has been removed. A wait that the service asked for continues.
   */
  hurry(): void {
    const wait = this.#wait
    if (!wait || wait.isAsked) return
    const now = this.#clock.monotonic()
    const restMs = this.#restMs()
    if (restMs > 0) {
      if (wait.dueAt <= now + restMs) return
      this.#wait = { ...wait, dueAt: now + restMs, isReturned: true }
      this.#clock.clearTimeout(this.#timer)
      return this.#arm(restMs)
    }
    this.#consumeReturn()
    this.#hurriedAt = now
    this.skip()
    this.#unscheduled++
    wait.onDue()
  }

  /** Time until a return of the page may cause an attempt again, in milliseconds. */
  #restMs(): number {
    return Math.max(0, this.#hurriedAt + RETURN_EVERY_MS - this.#clock.monotonic())
  }

  #consumeReturn(): boolean {
    const returnedAt = this.#returnedAt
    this.#returnedAt = undefined
    return returnedAt !== undefined && this.#clock.monotonic() - returnedAt < RECENT_MS
  }

  /** On a page it looks every quarter of a second, which detects a sleep soon after its end. */
  #arm(leftMs: number): void {
    const delayMs = this.#page ? Math.min(leftMs, LOOK_EVERY_MS) : leftMs
    this.#timer = this.#clock.setTimeout(() => this.#look(), delayMs)
  }

  #look(): void {
    const wait = this.#wait
    if (!wait) return
    const leftMs = wait.dueAt - this.#clock.monotonic()
    const wallTime = this.#clock.now()
    const hasSlept = this.#page !== undefined && wallTime - this.#lookedAt > LOOK_EVERY_MS + JUMP_MS
    this.#lookedAt = wallTime
    if (hasSlept) return this.hurry()
    if (leftMs > 0) return this.#arm(leftMs)
    if (wait.isReturned) return this.hurry()
    this.cancel()
    wait.onDue()
  }
}

/** Changes the state that the host sees, and reports it, with the wait before the next attempt. */
export function reportState(
  scope: AgentScope<'stateChanged'>,
  state: ConnectionState,
  retryInMs?: number | undefined,
): void {
  const { status, environment } = scope
  const previousState = status.state
  status.state = state
  status.retryAt = retryInMs === undefined ? undefined : environment.clock.monotonic() + retryInMs
  if (state !== previousState)
    scope.emit('stateChanged', () => ({ state, previousState, ...(retryInMs !== undefined && { retryInMs }) }))
}
