import { PERSONA, ROLE } from '@aiagent/protocol'
import { abortedError, MessageError, type SDKError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Message } from './message.ts'

/** What `ask()` takes beside the text. */
export interface AskOptions {
  /** Gives the question up: it rejects with code ABORTED, and the next one's turn comes. */
  signal?: AbortSignal
  /**
   * Longest wait for the answer, in milliseconds, from the call on; the turns of earlier questions and the wait for the
   * connection count. `Infinity` waits as long as it takes.
   *
   * @default 120_000
   */
  timeoutMs?: number
}

/** Slow agents answer within a minute; whoever asks must hear something in the end. */
const ANSWER_LIMIT_MS = 120_000

/**
 * How long the agent must have been silent before a question's turn comes, in milliseconds: an answer may have several
 * messages, which come together, and those behind the first must not answer the next question.
 */
const QUIET_MS = 50

/** Timers of the platform overflow above this and fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface QuestionLineOptions {
  clock: Clock
  newId(): string
  /** The session that the chat is in. */
  sessionId(): string | undefined
  /** Hands the question to the ordered way out. @throws {MessageError} when it is not taken */
  submit(text: string, id: string): void
  /** Takes a question back that has not been written yet. */
  withdraw(id: string): void
  /** How many messages may wait, and how many do, those of this line left out. */
  limit: number
  waiting(): number
  /** The refusal of a question that finds no place. */
  full(id: string): MessageError
}

interface Question {
  readonly id: string
  readonly text: string
  resolve(answer: Message): void
  reject(error: unknown): void
}

/*
 * Questions and their answers. It owns the questions that are not settled.
 *
 *   in line ── its turn ──► submitted ── written ──► open ── first message of the agent ──► answered
 *      │                        │                      └─ error frame, chat ended, time up, aborted ─┐
 *      └── time up, aborted ────┴── dropped from the queue, time up, aborted ────────────────────────┴─► failed
 *
 * The wire does not say which question an answer belongs to, so one question is out at a time, and whatever ends it gives
 * the next its turn, once the agent has been silent for a moment. One that is given up before it was written is taken back: nobody waits for its answer any more.
 */
export class QuestionLine {
  readonly #options: QuestionLineOptions
  #line: Question[] = []
  #current: Question | undefined
  /** Where the current question was written to; undefined until then. */
  #writtenIn: { readonly sessionId: string | undefined } | undefined
  /** When the agent spoke last. */
  #spokeAt: number | undefined
  /** Wakes the line when the agent has been silent for long enough. */
  #quiet: unknown

  constructor(options: QuestionLineOptions) {
    this.#options = options
  }

  /** How many questions wait for their turn. */
  get size(): number {
    return this.#line.length
  }

  /** Asks when its turn has come. See `AiAgent.ask()`. */
  async ask(text: string, { signal, timeoutMs = ANSWER_LIMIT_MS }: AskOptions = {}): Promise<Message> {
    if (signal?.aborted) throw abortedError('ask()', signal)
    if (typeof text !== 'string') throw new MessageError('ask() takes text.', 'invalid')
    if (!(timeoutMs > 0)) throw new MessageError('timeoutMs must be a number of milliseconds above zero.', 'invalid')
    const { clock, newId, full, limit, waiting } = this.#options
    const id = newId()
    const mustWait = this.#current !== undefined || this.#line.length > 0
    if (mustWait && this.#line.length + waiting() >= limit) throw full(id)
    let question: Question | undefined
    let timer: unknown
    const giveUp = (error: SDKError) => question && this.#giveUp(question, error)
    const abort = () => signal && giveUp(abortedError('ask()', signal))
    try {
      return await new Promise<Message>((resolve, reject) => {
        question = { id, text, resolve, reject }
        signal?.addEventListener('abort', abort)
        if (timeoutMs !== Infinity)
          timer = clock.setTimeout(() => giveUp(noAnswer(id, timeoutMs)), Math.min(timeoutMs, LONGEST_TIMER_MS))
        this.#line.push(question)
        this.#next()
      })
    } finally {
      clock.clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  /** A message has been written to the socket. */
  written(id: string): void {
    if (this.#current?.id === id) this.#writtenIn = { sessionId: this.#options.sessionId() }
  }

  /** A message has arrived: an answer, or an error, which speaks of what was asked last as far as anybody can tell. */
  heard(message: Message): void {
    const isAgent = message.persona === PERSONA.AGENT
    if (isAgent) this.#spokeAt = this.#options.clock.now()
    if (!this.#writtenIn) return
    if (isAgent) this.#end(question => question.resolve(message))
    else if (message.persona === PERSONA.METADATA && message.role === ROLE.ERROR)
      this.#fail('refused', `The service reports an error: ${message.content || 'it does not say which'}`)
  }

  /** The chat has ended, and nothing is tried any more: an answer cannot come. */
  ended(): void {
    if (this.#writtenIn) this.#fail('closed', 'The chat ended before an answer came.')
  }

  /** The chat is open. An answer can still come, unless it is another session. */
  opened(): void {
    if (this.#writtenIn && this.#writtenIn.sessionId !== this.#options.sessionId())
      this.#fail('closed', 'The session ended before an answer came.')
  }

  /** A message was dropped on its way. @returns whether it was a question, whose promise tells of it */
  failed(error: SDKError): boolean {
    if (!(error instanceof MessageError) || !this.#current || error.messageId !== this.#current.id) return false
    this.#end(question => question.reject(error))
    return true
  }

  /** Drops the questions that wait for their turn. */
  clear(): void {
    for (const { id, reject } of this.#line.splice(0))
      reject(new MessageError('The question was dropped before it was sent.', 'cleared', { messageId: id }))
  }

  /** Ends every question. */
  destroy(error: SDKError): void {
    this.#options.clock.clearTimeout(this.#quiet)
    for (const { reject } of this.#line.splice(0)) reject(error)
    if (this.#current) this.#end(question => question.reject(error))
  }

  #fail(reason: 'refused' | 'closed', text: string): void {
    this.#end(question => question.reject(new MessageError(text, reason, { messageId: question.id })))
  }

  #giveUp(question: Question, error: SDKError): void {
    if (question !== this.#current) {
      this.#line = this.#line.filter(each => each !== question)
      return question.reject(error)
    }
    if (!this.#writtenIn) this.#options.withdraw(question.id)
    this.#end(() => question.reject(error))
  }

  /** The current question is over, and the next one's turn has come. */
  #end(settle: (question: Question) => void): void {
    const question = this.#current
    if (!question) return
    this.#current = undefined
    this.#writtenIn = undefined
    settle(question)
    this.#next()
  }

  /** Whether the agent spoke just now: then the line goes on a little later. */
  #awaitQuiet(): boolean {
    const { clock } = this.#options
    clock.clearTimeout(this.#quiet)
    const silentMs = this.#spokeAt === undefined ? QUIET_MS : clock.now() - this.#spokeAt
    // A wall clock that was set back says nothing about silence.
    if (silentMs >= QUIET_MS || silentMs < 0) return false
    this.#quiet = clock.setTimeout(() => this.#next(), QUIET_MS - silentMs)
    return true
  }

  #next(): void {
    // A question that is not taken leaves the turn to the one behind it.
    while (!this.#current) {
      if (this.#line.length === 0 || this.#awaitQuiet()) return
      const question = this.#line.shift()
      if (!question) return
      this.#current = question
      try {
        this.#options.submit(question.text, question.id)
      } catch (error) {
        question.reject(error)
        // What a listener did meanwhile may have ended it already.
        if (this.#current === question) {
          this.#current = undefined
          this.#writtenIn = undefined
        }
      }
    }
  }
}

function noAnswer(messageId: string, timeoutMs: number): MessageError {
  return new MessageError(`No answer came within ${timeoutMs / 1000} s.`, 'timeout', { messageId })
}
