import type { Clock } from '../clock.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { HistoryEntry } from '../world/session-record.ts'
import type { Answer, Reply, ReplyRequest } from './reply.ts'

export interface AnswerQueueParts {
  reply: Reply
  clock: Clock
  settings: EmulatorSettings
  requestFor(message: HistoryEntry): ReplyRequest
  onHeartbeat(): void
  /** The agent has answered the oldest message; with nothing, if it has nothing to say. */
  onAnswers(answers: readonly Answer[]): void
  /** The agent failed to answer the oldest message. */
  onFailure(error: unknown): void
}

/**
 * Owns the messages that wait for an answer, and answers them one after the other.
 *
 * An answer that is not a promise is sent within the same call, without a timer, for benchmarks.
 */
export class AnswerQueue {
  readonly #parts: AnswerQueueParts
  readonly #waiting: HistoryEntry[] = []
  #busy = false
  #stopped = false
  #delayTimer: unknown
  #heartbeatTimer: unknown

  constructor(parts: AnswerQueueParts) {
    this.#parts = parts
  }

  /** Whether the message is neither waiting nor being answered. */
  isWaiting(message: HistoryEntry): boolean {
    return this.#waiting.includes(message)
  }

  add(message: HistoryEntry): void {
    this.#waiting.push(message)
    this.#work()
  }

  /** Drops the waiting messages, and discards an answer in progress. */
  stop(): void {
    this.#stopped = true
    this.#waiting.length = 0
    this.#endHeartbeats()
    this.#parts.clock.clearTimeout(this.#delayTimer)
  }

  #work(): void {
    while (!this.#busy && !this.#stopped) {
      const message = this.#waiting.shift()
      if (!message) return
      this.#answer(message)
    }
  }

  #answer(message: HistoryEntry): void {
    const { clock, settings, onHeartbeat } = this.#parts
    this.#busy = true
    if (settings.heartbeatBeforeReply) onHeartbeat()
    if (settings.replyDelayMs <= 0) return this.#ask(message)
    this.#beatOn()
    this.#delayTimer = clock.setTimeout(() => {
      this.#ask(message)
      this.#work()
    }, settings.replyDelayMs)
  }

  #ask(message: HistoryEntry): void {
    let result: ReturnType<Reply>
    try {
      result = this.#parts.reply(this.#parts.requestFor(message))
    } catch (error) {
      return this.#finish(() => this.#parts.onFailure(error))
    }
    if (!isPromise(result)) {
      const answers = result
      return this.#finish(() => this.#parts.onAnswers(asList(answers)))
    }
    this.#beatOn()
    result.then(
      answers => this.#finishLater(() => this.#parts.onAnswers(asList(answers))),
      error => this.#finishLater(() => this.#parts.onFailure(error)),
    )
  }

  #finishLater(tell: () => void): void {
    this.#finish(tell)
    this.#work()
  }

  #finish(tell: () => void): void {
    this.#endHeartbeats()
    this.#busy = false
    // The session may have ended while the agent worked on the answer.
    if (!this.#stopped) tell()
  }

  #beatOn(): void {
    const { clock, settings, onHeartbeat } = this.#parts
    if (!settings.heartbeatBeforeReply || this.#heartbeatTimer !== undefined || this.#stopped) return
    this.#heartbeatTimer = clock.setTimeout(() => {
      this.#heartbeatTimer = undefined
      onHeartbeat()
      this.#beatOn()
    }, settings.heartbeatIntervalMs)
  }

  #endHeartbeats(): void {
    this.#parts.clock.clearTimeout(this.#heartbeatTimer)
    this.#heartbeatTimer = undefined
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}

const asList = (answers: Answer | readonly Answer[]): readonly Answer[] => [answers].flat()
