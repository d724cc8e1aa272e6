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
 * Writes a frame that has nothing but a content: the same text as {@link encodeMessage} gives. A short one takes less
 * than half the time, since only the content is new from one such frame to the next; with 2 kB there is little to gain.
 */
export function encodeText(persona: string, role: string, content: string): string {
  if (persona !== lastSpeaker?.persona || role !== lastSpeaker.role) {
    const head = `{"persona":${JSON.stringify(persona)},"role":${JSON.stringify(role)},"content":`
    lastSpeaker = { persona, role, head }
  }
  return `${lastSpeaker.head}${JSON.stringify(content)}}`
}

/** Who spoke last, and how such a frame begins. */
let lastSpeaker: { readonly persona: string; readonly role: string; readonly head: string } | undefined

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
    mend(frame.messageData, NO_GUARDS)
  }
  mend(frame, NO_GUARDS)
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
type Guards = Readonly<Record<string, Guard | undefined>>

/** Guards by field, without a prototype whose members could pass for some. */
const guardsOf = (guards: Record<string, Guard>): Guards =>
  // Names that a later merge by assignment would turn into a prototype; the schemas drop the same ones.
  Object.assign(Object.create(null), { ['__proto__']: never, prototype: never, constructor: never }, guards)

const never: Guard = () => false
const isName = (value: unknown) => typeof value === 'string' && value !== ''
const isText: Guard = value => value === null || typeof value === 'string'
const isFlag: Guard = value => value === null || typeof value === 'boolean'
const isList: Guard = value => value === null || Array.isArray(value)
const isListOf =
  (guard: Guard): Guard =>
  value =>
    value === null || (Array.isArray(value) && value.every(guard))
const isRecord =
  (guards: Guards): Guard =>
  value => {
    if (value === null) return true
    if (!isJsonObject(value)) return false
    mend(value, guards)
    return true
  }

const NO_GUARDS = guardsOf({})
const ISSUE_GUARDS = guardsOf({ expectedType: isText, providedType: isText })
const isIssue: Guard = value => {
  if (!isJsonObject(value) || typeof value.name !== 'string' || typeof value.reason !== 'string') return false
  mend(value, ISSUE_GUARDS)
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
  escalationData: isRecord(ESCALATION_GUARDS),
  sources: isList,
  reasoning: isText,
  workflowType: isText,
  workflowNodeType: isText,
  inputType: isText,
})
const SERVER_MESSAGE_GUARDS = guardsOf({
  messageId: isText,
  content: isText,
  messageData: isRecord(MESSAGE_DATA_GUARDS),
  timestamp: value => value === null || Number.isFinite(value),
})

/**
 * Drops what cannot be read. The frame was parsed a moment ago and belongs to nobody else, so it is mended in place: a
 * copy would cost more than the parse. Walks the fields that are there, which are few, rather than those that could be.
 */
function mend(record: JsonObject, guards: Guards): void {
  for (const name in record) {
    const guard = guards[name]
    if (guard && !guard(record[name])) delete record[name]
  }
}
