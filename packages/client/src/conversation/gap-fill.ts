import { PERSONA } from '@aiagent/protocol'
import type { Emit, RecoverySource } from '../events.ts'
import type { Logger } from '../logger.ts'
import type { Message, ReceivedIn } from '../outbox/message.ts'
import {
  type HistoryElement,
  type HistoryMergeOptions,
  insertHistory,
  mergeHistory,
  readHistory,
} from './history-merge.ts'
import { emitAgentMessage } from './inbound-events.ts'
import type { HandlerResult, MessageHandlerResult } from './message-handler.ts'
import type { MessageProcessor } from './message-processor.ts'
import { RecoveredMessages } from './recovered-messages.ts'
import type { Transcript } from './transcript.ts'
import { TranscriptRequest, type TranscriptRequestOptions } from './transcript-request.ts'

export interface GapFillOptions extends TranscriptRequestOptions {
  readonly logger: Logger
  readonly emit: Emit<'agentMessage' | 'escalation' | 'transcriptUpdate' | 'transcriptTrimmed' | 'messagesRecovered'>
  readonly transcript: Transcript
  readonly processor: MessageProcessor
  readonly origin: ReceivedIn
  /** A message of the agent was recovered. Its events have been emitted. */
  onMessage(message: Message): void
  /** A history has been read: its messages are in the transcript. */
  onHistory(history: readonly HistoryElement[]): void
  /** Nothing more can be recovered for the current opening. */
  onEnd(): void
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
 * Recovers messages that were missed while the connection was down. A separate chunk, loaded after the first
 * `connected`.
 *
 *   opened again ──┬─ history frame ───────────────────────► merged
 *                  └─ 1 s, or another frame ── transcript call ─┬─► merged
 *                                                               └─► failed: one warning
 */
export class GapFill {
  readonly #options: GapFillOptions
  readonly #request: TranscriptRequest
  readonly #recovered = new RecoveredMessages()
  #opening: Opening | undefined
  /** Wall-clock time of the first opening of the session. */
  #openedAt = 0
  #isFromStart = true
  #hasWarned = false
  /** Whether a history or the transcript call was seen working in the session. */
  #isProven = false

  constructor(options: GapFillOptions) {
    this.#options = options
    this.#request = new TranscriptRequest(options)
  }

  /** The chat is open. */
  begin(opening: Opening): void {
    this.cancel()
    if (opening.sessionId !== this.#opening?.sessionId) {
      this.#recovered.clear()
      this.#isProven = false
      this.#openedAt = this.#options.clock.now()
      this.#isFromStart = opening.isFromStart
    }
    this.#opening = opening
    if (opening.isReopening) this.#request.schedule(() => this.requestTranscript())
  }

  /** The service has sent the history of the session. */
  handleHistory(list: readonly unknown[]): void {
    this.#isProven = true
    if (this.#opening?.isReopening) {
      this.cancel()
      return this.#take(list, 'history')
    }
    const options = this.#mergeOptions()
    const history = readHistory(list, this.#options.origin)
    this.#options.onHistory(history)
    if (!options || this.#isFromStart) return
    // The `chatHistory` event has reported these messages. They are not missed ones after an outage.
    for (const { message, direction } of mergeHistory(history, { ...options, isFromStart: true }))
      options.transcript.noteMissing(message, direction)
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
        this.#isProven = true
        this.#take(list, 'rest')
      },
      error => {
        if (!this.#hasWarned)
          this.#options.logger.warn(
            'Messages of an outage may be missing: the service sent no history on the reopening, and the transcript could not be loaded.',
            { error },
          )
        this.#hasWarned = true
        this.#options.onEnd()
      },
    )
  }

  /** Whether what the agent says is found again after a reconnect. Asks for the transcript where that is not known yet. */
  async canRecover(signal: AbortSignal): Promise<boolean> {
    const opening = this.#opening
    if (this.#isProven || !opening) return this.#isProven
    try {
      // Nothing is merged: on a connection that is alive the same messages are still on their way.
      await this.#request.load(opening.sessionId, signal)
    } catch {
      return false
    }
    if (this.#opening?.sessionId === opening.sessionId) this.#isProven = true
    return this.#isProven
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
    const { transcript, origin } = this.#options
    const { sessionId, from, agentId } = origin
    if (sessionId === undefined || sessionId !== this.#opening?.sessionId) return undefined
    const isFromStart = this.#isFromStart && transcript.isComplete
    return { transcript, origin: { sessionId, from, agentId }, openedAt: this.#openedAt, isFromStart }
  }

  #take(list: readonly unknown[], source: RecoverySource): void {
    const { emit, processor } = this.#options
    const options = this.#mergeOptions()
    if (!options) return
    const history = readHistory(list, options.origin)
    const { inserted, removed } = insertHistory(mergeHistory(history, options), options, processor, { recovered: true })
    const opening = this.#opening
    const { sessionId } = options.origin
    if (source === 'rest') this.#recovered.add(inserted.map(({ message }) => message))
    for (const { message, entry } of inserted) {
      if (entry) emit('transcriptUpdate', () => ({ ...entry, entry }))
      // A listener may have signed out or restarted.
      if (this.#opening !== opening) return
      if (message.persona === PERSONA.AGENT) this.#report(message, sessionId)
      if (this.#opening !== opening) return
    }
    if (removed > 0) emit('transcriptTrimmed', () => ({ removed }))
    if (inserted.length > 0)
      emit('messagesRecovered', () => ({ messages: inserted.map(({ message }) => message), source }))
    if (this.#opening !== opening) return
    this.#options.onHistory(history)
    this.#options.onEnd()
  }

  /** Emits the events of a message of the agent, with the result of its handler. */
  #report(message: Message, sessionId: string): void {
    const { emit, processor, logger } = this.#options
    const isPresent = () => this.#opening?.sessionId === sessionId
    const report = (result: HandlerResult | undefined) => {
      if (!isPresent()) return
      const known = result as MessageHandlerResult | undefined
      if (known?.type === 'agent_message') emitAgentMessage(emit, known, true)
    }
    const failed = (error: unknown) => logger.error('A message handler failed.', error)
    try {
      const result = processor.process(message)
      if (result instanceof Promise) result.then(report).catch(failed)
      else report(result as HandlerResult | undefined)
    } catch (error) {
      failed(error)
    }
    if (isPresent()) this.#options.onMessage(message)
  }
}
