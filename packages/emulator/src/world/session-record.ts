import type { ClientMessage, ContextValidationIssue, ServerMessage } from '@aiagent/protocol'
import type { EmulatorSettings } from '../settings.ts'
import { RecentIds } from './recent-ids.ts'
import { Recording } from './recording.ts'
import { ResumeBuffer } from './resume-buffer.ts'
import type { AgentSeed } from './seed.ts'

/** A frame of a client as it arrived. `message` is absent when it could not be read. */
export interface RecordedFrame {
  /** Milliseconds since the epoch. */
  at: number
  /** The frame as it arrived: text, or bytes of a binary frame. */
  data: unknown
  /** The parsed frame. */
  message?: ClientMessage
}

/** A `customer` or `system` frame that the service accepted, or the repetition of one. */
export interface AcceptedFrame {
  /** Milliseconds since the epoch. */
  at: number
  /** The frame, with its `messageId` where it had one. */
  message: ClientMessage
  /** Whether a frame with this id was accepted before, so that this one was not processed. */
  duplicate: boolean
}

/** A message of the conversation, in the shape of a frame with its time. */
export type HistoryEntry = ServerMessage & { timestamp: number }

/** What a new session begins with. */
export interface SessionStart {
  /** Id of the session. */
  readonly id: string
  /** The agent of the session. */
  readonly agent: AgentSeed
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** The subject of the token that opened the session. */
  readonly subject: string
  /** Attributes that passed validation, as they were given. */
  context: Record<string, unknown>
  /** Attributes of the context it was opened with that did not pass; told right after the first opening. */
  contextIssues: ContextValidationIssue[]
}

/** What the service remembers of one conversation. */
export interface SessionRecord extends SessionStart {
  /** What a person and the agent said, oldest first. */
  readonly history: Recording<HistoryEntry>
  /** Every frame that a client sent. */
  readonly received: Recording<RecordedFrame>
  /** The frames of clients that were accepted, in that order, with the repetitions. */
  readonly accepted: Recording<AcceptedFrame>
  /** Ids of accepted frames, for the receipts. */
  readonly acceptedIds: RecentIds
  /** The frames of the conversation that have a sequence number. */
  readonly sent: ResumeBuffer
  /** Messages of the customer that the agent has not answered yet, oldest first. */
  readonly unanswered: HistoryEntry[]
  /** Ratings, oldest first. */
  readonly feedback: { rating: string; answerMessageId: string }[]
  /** Outcomes of escalations that clients reported, oldest first. */
  readonly escalationEvents: unknown[]
  /** The call that a desk named when it connected. */
  externalCallId?: string
  /** Whether the session has ended, so that chat connections are rejected. */
  ended: boolean
  /** How many chat connections it has had. */
  connections: number
  /** The highest fencing number of its connections; 0 while none had one. */
  fence: number
  /** How many messages of the agent it has had. */
  agentMessages: number
}

/** A session without a conversation. */
export function createSessionRecord(start: SessionStart, settings: EmulatorSettings): SessionRecord {
  return {
    ...start,
    history: new Recording(() => settings.historyLimit),
    received: new Recording(() => settings.recordingLimit),
    accepted: new Recording(() => settings.recordingLimit),
    acceptedIds: new RecentIds(() => settings.seenIdLimit),
    sent: new ResumeBuffer(() => settings.resumeBufferLimit),
    unanswered: [],
    feedback: [],
    escalationEvents: [],
    ended: false,
    connections: 0,
    fence: 0,
    agentMessages: 0,
  }
}
