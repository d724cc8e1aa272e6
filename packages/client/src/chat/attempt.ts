import type { SDKError } from '../errors.ts'
import type { SocketCloseEvent } from '../platform/environment.ts'
import type { Transport, TransportListener } from './transport.ts'

/** Who waits for an attempt. */
export interface Caller {
  resolve(): void
  reject(error: SDKError): void
}

/** The connection, as an attempt reports to it. */
export interface AttemptOwner {
  handleAttemptOpened(attempt: Attempt): void
  handleAttemptFrame(attempt: Attempt, data: unknown): void
  handleAttemptClosed(attempt: Attempt, event: SocketCloseEvent): void
}

/** One attempt to open a socket, and the events of the socket until its end. */
export class Attempt implements TransportListener {
  readonly #owner: AttemptOwner
  /** Whether the reconnect loop started it: then it continues when its callers abort. */
  readonly background: boolean
  /** Absent once the connection is open: the transport keeps the attempt in memory. */
  controller: AbortController | undefined = new AbortController()
  /** Who waits for the outcome. */
  callers: Caller[] | undefined
  transport: Transport | undefined
  timer: unknown

  constructor(owner: AttemptOwner, background: boolean) {
    this.#owner = owner
    this.background = background
  }

  opened(): void {
    this.#owner.handleAttemptOpened(this)
  }

  received(data: unknown): void {
    this.#owner.handleAttemptFrame(this, data)
  }

  closed(event: SocketCloseEvent): void {
    this.#owner.handleAttemptClosed(this, event)
  }

  /** Tells the callers the outcome. */
  settle(error?: SDKError): void {
    const { callers } = this
    this.callers = undefined
    for (const caller of callers ?? []) error ? caller.reject(error) : caller.resolve()
  }
}
