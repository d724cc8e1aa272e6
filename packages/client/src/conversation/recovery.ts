import { EXTENSION_ROLE, PERSONA, ROLE } from '@aiagent/protocol'
import type { Emit } from '../events.ts'
import type { Logger } from '../logger.ts'
import type { Message } from '../outbox/message.ts'
import type { Upkeep } from './upkeep.ts'

/** The agent, as the recovery of missed messages uses it. */
export interface RecoveryOwner {
  /** Loads the part that recovers them; undefined where it cannot be loaded. */
  loadUpkeep(): Promise<Upkeep | undefined>
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
  readonly logger: Pick<Logger, 'warn'>
}

/** What waits on an open connection. */
interface OpenConnection {
  /** Missed messages that the service is repeating. */
  replayed?: Message[] | undefined
  /** Frames that the outbox gets after the recovered messages, so that a question is not answered by a later message. */
  held?: Message[] | undefined
}

interface Frame {
  readonly messageId?: unknown
  readonly content?: unknown
}

const identityOf = ({ messageId, content }: Frame): string => `${messageId ?? content ?? ''}`

/** How many numbers of processed frames are kept, by which repeated frames are recognized. */
const KEPT_NUMBERS = 1_000

/** A session, and its processed frames by their numbers. */
class FollowedSession {
  readonly id: string
  /** Number of the last processed frame; undefined where it is unknown. */
  lastSeq: number | undefined
  /** The latest processed numbers, each with what identifies its frame: a service may use a number twice by mistake. */
  #processed: Map<number, string> | undefined

  constructor(id: string, lastSeq: number | undefined) {
    this.id = id
    this.lastSeq = lastSeq
  }

  has(seq: number, frame: Frame): boolean {
    return this.#processed?.get(seq) === identityOf(frame)
  }

  add(seq: number, frame: Frame): void {
    this.#processed ??= new Map()
    const kept = this.#processed
    kept.set(seq, identityOf(frame))
    if (kept.size > KEPT_NUMBERS) for (const oldest of kept.keys()) return void kept.delete(oldest)
  }
}

/*
 * What is needed of the recovery of missed messages before its own part is loaded: the last processed number, for a
 * service that repeats what was missed (PROTOCOL.md, "Resume"), and the frames that must wait for a history. The part
 * loads after the first `connected`; until then nothing waits for it.
 */
export class Recovery {
  readonly #owner: RecoveryOwner
  #part: Upkeep | undefined
  /** The session that is followed, and the frames of it that were processed. */
  #followed: FollowedSession | undefined
  /** The session of the last attempt. */
  #attempted: string | undefined
  /** The open connection; undefined while there is none. */
  #connection: OpenConnection | undefined
  #hasWarned = false
  /** Number of the opening, and of the conversation that was left since. */
  #generation = 0

  constructor(owner: RecoveryOwner) {
    this.#owner = owner
  }

  /** Whether the service is repeating missed messages. */
  get isReplaying(): boolean {
    return this.#connection?.replayed !== undefined
  }

  /** An attempt to open a session begins. Returns the number of its last processed frame, for a reopening. */
  beginAttempt(sessionId: string): number | undefined {
    // The service may have seen an opening that failed here, so that the agent has spoken since.
    if (sessionId === this.#attempted && sessionId !== this.#followed?.id && this.#owner.session.isOwn)
      this.#followed = new FollowedSession(sessionId, 0)
    this.#attempted = sessionId
    return this.#lastSeqOf(sessionId)
  }

  /** The chat is open. */
  handleConnected(): void {
    this.#release()
    const connection: OpenConnection = {}
    this.#connection = connection
    const { session } = this.#owner
    const { id } = session
    if (id === undefined) return
    const isReopening = id === this.#followed?.id
    this.#generation++
    if (this.#lastSeqOf(id) !== undefined) connection.replayed = []
    // In a session that was resumed or supplied, frames were sent before this page opened it.
    if (!isReopening) this.#followed = new FollowedSession(id, session.isOwn ? 0 : undefined)
    this.#begin(isReopening && !connection.replayed)
  }

  /** Whether a frame belongs to the extension, or was processed before. */
  isConsumed(message: Message, seq: number | undefined): boolean {
    const { persona, role, messageData } = message
    if (persona === PERSONA.METADATA && role === EXTENSION_ROLE.PONG) return this.#owner.hasPing()
    if (this.#owner.hasResume()) {
      if (persona === PERSONA.METADATA && role === EXTENSION_ROLE.RESUMED) {
        this.#handleResumed(messageData?.complete === true)
        return true
      }
      if (seq !== undefined) {
        if (this.#followed?.has(seq, message)) return true
        this.#advance(seq, message)
        this.#connection?.replayed?.push(message)
      }
    }
    return this.#part?.gapFill.isRepeated(message) === true
  }

  /** A frame has been handled. `history` is the list of a history. */
  handleFrame(message: Message, history: readonly unknown[] | undefined): void {
    const { outbox } = this.#owner
    if (history) {
      // A service without a replay sends a history instead.
      if (this.isReplaying) this.#begin(true)
      this.#noteNumbers(history)
      return this.#use(
        ({ gapFill }) => gapFill.handleHistory(history),
        // Nothing can read it.
        () => outbox.handleNoHistory(),
      )
    }
    const held = this.#connection?.held
    if (!held) return outbox.handleMessage(message)
    held.push(message)
    // A service that sends a history sends it before anything else of the conversation.
    if (message.persona === PERSONA.AGENT || message.role === ROLE.HEARTBEAT) this.#part?.gapFill.requestTranscript()
  }

  /** A message of the user was accepted. */
  handleSent(): void {
    this.#part?.handleSent()
  }

  /** The connection was lost. */
  handleLost(): void {
    const held = this.#connection?.held
    this.#connection = undefined
    this.#part?.stop()
    for (const message of held ?? []) this.#owner.outbox.handleMessage(message)
  }

  /** The conversation was left: nothing of it is recovered. */
  clear(): void {
    this.#generation++
    this.#attempted = this.#followed = undefined
    if (this.#connection) this.#connection = {}
    this.#part?.gapFill.forget()
  }

  forgetUser(): void {
    this.clear()
  }

  /** There is nothing more to recover: the outbox gets what waited. */
  end(): void {
    this.#owner.outbox.handleNoHistory()
    this.#release()
  }

  #lastSeqOf(sessionId: string): number | undefined {
    return sessionId === this.#followed?.id && this.#owner.hasResume() ? this.#followed.lastSeq : undefined
  }

  #begin(isReopening: boolean): void {
    const sessionId = this.#followed?.id
    if (sessionId === undefined) return
    const connection = this.#connection
    if (isReopening && connection) {
      connection.replayed = undefined
      if (this.#part) connection.held = []
    }
    const isFromStart = !this.#owner.session.isSupplied
    this.#use(part => {
      part.begin({ sessionId, isReopening, isFromStart })
      // The connection may have been lost while the part was being loaded.
      if (!this.#connection) part.stop()
    })
  }

  #handleResumed(isComplete: boolean): void {
    const connection = this.#connection
    const messages = connection?.replayed
    if (!messages) return
    connection.replayed = undefined
    if (isComplete) {
      if (messages.length > 0) this.#owner.emit('messagesRecovered', () => ({ messages, source: 'resume' }))
      return this.end()
    }
    // The history follows. Its elements have the numbers from which on the next reopening continues.
    if (this.#followed) this.#followed.lastSeq = undefined
    this.#begin(true)
  }

  #noteNumbers(history: readonly unknown[]): void {
    const followed = this.#followed
    if (!followed || !this.#owner.hasResume()) return
    for (const element of history) {
      const { seq, ...rest } = (element ?? {}) as Frame & { readonly seq?: unknown }
      if (typeof seq !== 'number') continue
      followed.add(seq, rest)
      if (seq > (followed.lastSeq ?? 0)) followed.lastSeq = seq
    }
  }

  /** The numbers increase: a new frame with a lower number shows that the last one was wrong. */
  #advance(seq: number, frame: Frame): void {
    const followed = this.#followed
    if (!followed) return
    const last = followed.lastSeq ?? 0
    if (seq <= last && !this.#hasWarned) {
      this.#hasWarned = true
      this.#owner.logger.warn(
        'The service numbers its frames out of order. The last number is taken as the present one.',
        { last, seq },
      )
    }
    followed.lastSeq = seq
    followed.add(seq, frame)
  }

  /** Passes work to the part, or calls `otherwise` where it cannot be loaded. */
  #use(work: (part: Upkeep) => void, otherwise?: () => void): void {
    if (this.#part) return work(this.#part)
    const generation = this.#generation
    const isCurrent = () => generation === this.#generation
    void this.#owner.loadUpkeep().then(loaded => {
      this.#part ??= loaded
      if (!isCurrent()) return
      if (this.#part) work(this.#part)
      else otherwise?.()
    })
  }

  #release(): void {
    const connection = this.#connection
    const held = connection?.held
    if (connection) connection.held = undefined
    for (const message of held ?? []) this.#owner.outbox.handleMessage(message)
  }
}
