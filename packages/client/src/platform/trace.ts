import type { Environment } from './environment.ts'

/**
 * Text in a trace: the masked text where the host asked for content, else `#`, a salted hash, `:` and its length. Equal
 * texts of one trace have equal hashes; the salt is not part of the trace.
 */
export type TraceText = string

/** A frame in a trace. Tokens are left out, and of the data of a message only what the protocol itself reads. */
export interface TraceFrame {
  /** Persona of the message. */
  persona: string
  /** Role of the message. */
  role: string
  /** The text, hashed unless the trace has content. */
  content?: TraceText
  /** Id of the message, if it has one. */
  messageId?: string
  /** Number of the frame in its session, if the service counts frames. */
  seq?: number
  /** Time of the message, in milliseconds since the epoch, if it has one. */
  timestamp?: number
  /** Fields that steer the client: error codes, ids of receipts and pings, the end of a replay, an escalation. */
  data?: Readonly<Record<string, string | number | boolean>>
  /** Elements of a chat history. */
  history?: readonly TraceFrame[]
}

/** What an entry of a trace reports. */
export type TraceEntry = {
  /** Milliseconds since the start of the trace, on the monotonic clock. */
  t: number
} & (
  | { kind: 'call'; call: number; name: string; text?: TraceText }
  /** A call was resolved, or rejected with a code and, where the error has one, a reason. */
  | { kind: 'settled'; call: number; outcome: 'resolved' | 'rejected'; code?: string; reason?: string }
  | { kind: 'request'; method: string; path: string; status: number; ms: number }
  | { kind: 'connecting'; socket: number }
  | { kind: 'open'; socket: number }
  | { kind: 'closed'; socket: number; code: number; httpStatus?: number }
  | { kind: 'closing'; socket: number; code: number }
  | { kind: 'sent'; socket: number; frame: TraceFrame }
  | { kind: 'received'; socket: number; frame: TraceFrame }
  /** A frame that could not be parsed. */
  | { kind: 'unreadable'; socket: number; length: number }
  | { kind: 'event'; type: string; details?: Readonly<Record<string, string | number | boolean>> }
)

/** A recording of what an agent did, without tokens, session ids and, by default, without content. Plain JSON. */
export interface Trace {
  /** Marks the JSON as a trace. */
  format: 'aiagent-trace'
  /** Version of the format. */
  version: 1
  /** Version of the library that recorded it. */
  library: string
  /** When the recording began, in milliseconds since the epoch. */
  startedAt: number
  /** When it was exported, in milliseconds since its start. */
  endedAt: number
  /** How many of the oldest entries were dropped, because the recording is bounded. */
  dropped: number
  /** Whether texts are readable. */
  hasContent: boolean
  /** Extensions that the service announced. */
  capabilities: readonly string[]
  /** Whether the agent requires a signed-in user. */
  isAuthenticated: boolean
  /** What happened, oldest first. */
  entries: readonly TraceEntry[]
}

/** Records what an agent does. `createRecorder()` of `@aiagent/client/recorder` makes one, for a single agent. */
export interface TraceRecorder {
  /** The platform with sockets and requests that are recorded. The agent calls it. */
  wrap(environment: Environment): Environment
  /** Records the calls and events of an agent. The agent calls it. */
  attach(agent: object): void
  /** The recording so far. `aiagent replay` plays it. */
  exportTrace(): Trace
}
