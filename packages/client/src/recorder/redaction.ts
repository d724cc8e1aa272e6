import { isJsonObject } from '@aiagent/protocol'
import type { TraceEntry, TraceFrame, TraceText } from '../platform/trace.ts'
import { sha256 } from '../util/sha256.ts'

/** Turns a text into what a trace may hold of it. */
export type RedactText = (text: string) => TraceText

/** Keeps only the length of a text, and a hash by which equal texts are found. */
export const hashText =
  (salt: string): RedactText =>
  text =>
    `#${sha256(salt + text).slice(0, 12)}:${text.length}`

/** Fields of `messageData` by which the protocol steers a client. Their texts are codes and ids of the protocol. */
const STEERING_FIELDS = ['error_code', 'messageId', 'duplicate', 'complete', 'id', 'escalation'] as const
const LONGEST_CODE = 64

/** The frame as a trace keeps it; undefined when it is not a JSON object with persona and role. */
export function redactFrame(data: unknown, redact: RedactText): TraceFrame | undefined {
  let frame: unknown = data
  if (typeof data === 'string')
    try {
      frame = JSON.parse(data)
    } catch {
      return undefined
    }
  if (!isJsonObject(frame)) return undefined
  const { persona, role, content, messageData, messageId, seq, timestamp } = frame
  if (!isCode(persona) || !isCode(role)) return undefined
  const given = isJsonObject(messageData) ? messageData : {}
  const steering = STEERING_FIELDS.flatMap(name => {
    const value = given[name]
    return typeof value === 'boolean' || typeof value === 'number' || isCode(value) ? [[name, value] as const] : []
  })
  const { chat_history } = given
  return {
    persona,
    role,
    ...(typeof content === 'string' && content !== '' && { content: redact(content) }),
    ...(isCode(messageId) && { messageId }),
    ...(typeof seq === 'number' && { seq }),
    ...(typeof timestamp === 'number' && { timestamp }),
    ...(steering.length > 0 && { data: Object.fromEntries(steering) }),
    ...(Array.isArray(chat_history) && {
      history: chat_history.flatMap(element => redactFrame(element, redact) ?? []),
    }),
  }
}

/** An entry whose texts are redacted. */
export function redactEntry(entry: TraceEntry, redact: RedactText): TraceEntry {
  switch (entry.kind) {
    case 'call':
      return entry.text === undefined ? entry : { ...entry, text: redact(entry.text) }
    case 'sent':
    case 'received':
      return { ...entry, frame: redactContent(entry.frame, redact) }
    case 'event': {
      const { content } = entry.details ?? {}
      return typeof content === 'string' ? { ...entry, details: { ...entry.details, content: redact(content) } } : entry
    }
    default:
      return entry
  }
}

function redactContent({ content, history, ...frame }: TraceFrame, redact: RedactText): TraceFrame {
  return {
    ...frame,
    ...(content !== undefined && { content: redact(content) }),
    ...(history && { history: history.map(each => redactContent(each, redact)) }),
  }
}

/** A path without the ids in it: a session id opens a conversation. */
export const redactPath = (path: string): string => path.replace(/\/sessions\/[^/]+/, '/sessions/-')

const isCode = (value: unknown): value is string => typeof value === 'string' && value.length <= LONGEST_CODE
