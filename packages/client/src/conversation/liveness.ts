import { encodePing } from '@aiagent/protocol'
import type { Logger } from '../logger.ts'
import { type Clock, sleep } from '../platform/clock.ts'
import type { Page } from '../platform/page.ts'
import { PING_INTERVAL_MS } from '../platform/socket-pings.ts'

/** A page that was away for longer may have lost its connection without noticing, in milliseconds. */
const LONG_AWAY_MS = 15_000

/** Silence after a message of the user that makes a connection doubtful where it cannot be pinged, in milliseconds. */
const SILENCE_LIMIT_MS = 60_000

/** The wall clock has jumped if it gains more on the monotonic clock than this, in milliseconds: the device has slept. */
const CLOCK_JUMP_MS = 10_000

/** How often a page looks for silence and for a jump of the clock, in milliseconds. */
const LOOK_INTERVAL_MS = 5_000

/** How long the answer to a ping may take when the page is back, in milliseconds. */
const PONG_LIMIT_MS = 5_000

/** Time for frames that have arrived and were not delivered yet, because the page was busy or asleep, in milliseconds. */
const DELIVERY_MS = 1_000

/** How often it is checked whether messages can be recovered, before a doubtful connection is kept. */
const MAX_TRIES = 3

/** Time between two such checks, in milliseconds. */
const TRY_AGAIN_MS = 2_000

/** Longest silence that is tolerated when the service is simply quiet, in milliseconds. */
const LONGEST_SILENCE_MS = 3_600_000

export interface LivenessOptions {
  readonly clock: Clock
  readonly page: Page | undefined
  readonly logger: Pick<Logger, 'warn'>
  readonly chat: {
    /** Time of the last frame on the open connection, on the monotonic clock. */
    readonly lastInboundAt: number | undefined
    /** Writes a frame of the extension, if the chat is open. */
    writeSignal(frame: string): void
    /** Replaces the connection. */
    replace(): void
  }
  /** Whether the service answers pings. */
  hasPing(): boolean
  /** Whether a replaced connection loses nothing: the service sends a history, or has the transcript. */
  canRecover(signal: AbortSignal): Promise<boolean>
  /** Whether doubt counts where the service answers no pings. */
  readonly isWatchful: boolean
}

/*
 * Finds dead connections that still look open.
 *
 * Where the service answers pings, they decide, everywhere. Without them a page can only doubt: when it wakes, and when
 * nothing arrives for a minute after a message of the user. A doubtful connection is replaced, once for each doubt, and
 * only where the service gives back what a connection may lose. Outside a page the socket itself pings.
 */
export class Liveness {
  readonly #options: LivenessOptions
  #unwatch: (() => void) | undefined
  #timer: unknown
  #isRunning = false
  #openedAt = 0
  /** Wall clock minus monotonic clock at the last look. */
  #offset = 0
  /** When the unanswered ping was sent. */
  #pingedAt: number | undefined
  #pings = 0
  /** When the first message was sent that no frame has followed. */
  #sentAt: number | undefined
  #silenceLimitMs = SILENCE_LIMIT_MS
  /** The check in progress, which ends with the connection. */
  #checking: AbortController | undefined
  #hasWarned = false

  constructor(options: LivenessOptions) {
    this.#options = options
  }

  /** The chat is open. */
  start(): void {
    this.stop()
    const { clock, page, hasPing, isWatchful } = this.#options
    if (!hasPing() && !(page && isWatchful)) return
    this.#isRunning = true
    this.#openedAt = clock.monotonic()
    this.#offset = clock.now() - this.#openedAt
    this.#unwatch = page?.onReturn(awayMs => {
      if (awayMs >= LONG_AWAY_MS) this.#handleWake()
    })
    this.#wait()
  }

  /** The connection was lost. */
  stop(): void {
    this.#isRunning = false
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#checking?.abort()
    this.#checking = undefined
    this.#options.clock.clearTimeout(this.#timer)
    this.#pingedAt = this.#sentAt = undefined
  }

  /** A message of the user was accepted. */
  handleSent(): void {
    if (this.#isRunning) this.#sentAt ??= this.#options.clock.monotonic()
  }

  #wait(delayMs = this.#options.hasPing() ? PING_INTERVAL_MS : LOOK_INTERVAL_MS): void {
    const { clock } = this.#options
    clock.clearTimeout(this.#timer)
    this.#timer = clock.setTimeout(() => this.#look(), delayMs, { background: true })
  }

  #look(): void {
    const { clock, hasPing } = this.#options
    const offset = clock.now() - clock.monotonic()
    const hasJumped = offset - this.#offset > CLOCK_JUMP_MS
    this.#offset = offset
    this.#wait()
    if (hasJumped && this.#options.page) this.#handleWake()
    else if (hasPing()) this.#ping(DELIVERY_MS)
    else this.#checkSilence()
  }

  #handleWake(): void {
    if (this.#options.hasPing()) {
      this.#pingedAt = undefined
      this.#ping(DELIVERY_MS)
      this.#wait(PONG_LIMIT_MS)
    } else void this.#doubt('The page was asleep or without a network')
  }

  /** Sends a ping, or ends a connection on which nothing has followed the previous one. */
  #ping(delayMs: number): void {
    const { clock, chat } = this.#options
    if (this.#pingedAt === undefined || this.#hasHeardSince(this.#pingedAt)) {
      this.#pingedAt = clock.monotonic()
      return chat.writeSignal(encodePing(`p-${++this.#pings}`))
    }
    const pingedAt = this.#pingedAt
    clock.clearTimeout(this.#timer)
    this.#timer = clock.setTimeout(
      () => {
        if (this.#hasHeardSince(pingedAt)) this.#wait()
        else chat.replace()
      },
      delayMs,
      { background: true },
    )
  }

  #hasHeardSince(time: number): boolean {
    const { lastInboundAt } = this.#options.chat
    return lastInboundAt !== undefined && lastInboundAt >= time
  }

  #checkSilence(): void {
    if (this.#sentAt === undefined) return
    if (this.#hasHeardSince(this.#sentAt)) {
      this.#sentAt = undefined
      this.#silenceLimitMs = SILENCE_LIMIT_MS
    } else if (this.#options.clock.monotonic() - this.#sentAt >= this.#silenceLimitMs) {
      this.#sentAt = undefined
      // A quiet service is not a dead connection: the next doubt takes longer.
      this.#silenceLimitMs = Math.min(2 * this.#silenceLimitMs, LONGEST_SILENCE_MS)
      void this.#doubt('Nothing has arrived since a message was sent')
    }
  }

  async #doubt(why: string): Promise<void> {
    const { clock, chat, canRecover, logger } = this.#options
    if (this.#checking) return
    const checking = new AbortController()
    this.#checking = checking
    const openedAt = this.#openedAt
    const { lastInboundAt } = chat
    // Meanwhile the connection may have ended, or proven to be alive.
    const isOpen = () => this.#isRunning && openedAt === this.#openedAt && lastInboundAt === chat.lastInboundAt
    let isSafe = await canRecover(checking.signal)
    // A device that has just woken may have no network yet.
    for (let tries = 1; !isSafe && isOpen() && tries < MAX_TRIES; tries++) {
      await sleep(clock, TRY_AGAIN_MS, checking.signal)
      if (checking.signal.aborted) break
      isSafe = await canRecover(checking.signal)
    }
    if (this.#checking === checking) this.#checking = undefined
    if (!isOpen()) return
    if (isSafe) return chat.replace()
    if (!this.#hasWarned)
      logger.warn(
        `${why}. The connection may be dead. It is kept, because the service has neither a history nor a transcript that would show what a new connection misses.`,
      )
    this.#hasWarned = true
  }
}
