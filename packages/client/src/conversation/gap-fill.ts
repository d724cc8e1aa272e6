import { PERSONA } from '@aiagent/protocol'
import { type ChatSession, TRANSCRIPT_LIMIT_MS } from '../chat/chat-session.ts'
import type { RecoverySource } from '../events.ts'
import type { HistoryElement, Message } from '../log/message.ts'
import {
  type HistoryMergeOptions,
  haveSameMark,
  type KnownMessage,
  knownMessage,
  mergeHistory,
  readHistory,
} from '../log/reconcile.ts'
import type { Transcript } from '../log/transcript.ts'
import type { Clock } from '../platform/clock.ts'
import type { AgentScope } from '../scope.ts'
import { withTimeLimit } from '../util/abort.ts'
import { Era } from '../util/era.ts'
import { emitAgentMessage } from './inbound-events.ts'
import type { HandlerResult, MessageHandlerResult } from './message-handler.ts'
import type { MessageProcessor } from './message-processor.ts'

/** The recovery, as the part that fills gaps reports to it. */
interface GapFillOwner {
  /** A message of the agent was recovered. Its events have been emitted. */
  handleAnswer(message: Message): void
  /** Messages are in the transcript that were missed. */
  reportRecovered(messages: Message[], source: RecoverySource): void
  /** A history has been read: its messages are in the transcript. */
  handleHistory(history: readonly HistoryElement[]): void
  /** Nothing more can be recovered for the current opening. */
  end(): void
}

/** An opening of the chat. */
export interface Opening {
  readonly sessionId: string
  /** Whether this page opened the session before. */
  readonly isReopening: boolean
  /** Whether this page knows the session from its start, or restores its beginning. */
  readonly isFromStart: boolean
}

/*
 * Recovers messages that were missed while the connection was down.
 *
 *   opened again ──┬─ history frame ───────────────────────► merged
 *                  └─ 1 s, or another frame ── transcript call ─┬─► merged
 *                                                               └─► failed: one warning
 */
export class GapFill {
  readonly #scope: AgentScope<'agentMessage' | 'escalation'>
  readonly #session: ChatSession
  readonly #transcript: Transcript
  readonly #processor: MessageProcessor
  readonly #owner: GapFillOwner
  readonly #request: TranscriptRequest
  readonly #recovered = new RecoveredMessages()
  #opening: Opening | undefined
  /** Wall-clock time of the first opening of the session. */
  #openedAt = 0
  #isFromStart = true
  #hasWarned = false

  constructor(
    scope: AgentScope<'agentMessage' | 'escalation'>,
    session: ChatSession,
    transcript: Transcript,
    processor: MessageProcessor,
    owner: GapFillOwner,
  ) {
    this.#scope = scope
    this.#session = session
    this.#transcript = transcript
    this.#processor = processor
    this.#owner = owner
    this.#request = new TranscriptRequest(scope.environment.clock, session)
  }

  /** The chat is open. */
  begin(opening: Opening): void {
    this.cancel()
    if (opening.sessionId !== this.#opening?.sessionId) {
      this.#recovered.clear()
      this.#openedAt = this.#scope.environment.clock.now()
      this.#isFromStart = opening.isFromStart
    }
    this.#opening = opening
    if (opening.isReopening) this.#request.schedule(() => this.requestTranscript())
  }

  /** The service has sent the history of the session. */
  handleHistory(list: readonly unknown[]): void {
    this.#session.markRecoverable()
    if (this.#opening?.isReopening) {
      this.cancel()
      return this.#take(list, 'history')
    }
    const options = this.#mergeOptions()
    const history = readHistory(list, this.#scope.facts)
    this.#owner.handleHistory(history)
    if (!options || this.#isFromStart) return
    // The `chatHistory` event has reported these messages. They are not missed ones after an outage.
    for (const { message, direction } of mergeHistory(history, { ...options, isFromStart: true }))
      this.#transcript.noteMissing(message, direction)
    this.#isFromStart = true
  }

  /**
   * Requests the transcript unless a history has arrived. Called once per opening, by a timer or by the first other
   * frame.
   */
  requestTranscript(): void {
    const opening = this.#opening
    if (!this.#request.isScheduled || !opening) return
    this.#request.start(
      opening.sessionId,
      list => {
        this.#session.markRecoverable()
        this.#take(list, 'rest')
      },
      error => {
        if (!this.#hasWarned)
          this.#scope.logger.warn(
            'Messages of an outage may be missing: the service sent no history on the reopening, and the transcript could not be loaded.',
            { error },
          )
        this.#hasWarned = true
        this.#owner.end()
      },
    )
  }

  /** Whether the transcript call has already recovered a message that now arrives. True once for each. */
  isRepeated(message: Message): boolean {
    return this.#recovered.isRepeated(message)
  }

  /** Cancels the wait for a history and the request for it. */
  cancel(): void {
    this.#request.cancel()
  }

  /** Clears the session too. */
  forget(): void {
    this.cancel()
    this.#opening = undefined
  }

  #mergeOptions(): HistoryMergeOptions | undefined {
    const transcript = this.#transcript
    const { sessionId } = this.#scope.facts
    if (sessionId === undefined || sessionId !== this.#opening?.sessionId) return undefined
    const isFromStart = this.#isFromStart && transcript.isComplete
    return { transcript, sessionId, openedAt: this.#openedAt, isFromStart }
  }

  #take(list: readonly unknown[], source: RecoverySource): void {
    const transcript = this.#transcript
    const options = this.#mergeOptions()
    if (!options) return
    const { sessionId } = options
    const history = readHistory(list, this.#scope.facts)
    const typeOf = (message: Message) => this.#processor.handlerFor(message)?.resultType
    const { inserted, removed } = transcript.insert(mergeHistory(history, options), sessionId, typeOf, {
      recovered: true,
    })
    const opening = this.#opening
    if (source === 'rest') this.#recovered.add(inserted.map(({ message }) => message))
    for (const { message, entry } of inserted) {
      if (entry) transcript.report(entry)
      // A listener may have signed out or restarted.
      if (this.#opening !== opening) return
      if (message.persona === PERSONA.AGENT) this.#report(message, sessionId)
      if (this.#opening !== opening) return
    }
    transcript.reportTrimmed(removed)
    if (inserted.length > 0)
      this.#owner.reportRecovered(
        inserted.map(({ message }) => message),
        source,
      )
    if (this.#opening !== opening) return
    this.#owner.handleHistory(history)
    this.#owner.end()
  }

  /** Emits the events of a message of the agent, with the result of its handler. */
  #report(message: Message, sessionId: string): void {
    const scope = this.#scope
    const isPresent = () => this.#opening?.sessionId === sessionId
    const report = (result: HandlerResult | undefined) => {
      if (!isPresent()) return
      const known = result as MessageHandlerResult | undefined
      if (known?.type === 'agent_message') emitAgentMessage(scope, known, true)
    }
    const failed = (error: unknown) => scope.logger.error('A message handler failed.', error)
    try {
      const result = this.#processor.process(message)
      if (result instanceof Promise) result.then(report).catch(failed)
      else report(result as HandlerResult | undefined)
    } catch (error) {
      failed(error)
    }
    if (isPresent()) this.#owner.handleAnswer(message)
  }
}

/** Most recovered messages of which a repetition is noticed. */
const KEPT = 500

/** What the transcript call has recovered: the chat may send it too, also after another reconnect. */
class RecoveredMessages {
  #known: KnownMessage[] = []

  add(messages: readonly Message[]): void {
    this.#known = [...this.#known, ...messages.map(message => knownMessage(message))].slice(-KEPT)
  }

  /** Whether a message that arrives was recovered before. True once for each. */
  isRepeated(message: Message): boolean {
    const known = this.#known
    if (!known.length || message.persona !== PERSONA.AGENT) return false
    const arrived = knownMessage(message)
    const index = known.findIndex(each => each.fingerprint === arrived.fingerprint && haveSameMark(each, arrived))
    if (index < 0) return false
    known.splice(index, 1)
    return true
  }

  clear(): void {
    this.#known = []
  }
}

/** How long the service may take to send a history after a reopening, before it is requested, in milliseconds. */
const HISTORY_WAIT_MS = 1_000

/** The transcript call of a reopened session: made once, unless a history comes first. */
export class TranscriptRequest {
  readonly #clock: Clock
  readonly #session: ChatSession
  #timer: unknown
  /** The last call. */
  #call: Era | undefined

  constructor(clock: Clock, session: ChatSession) {
    this.#clock = clock
    this.#session = session
  }

  /** Whether a history is awaited. */
  get isScheduled(): boolean {
    return this.#timer !== undefined
  }

  /** Awaits a history. `due` is called when none has come. */
  schedule(due: () => void): void {
    this.#timer = this.#clock.setTimeout(due, HISTORY_WAIT_MS)
  }

  /** Makes the call, and passes on its outcome unless it is cancelled. */
  start(sessionId: string, loaded: (list: unknown[]) => void, failed: (error: unknown) => void): void {
    this.cancel()
    const call = new Era()
    this.#call = call
    const unlessCancelled =
      <T>(handle: (outcome: T) => void) =>
      (outcome: T) => {
        if (!call.isOver) handle(outcome)
      }
    call.during(signal => this.#load(sessionId, signal)).then(unlessCancelled(loaded), unlessCancelled(failed))
  }

  /** Loads the transcript of a session, within the time limit. */
  #load(sessionId: string, signal: AbortSignal): Promise<unknown[]> {
    const session = this.#session
    return withTimeLimit(this.#clock, TRANSCRIPT_LIMIT_MS, signal, limit => session.loadTranscript(sessionId, limit))
  }

  /** Neither waits nor calls any more. */
  cancel(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#call?.end()
    this.#call = undefined
  }
}
