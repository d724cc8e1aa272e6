import { EXTENSION_ROLE, PERSONA, ROLE } from '@aiagent/protocol'
import type { Emit } from '../events.ts'
import type { Message } from '../outbox/message.ts'
import type { LazyPart } from '../util/lazy-part.ts'
import type { Upkeep } from './upkeep.ts'

export interface RecoveryOptions {
  readonly upkeep: LazyPart<Upkeep>
  /** The session of the chat, while it has one. */
  readonly session: { readonly id: string | undefined; readonly isOwn: boolean; readonly isSupplied: boolean }
  /** The outbox: it decides about questions and messages in doubt. */
  readonly outbox: {
    handleMessage(message: Message): void
    handleNoHistory(): void
  }
  /** Whether the service numbers its frames and repeats those that were missed. */
  hasResume(): boolean
  /** Whether the service answers pings. */
  hasPing(): boolean
  readonly emit: Emit<'messagesRecovered'>
  warn(text: string, details: Record<string, unknown>): void
}

interface Frame {
  readonly messageId?: unknown
  readonly content?: unknown
}

const identityOf = ({ messageId, content }: Frame): string => `${messageId ?? content ?? ''}`

/** How many numbers of processed frames are kept, by which repeated frames are recognized. */
const KEPT_NUMBERS = 1_000

/*
 * What is needed of the recovery of missed messages before its own part is loaded: the last processed number, for a
 * service that repeats what was missed (PROTOCOL.md, "Resume"), and the frames that must wait for a history. The part
 * loads after the first `connected`; until then nothing waits for it.
 */
export class Recovery {
  readonly #options: RecoveryOptions
  #part: Upkeep | undefined
  #sessionId: string | undefined
  /** The session of the last attempt. */
  #attempted: string | undefined
  /** Number of the last processed frame; undefined where it is unknown. */
  #lastSeq: number | undefined
  /** The latest processed numbers, each with what identifies its frame: a service may use a number twice by mistake. */
  #processed: Map<number, string> | undefined
  #hasWarned = false
  /** Missed messages that the service is repeating. */
  #replayed: Message[] | undefined
  /** Frames that the outbox gets after the recovered messages, so that a question is not answered by a later message. */
  #held: Message[] | undefined
  #isOpen = false
  /** Number of the opening, and of the conversation that was left since. */
  #generation = 0

  constructor(options: RecoveryOptions) {
    this.#options = options
  }

  /** Whether the service is repeating missed messages. */
  get isReplaying(): boolean {
    return this.#replayed !== undefined
  }

  /** An attempt to open a session begins. Returns the number of its last processed frame, for a reopening. */
  beginAttempt(sessionId: string): number | undefined {
    // The service may have seen an opening that failed here, so that the agent has spoken since.
    if (sessionId === this.#attempted && sessionId !== this.#sessionId && this.#options.session.isOwn)
      this.#enter(sessionId, 0)
    this.#attempted = sessionId
    return this.#lastSeqOf(sessionId)
  }

  /** The chat is open. */
  handleConnected(): void {
    this.#isOpen = true
    this.#release()
    const { session } = this.#options
    const { id } = session
    if (id === undefined) return
    const isReopening = id === this.#sessionId
    this.#generation++
    this.#replayed = this.#lastSeqOf(id) === undefined ? undefined : []
    // In a session that was resumed or supplied, frames were sent before this page opened it.
    if (!isReopening) this.#enter(id, session.isOwn ? 0 : undefined)
    this.#begin(isReopening && !this.#replayed)
  }

  /** Whether a frame belongs to the extension, or was processed before. */
  isConsumed(message: Message, seq: number | undefined): boolean {
    const { persona, role, messageData } = message
    if (persona === PERSONA.METADATA && role === EXTENSION_ROLE.PONG) return this.#options.hasPing()
    if (this.#options.hasResume()) {
      if (persona === PERSONA.METADATA && role === EXTENSION_ROLE.RESUMED) {
        this.#handleResumed(messageData?.complete === true)
        return true
      }
      if (seq !== undefined) {
        if (this.#processed?.get(seq) === identityOf(message)) return true
        this.#advance(seq, message)
        this.#replayed?.push(message)
      }
    }
    return this.#part?.gapFill.isRepeated(message) === true
  }

  /** A frame has been handled. `history` is the list of a history. */
  handleFrame(message: Message, history: readonly unknown[] | undefined): void {
    const { outbox } = this.#options
    if (history) {
      // A service without a replay sends a history instead.
      if (this.#replayed) this.#begin(true)
      this.#noteNumbers(history)
      return this.#use(
        ({ gapFill }) => gapFill.handleHistory(history),
        // Nothing can read it.
        () => outbox.handleNoHistory(),
      )
    }
    if (!this.#held) return outbox.handleMessage(message)
    this.#held.push(message)
    // A service that sends a history sends it before anything else of the conversation.
    if (message.persona === PERSONA.AGENT || message.role === ROLE.HEARTBEAT) this.#part?.gapFill.requestTranscript()
  }

  /** A message of the user was accepted. */
  handleSent(): void {
    this.#part?.liveness.handleSent()
  }

  /** The connection was lost. */
  handleLost(): void {
    this.#isOpen = false
    this.#replayed = undefined
    this.#part?.stop()
    this.#release()
  }

  /** The conversation was left: nothing of it is recovered. */
  clear(): void {
    this.#generation++
    this.#held = this.#replayed = this.#attempted = this.#sessionId = this.#lastSeq = this.#processed = undefined
    this.#part?.gapFill.forget()
  }

  forgetUser(): void {
    this.clear()
  }

  /** There is nothing more to recover: the outbox gets what waited. */
  end(): void {
    this.#options.outbox.handleNoHistory()
    this.#release()
  }

  #lastSeqOf(sessionId: string): number | undefined {
    return sessionId === this.#sessionId && this.#options.hasResume() ? this.#lastSeq : undefined
  }

  #enter(sessionId: string, lastSeq: number | undefined): void {
    this.#sessionId = sessionId
    this.#lastSeq = lastSeq
    this.#processed = undefined
  }

  #begin(isReopening: boolean): void {
    const { session } = this.#options
    const sessionId = this.#sessionId
    if (sessionId === undefined) return
    this.#replayed = isReopening ? undefined : this.#replayed
    if (isReopening && this.#part) this.#held = []
    const isFromStart = !session.isSupplied
    this.#use(part => {
      part.begin({ sessionId, isReopening, isFromStart })
      // The connection may have been lost while the part was being loaded.
      if (!this.#isOpen) part.stop()
    })
  }

  #handleResumed(isComplete: boolean): void {
    const messages = this.#replayed
    if (!messages) return
    this.#replayed = undefined
    if (isComplete) {
      if (messages.length > 0) this.#options.emit('messagesRecovered', () => ({ messages, source: 'resume' }))
      return this.end()
    }
    // The history follows. Its elements have the numbers from which on the next reopening continues.
    this.#lastSeq = undefined
    this.#begin(true)
  }

  #noteNumbers(history: readonly unknown[]): void {
    if (!this.#options.hasResume()) return
    for (const element of history) {
      const { seq, ...rest } = (element ?? {}) as Frame & { readonly seq?: unknown }
      if (typeof seq !== 'number') continue
      this.#keep(seq, rest)
      if (seq > (this.#lastSeq ?? 0)) this.#lastSeq = seq
    }
  }

  /** The numbers increase: a new frame with a lower number shows that the last one was wrong. */
  #advance(seq: number, frame: Frame): void {
    const last = this.#lastSeq ?? 0
    if (seq <= last && !this.#hasWarned) {
      this.#hasWarned = true
      this.#options.warn('The service numbers its frames out of order. The last number is taken as the present one.', {
        last,
        seq,
      })
    }
    this.#lastSeq = seq
    this.#keep(seq, frame)
  }

  #keep(seq: number, frame: Frame): void {
    this.#processed ??= new Map()
    const kept = this.#processed
    kept.set(seq, identityOf(frame))
    if (kept.size > KEPT_NUMBERS) for (const oldest of kept.keys()) return void kept.delete(oldest)
  }

  /** Passes work to the part, or calls `otherwise` where it cannot be loaded. */
  #use(work: (part: Upkeep) => void, otherwise?: () => void): void {
    if (this.#part) return work(this.#part)
    const generation = this.#generation
    const isCurrent = () => generation === this.#generation
    const loaded = this.#options.upkeep(part => {
      this.#part = part
      if (isCurrent()) work(part)
      return true
    })
    void loaded.then(isLoaded => {
      if (!isLoaded && isCurrent()) otherwise?.()
    })
  }

  #release(): void {
    const held = this.#held
    this.#held = undefined
    for (const message of held ?? []) this.#options.outbox.handleMessage(message)
  }
}
