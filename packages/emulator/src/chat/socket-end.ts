/** The service's end of a chat connection, whatever carries it: a pair in one process or a socket on a port. */
export interface SocketEnd {
  send(text: string): void
  /** Closes with a close frame. */
  close(code: number, reason: string): void
  /** Breaks the connection without a close frame; the client sees 1006. */
  terminate(): void
  /** Stops reading what the client sends, where the carrier reads by itself. */
  pause?(): void
  /** Reads on; what came meanwhile is thrown away where it is lost. */
  resume?(lost: boolean): void
}

/** What a conversation wants to know of its connection. */
export interface ChatConnection {
  /** A frame: text, or anything else for a binary one. */
  receive(data: unknown): void
  /** The connection is closed, by either side. Later calls do nothing. */
  closed(): void
}

/** What the carrier of a connection reports to the service. */
export interface SocketConnection extends ChatConnection {
  /** The client wants to close; the answer comes through the end. Not called where the carrier answers by itself. */
  close(code: number, reason: string): void
}

/** A refused upgrade request. The status 0 means that there is no answer. */
export interface Refusal {
  accepted: false
  status: number
  code: string
  message: string
}

/** The answer to the upgrade request of a chat connection. */
export type Upgrade = { accepted: true; open(end: SocketEnd): SocketConnection } | Refusal

/** What the chat itself says to an upgrade request. */
export type Admission = { accepted: true; open(end: SocketEnd): ChatConnection } | Refusal
