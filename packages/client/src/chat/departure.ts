import { addMessageId, CLIENT_DISCONNECT_REASON, CLOSE_CODE, encodeMessage, PERSONA, ROLE } from '@aiagent/protocol'
import { type Clock, sleep } from '../platform/clock.ts'
import type { Connection } from './connection.ts'
import type { Transport } from './transport.ts'

/** Time limit for sending the disconnect frame before the socket is closed, in milliseconds. */
const GOODBYE_LIMIT_MS = 100

const GOODBYE_POLL_MS = 5

const GOODBYE = encodeMessage({ persona: PERSONA.SYSTEM, role: ROLE.GRACEFUL_DISCONNECT })

/** What a departure uses of its chat. */
export interface DepartureOwner {
  readonly clock: Clock
  /** Where the service confirms each frame: a new id for a frame; undefined elsewhere. */
  newFrameId?(): string | undefined
  /** The disconnect frame was written. */
  handleWritten(frame: string): void
}

/** The end of an open connection by the client: a disconnect frame, then the close. */
export class Departure {
  readonly #owner: DepartureOwner
  readonly #connection: Connection
  #current: { readonly transport: Transport; readonly done: Promise<void> } | undefined

  constructor(owner: DepartureOwner, connection: Connection) {
    this.#owner = owner
    this.#connection = connection
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
    const { clock } = this.#owner
    this.#connection.expectEnd()
    try {
      const id = this.#owner.newFrameId?.()
      transport.send(id === undefined ? GOODBYE : addMessageId(GOODBYE, id))
      this.#owner.handleWritten(GOODBYE)
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
