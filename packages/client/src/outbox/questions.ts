import { ConnectionState } from '../chat/connection-state.ts'
import { abortedError, MessageError, type SDKError } from '../errors.ts'
import { addressMessage } from './compose.ts'
import type { DeliveryReason } from './delivery-state.ts'
import type { DeliveryLedger } from './ledger.ts'
import type { Message } from './message.ts'
import { createEntry, type OutboxEntry, type Question } from './outbox-entry.ts'
import { type OutboxOptions, whyWaiting } from './outbox-options.ts'

/** Options of `ask()`. */
export interface AskOptions {
  /** Gives up the question: the promise rejects with code ABORTED, and the next question takes its turn. */
  signal?: AbortSignal
  /**
   * Longest wait for the answer, in milliseconds, from the call on. It includes earlier questions and the connection.
   * `Infinity` sets no limit.
   *
   * @default 120_000
   */
  timeoutMs?: number
}

/** Slow agents answer within a minute; the caller must not wait endlessly. */
const ANSWER_LIMIT_MS = 120_000

/** How long a question may wait for the agent or the connection before the log warns, in milliseconds. */
export const WARN_AFTER_MS = 3_000

/** Whose turn it is. */
export interface Turns {
  /** The question whose turn it is. */
  readonly current: Question | undefined
  /** Whether the next question may start. */
  canStart(): boolean
  /** Gives a question its turn. */
  start(question: Question): void
  /** Ends the turn of a question, if it has the turn. Returns whether it had. */
  end(question: OutboxEntry): boolean
  /** Rejects the current question, and forgets the messages of the agent. */
  forgetUser(): void
  /** Nothing is timed any more. */
  destroy(): void
}

/** The turns of an agent that has never been connected: the first question has the turn until it is taken out. */
export class FirstTurn implements Turns {
  current: Question | undefined

  canStart(): boolean {
    return !this.current
  }

  start(question: Question): void {
    this.current = question
  }

  end(question: OutboxEntry): boolean {
    const had = this.current === question
    if (had) this.current = undefined
    return had
  }

  /** The outbox has taken the question out. */
  forgetUser(): void {}

  destroy(): void {
    this.current = undefined
  }
}

/** The outbox, as the questions use it. */
export interface QuestionsOwner {
  /** Whose turn it is. Replaced once the code of the turns is loaded. */
  readonly turns: Turns
  /** The state of the chat. */
  readonly chatState: ConnectionState
  readonly ledger: DeliveryLedger
  /** Whether an entry need not be held until the agent is ready. */
  readonly canPass: boolean
  /** @throws {MessageError} reason `queue_full` */
  requireSpace(messageId: string): void
  /** Sends a question whose turn has come. @throws {MessageError} when it is refused */
  submit(question: Question): void
  /** The caller no longer waits for the answer. */
  giveUp(question: Question): void
}

/** The calls of `ask()`. Owns the questions whose turn has not come, and the time limit of each. */
export class Questions {
  readonly #options: OutboxOptions
  readonly #owner: QuestionsOwner
  #awaiting: Question[] = []

  constructor(options: OutboxOptions, owner: QuestionsOwner) {
    this.#options = options
    this.#owner = owner
  }

  /** Number of questions whose turn has not come. */
  get size(): number {
    return this.#awaiting.length
  }

  /** Sends a question when its turn comes, and resolves with the answer. See `AiAgent.ask()`. */
  async ask(text: string, { signal, timeoutMs = ANSWER_LIMIT_MS }: AskOptions): Promise<Message> {
    if (signal?.aborted) throw abortedError('ask()', signal)
    if (typeof text !== 'string') throw new MessageError('ask() takes text.', 'invalid')
    if (!(timeoutMs > 0)) throw new MessageError('timeoutMs must be a number of milliseconds above zero.', 'invalid')
    const options = this.#options
    const owner = this.#owner
    const { clock } = options
    const entry = createEntry(text, {}, options, undefined)
    const { id } = entry
    const why = () => whyWaiting(entry, options.isReady(), owner.chatState)
    entry.state = 'awaiting-turn'
    if (this.size > 0 || !owner.turns.canStart()) owner.requireSpace(id)
    const isOffline = () => !options.isReady() || owner.chatState !== ConnectionState.CONNECTED
    const timers: unknown[] = []
    let abort = () => {}
    try {
      return await new Promise<Message>((resolve, reject) => {
        const question: Question = Object.assign(entry, { reply: { resolve, reject } })
        const end = (error: SDKError) => (owner.giveUp(question), reject(error))
        abort = () => end(abortedError('ask()', signal as AbortSignal))
        signal?.addEventListener('abort', abort)
        if (timeoutMs !== Infinity) timers.push(clock.setTimeout(() => end(noAnswer(id, timeoutMs, why())), timeoutMs))
        if (isOffline())
          timers.push(
            clock.setTimeout(() => {
              if (isOffline()) options.logger.warn(`ask() is waiting: ${why()}.`, { messageId: id })
            }, WARN_AFTER_MS),
          )
        owner.ledger.add(question)
        this.#awaiting.push(question)
        this.startNext()
      })
    } finally {
      for (const timer of timers) clock.clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Sends the questions whose turn has come. */
  startNext(): void {
    const { clock, origin } = this.#options
    const owner = this.#owner
    const { turns, ledger } = owner
    while (this.size > 0 && turns.canStart()) {
      const question = this.#awaiting.shift()
      if (!question) return
      turns.start(question)
      try {
        const message = question.message.clone({ timestamp: clock.now() })
        question.message = owner.canPass ? addressMessage(message, origin) : message
        owner.submit(question)
      } catch (error) {
        // A question that is refused gives the turn to the next one.
        turns.end(question)
        ledger.settle(question, 'failed', (error as MessageError).reason as DeliveryReason)
        question.reply.reject(error)
      }
    }
  }

  /** Takes a question out whose turn has not come. Returns whether it was one. */
  remove(entry: OutboxEntry): boolean {
    const index = this.#awaiting.indexOf(entry as Question)
    return index >= 0 && this.#awaiting.splice(index, 1).length > 0
  }

  /** Takes out all questions whose turn has not come. */
  takeAll(): Question[] {
    return this.#awaiting.splice(0)
  }
}

function noAnswer(messageId: string, timeoutMs: number, whyWaiting = 'the agent has not answered'): MessageError {
  return new MessageError(`No answer came within ${timeoutMs / 1000} s: ${whyWaiting}.`, 'timeout', { messageId })
}
