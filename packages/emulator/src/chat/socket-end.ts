/** The service's end of a chat connection, whatever carries it: a pair in one process or a socket on a port. */
export interface SocketEnd {
  send(text: string): void
  /** Closes with a close frame. */
  close(code: number, reason: string): void
  /** Breaks the connection without a close frame; the client sees 1006. */
  terminate(): void
}

/** What the carrier of a connection reports to the service. */
export interface ChatConnection {
  /** A frame: text, or anything else for a binary one. */
  receive(data: unknown): void
  /** The connection is gone, on whoever's initiative. Later calls do nothing. */
  closed(): void
}

/** The answer to the upgrade request of a chat connection. */
export type Upgrade =
  | { accepted: true; open(end: SocketEnd): ChatConnection }
  | { accepted: false; status: number; code: string; message: string }
