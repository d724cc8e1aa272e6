import { addMessageId } from '@aiagent/protocol'
import type { Transport } from './transport.ts'

/** What the context frame uses of its chat. */
export interface ContextFrameOwner {
  readonly session: {
    readonly id: string | undefined
    readonly needsContextFrame: boolean
    markContextSent(): void
  }
  /** The stored context as a frame, for a session that was not created with it. */
  contextFrame(): string | undefined
  /** A frame of the chat itself was written: the context, or the disconnect frame. */
  handleWritten(frame: string): void
  /** Where the service confirms each frame: a new id for a frame; undefined elsewhere. */
  newFrameId?(): string | undefined
}

/** Sends the stored context to a session that was not created with it, with each opening until the service has it. */
export class ContextFrame {
  readonly #owner: ContextFrameOwner
  /** What was written last, while the service has not confirmed it. */
  #unconfirmed: { readonly frame: string; readonly id: string } | undefined

  constructor(owner: ContextFrameOwner) {
    this.#owner = owner
  }

  /** @param dialledSession the session of the transport: the host may have set another one since */
  send(transport: Transport, dialledSession: string | undefined): void {
    const { session } = this.#owner
    // A session set for the next connection receives its context there.
    if (!session.needsContextFrame || session.id !== dialledSession) return
    const frame = this.#owner.contextFrame()
    if (frame === undefined) return session.markContextSent()
    // Under the same id until it is confirmed: the connection may have lost it, or only its receipt.
    const isAgain = this.#unconfirmed?.frame === frame
    const id = isAgain ? this.#unconfirmed?.id : this.#owner.newFrameId?.()
    this.#unconfirmed = id === undefined ? undefined : { frame, id }
    try {
      transport.send(id === undefined ? frame : addMessageId(frame, id))
      if (!isAgain) this.#owner.handleWritten(frame)
      if (id === undefined) session.markContextSent()
    } catch {
      // The socket is closing: the next opening sends it.
    }
  }

  /** The service has accepted or refused the frame with this id. */
  handleReceipt(id: string): void {
    if (this.#unconfirmed?.id !== id) return
    this.#unconfirmed = undefined
    this.#owner.session.markContextSent()
  }
}
