import { addMessageId, CLIENT_DISCONNECT_REASON, CLOSE_CODE, encodeMessage, PERSONA, ROLE } from '@aiagent/protocol'
import { recordOwnFrame } from '../log/compose.ts'
import type { Transcript } from '../log/transcript.ts'
import { sleep } from '../platform/clock.ts'
import type { AgentScope } from '../scope.ts'
import type { Connection } from './connection.ts'
import type { Transport } from './transport.ts'

/** Time limit for sending the disconnect frame before the socket is closed, in milliseconds. */
const GOODBYE_LIMIT_MS = 100

const GOODBYE_POLL_MS = 5

const GOODBYE = { persona: PERSONA.SYSTEM, role: ROLE.GRACEFUL_DISCONNECT }

/** The end of an open connection by the client: a disconnect frame, then the close. */
export class Departure {
  readonly #scope: AgentScope<never>
  readonly #connection: Connection
  readonly #transcript: Transcript
  #current: { readonly transport: Transport; readonly done: Promise<void> } | undefined

  constructor(scope: AgentScope<never>, connection: Connection, transcript: Transcript) {
    this.#scope = scope
    this.#connection = connection
    this.#transcript = transcript
  }

  /** Settles when the present departure is over; undefined when there is none. */
  get done(): Promise<void> | undefined {
    return this.#current?.done
  }

  isFrom(transport: Transport): boolean {
    return this.#current?.transport === transport
  }

  /** Sends the disconnect frame, and closes when it has left, at the time limit, or when the signal is aborted. */
  begin(transport: Transport, signal: AbortSignal | undefined): void {
    const done = this.#leave(transport, signal).finally(() => {
      if (this.isFrom(transport)) this.#current = undefined
    })
    this.#current = { transport, done }
  }

  /** Closes at once. */
  close(): void {
    this.#connection.close(CLOSE_CODE.NORMAL, CLIENT_DISCONNECT_REASON)
  }

  async #leave(transport: Transport, signal: AbortSignal | undefined): Promise<void> {
    const { environment, facts, newId } = this.#scope
    const { clock } = environment
    this.#connection.expectEnd()
    try {
      const frame = encodeMessage(GOODBYE)
      transport.send(facts.hasReceipts ? addMessageId(frame, newId()) : frame)
      recordOwnFrame(this.#scope, this.#transcript, GOODBYE)
    } catch {
      // Then the service detects it by the close.
    }
    const limit = clock.monotonic() + GOODBYE_LIMIT_MS
    while (transport.bufferedAmount > 0 && clock.monotonic() < limit && this.#connection.transport === transport) {
      if (signal?.aborted) break
      await sleep(clock, GOODBYE_POLL_MS, signal)
    }
    if (this.#connection.transport === transport) this.close()
  }
}
