import { encodePing } from '@aiagent/protocol'
import { PING_INTERVAL_MS } from '../platform/socket-limits.ts'
import type { AgentScope } from '../scope.ts'
import { sleep } from '../util/abort.ts'
import { Era } from '../util/era.ts'
import type { ChatSession } from './chat-session.ts'
import type { ChatObserver, Connection } from './connection.ts'

/** A page that was away for longer may have lost its connection without noticing, in milliseconds. */
const LONG_AWAY_MS = 15_000

/** The wall clock has jumped if it gains more on the monotonic clock than this, in milliseconds: the device has slept. */
const CLOCK_JUMP_MS = 10_000

/** How often a page looks for a jump of the clock, in milliseconds. */
const LOOK_INTERVAL_MS = 5_000

/** How long the answer to a ping may take when the page is back, in milliseconds. */
const PONG_LIMIT_MS = 5_000

/** Time for frames that have arrived and were not delivered yet, because the page was busy or asleep, in milliseconds. */
const DELIVERY_MS = 1_000

/*
 * Finds dead connections that still look open.
 *
 * Where the service answers pings, they decide, everywhere. Without them a page can only doubt: when it wakes, and when
 * nothing arrives for half a minute after a message of the user. A doubtful connection is replaced, once for each doubt, and
 * only where the service gives back what a connection may lose. Outside a page the socket itself pings.
 */
export class Liveness implements ChatObserver {
  readonly #scope: AgentScope<never>
  readonly #connection: Connection
  readonly #session: ChatSession
  /** Created with the first doubt. */
  #doubt: Doubt | undefined
  /** Created with the first connection that is watched. */
  #silence: SilenceWatch | undefined
  #unwatch: (() => void) | undefined
  #timer: unknown
  #isRunning = false
  /** Wall clock minus monotonic clock at the last look. */
  #offset = 0
  /** When the unanswered ping was sent. */
  #pingedAt: number | undefined
  #pings = 0

  constructor(scope: AgentScope<never>, connection: Connection, session: ChatSession) {
    this.#scope = scope
    this.#connection = connection
    this.#session = session
    connection.observe(this)
  }

  /** The chat is open. */
  handleConnected(): void {
    this.handleLost()
    const { environment, config } = this.#scope
    const { clock, page } = environment
    // Without pings only a page can doubt, and only where doubt is wanted.
    if (!this.#scope.facts.wire.answersPings && (!page || config.doubtAfterMs <= 0)) return
    this.#isRunning = true
    this.#silence ??= new SilenceWatch()
    this.#offset = clock.now() - clock.monotonic()
    this.#unwatch = page?.onReturn(awayMs => {
      if (awayMs >= LONG_AWAY_MS) this.#handleWake()
    })
    this.#wait()
  }

  /** The connection was lost. */
  handleLost(): void {
    this.#isRunning = false
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#doubt?.end()
    this.#silence?.reset()
    this.#scope.environment.clock.clearTimeout(this.#timer)
    this.#pingedAt = undefined
  }

  /** A message of the user was accepted. */
  handleSent(): void {
    if (this.#isRunning) this.#silence?.handleSent(this.#scope.environment.clock.monotonic())
  }

  #wait(delayMs = this.#scope.facts.wire.answersPings ? PING_INTERVAL_MS : this.#untilNextLook()): void {
    const { clock } = this.#scope.environment
    clock.clearTimeout(this.#timer)
    this.#timer = clock.setTimeout(() => this.#look(), delayMs, { background: true })
  }

  #untilNextLook(): number {
    const dueAt = this.#silence?.dueAt ?? Infinity
    return Math.max(0, Math.min(LOOK_INTERVAL_MS, dueAt - this.#scope.environment.clock.monotonic()))
  }

  #look(): void {
    const { clock } = this.#scope.environment
    const offset = clock.now() - clock.monotonic()
    const hasJumped = offset - this.#offset > CLOCK_JUMP_MS
    this.#offset = offset
    const isTooLong = this.#silence?.isTooLong(clock.monotonic(), this.#connection.lastInboundAt)
    this.#wait()
    if (hasJumped && this.#scope.environment.page) this.#handleWake()
    else if (this.#scope.facts.wire.answersPings) this.#ping(DELIVERY_MS)
    else if (isTooLong) this.#raiseDoubt('Nothing has arrived since a message was sent')
  }

  #handleWake(): void {
    if (this.#scope.facts.wire.answersPings) {
      this.#pingedAt = undefined
      this.#ping(DELIVERY_MS)
      this.#wait(PONG_LIMIT_MS)
    } else this.#raiseDoubt('The page was asleep or without a network')
  }

  #raiseDoubt(why: string): void {
    this.#doubt ??= new Doubt(this.#scope, this.#connection, this.#session)
    void this.#doubt.raise(why)
  }

  /** Sends a ping, or ends a connection on which nothing has followed the previous one. */
  #ping(delayMs: number): void {
    const { clock } = this.#scope.environment
    const connection = this.#connection
    if (this.#pingedAt === undefined || this.#hasHeardSince(this.#pingedAt)) {
      this.#pingedAt = clock.monotonic()
      return connection.writeSignal(encodePing(`p-${++this.#pings}`))
    }
    const pingedAt = this.#pingedAt
    clock.clearTimeout(this.#timer)
    this.#timer = clock.setTimeout(
      () => {
        if (this.#hasHeardSince(pingedAt)) this.#wait()
        else connection.replace()
      },
      delayMs,
      { background: true },
    )
  }

  #hasHeardSince(time: number): boolean {
    const { lastInboundAt } = this.#connection
    return lastInboundAt !== undefined && lastInboundAt >= time
  }
}

/** Silence after a message of the user that makes a connection doubtful where it cannot be pinged, in milliseconds. */
const SILENCE_LIMIT_MS = 30_000

/** Longest silence that is tolerated when the service is simply quiet, in milliseconds. */
const LONGEST_SILENCE_MS = 3_600_000

/** How often it is checked whether messages can be recovered, before a doubtful connection is kept. */
const MAX_TRIES = 3

/** Time between two such checks, in milliseconds. */
const TRY_AGAIN_MS = 2_000

/** Decides when nothing has arrived for too long after a message of the user. Times are of the monotonic clock. */
class SilenceWatch {
  /** When the first message was sent that no frame has followed. */
  #sentAt: number | undefined
  #limitMs = SILENCE_LIMIT_MS

  handleSent(now: number): void {
    this.#sentAt ??= now
  }

  /** The connection has ended: what was sent over it says nothing about the next one. */
  reset(): void {
    this.#sentAt = undefined
  }

  /** When a silence that lasts is too long. Undefined while no message has been sent. */
  get dueAt(): number | undefined {
    return this.#sentAt === undefined ? undefined : this.#sentAt + this.#limitMs
  }

  /** Whether the silence is too long. After that, the next one may be twice as long. */
  isTooLong(now: number, lastInboundAt: number | undefined): boolean {
    const sentAt = this.#sentAt
    if (sentAt === undefined) return false
    if (lastInboundAt !== undefined && lastInboundAt >= sentAt) {
      this.#sentAt = undefined
      this.#limitMs = SILENCE_LIMIT_MS
      return false
    }
    if (now - sentAt < this.#limitMs) return false
    this.#sentAt = undefined
    // A quiet service is not a dead connection: the next doubt takes longer.
    this.#limitMs = Math.min(2 * this.#limitMs, LONGEST_SILENCE_MS)
    return true
  }
}

/** Replaces a doubtful connection, once for each doubt, where the service gives back what it may have lost. */
export class Doubt {
  readonly #scope: AgentScope<never>
  readonly #connection: Connection
  readonly #session: ChatSession
  /** The check in progress, which ends with the connection. */
  #checking: Era | undefined
  #hasWarned = false

  constructor(scope: AgentScope<never>, connection: Connection, session: ChatSession) {
    this.#scope = scope
    this.#connection = connection
    this.#session = session
  }

  /** The connection has ended. */
  end(): void {
    this.#checking?.end()
    this.#checking = undefined
  }

  /** @param why the reason for the doubt, as the beginning of a log message */
  async raise(why: string): Promise<void> {
    const { environment, logger } = this.#scope
    const connection = this.#connection
    const session = this.#session
    if (this.#checking) return
    const checking = new Era()
    this.#checking = checking
    const { lastInboundAt } = connection
    // Meanwhile the connection may have ended, or proven to be alive.
    const isOpen = () => !checking.isOver && lastInboundAt === connection.lastInboundAt
    const check = () => checking.during(signal => session.canRecover(signal)).catch(() => false)
    let isSafe = await check()
    // A device that has just woken may have no network yet.
    for (let tries = 1; !isSafe && isOpen() && tries < MAX_TRIES; tries++) {
      await checking.during(signal => sleep(environment.clock, TRY_AGAIN_MS, signal)).catch(() => {})
      isSafe = await check()
    }
    if (!checking.isOver) this.#checking = undefined
    if (!isOpen()) return
    if (isSafe) return connection.replace()
    if (!this.#hasWarned)
      logger.warn(
        `${why}. The connection may be dead. It is kept, because the service has neither a history nor a transcript that would show what a new connection misses.`,
      )
    this.#hasWarned = true
  }
}
