import {
  type ContextValidationIssue,
  ERROR_CODES,
  encodeMessage,
  type OpenRecord,
  PERSONA,
  ROLE,
  SERVICE_ERROR_CODE,
  type ServerMessage,
  type ServerMessageData,
} from '@aiagent/protocol'
import type { HistoryEntry } from '../world/session-record.ts'
import type { Answer } from './reply.ts'

/** The frame for "working on it", as text: it is always the same. */
export const HEARTBEAT = encodeMessage({ persona: PERSONA.SYSTEM, role: ROLE.HEARTBEAT })

export const answerFrame = (
  { content, role = ROLE.CUSTOMER_SUPPORT, messageData = {} }: Answer,
  messageId: string,
  timestamp: number,
): HistoryEntry => ({ messageId, persona: PERSONA.AGENT, role, content, messageData, timestamp })

/** @param messageId id of the client's frame that it refuses */
export const errorFrame = (code: string, content: string, messageId?: string): ServerMessage => {
  const messageData: OpenRecord<ServerMessageData> = {
    error_code: code,
    ...(messageId !== undefined && { messageId }),
  }
  return { persona: PERSONA.METADATA, role: ROLE.ERROR, content, messageData }
}

export const failureFrame = (error: unknown): ServerMessage => {
  const why = error instanceof Error ? error.message : String(error)
  return errorFrame(SERVICE_ERROR_CODE.INTERNAL, `The agent failed to answer: ${why}`)
}

/** Requests a token before the current one expires. */
export const staleTokenFrame = (): ServerMessage => ({
  persona: PERSONA.METADATA,
  role: ROLE.STALE_TOKEN,
  content: 'The token will expire soon.',
  messageData: { error_code: ERROR_CODES.STALE_TOKEN },
})

/** Requests a token because there is no valid one. */
export const expiredTokenFrame = (): ServerMessage => ({
  persona: PERSONA.METADATA,
  role: ROLE.EXPIRED_TOKEN,
  content: 'A valid token is needed.',
  messageData: { error_code: SERVICE_ERROR_CODE.EXPIRED_TOKEN },
})

export const historyFrame = (entries: readonly HistoryEntry[], timestamp: number): ServerMessage => ({
  persona: PERSONA.SYSTEM,
  role: ROLE.CHAT_HISTORY,
  messageData: { chat_history: [...entries] },
  timestamp,
})

export const contextReportFrame = (issues: readonly ContextValidationIssue[], timestamp: number): ServerMessage => ({
  persona: PERSONA.SYSTEM,
  role: ROLE.CONTEXT_VALIDATION,
  content: 'Some context attributes were not accepted.',
  messageData: { contextValidationErrors: [...issues] },
  timestamp,
})
