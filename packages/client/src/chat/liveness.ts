import { encodePing } from '@aiagent/protocol'
import type { Clock } from '../platform/clock.ts'
import { PING_INTERVAL_MS } from '../platform/socket-pings.ts'
import type { AgentScope } from '../scope.ts'
import type { Chat, ChatObserver } from './chat.ts'
import type { ChatSession } from './chat-session.ts'
import { Doubt, SilenceWatch } from './doubt.ts'

/** A page that was away for longer may have lost its connection without noticing, in milliseconds. */
const LONG_AWAY_MS = 15_000

/** The wall clock has jumped if it gains more on the monotonic clock than this, in milliseconds: the device has slept. */
const CLOCK_JUMP_MS = 10_000

/** How often a page looks for silence and for a jump of the clock, in milliseconds. */
const LOOK_INTERVAL_MS = 5_000

/** How long the answer to a ping may take when the page is back, in milliseconds. */
const PONG_LIMIT_MS = 5_000

/** Time for frames that have arrived and were not delivered yet, because the page was busy or asleep, in milliseconds. */
const DELIVERY_MS = 1_000

/*
 * Finds dead connections that still look open.
 *
 * Where the service answers pings, they decide, everywhere. Without them a page can only doubt: when it wakes, and when
 * nothing arrives for a minute after a message of the user. A doubtful connection is replaced, once for each doubt, and
 * only where the service gives back what a connection may lose. Outside a page the socket itself pings.
 */
export class Liveness implements ChatObserver {
  readonly #scope: AgentScope<never>
  readonly #chat: Chat
  readonly #doubt: Doubt
  readonly #silence = new SilenceWatch()
  #unwatch: (() => void) | undefined
  #timer: unknown
  #isRunning = false
  /** Wall clock minus monotonic clock at the last look. */
  #offset = 0
  /** When the unanswered ping was sent. */
  #pingedAt: number | undefined
  #pings = 0

  constructor(scope: AgentScope<never>, chat: Chat, session: ChatSession) {
    this.#scope = scope
    this.#chat = chat
    this.#doubt = new Doubt(scope, chat, session)
    chat.observe(this)
  }

  /** The chat is open. */
  handleConnected(): void {
    this.handleLost()
    const { environment, config } = this.#scope
    const { clock, page } = environment
    // Without pings only a page can doubt, and only where doubt is wanted.
    if (!this.#scope.facts.hasPing && (!page || config.doubtAfterMs <= 0)) return
    this.#isRunning = true
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
    this.#doubt.end()
    this.#silence.reset()
    this.#clock.clearTimeout(this.#timer)
    this.#pingedAt = undefined
  }

  /** A message of the user was accepted. */
  handleSent(): void {
    if (this.#isRunning) this.#silence.handleSent(this.#clock.monotonic())
  }

  get #clock(): Clock {
    return this.#scope.environment.clock
  }

  #wait(delayMs = this.#scope.facts.hasPing ? PING_INTERVAL_MS : LOOK_INTERVAL_MS): void {
    const clock = this.#clock
    clock.clearTimeout(this.#timer)
    this.#timer = clock.setTimeout(() => this.#look(), delayMs, { background: true })
  }

  #look(): void {
    const clock = this.#clock
    const offset = clock.now() - clock.monotonic()
    const hasJumped = offset - this.#offset > CLOCK_JUMP_MS
    this.#offset = offset
    this.#wait()
    if (hasJumped && this.#scope.environment.page) this.#handleWake()
    else if (this.#scope.facts.hasPing) this.#ping(DELIVERY_MS)
    else if (this.#silence.isTooLong(clock.monotonic(), this.#chat.lastInboundAt))
      void this.#doubt.raise('Nothing has arrived since a message was sent')
  }

  #handleWake(): void {
    if (this.#scope.facts.hasPing) {
      this.#pingedAt = undefined
      this.#ping(DELIVERY_MS)
      this.#wait(PONG_LIMIT_MS)
    } else void this.#doubt.raise('The page was asleep or without a network')
  }

  /** Sends a ping, or ends a connection on which nothing has followed the previous one. */
  #ping(delayMs: number): void {
    const clock = this.#clock
    const chat = this.#chat
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
    const { lastInboundAt } = this.#chat
    return lastInboundAt !== undefined && lastInboundAt >= time
  }
}
