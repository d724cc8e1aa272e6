import { addMessageId, encodeMessage, PERSONA, ROLE } from '@aiagent/protocol'
import { recordOwnFrame } from '../log/compose.ts'
import type { Transcript } from '../log/transcript.ts'
import type { AgentScope } from '../scope.ts'
import type { ChatSession } from './chat-session.ts'
import type { ContextStore } from './context-store.ts'
import type { Transport } from './transport.ts'

/** Sends the stored context to a session that was not created with it, with each opening until the service has it. */
export class ContextFrame {
  readonly #scope: AgentScope<never>
  readonly #session: ChatSession
  readonly #context: ContextStore
  readonly #transcript: Transcript
  /** What was written last, while the service has not confirmed it. */
  #unconfirmed: { readonly frame: string; readonly id: string } | undefined

  constructor(scope: AgentScope<never>, session: ChatSession, context: ContextStore, transcript: Transcript) {
    this.#scope = scope
    this.#session = session
    this.#context = context
    this.#transcript = transcript
  }

  /** @param dialledSession the session of the transport: the host may have set another one since */
  send(transport: Transport, dialledSession: string | undefined): void {
    const session = this.#session
    // A session set for the next connection receives its context there.
    if (!session.needsContext || session.id !== dialledSession) return
    const context = this.#context.get()
    if (!context) {
      session.needsContext = false
      return
    }
    const message = { persona: PERSONA.SYSTEM, role: ROLE.CONTEXT, messageData: { context } }
    const frame = encodeMessage(message)
    // Under the same id until it is confirmed: the connection may have lost it, or only its receipt.
    const isAgain = this.#unconfirmed?.frame === frame
    const id = isAgain ? this.#unconfirmed?.id : this.#scope.facts.hasReceipts ? this.#scope.newId() : undefined
    this.#unconfirmed = id === undefined ? undefined : { frame, id }
    try {
      transport.send(id === undefined ? frame : addMessageId(frame, id))
      if (!isAgain) recordOwnFrame(this.#scope, this.#transcript, message)
      if (id === undefined) session.needsContext = false
    } catch {
      // The socket is closing: the next opening sends it.
    }
  }

  /** The service has accepted or refused the frame with this id. */
  handleReceipt(id: string): void {
    if (this.#unconfirmed?.id !== id) return
    this.#unconfirmed = undefined
    this.#session.needsContext = false
  }
}
