import { type ClientMessage, encodeMessage, SCOPE, type ServerMessage } from '@aiagent/protocol'
import type { ChatService } from '../chat/chat-service.ts'
import type { Answer } from '../chat/reply.ts'
import type { TokenKeys, TokenRequest } from '../oauth/keys.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { RecordedRequest } from '../world/recording.ts'
import type { AcceptedFrame, HistoryEntry, RecordedFrame } from '../world/session-record.ts'
import type { World } from '../world/world.ts'

/** Controls for tests: actions on the service, and its recordings. */
export interface EmulatorControl {
  /** Closes every chat connection with a code. Without one, they break as with a lost network: 1006 for the client. */
  dropSockets(code?: number): void
  /**
   * Sends a frame to the client of a session. Text is sent unchanged, valid or not.
   *
   * @throws {Error} when no client is connected to it
   */
  pushFrame(sessionId: string, frame: ServerMessage | ClientMessage | string): void
  /**
   * Has the agent of a session say something by itself, as part of the conversation, whether or not a client is connected.
   *
   * @returns the id of its message
   * @throws {Error} when there is no such session, or it has ended
   */
  say(sessionId: string, answer: Answer): string
  /** Limits the remaining lifetime of all tokens issued so far, in seconds. @default 0 */
  expireTokens(secondsLeft?: number): void
  /**
   * A signed token: by default for a customer, for the tenant of its subject, with the default scopes and lifetime. Agents of other
   * tenants refuse it.
   */
  issueToken(options?: Partial<TokenRequest>): string
  /** Ends a session: its connection is closed with 1000, and it cannot be opened again. Returns false if unknown. */
  endSession(sessionId: string): boolean
  /** Removes a session: its connection is closed with 4404. Returns false if unknown. */
  forgetSession(sessionId: string): boolean
  /** The requests so far, including upgrades of chat connections, oldest first. */
  requests(): RecordedRequest[]
  /**
   * The frames that clients of a session sent, oldest first; also of a removed session. Empty for an unknown session.
   */
  frames(sessionId: string): RecordedFrame[]
  /** What the service has accepted and said in a session, also of a forgotten one; undefined when it never was. */
  record(sessionId: string): ConversationRecord | undefined
}

/** The service's record of a conversation, by which a test can judge what a client claims. */
export interface ConversationRecord {
  /** Frames of clients that were accepted, in that order; repetitions among them are marked as `duplicate`. */
  accepted: AcceptedFrame[]
  /** The messages of the customer and the agent, oldest first, as the chat history has them. */
  history: HistoryEntry[]
  /** How many messages of the customer the agent has not answered yet. */
  unanswered: number
  /** The highest sequence number so far; 0 without the capability `resume`. */
  lastSeq: number
}

export interface ControlParts {
  chat: ChatService
  keys: TokenKeys
  settings: EmulatorSettings
  world: World
}

export function createControl({ chat, keys, settings, world }: ControlParts): EmulatorControl {
  return {
    dropSockets: code => {
      chat.drop(code, 'Dropped')
    },
    pushFrame: (sessionId, frame) => {
      if (!chat.push(sessionId, typeof frame === 'string' ? frame : encodeMessage(frame)))
        throw new Error(`Nobody is connected to the session ${sessionId}.`)
    },
    say: (sessionId, answer) => {
      const id = chat.say(sessionId, answer)
      if (id === undefined) throw new Error(`There is no open session ${sessionId}.`)
      return id
    },
    expireTokens: (secondsLeft = 0) => {
      keys.expireAll(secondsLeft)
      chat.reviewTokens()
    },
    issueToken: ({
      lifeSeconds = settings.tokenLifeSeconds,
      scopes = DEFAULT_TOKEN_SCOPES,
      subject = 'customer',
      tenantId = world.tenantIdOf(subject),
    } = {}) => keys.issue({ lifeSeconds, scopes, subject, tenantId }),
    endSession: sessionId => chat.end(sessionId),
    forgetSession: sessionId => chat.forget(sessionId),
    requests: () => world.requests.entries(),
    frames: sessionId => world.records.get(sessionId)?.received.entries() ?? [],
    record: sessionId => {
      const record = world.records.get(sessionId)
      if (!record) return undefined
      const { accepted, history, sent, unanswered } = record
      return {
        accepted: accepted.entries(),
        history: history.entries(),
        unanswered: unanswered.length,
        lastSeq: sent.lastSeq,
      }
    },
  }
}

const DEFAULT_TOKEN_SCOPES = Object.values(SCOPE)
