import * as v from 'valibot'
import { jsonObject } from '../json-object.ts'

/** A field the service may leave out, send as null, or one day send in a shape we do not know: then it reads as absent. */
const known = <const S extends v.GenericSchema>(schema: S) => v.fallback(v.optional(v.nullable(schema)), undefined)

/** Why the service refused an attribute of the context. */
export const ContextValidationIssueSchema = jsonObject({
  /** The attribute's name. */
  name: v.string(),
  /** `type_mismatch` is known; others may come. */
  reason: v.string(),
  expectedType: known(v.string()),
  providedType: known(v.string()),
})
/** Why one attribute of the context was refused. */
export type ContextValidationIssue = v.InferOutput<typeof ContextValidationIssueSchema>

/** Where and how a conversation can be handed over to a human. */
export const EscalationDataSchema = jsonObject({
  live: known(v.boolean()),
  /** Host of the live chat that takes over. */
  liveDomain: known(v.string()),
  /** Address of the page where the person enters the live chat. */
  entrypointUrl: known(v.string()),
  phone: known(v.boolean()),
  phoneNumber: known(v.string()),
  sms: known(v.boolean()),
  smsNumber: known(v.string()),
  email: known(v.boolean()),
})
/** Where and how a conversation can be handed over to a human. */
export type EscalationData = v.InferOutput<typeof EscalationDataSchema>

/** An article that an answer is based on. The service's shape is open; these members are the usual ones. */
export const SourceSchema = jsonObject({
  title: known(v.string()),
  url: known(v.string()),
})
/** An article that an answer is based on. */
export type Source = v.InferOutput<typeof SourceSchema>

/** The open object that goes with a frame. A known field of a wrong type reads as absent; unknown fields pass through. */
export const ServerMessageDataSchema = jsonObject({
  error_code: known(v.union([v.string(), v.number()])),
  contextValidationErrors: known(v.array(ContextValidationIssueSchema)),
  chat_history: known(v.array(v.unknown())),
  options: known(v.array(v.string())),
  escalation: known(v.boolean()),
  escalationData: known(EscalationDataSchema),
  sources: known(v.array(v.unknown())),
  reasoning: known(v.string()),
  workflowType: known(v.string()),
  workflowNodeType: known(v.string()),
  inputType: known(v.string()),
})
/** The open object that goes with a frame from the service. */
export type ServerMessageData = v.InferOutput<typeof ServerMessageDataSchema>

/**
 * A frame from the service: one JSON object per text frame.
 *
 * `persona` and `role` are required and not empty; without them the frame is a protocol error. Everything else may be
 * missing: missing `content` reads as empty text, a missing `timestamp` as the time of receipt.
 */
export const ServerMessageSchema = jsonObject({
  messageId: known(v.string()),
  persona: v.pipe(v.string(), v.nonEmpty()),
  role: v.pipe(v.string(), v.nonEmpty()),
  content: known(v.string()),
  messageData: known(ServerMessageDataSchema),
  /** Milliseconds since the epoch. */
  timestamp: known(v.pipe(v.number(), v.finite())),
})
/** A frame from the service. */
export type ServerMessage = v.InferOutput<typeof ServerMessageSchema>

/** Data of a client's or a service's frame: the fields of both directions are optional, and unknown ones may be there. */
export type MessageData = ServerMessageData & {
  context?: Record<string, unknown>
  feedback?: unknown
  escalationEvent?: unknown
  token?: string
}
