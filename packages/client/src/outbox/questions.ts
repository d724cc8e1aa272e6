import type { Chat } from '../chat/chat.ts'
import { ConnectionState } from '../chat/connection-state.ts'
import { abortedError, MessageError, type SDKError } from '../errors.ts'
import { addressMessage } from '../log/compose.ts'
import type { DeliveryReason } from '../log/delivery-state.ts'
import type { Message } from '../log/message.ts'
import type { AgentScope } from '../scope.ts'
import { stateOf } from './delivery.ts'
import type { DeliveryLedger } from './ledger.ts'
import { createEntry, type OutboxEntry, type Question } from './outbox-entry.ts'
import type { TurnTaking } from './turn-taking.ts'

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

/** The outbox, as the questions use it. */
export interface QuestionsOwner {
  readonly turns: TurnTaking
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

/** The calls of `ask()`. Owns the time limit of each. */
export class Questions {
  readonly #scope: AgentScope<never>
  readonly #chat: Chat
  readonly #owner: QuestionsOwner

  constructor(scope: AgentScope<never>, chat: Chat, owner: QuestionsOwner) {
    this.#scope = scope
    this.#chat = chat
    this.#owner = owner
  }

  /** Sends a question when its turn comes, and resolves with the answer. See `AiAgent.ask()`. */
  async ask(text: string, { signal, timeoutMs = ANSWER_LIMIT_MS }: AskOptions): Promise<Message> {
    if (signal?.aborted) throw abortedError('ask()', signal)
    if (typeof text !== 'string') throw new MessageError('ask() takes text.', 'invalid')
    if (!(timeoutMs > 0)) throw new MessageError('timeoutMs must be a number of milliseconds above zero.', 'invalid')
    const { environment, status, logger } = this.#scope
    const owner = this.#owner
    const { clock } = environment
    const entry = createEntry(text, {}, this.#scope, undefined)
    const { id } = entry
    const why = () => whyWaiting(entry, status.isReady, this.#chat.state)
    entry.state = 'awaiting-turn'
    if (owner.ledger.awaiting.size > 0 || !owner.turns.canStart()) owner.requireSpace(id)
    const isOffline = () => !status.isReady || this.#chat.state !== ConnectionState.CONNECTED
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
              if (isOffline()) logger.warn(`ask() is waiting: ${why()}.`, { messageId: id })
            }, WARN_AFTER_MS),
          )
        owner.ledger.add(question, owner.ledger.awaiting)
        this.startNext()
      })
    } finally {
      for (const timer of timers) clock.clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Sends the questions whose turn has come. */
  startNext(): void {
    const { environment, facts } = this.#scope
    const owner = this.#owner
    const { turns, ledger } = owner
    while (ledger.awaiting.size > 0 && turns.canStart()) {
      const question = ledger.awaiting.first as Question | undefined
      if (!question) return
      ledger.awaiting.delete(question)
      turns.start(question)
      try {
        const message = question.message.clone({ timestamp: environment.clock.now() })
        question.message = owner.canPass ? addressMessage(message, facts) : message
        owner.submit(question)
      } catch (error) {
        // A question that is refused gives the turn to the next one.
        turns.end(question)
        ledger.settle(question, 'failed', (error as MessageError).reason as DeliveryReason)
        question.reply.reject(error)
      }
    }
  }
}

function noAnswer(messageId: string, timeoutMs: number, whyWaiting = 'the agent has not answered'): MessageError {
  return new MessageError(`No answer came within ${timeoutMs / 1000} s: ${whyWaiting}.`, 'timeout', { messageId })
}

/** What an entry waits for, as half a sentence for the developer; undefined for one that has been sent. */
function whyWaiting(entry: OutboxEntry, isReady: boolean, chatState: ConnectionState): string | undefined {
  if (stateOf(entry) !== 'queued') return undefined
  if (!isReady) return 'the agent is not initialized: await initialize() and make the selection that it asks for'
  if (chatState === 'IDLE' || chatState === 'CLOSED') return 'the chat is not connected: call connect()'
  if (chatState !== 'CONNECTED') return `the chat is ${chatState}`
  return entry.state === 'awaiting-turn'
    ? 'an earlier question has no answer yet'
    : 'the chat waits for an access token'
}
