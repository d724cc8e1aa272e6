import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../outbox/message.ts'
import type { LazyPart } from '../util/lazy-part.ts'
import type { GapFill } from './gap-fill.ts'

export interface RecoveryOptions {
  readonly gapFill: LazyPart<GapFill>
  /** The session of the chat, while it has one. */
  readonly session: { readonly id: string | undefined; readonly isSupplied: boolean }
  /** The outbox: it decides about questions and messages in doubt. */
  readonly outbox: {
    handleMessage(message: Message): void
    handleHistory(list: readonly unknown[]): void
    handleNoHistory(): void
  }
}

/**
 * Passes the frames of an opening to the part that recovers missed messages. That part loads after the first `connected`;
 * until it has loaded nothing waits for it.
 */
export class Recovery {
  readonly #options: RecoveryOptions
  #part: GapFill | undefined
  #sessionId: string | undefined
  /** Frames that the outbox gets after the recovered messages, so that a question is not answered by a later message. */
  #held: Message[] | undefined
  /** Number of the opening, and of the conversation that was left since. */
  #generation = 0

  constructor(options: RecoveryOptions) {
    this.#options = options
  }

  /** The chat is open. */
  handleConnected(): void {
    this.#release()
    const { session } = this.#options
    const sessionId = session.id
    if (sessionId === undefined) return
    const isReopening = sessionId === this.#sessionId
    this.#sessionId = sessionId
    this.#generation++
    if (isReopening && this.#part) this.#held = []
    this.#use(part => part.begin({ sessionId, isReopening, isFromStart: !session.isSupplied }))
  }

  /** A frame has been handled. `history` is the list of a history. */
  handleFrame(message: Message, history: readonly unknown[] | undefined): void {
    const { outbox } = this.#options
    if (history)
      return this.#use(
        part => part.handleHistory(history),
        () => outbox.handleHistory(history),
      )
    if (!this.#held) return outbox.handleMessage(message)
    this.#held.push(message)
    // A service that sends a history sends it before anything else of the conversation.
    if (message.persona === PERSONA.AGENT || message.role === ROLE.HEARTBEAT) this.#part?.requestTranscript()
  }

  /** The connection was lost. */
  handleLost(): void {
    this.#part?.cancel()
    this.#release()
  }

  /** The conversation was left: nothing of it is recovered. */
  clear(): void {
    this.#generation++
    this.#held = undefined
    this.#sessionId = undefined
    this.#part?.forget()
  }

  forgetUser(): void {
    this.clear()
  }

  /** There is nothing more to recover: the outbox gets what waited. */
  end(): void {
    this.#options.outbox.handleNoHistory()
    this.#release()
  }

  /** Passes work to the part, or `otherwise` where it cannot be loaded. */
  #use(work: (part: GapFill) => void, otherwise?: () => void): void {
    if (this.#part) return work(this.#part)
    const generation = this.#generation
    const isCurrent = () => generation === this.#generation
    const loaded = this.#options.gapFill(part => {
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
