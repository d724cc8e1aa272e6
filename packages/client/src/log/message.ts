import {
  encodeMessage,
  encodeText,
  isJsonObject,
  type MessageData,
  PERSONA,
  parseServerMessage,
  ROLE,
  type ServerMessage,
} from '@aiagent/protocol'
import { MessageError } from '../errors.ts'
import type { Clock } from '../platform/environment.ts'
import { isDeeperThan } from '../util/values.ts'

/** Deeper message data may exceed the stack of `JSON.stringify`. */
export const MAX_DATA_DEPTH = 100

/** A message as plain data: what the helpers return and `send()` takes. */
export interface MessageObject {
  /** @default 'customer' */
  persona?: string
  /** @default 'human' */
  role?: string
  /** The text. Data without text is allowed; for `send()` one of the two is required. */
  content?: string | undefined
  /** Data beside the text: plain JSON. */
  messageData?: MessageData | undefined
  /** The sender's id. Local: it is not sent. */
  messageId?: string | undefined
  /** Name of the sender, for the transcript. Local: it is not sent. */
  from?: string | undefined
  /** Name of the recipient, for the transcript. Local: it is not sent. */
  to?: string | undefined
}

/** Fields of a message beside persona, role and content. */
export interface MessageOptions {
  /** The service's id of a received message, the sender's id of an outbound one. */
  messageId?: string | undefined
  /** Data beside the text: plain JSON. */
  messageData?: MessageData | undefined
  /** Milliseconds since the epoch. */
  timestamp?: number | undefined
  /** Name of the sender. */
  from?: string | undefined
  /** Name of the recipient. */
  to?: string | undefined
  /** Agent of the conversation. */
  agentId?: string | undefined
  /** Session of the message. */
  sessionId?: string | undefined
}

/** One message of the conversation, in either direction. */
export class Message {
  /** Who speaks: `customer`, `agent`, `system` or `metadata`, or another value of the service. */
  readonly persona: string
  /** What the message is, for example `human`, `context` or `feedback`. */
  readonly role: string
  /** The text; undefined for messages that carry data only. */
  readonly content: string | undefined
  /** Data beside the text. */
  readonly messageData: MessageData | undefined
  /** The service's id of a received message, the sender's id of an outbound one. */
  readonly messageId: string | undefined
  /** Milliseconds since the epoch. */
  readonly timestamp: number | undefined
  /** Name of the sender; local for a sent message. */
  readonly from: string | undefined
  /** Name of the recipient; local for a sent message. */
  readonly to: string | undefined
  /** Agent of the conversation, if it is known. */
  readonly agentId: string | undefined
  /** Session of the message, if it is known. */
  readonly sessionId: string | undefined

  constructor(persona: string, role: string, content?: string, options: MessageOptions = {}) {
    this.persona = persona
    this.role = role
    this.content = content
    this.messageData = options.messageData
    this.messageId = options.messageId
    this.timestamp = options.timestamp
    this.from = options.from
    this.to = options.to
    this.agentId = options.agentId
    this.sessionId = options.sessionId
  }

  /**
   * Creates a message from the text of a frame, or from a parsed frame.
   *
   * @throws {MessageError} reason `invalid` when it is not a message
   */
  static fromJSON(json: string | MessageObject, options: MessageOptions = {}): Message {
    let data: unknown = json
    if (typeof json === 'string') {
      try {
        data = JSON.parse(json)
      } catch (cause) {
        throw new MessageError('The text is not JSON.', 'invalid', { cause })
      }
    }
    if (typeof data !== 'object' || data === null) throw new MessageError('The JSON is not an object.', 'invalid')
    const { persona = '', role = '', content, messageData, ...rest } = data as MessageObject
    // The service may send null for what it leaves out.
    const given = { ...rest, messageData: messageData ?? undefined, ...options }
    const message = new Message(persona, role, content ?? undefined, given)
    message.validate()
    return message
  }

  /**
   * Checks that the message can be sent.
   *
   * @throws {MessageError} reason `invalid`, naming the problem
   */
  validate(): void {
    const wrong =
      typeof this.persona !== 'string' || this.persona === ''
        ? 'its persona is missing'
        : typeof this.role !== 'string' || this.role === ''
          ? 'its role is missing'
          : this.content !== undefined && typeof this.content !== 'string'
            ? 'its content is not text'
            : this.messageData !== undefined && !isJsonObject(this.messageData)
              ? 'its messageData is not an object'
              : undefined
    if (wrong) throw new MessageError(`The message cannot be sent: ${wrong}.`, 'invalid', { messageId: this.messageId })
  }

  /**
   * The text of the frame: persona, role, and content and messageData where present. Empty content is left out.
   *
   * @throws {MessageError} reason `encoding_failed` when messageData cannot be written as JSON
   */
  toPayloadString(): string {
    const { persona, role, content, messageData } = this
    if (content && !messageData) return encodeText(persona, role, content)
    try {
      const frame = encodeMessage(
        messageData
          ? content
            ? { persona, role, content, messageData }
            : { persona, role, messageData }
          : { persona, role },
      )
      // The data comes last. Its `toJSON()` may have returned anything.
      if (messageData && !frame.endsWith('}}')) throw new TypeError('The messageData is not written as an object.')
      return frame
    } catch (cause) {
      throw new MessageError(
        'The message cannot be written as JSON: its messageData contains a circular reference or a BigInt, or its toJSON() returns no object.',
        'encoding_failed',
        {
          cause,
          messageId: this.messageId,
        },
      )
    }
  }

  /** Whether the service sent it: persona agent, system or metadata, or any message with an id. */
  isIncoming(): boolean {
    return (
      this.persona === PERSONA.AGENT ||
      this.persona === PERSONA.SYSTEM ||
      this.persona === PERSONA.METADATA ||
      this.messageId !== undefined
    )
  }

  /** Whether the client sent it: persona customer, or a system message with a sender and without an id. */
  isOutgoing(): boolean {
    return (
      this.persona === PERSONA.CUSTOMER ||
      (this.persona === PERSONA.SYSTEM && this.from !== undefined && this.messageId === undefined)
    )
  }

  /** A copy with some fields replaced. */
  clone(updates: Partial<MessageObject & MessageOptions> = {}): Message {
    const { persona = this.persona, role = this.role, ...rest } = updates
    return new Message(persona, role, 'content' in updates ? updates.content : this.content, { ...this, ...rest })
  }
}

/** Agent and session of a message, as far as they are known. */
export interface MessageOrigin {
  readonly agentId: string | undefined
  /** Name of the agent: sender of received messages, recipient of sent ones. Empty until it is known. */
  readonly agentName: string | undefined
  readonly sessionId: string | undefined
}

/**
 * The message of a received frame. Missing content reads as empty, a missing timestamp as the time of receipt.
 *
 * @param clock undefined for a message that did not arrive just now
 */
export function receivedMessage(
  frame: ServerMessage,
  { agentId, agentName, sessionId }: MessageOrigin,
  clock?: Pick<Clock, 'now'>,
): Message {
  return new Message(frame.persona, frame.role, frame.content ?? '', {
    messageId: frame.messageId ?? undefined,
    messageData: (frame.messageData ?? undefined) as MessageData | undefined,
    timestamp: frame.timestamp ?? clock?.now(),
    from: agentName,
    to: PERSONA.CUSTOMER,
    agentId,
    sessionId,
  })
}

/** Whether the user wrote it. */
export function isUserMessage({ persona, role }: Message): boolean {
  return persona === PERSONA.CUSTOMER && role === ROLE.HUMAN
}

/**
 * A fingerprint of texts for comparisons within this page, of 64 bits: FNV-1a over their UTF-16 units, with two primes and without a
 * copy of the texts.
 */
export function fingerprintOf(...texts: string[]): string {
  const [one, other] = hashOf(texts)
  return `${one.toString(36)}${other.toString(36)}`
}

/**
 * What an answer of the agent has in common with its repetitions only: id, role, content and data, in a number of 53 bits. Undefined
 * for what is never a repetition: other personas, and answers without an id or content.
 */
export function answerDigest({ persona, role, content, messageId, messageData }: Message): number | undefined {
  if (persona !== PERSONA.AGENT || messageId === undefined || !content?.trim()) return undefined
  if (isDeeperThan(MAX_DATA_DEPTH, messageData)) return undefined
  const [one, other] = hashOf([messageId, role, content, messageData ? JSON.stringify(messageData, sorted) : ''])
  return (one >>> 0) + (other & 0x1f_ffff) * 2 ** 32
}

/** Objects with their members in one order. */
function sorted(_name: string, value: unknown): unknown {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value
}

function hashOf(texts: readonly string[]): readonly [number, number] {
  let one = 0x811c9dc5
  let other = 0x9e3779b9
  for (const text of texts) {
    for (let index = 0; index <= text.length; index++) {
      // A line feed separates the texts.
      const unit = index < text.length ? text.charCodeAt(index) : 10
      one = Math.imul(one ^ unit, 0x01000193)
      other = Math.imul(other ^ unit, 0x85ebca6b)
    }
  }
  return [one, other]
}

/** Roles in which only the client sends system messages. */
const CLIENT_ROLES: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ROLE.CONTEXT,
  ROLE.FEEDBACK,
  ROLE.ESCALATION,
  ROLE.GRACEFUL_DISCONNECT,
])

/** Whether a client sent a message of a history. */
export function isFromClient({ persona, role }: Message): boolean {
  return persona === PERSONA.CUSTOMER || (persona === PERSONA.SYSTEM && CLIENT_ROLES.has(role))
}

// ── Sent ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Options of `send()`. */
export interface SendOptions {
  /** Id of the message. @default its `messageId`, else a new UUID */
  id?: string
  /** Sender, for the transcript. @default 'customer' */
  from?: string
  /** Recipient, for the transcript. @default the agent's name */
  to?: string
}

/**
 * The message for an argument of `send()`.
 *
 * @param origin agent and session of the message; undefined while they are not known
 * @throws {MessageError} reason `invalid`
 */
export function composeMessage(
  data: string | MessageObject | Message,
  options: SendOptions,
  scope: { readonly environment: { readonly clock: Pick<Clock, 'now'> }; newId(): string },
  origin: MessageOrigin | undefined,
): Message {
  const given: Partial<Message> = typeof data === 'string' ? { content: data } : (data as Partial<Message>)
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new MessageError('send() takes text, a Message, or an object with persona, role and content.', 'invalid')
  const message = new Message(given.persona ?? PERSONA.CUSTOMER, given.role ?? ROLE.HUMAN, given.content, {
    // An empty id counts as none.
    messageId: options.id || given.messageId || scope.newId(),
    messageData: given.messageData,
    timestamp: given.timestamp ?? scope.environment.clock.now(),
    from: options.from ?? given.from ?? PERSONA.CUSTOMER,
    to: options.to ?? given.to ?? origin?.agentName,
    agentId: origin?.agentId,
    sessionId: origin?.sessionId,
  })
  message.validate()
  const { role, content, messageData, messageId } = message
  const problem =
    isUserMessage(message) && content === undefined && messageData === undefined
      ? 'it has neither content nor messageData'
      : role === ROLE.FEEDBACK && !(messageData?.feedback as { answerMessageId?: unknown } | undefined)?.answerMessageId
        ? 'the feedback has no answerMessageId'
        : undefined
  if (problem) throw new MessageError(`The message cannot be sent: ${problem}.`, 'invalid', { messageId })
  return message
}

/** A held message with the agent and the session that are known now. */
export function addressMessage(message: Message, { agentName, agentId, sessionId }: MessageOrigin): Message {
  return message.clone({ to: message.to ?? agentName, agentId, sessionId })
}

/** The message with the data of its frame, so that a later change of the caller's object has no effect. It is frozen. */
export function detachMessage(message: Message, frame: string): Message {
  if (!message.messageData) return message
  const { messageData } = JSON.parse(frame) as MessageObject
  // Not recursive: the data may be nested more deeply than the stack allows.
  const values: unknown[] = [messageData]
  for (const value of values)
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(Object.freeze(value))) values.push(inner)
  return message.clone({ messageData })
}

// ── Received ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A readable element of a history. */
export interface HistoryElement {
  readonly message: Message
  /** Length of its text as a frame, in characters. */
  readonly size: number
}

/** Reads an element of a history; undefined where it is not a frame. It has no default time, since it did not arrive just now. */
export function readElement(element: unknown, origin: MessageOrigin): HistoryElement | undefined {
  try {
    const text = JSON.stringify(element)
    const message = receivedMessage(parseServerMessage(text), origin)
    const addressed = isFromClient(message) ? message.clone({ from: PERSONA.CUSTOMER, to: origin.agentName }) : message
    return { message: addressed, size: text.length }
  } catch {
    return undefined
  }
}

/**
 * Reads an element of `ApiHelper.getPreviousTranscript()`, or of the list in a `chatHistory` event, as a message. Undefined where
 * it is not a frame of the chat: the service does not promise the shape of its elements.
 */
export function toMessage(element: unknown): Message | undefined {
  return readElement(element, { agentId: undefined, agentName: undefined, sessionId: undefined })?.message
}
