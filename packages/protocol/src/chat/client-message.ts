import { isJsonObject } from '../json-object.ts'
import { ifPresent, type Reader, readFlag, readRecord, readText, refuse } from '../reading.ts'
import { EXTENSION_ROLE } from './extension.ts'
import { PERSONA } from './persona.ts'
import { ROLE } from './role.ts'

/** An attribute of the conversation's context, described for the agent. Plain values are allowed as well. */
export interface ContextAttribute {
  /** The attribute's value: any JSON. */
  value: unknown
  /** `string`, `integer`, `number`, `boolean` or `object`. */
  type?: string
  /** Meaning of the attribute, for the agent. */
  description?: string
  /** True hides the attribute from the language model; the service's own rules still read it. */
  notInLLM?: boolean
}

/** @throws {ProtocolError} when the value is not an object, or has no `value` */
export const parseContextAttribute: Reader<ContextAttribute> = (value, path) =>
  readRecord<ContextAttribute>(value, path, {
    value: (given, at) => (given === undefined ? refuse('a value', given, at) : given),
    type: ifPresent(readText),
    description: ifPresent(readText),
    notInLLM: ifPresent(readFlag),
  })

/** A frame from a client: one JSON object in one text frame. Further fields pass through. */
export interface ClientMessage {
  /** Who speaks; see `PERSONA` for the known values. */
  persona: string
  /** Kind of frame; see `ROLE` for the known values. */
  role: string
  /** Text of the message. Left out when empty. */
  content?: string
  /** Data that accompanies the text. Left out when there is none. */
  messageData?: Record<string, unknown>
  /**
   * Id that the client made, the key against duplicates. On `customer` and `system` frames, and only where the service
   * announces the capability `receipts`.
   */
  messageId?: string
}

/** Rating of an answer. */
export type FeedbackRating = 'up' | 'down'

/** Meaning of a client's frame, with the data that matters. Unknown combinations are `other`. */
export type ClientIntent =
  | { kind: 'user'; content: string }
  | { kind: 'token'; token: string }
  | { kind: 'context'; context: Record<string, unknown> }
  | { kind: 'feedback'; rating: FeedbackRating; answerMessageId: string }
  | { kind: 'escalation'; event: unknown }
  | { kind: 'graceful disconnect' }
  | { kind: 'ping'; id: string }
  | { kind: 'other' }

/** Returns the meaning of a client's frame. A frame of a known role whose data does not fit is `other`. */
export function readClientIntent({ persona, role, content, messageData = {} }: ClientMessage): ClientIntent {
  switch (`${persona}/${role}`) {
    case `${PERSONA.CUSTOMER}/${ROLE.HUMAN}`:
      return { kind: 'user', content: content ?? '' }
    case `${PERSONA.METADATA}/${ROLE.TOKEN}`: {
      const { token } = messageData
      return typeof token === 'string' ? { kind: 'token', token } : { kind: 'other' }
    }
    case `${PERSONA.SYSTEM}/${ROLE.CONTEXT}`: {
      const { context } = messageData
      return isJsonObject(context) ? { kind: 'context', context } : { kind: 'other' }
    }
    case `${PERSONA.SYSTEM}/${ROLE.FEEDBACK}`:
      return readFeedback(messageData['feedback'])
    case `${PERSONA.SYSTEM}/${ROLE.ESCALATION}`:
      return 'escalationEvent' in messageData
        ? { kind: 'escalation', event: messageData['escalationEvent'] }
        : { kind: 'other' }
    case `${PERSONA.SYSTEM}/${ROLE.GRACEFUL_DISCONNECT}`:
      return { kind: 'graceful disconnect' }
    case `${PERSONA.METADATA}/${EXTENSION_ROLE.PING}`: {
      const { id } = messageData
      return typeof id === 'string' && id !== '' ? { kind: 'ping', id } : { kind: 'other' }
    }
    default:
      return { kind: 'other' }
  }
}

function readFeedback(feedback: unknown): ClientIntent {
  if (!isJsonObject(feedback)) return { kind: 'other' }
  const { rating, answerMessageId } = feedback
  if ((rating !== 'up' && rating !== 'down') || typeof answerMessageId !== 'string') return { kind: 'other' }
  return { kind: 'feedback', rating, answerMessageId }
}
