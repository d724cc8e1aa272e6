import type { Clock } from '../platform/clock.ts'
import type { ReceivedIn } from './message.ts'

/**
 * Where messages belong, and when one comes: one object for all of them, whose facts are looked up when they are read. A
 * class, since accessors of an object literal cost every agent half a kilobyte.
 */
export class MessagePlace implements ReceivedIn {
  readonly #agentId: () => string
  readonly #clock: Pick<Clock, 'now'>
  readonly #startup: { readonly agentName: string }
  readonly #session: { readonly id: string | undefined }

  constructor(
    clock: Pick<Clock, 'now'>,
    startup: { readonly agentName: string },
    session: { readonly id: string | undefined },
    agentId: () => string,
  ) {
    this.#clock = clock
    this.#startup = startup
    this.#session = session
    this.#agentId = agentId
  }

  get agentId(): string {
    return this.#agentId()
  }

  get timestamp(): number {
    return this.#clock.now()
  }

  /** The agent's name, empty until it is known: whom a received message comes from. */
  get from(): string {
    return this.#startup.agentName
  }

  /** The same: whom a sent message goes to. */
  get to(): string {
    return this.from
  }

  get sessionId(): string | undefined {
    return this.#session.id
  }
}
