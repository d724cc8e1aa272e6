import * as v from 'valibot'
import { EXTENSION_ROLE } from '../chat/extension.ts'
import { PERSONA } from '../chat/persona.ts'
import { ROLE } from '../chat/role.ts'
import { jsonObject, listOf, openObject } from './json-object.ts'

/** A field that may be missing, null, or of a type that is unknown today: then it reads as absent. */
const known = <const S extends v.GenericSchema>(schema: S) => v.fallback(v.optional(v.nullable(schema)), undefined)

const filled = v.pipe(v.string(), v.nonEmpty())

/** Schema of `ContextValidationIssue`. */
export const ContextValidationIssueSchema = jsonObject({
  name: v.string(),
  reason: v.string(),
  expectedType: known(v.string()),
  providedType: known(v.string()),
})

/** Schema of `EscalationData`. */
export const EscalationDataSchema = jsonObject({
  live: known(v.boolean()),
  liveDomain: known(v.string()),
  entrypointUrl: known(v.string()),
  phone: known(v.boolean()),
  phoneNumber: known(v.string()),
  sms: known(v.boolean()),
  smsNumber: known(v.string()),
  email: known(v.boolean()),
})

/** Schema of `Source`. */
export const SourceSchema = jsonObject({
  title: known(v.string()),
  url: known(v.string()),
})

/** Schema of `ServerMessageData`. */
export const ServerMessageDataSchema = jsonObject({
  error_code: known(v.union([v.string(), v.number()])),
  contextValidationErrors: known(listOf(ContextValidationIssueSchema)),
  chat_history: known(v.array(v.unknown())),
  options: known(listOf(v.string())),
  escalation: known(v.boolean()),
  escalationData: known(EscalationDataSchema),
  sources: known(listOf(SourceSchema)),
  reasoning: known(v.string()),
  workflowType: known(v.string()),
  workflowNodeType: known(v.string()),
  inputType: known(v.string()),
})

/** Latest time that `Date` can hold, in milliseconds since the epoch. */
const MAX_TIME = 8.64e15

/** Schema of `ServerMessage`, a frame from the service. */
export const ServerMessageSchema = jsonObject({
  messageId: known(v.string()),
  persona: filled,
  role: filled,
  content: known(v.string()),
  messageData: known(ServerMessageDataSchema),
  timestamp: known(v.pipe(v.number(), v.minValue(-MAX_TIME), v.maxValue(MAX_TIME))),
  seq: known(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
})

/** Schema of `ContextAttribute`. */
export const ContextAttributeSchema = jsonObject({
  value: v.unknown(),
  type: v.optional(v.string()),
  description: v.optional(v.string()),
  notInLLM: v.optional(v.boolean()),
})

/** Schema of `ClientMessage`, a frame from a client. */
export const ClientMessageSchema = jsonObject({
  persona: filled,
  role: filled,
  content: v.optional(v.string()),
  messageData: v.optional(openObject),
  messageId: v.fallback(v.optional(filled), undefined),
})

/** Schema of a user's message. */
export const UserMessageSchema = jsonObject({
  persona: v.literal(PERSONA.CUSTOMER),
  role: v.literal(ROLE.HUMAN),
  content: v.optional(v.string()),
  messageData: v.optional(openObject),
})

/** Schema of a token frame. */
export const TokenMessageSchema = jsonObject({
  persona: v.literal(PERSONA.METADATA),
  role: v.literal(ROLE.TOKEN),
  messageData: jsonObject({ token: v.string() }),
})

/** Schema of a frame with attributes for the session's context. */
export const ContextMessageSchema = jsonObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.CONTEXT),
  messageData: jsonObject({ context: openObject }),
})

/** Schema of a frame that rates an answer. */
export const FeedbackMessageSchema = jsonObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.FEEDBACK),
  messageData: jsonObject({
    feedback: jsonObject({ rating: v.picklist(['up', 'down']), answerMessageId: v.string() }),
  }),
})

/** Schema of a frame that reports an escalation event. Host and agent agree on the event's shape. */
export const EscalationMessageSchema = jsonObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.ESCALATION),
  messageData: jsonObject({ escalationEvent: v.unknown() }),
})

/** Schema of the frame that a client sends before it leaves. */
export const GracefulDisconnectMessageSchema = jsonObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.GRACEFUL_DISCONNECT),
})

const orFalse = v.fallback(v.boolean(), false)

/** Schema of the service's receipt for a client frame. */
export const ReceiptMessageSchema = jsonObject({
  persona: v.literal(PERSONA.METADATA),
  role: v.literal(EXTENSION_ROLE.RECEIPT),
  messageData: jsonObject({ messageId: filled, duplicate: orFalse }),
})

/** Schema of an error frame that refuses a client frame with an id. */
export const RefusalMessageSchema = jsonObject({
  persona: v.literal(PERSONA.METADATA),
  role: v.literal(ROLE.ERROR),
  messageData: jsonObject({ messageId: filled, error_code: known(v.union([v.string(), v.number()])) }),
})

/** Schema of the frame that ends a replay. */
export const ResumedMessageSchema = jsonObject({
  persona: v.literal(PERSONA.METADATA),
  role: v.literal(EXTENSION_ROLE.RESUMED),
  messageData: v.fallback(jsonObject({ complete: orFalse }), { complete: false }),
})

/** Schema of a client's ping. */
export const PingMessageSchema = jsonObject({
  persona: v.literal(PERSONA.METADATA),
  role: v.literal(EXTENSION_ROLE.PING),
  messageData: jsonObject({ id: filled }),
})

/** Schema of the service's answer to a ping. */
export const PongMessageSchema = jsonObject({
  persona: v.literal(PERSONA.METADATA),
  role: v.literal(EXTENSION_ROLE.PONG),
  messageData: jsonObject({ id: filled }),
})
