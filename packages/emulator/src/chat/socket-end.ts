/** The service's end of a chat connection, for any transport: a pair in one process or a socket on a port. */
export interface SocketEnd {
  /** Sends a text frame. */
  send(text: string): void
  /** Closes with a close frame. */
  close(code: number, reason: string): void
  /** Breaks the connection without a close frame; the client sees 1006. */
  terminate(): void
  /** Stops reading, if the transport reads by itself. */
  pause?(): void
  /** Resumes reading; frames that arrived meanwhile are dropped if they count as lost. */
  resume?(lost: boolean): void
}

/** The events of a connection for its conversation. */
export interface ChatConnection {
  /** A frame: text, or anything else for a binary one. */
  receive(data: unknown): void
  /** The connection was closed, by either side. Later calls have no effect. */
  closed(): void
}

/** What the transport of a connection reports to the service. */
export interface SocketConnection extends ChatConnection {
  /** The client wants to close; the answer comes through the end. Not called if the transport answers by itself. */
  close(code: number, reason: string): void
}

/** A rejected upgrade request. Status 0 means that there is no response. */
export interface Refusal {
  /** Distinguishes a refusal from a connection. */
  accepted: false
  /** HTTP status of the response. */
  status: number
  /** Code of the error in the body of the response. */
  code: string
  /** Text of the error in the body of the response. */
  message: string
}

/** The response to the upgrade request of a chat connection. */
export type Upgrade = { accepted: true; open(end: SocketEnd): SocketConnection } | Refusal

/** The chat's own response to an upgrade request. */
export type Admission = { accepted: true; open(end: SocketEnd): ChatConnection } | Refusal
