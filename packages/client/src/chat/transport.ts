import type { SocketCloseEvent } from '../platform/environment.ts'

/** Events of a transport. `closed` is the last one, and occurs once. */
export interface TransportListener {
  opened(): void
  received(data: unknown): void
  closed(event: SocketCloseEvent): void
}

/** One socket, from its opening to its end. */
export interface Transport {
  /** Bytes that are queued and not sent yet. */
  readonly bufferedAmount: number
  /** @throws when the socket is not open */
  send(text: string): void
  /** Closes, without further events: the caller knows, and the service may never answer. */
  close(code: number, reason: string): void
}

/**
 * Opens a socket to an address.
 *
 * @throws when the runtime rejects the address
 */
export type OpenTransport = (address: string, listener: TransportListener) => Transport
