import { sleep } from '../platform/clock.ts'
import type { AgentScope } from '../scope.ts'
import type { Chat } from './chat.ts'
import type { ChatSession } from './chat-session.ts'

/** Silence after a message of the user that makes a connection doubtful where it cannot be pinged, in milliseconds. */
const SILENCE_LIMIT_MS = 60_000

/** Longest silence that is tolerated when the service is simply quiet, in milliseconds. */
const LONGEST_SILENCE_MS = 3_600_000

/** How often it is checked whether messages can be recovered, before a doubtful connection is kept. */
const MAX_TRIES = 3

/** Time between two such checks, in milliseconds. */
const TRY_AGAIN_MS = 2_000

/** Decides when nothing has arrived for too long after a message of the user. Times are of the monotonic clock. */
export class SilenceWatch {
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
  readonly #chat: Chat
  readonly #session: ChatSession
  /** The check in progress, which ends with the connection. */
  #checking: AbortController | undefined
  #hasWarned = false

  constructor(scope: AgentScope<never>, chat: Chat, session: ChatSession) {
    this.#scope = scope
    this.#chat = chat
    this.#session = session
  }

  /** The connection has ended. */
  end(): void {
    this.#checking?.abort()
    this.#checking = undefined
  }

  /** @param why the reason for the doubt, as the beginning of a log message */
  async raise(why: string): Promise<void> {
    const { environment, logger } = this.#scope
    const chat = this.#chat
    const session = this.#session
    if (this.#checking) return
    const checking = new AbortController()
    this.#checking = checking
    const { signal } = checking
    const { lastInboundAt } = chat
    // Meanwhile the connection may have ended, or proven to be alive.
    const isOpen = () => !signal.aborted && lastInboundAt === chat.lastInboundAt
    let isSafe = await session.canRecover(signal)
    // A device that has just woken may have no network yet.
    for (let tries = 1; !isSafe && isOpen() && tries < MAX_TRIES; tries++) {
      await sleep(environment.clock, TRY_AGAIN_MS, signal)
      if (signal.aborted) break
      isSafe = await session.canRecover(signal)
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
