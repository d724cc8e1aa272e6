import { isJsonObject } from '../json-object.ts'
import { ProtocolError } from '../protocol-error.ts'
import type { ClientMessage } from './client-message.ts'
import { isSequenceNumber } from './extension.ts'
import type { ServerMessage } from './server-message.ts'

type JsonObject = Record<string, unknown>
type Frame = JsonObject & { persona: string; role: string }

/**
 * Parses a frame from the service. Runs for every frame, so it uses guards instead of the readers of the records. A known
 * field of the wrong type reads as absent, an element of the wrong type is left out of its list, null stays null, unknown
 * fields pass through.
 *
 * @throws {ProtocolError} when the data is not text, not a JSON object, or lacks a persona or a role
 */
export function parseServerMessage(data: unknown): ServerMessage {
  const frame = parseFrame(data)
  dropInvalid(frame, SERVER_MESSAGE_GUARDS)
  return frame as ServerMessage
}

/**
 * Parses a frame from a client.
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
    dropInvalid(frame.messageData, NO_GUARDS)
  }
  dropInvalid(frame, CLIENT_MESSAGE_GUARDS)
  return frame as ClientMessage
}

function parseFrame(data: unknown): Frame {
  if (typeof data !== 'string') throw new ProtocolError('A binary frame arrived; the protocol has only text.', data)
  let frame: unknown
  try {
    // Some services begin each text with a byte order mark.
    frame = JSON.parse(data.charCodeAt(0) === 0xfeff ? data.slice(1) : data)
  } catch {
    // Without the cause, whose message quotes the frame.
    throw new ProtocolError('The frame is not JSON.', data)
  }
  if (!isJsonObject(frame)) throw new ProtocolError('The frame is not a JSON object.', data)
  if (!isName(frame.persona)) throw new ProtocolError('The frame has no persona.', data)
  if (!isName(frame.role)) throw new ProtocolError('The frame has no role.', data)
  return frame as Frame
}

type Guard = (value: unknown) => boolean
type Guards = Readonly<Record<string, Guard | undefined>>

/** Guards by field. Without a prototype, whose members could be taken for guards. */
const guardsOf = /* @__NO_SIDE_EFFECTS__ */ (guards: Record<string, Guard>): Guards =>
  // Names that a later copy by assignment would turn into a prototype; the schemas drop the same ones.
  Object.assign(Object.create(null), { ['__proto__']: never, prototype: never, constructor: never }, guards)

const never: Guard = () => false
const isName = (value: unknown) => typeof value === 'string' && value !== ''
const isText: Guard = value => value === null || typeof value === 'string'
/** Whether it is a time that `Date` can hold. */
const isTime: Guard = value => Number.isFinite(value) && Math.abs(value as number) <= 8.64e15
const isFlag: Guard = value => value === null || typeof value === 'boolean'
const isList: Guard = value => value === null || Array.isArray(value)
const isListOf =
  /* @__NO_SIDE_EFFECTS__ */
    (guard: Guard): Guard =>
    value => {
      if (value === null) return true
      if (!Array.isArray(value)) return false
      if (!value.every(guard)) value.splice(0, value.length, ...value.filter(guard))
      return true
    }
const isObjectOf =
  /* @__NO_SIDE_EFFECTS__ */
    (guards: Guards): Guard =>
    value => {
      if (!isJsonObject(value)) return false
      dropInvalid(value, guards)
      return true
    }
const orNull =
  /* @__NO_SIDE_EFFECTS__ */
    (guard: Guard): Guard =>
    value =>
      value === null || guard(value)

const NO_GUARDS = guardsOf({})
const CLIENT_MESSAGE_GUARDS = guardsOf({ messageId: isName })
const ISSUE_GUARDS = guardsOf({ expectedType: isText, providedType: isText })
const isIssue: Guard = value => {
  if (!isJsonObject(value) || typeof value.name !== 'string' || typeof value.reason !== 'string') return false
  dropInvalid(value, ISSUE_GUARDS)
  return true
}
const ESCALATION_GUARDS = guardsOf({
  live: isFlag,
  liveDomain: isText,
  entrypointUrl: isText,
  phone: isFlag,
  phoneNumber: isText,
  sms: isFlag,
  smsNumber: isText,
  email: isFlag,
})
const MESSAGE_DATA_GUARDS = guardsOf({
  error_code: value => value === null || typeof value === 'string' || typeof value === 'number',
  contextValidationErrors: isListOf(isIssue),
  chat_history: isList,
  options: isListOf(value => typeof value === 'string'),
  escalation: isFlag,
  escalationData: orNull(isObjectOf(ESCALATION_GUARDS)),
  sources: isListOf(isObjectOf(guardsOf({ title: isText, url: isText }))),
  reasoning: isText,
  workflowType: isText,
  workflowNodeType: isText,
  inputType: isText,
})
const SERVER_MESSAGE_GUARDS = guardsOf({
  messageId: isText,
  content: isText,
  messageData: orNull(isObjectOf(MESSAGE_DATA_GUARDS)),
  timestamp: value => value === null || isTime(value),
  seq: orNull(isSequenceNumber),
})

/**
 * Removes the fields that do not fit. Changes the frame in place: it was parsed a moment ago and nobody else holds it,
 * and a copy would cost more than the parse. Visits the fields of the frame, which are fewer than the known ones.
 */
function dropInvalid(record: JsonObject, guards: Guards): void {
  for (const name in record) {
    const guard = guards[name]
    if (guard && !guard(record[name])) delete record[name]
  }
}
