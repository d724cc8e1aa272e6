import { isJsonObject } from '../json-object.ts'
import type { ClientMessage } from './client-message.ts'
import type { ServerMessage } from './server-message.ts'

/** Text on the socket that is no frame. The only error the codec throws. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  /** What was received, untouched. */
  readonly data: unknown

  constructor(message: string, data: unknown, options?: ErrorOptions) {
    super(message, options)
    this.data = data
  }
}

type JsonObject = Record<string, unknown>

/** Writes a frame as the text that goes over the socket. */
export function encodeMessage(message: ClientMessage | ServerMessage): string {
  let text: string | undefined
  try {
    text = JSON.stringify(message)
  } catch (cause) {
    throw new ProtocolError('The message cannot be written as JSON.', message, { cause })
  }
  if (text === undefined) throw new ProtocolError('The message cannot be written as JSON.', message)
  return text
}

/**
 * Reads what the service sent. Guards of its own rather than the schema, because this runs for every frame; a test
 * holds both to the same result. A known field of the wrong type reads as absent, null stays null, unknown fields pass
 * through.
 *
 * @throws {ProtocolError} when the data is not text, not a JSON object, or lacks a persona or a role
 */
export function parseServerMessage(data: unknown): ServerMessage {
  const frame = parseFrame(data)
  mend(frame, SERVER_MESSAGE_GUARDS)
  return frame as ServerMessage
}

/**
 * Reads what a client sent.
 *
 * @throws {ProtocolError} when the data is not text, not a JSON object, lacks a persona or a role, or has a content
 *   that is not text or a messageData that is not an object
 */
export function parseClientMessage(data: unknown): ClientMessage {
  const frame = parseFrame(data)
  if (frame.content !== undefined && typeof frame.content !== 'string')
    throw new ProtocolError('The frame has a content that is not text.', data)
  if (frame.messageData !== undefined) {
    if (!isJsonObject(frame.messageData))
      throw new ProtocolError('The frame has a messageData that is not an object.', data)
    dropReserved(frame.messageData)
  }
  dropReserved(frame)
  return frame as ClientMessage
}

function parseFrame(data: unknown): JsonObject {
  if (typeof data !== 'string') throw new ProtocolError('A binary frame arrived; the protocol has only text.', data)
  let frame: unknown
  try {
    frame = JSON.parse(data)
  } catch (cause) {
    throw new ProtocolError('The frame is not JSON.', data, { cause })
  }
  if (!isJsonObject(frame)) throw new ProtocolError('The frame is not a JSON object.', data)
  if (!isName(frame.persona)) throw new ProtocolError('The frame has no persona.', data)
  if (!isName(frame.role)) throw new ProtocolError('The frame has no role.', data)
  return frame
}

type Guard = (value: unknown) => boolean
type Guards = ReadonlyArray<readonly [field: string, guard: Guard]>

const isName = (value: unknown) => typeof value === 'string' && value !== ''
const isText: Guard = value => typeof value === 'string'
const isFlag: Guard = value => typeof value === 'boolean'
const isList: Guard = value => Array.isArray(value)
const isListOf =
  (guard: Guard): Guard =>
  value =>
    Array.isArray(value) && value.every(guard)

const ISSUE_GUARDS: Guards = [
  ['expectedType', isText],
  ['providedType', isText],
]
const isIssue: Guard = value => {
  if (!isJsonObject(value) || !isText(value.name) || !isText(value.reason)) return false
  mend(value, ISSUE_GUARDS)
  return true
}

const ESCALATION_GUARDS: Guards = [
  ['live', isFlag],
  ['liveDomain', isText],
  ['entrypointUrl', isText],
  ['phone', isFlag],
  ['phoneNumber', isText],
  ['sms', isFlag],
  ['smsNumber', isText],
  ['email', isFlag],
]
const isEscalationData: Guard = value => {
  if (!isJsonObject(value)) return false
  mend(value, ESCALATION_GUARDS)
  return true
}

const MESSAGE_DATA_GUARDS: Guards = [
  ['error_code', value => typeof value === 'string' || typeof value === 'number'],
  ['contextValidationErrors', isListOf(isIssue)],
  ['chat_history', isList],
  ['options', isListOf(isText)],
  ['escalation', isFlag],
  ['escalationData', isEscalationData],
  ['sources', isList],
  ['reasoning', isText],
  ['workflowType', isText],
  ['workflowNodeType', isText],
  ['inputType', isText],
]
const isMessageData: Guard = value => {
  if (!isJsonObject(value)) return false
  mend(value, MESSAGE_DATA_GUARDS)
  return true
}
const SERVER_MESSAGE_GUARDS: Guards = [
  ['messageId', isText],
  ['content', isText],
  ['messageData', isMessageData],
  ['timestamp', Number.isFinite],
]

/**
 * Drops what cannot be read. The frame was parsed a moment ago and belongs to nobody else, so it is mended in place: a
 * copy would cost more than the parse.
 */
function mend(record: JsonObject, guards: Guards): void {
  dropReserved(record)
  for (const [field, guard] of guards) {
    const value = record[field]
    if (value !== undefined && value !== null && !guard(value)) delete record[field]
  }
}

/** Names that a later merge by assignment would turn into a prototype; the schemas drop the same ones. */
const RESERVED = ['__proto__', 'prototype', 'constructor'] as const

function dropReserved(record: JsonObject): void {
  for (const name of RESERVED) if (Object.hasOwn(record, name)) delete record[name]
}
