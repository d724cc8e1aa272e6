import { type ClientMessage, encodeMessage, SCOPE, type ServerMessage } from '@aiagent/protocol'
import type { ChatService } from '../chat/chat-service.ts'
import type { TokenKeys, TokenRequest } from '../oauth/keys.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { RecordedRequest } from '../world/recording.ts'
import type { RecordedFrame, World } from '../world/world.ts'

/** What a test does to the service, and reads from it. */
export interface EmulatorControl {
  /** Closes every chat connection with a code. Without one they break as a lost network does: 1006 for the client. */
  dropSockets(code?: number): void
  /**
   * Sends a frame to the client of a session. Text is sent as it is, valid or not.
   *
   * @throws {Error} when nobody is connected to it
   */
  pushFrame(sessionId: string, frame: ServerMessage | ClientMessage | string): void
  /** Leaves all tokens issued so far the given life at most, in seconds. @default 0 */
  expireTokens(secondsLeft?: number): void
  /** A signed token: by default for a customer, with the default scopes and life. */
  issueToken(options?: Partial<TokenRequest>): string
  /** Ends a session: its connection is closed with 1000, and it cannot be opened again. Returns false when unknown. */
  endSession(sessionId: string): boolean
  /** Makes the service forget a session: its connection is closed with 4404. Returns false when unknown. */
  forgetSession(sessionId: string): boolean
  /** The requests so far, upgrades of chat connections among them, oldest first. */
  requests(): RecordedRequest[]
  /** The frames that clients of a session sent, oldest first; of a forgotten one, too. Empty when it never was. */
  frames(sessionId: string): RecordedFrame[]
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
    expireTokens: (secondsLeft = 0) => {
      keys.expireAll(secondsLeft)
      chat.reviewTokens()
    },
    issueToken: ({
      lifeSeconds = settings.tokenLifeSeconds,
      scopes = DEFAULT_TOKEN_SCOPES,
      subject = 'customer',
    } = {}) => keys.issue({ lifeSeconds, scopes, subject }),
    endSession: sessionId => chat.end(sessionId),
    forgetSession: sessionId => chat.forget(sessionId),
    requests: () => world.requests.entries(),
    frames: sessionId => world.frames.get(sessionId)?.entries() ?? [],
  }
}

const DEFAULT_TOKEN_SCOPES = Object.values(SCOPE)
