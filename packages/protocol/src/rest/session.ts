import { isUsableSessionId } from '../chat/address.ts'
import { ifPresent, type Reader, readOpenObject, readRecord, refuse } from '../reading.ts'
import { readId } from './id.ts'

/** Body of the call that opens a session, `POST …/chat/agent/{agentId}/session`. */
export interface SessionRequest {
  /** Attributes of the conversation's context, by name. */
  context?: Record<string, unknown>
}

/** Answer of the call that opens a session. */
export interface SessionResponse {
  /** Id of the session. A safe integer is read as its text, and text without the blanks around it; blank text and placeholders are refused. */
  sessionId: string
}

/** @throws {ProtocolError} when the value is not an object, or its context is not one */
export const parseSessionRequest: Reader<SessionRequest> = (value, path) =>
  readRecord<SessionRequest>(value, path, { context: ifPresent(readOpenObject) })

/** @throws {ProtocolError} when the value has no usable session id */
export const parseSessionResponse: Reader<SessionResponse> = (value, path) =>
  readRecord<SessionResponse>(value, path, {
    sessionId: (id, at) =>
      isUsableSessionId(readId(id, at)) ? String(id).trim() : refuse('a usable session id', id, at),
  })

/** Seconds of life that a token must have left when a session is opened; below it the service answers 401. */
export const SESSION_MIN_TOKEN_LIFE_SECONDS = 290

/** Message of that 401. */
export const TOKEN_WILL_EXPIRE_SOON = 'Token will expire soon'
