import { PERSONA, type ProtocolError, ROLE } from '@aiagent/protocol'
import type { Chat } from '../chat/chat.ts'
import type { ChatSession } from '../chat/chat-session.ts'
import type { HistoryElement } from '../conversation/history-merge.ts'
import { emitInbound, historyOf } from '../conversation/inbound-events.ts'
import type { InboxListener } from '../conversation/inbox.ts'
import type { HandlerResult } from '../conversation/message-handler.ts'
import type { MessageProcessor } from '../conversation/message-processor.ts'
import type { RecoveryOwner } from '../conversation/recovery.ts'
import type { Transcript, TranscriptEntry, TranscriptListener } from '../conversation/transcript.ts'
import type { Upkeep, UpkeepOptions } from '../conversation/upkeep.ts'
import { MessageError } from '../errors.ts'
import type { AgentEventType, Emit, UnreadableFrame } from '../events.ts'
import type { Logger } from '../logger.ts'
import type { Message, ReceivedIn } from '../outbox/message.ts'
import type { Sending } from '../outbox/sending.ts'
import type { Clock } from '../platform/clock.ts'
import type { Page } from '../platform/page.ts'
import type { EarlyParts, LateParts } from './agent-parts.ts'
import { loadTranscript } from './chat-wiring.ts'

/* Connect what receives messages with the other parts. */

/** Reports the changes of the transcript as events. */
export class TranscriptWiring implements TranscriptListener {
  readonly #early: EarlyParts

  constructor(early: EarlyParts) {
    this.#early = early
  }

  newId(): string {
    return this.#early.ids.newId()
  }

  recorded(entry: TranscriptEntry): void {
    this.#early.scope.emit('transcriptUpdate', () => ({ ...entry, entry }))
  }

  trimmed(removed: number): void {
    this.#early.scope.emit('transcriptTrimmed', () => ({ removed }))
  }

  cleared(): void {
    this.#early.scope.emit('transcriptCleared', () => ({}))
  }
}

/** Passes received frames on to transcript, events, outbox and recovery. */
export class InboxWiring implements InboxListener {
  readonly #parts: LateParts

  constructor(parts: LateParts) {
    this.#parts = parts
  }

  isConsumed(message: Message, seq: number | undefined): boolean {
    const { sending, recovery } = this.#parts
    return sending.handleReceipt(message) || recovery.isConsumed(message, seq)
  }

  overflowed(): void {
    this.#parts.chat.refuseFrames()
  }

  arrived(message: Message, type: string | undefined, size: number): void {
    const { chat, transcript, recovery, early } = this.#parts
    if (message.persona === PERSONA.AGENT) chat.confirm()
    const timestamp = message.timestamp ?? early.scope.environment.clock.now()
    transcript.record(message, 'received', timestamp, type, size, recovery.isReplaying)
  }

  handled(message: Message, result: HandlerResult | undefined): void {
    const { recovery, early } = this.#parts
    emitInbound(early.scope.emit, message, result, recovery.isReplaying)
  }

  finished(message: Message, result: HandlerResult | undefined): void {
    const { working, recovery } = this.#parts
    if (message.persona === PERSONA.AGENT) handleAnswer(this.#parts, message)
    else if (message.role === ROLE.HEARTBEAT) working.start()
    else if (message.role === ROLE.ERROR) working.end()
    recovery.handleFrame(message, historyOf(message, result))
  }

  unclaimed({ role }: Message): void {
    this.#parts.early.scope.logger.warn('No handler accepts a message that arrived.', { role })
  }

  unreadable(error: ProtocolError, data: unknown): void {
    const { reportError, emit } = this.#parts.early.scope
    reportError(MessageError.unreadable(error))
    emit('message', () => ({ data: data as UnreadableFrame }))
  }

  handlerFailed(error: unknown): void {
    this.#parts.early.scope.logger.error('A message handler failed.', error)
  }
}

/** Connects the recovery of missed messages, and the check of the connection, with the other parts. */
export class RecoveryWiring implements RecoveryOwner, UpkeepOptions {
  readonly #parts: LateParts

  constructor(parts: LateParts) {
    this.#parts = parts
  }

  get session(): ChatSession {
    return this.#parts.session
  }

  get outbox(): Sending {
    return this.#parts.sending
  }

  get chat(): Chat {
    return this.#parts.chat
  }

  get transcript(): Transcript {
    return this.#parts.transcript
  }

  get processor(): MessageProcessor {
    return this.#parts.early.processor
  }

  get origin(): ReceivedIn {
    return this.#parts.early.origin
  }

  get emit(): Emit<AgentEventType> {
    return this.#parts.early.scope.emit
  }

  get logger(): Logger {
    return this.#parts.early.scope.logger
  }

  get clock(): Clock {
    return this.#parts.early.scope.environment.clock
  }

  get page(): Page | undefined {
    return this.#parts.early.scope.environment.page
  }

  get isWatchful(): boolean {
    return this.#parts.early.scope.config.doubtAfterMs > 0
  }

  hasResume(): boolean {
    return this.#parts.early.scope.facts.hasCapability('resume')
  }

  hasPing(): boolean {
    return this.#parts.early.scope.facts.hasCapability('receipts') || this.hasResume()
  }

  /** Loads the part that recovers what was said while the connection was down, and notices that it is. */
  async loadUpkeep(): Promise<Upkeep | undefined> {
    try {
      const { Upkeep } = await import('../conversation/upkeep.ts')
      return new Upkeep(this)
    } catch (error) {
      this.logger.warn(
        'The module that recovers missed messages could not be loaded. It is requested again when needed.',
        { error },
      )
      return undefined
    }
  }

  loadTranscript(sessionId: string, signal: AbortSignal): Promise<unknown[]> {
    return loadTranscript(this.#parts.early, sessionId, signal)
  }

  onMessage(message: Message): void {
    handleAnswer(this.#parts, message)
  }

  onHistory(history: readonly HistoryElement[]): void {
    const { resume, sending, tabs } = this.#parts
    void resume?.(part => part.historyArrived(history))
    const messages = history.map(({ message }) => message)
    tabs?.group?.shown.handleHistory(messages)
    sending.handleHistory(messages)
  }

  onEnd(): void {
    this.#parts.recovery.end()
  }
}

/** The agent has answered, now or while the connection was down. */
function handleAnswer({ early, working }: LateParts, message: Message): void {
  early.streams.push(message)
  working.end()
}
