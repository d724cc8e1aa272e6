import { PERSONA, ROLE } from '@aiagent/protocol'
import { MessageError, type SDKError } from '../errors.ts'
import type { DeliveryRecord, Question } from '../log/delivery.ts'
import { isUserMessage, type Message } from '../log/message.ts'
import type { AgentScope } from '../scope.ts'
import type { DeliveryLedger } from './delivery-ledger.ts'

/*
 * Turn-taking of `ask()`: a policy over entries of the outbox. It owns the question whose turn it is.
 *
 *   free ── start() ──► unsent ── written ──► open ── first message of the agent ──► answered
 *    ▲                                         │ ▲
 *    │                            reconnected  ▼ │ its history holds the question
 *    │                                     unverified ── its history holds the answer ──► answered
 *    └── pause over ── ended: error frame, closed, timeout, aborted, not in the history
 *
 * The wire does not say which question an answer belongs to. So one question is out at a time, and the next one follows
 * when the agent has been silent for a pause that adapts to the gaps between its messages.
 */

/** Shortest silence of the agent before the next question, in milliseconds. */
export const MIN_PAUSE_MS = 50

/** Longest silence required before the next question, in milliseconds. */
export const MAX_PAUSE_MS = 2_000

/** The pause is the longest recent gap times this, because gaps vary. */
const PAUSE_PER_GAP = 1.5

/** How many gaps between messages the pause is derived from. */
const REMEMBERED_GAPS = 8

/** State of the question whose turn it is. */
type Turn =
  | { readonly at: 'unsent'; readonly question: Question }
  | { readonly at: 'open'; readonly question: Question }
  | {
      /** The connection was lost and replaced after the question was written. */
      readonly at: 'unverified'
      readonly question: Question
      /** Another user message was written since the reconnect: a new message of the agent may answer either. */
      isAmbiguous: boolean
      /** The service has sent no history in time. */
      isOverdue: boolean
    }

export class TurnTaking {
  readonly #scope: AgentScope<never>
  readonly #ledger: DeliveryLedger
  readonly #startNext: () => void
  #turn: Turn | undefined
  #pauseTimer: unknown
  /** Time of the agent's last message, on the monotonic clock. */
  #spokeAt = -Infinity
  /** Whether a user message was written since then. */
  #hasWritten = false
  /** The gaps between the agent's messages: they show when an answer of several messages is over. */
  #gaps: number[] | undefined

  /** @param startNext a question may be able to start: the previous one ended, or the pause is over */
  constructor(scope: AgentScope<never>, ledger: DeliveryLedger, startNext: () => void) {
    this.#scope = scope
    this.#ledger = ledger
    this.#startNext = startNext
  }

  /** The question whose turn it is. */
  get current(): Question | undefined {
    return this.#turn?.question
  }

  /** Whether the next question may start. When only the pause is missing, `onFree` is called at its end. */
  canStart(): boolean {
    const { environment, shared } = this.#scope
    const { clock } = environment
    const turn = this.#turn
    if (turn?.at === 'unverified' && turn.isOverdue && !this.#ledger.isSentAgain(turn.question))
      this.#fail('The connection was lost before an answer came, and the service has not sent a history since.')
    if (this.#turn) return false
    clock.clearTimeout(this.#pauseTimer)
    const missingMs = this.#missingPauseMs()
    if (missingMs <= 0) return shared?.turn.take(this.#startNext) ?? true
    this.#pauseTimer = clock.setTimeout(this.#startNext, missingMs)
    return false
  }

  /** Gives a question its turn. */
  start(question: Question): void {
    this.#turn = { at: 'unsent', question }
  }

  /**
   * This tab has joined the others.
   *
   * @returns the question that it has started without them, and not written: it waits again, as another tab has the turn
   */
  async handleJoined(): Promise<Question | undefined> {
    const { shared } = this.#scope
    const question = this.current
    if (!question || !shared || (await shared.turn.claim())) return undefined
    if (this.#turn?.question !== question || this.#turn.at !== 'unsent') return undefined
    this.#turn = undefined
    return question
  }

  /** Ends the turn of a question, if it has the turn. */
  end(question: DeliveryRecord): void {
    if (this.#turn?.question !== question) return
    this.#turn = undefined
    this.#scope.shared?.turn.end()
  }

  /** An entry has been written to the socket. */
  handleWritten(entry: DeliveryRecord): void {
    if (!isUserMessage(entry.message)) return
    const turn = this.#turn
    this.#hasWritten = true
    if (turn?.question !== entry) {
      if (turn?.at === 'unverified') turn.isAmbiguous = true
      return
    }
    // The history of the reopened chat may still show the answer.
    if (turn.at === 'unverified' && this.#ledger.isSentAgain(entry)) return
    this.#turn = { at: 'open', question: turn.question }
  }

  /** A message has arrived: an answer, or an error, which is taken to concern the last question. */
  handleMessage(message: Message): void {
    const turn = this.#turn
    if (message.persona === PERSONA.AGENT) {
      this.#measureGap()
      if (!turn || turn.at === 'unsent') return
      if (turn.at === 'unverified' && turn.isAmbiguous)
        this.#fail('The connection was lost before an answer came, and a later answer may belong to another message.')
      else this.#settle(({ reply }) => reply.resolve(message))
    } else if (turn && turn.at !== 'unsent' && message.persona === PERSONA.METADATA && message.role === ROLE.ERROR)
      this.#fail(`The service reports an error: ${message.content || 'it gives no reason'}`, 'refused')
  }

  /** The session was opened again. An answer can still come. */
  handleReopened(): void {
    const { confirms, replays } = this.#scope.facts.wire
    const turn = this.#turn
    if (!turn || turn.at === 'unsent') return
    // The service repeats what was missed, and no message is lost: the question stays open.
    if (turn.at === 'open' && confirms && replays) return
    this.#turn = { at: 'unverified', question: turn.question, isAmbiguous: false, isOverdue: false }
  }

  /** No history has come in time. */
  handleOverdue(): void {
    if (this.#turn?.at !== 'unverified') return
    this.#turn.isOverdue = true
    this.#startNext()
  }

  /**
   * The service has sent the history of the session. It decides a question that was open when the connection was lost:
   * its answer is there, or the question at least, or not even that.
   */
  handleHistory(messages: readonly Message[]): void {
    const turn = this.#turn
    if (turn?.at !== 'unverified') {
      const last = turn?.at !== 'open' && messages.findLast(({ persona }) => persona === PERSONA.AGENT)
      if (last) this.#ledger.handleAgentMessage(last)
      return
    }
    const { question } = turn
    const found = this.#ledger.findAnswer(messages, question)
    if (!found) return
    const { isAsked, answer } = found
    if (!isAsked && !this.#ledger.isSentAgain(question))
      return this.#fail('The connection was lost before the question reached the service.')
    if (answer) {
      this.#ledger.handleAgentMessage(answer)
      return this.#settle(({ reply }) => reply.resolve(answer))
    }
    this.#turn = { at: 'open', question }
  }

  /** No answer will come to what was sent, and nothing of the session has to be waited for. */
  endSession(): void {
    this.#spokeAt = -Infinity
    if (this.#turn && this.#turn.at !== 'unsent') this.#fail('The session ended before an answer came.')
  }

  /** Rejects the current question, and starts no other one. */
  destroy(error: SDKError): void {
    this.#scope.environment.clock.clearTimeout(this.#pauseTimer)
    const { current } = this
    if (!current) return
    this.end(current)
    current.reply.reject(error)
  }

  #fail(text: string, reason: 'refused' | 'closed' = 'closed'): void {
    this.#settle(({ id, reply }) => reply.reject(new MessageError(text, reason, { messageId: id })))
  }

  #settle(settle: (question: Question) => void): void {
    const question = this.current
    if (!question) return
    this.end(question)
    settle(question)
    this.#startNext()
  }

  /** How long the agent must still be silent before the next question, in milliseconds; not above 0 when it was. */
  #missingPauseMs(): number {
    const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, PAUSE_PER_GAP * Math.max(...(this.#gaps ?? []))))
    return this.#spokeAt + pauseMs - this.#scope.environment.clock.monotonic()
  }

  /** Measures the gap to the agent's previous message, unless the user wrote in between: then it is the agent's latency. */
  #measureGap(): void {
    const now = this.#scope.environment.clock.monotonic()
    const gap = now - this.#spokeAt
    if (!this.#hasWritten && gap < MAX_PAUSE_MS) {
      this.#gaps ??= []
      this.#gaps.push(gap)
      if (this.#gaps.length > REMEMBERED_GAPS) this.#gaps.shift()
    }
    this.#spokeAt = now
    this.#hasWritten = false
  }
}
