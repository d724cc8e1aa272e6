import * as v from 'valibot'
import { jsonObject, openObject } from '../json-object.ts'
import { PERSONA } from './persona.ts'
import { ROLE } from './role.ts'

/** A value of the conversation's context, with what the agent should know about it. Plain values are allowed as well. */
export const ContextAttributeSchema = jsonObject({
  value: v.unknown(),
  type: v.optional(v.string()),
  description: v.optional(v.string()),
  /** True keeps the attribute away from the language model; the service's own rules still see it. */
  notInLLM: v.optional(v.boolean()),
})
/** A value of the conversation's context, with what the agent should know about it. */
export type ContextAttribute = v.InferOutput<typeof ContextAttributeSchema>

/** What every frame from a client has: one JSON object. Members that are not listed pass through. */
export const ClientMessageSchema = jsonObject({
  persona: v.pipe(v.string(), v.nonEmpty()),
  role: v.pipe(v.string(), v.nonEmpty()),
  content: v.optional(v.string()),
  messageData: v.optional(openObject),
})
/** A frame from a client. */
export type ClientMessage = v.InferOutput<typeof ClientMessageSchema>

/** A sentence of the person who talks to the agent. */
export const UserMessageSchema = jsonObject({
  persona: v.literal(PERSONA.CUSTOMER),
  role: v.literal(ROLE.HUMAN),
  content: v.optional(v.string()),
  messageData: v.optional(openObject),
})
/** The access token: first frame after an opening of an authenticated agent, and the answer to a refresh request. */
export const TokenMessageSchema = jsonObject({
  persona: v.literal(PERSONA.METADATA),
  role: v.literal(ROLE.TOKEN),
  messageData: jsonObject({ token: v.string() }),
})
/** Attributes that join the session's context. */
export const ContextMessageSchema = jsonObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.CONTEXT),
  messageData: jsonObject({ context: openObject }),
})
/** A thumb up or down for one answer. */
export const FeedbackMessageSchema = jsonObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.FEEDBACK),
  messageData: jsonObject({
    feedback: jsonObject({ rating: v.picklist(['up', 'down']), answerMessageId: v.string() }),
  }),
})
/** Something happened to the hand-over to a human. The event's shape is the host's. */
export const EscalationMessageSchema = jsonObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.ESCALATION),
  messageData: jsonObject({ escalationEvent: v.unknown() }),
})
/** The client is about to leave on purpose. */
export const GracefulDisconnectMessageSchema = jsonObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.GRACEFUL_DISCONNECT),
})

/** The rating of a feedback message. */
export type FeedbackRating = v.InferOutput<typeof FeedbackMessageSchema>['messageData']['feedback']['rating']

/** What a client's frame asks of the service, with the part that matters. Unknown combinations are `other`. */
export type ClientIntent =
  | { kind: 'user'; content: string }
  | { kind: 'token'; token: string }
  | { kind: 'context'; context: Record<string, unknown> }
  | { kind: 'feedback'; rating: FeedbackRating; answerMessageId: string }
  | { kind: 'escalation'; event: unknown }
  | { kind: 'graceful disconnect' }
  | { kind: 'other' }

/** Tells what a client's frame asks for. A frame of a known role whose data does not fit is `other`. */
export function readClientIntent(message: ClientMessage): ClientIntent {
  const user = v.safeParse(UserMessageSchema, message)
  if (user.success) return { kind: 'user', content: user.output.content ?? '' }
  const token = v.safeParse(TokenMessageSchema, message)
  if (token.success) return { kind: 'token', token: token.output.messageData.token }
  const context = v.safeParse(ContextMessageSchema, message)
  if (context.success) return { kind: 'context', context: context.output.messageData.context }
  const feedback = v.safeParse(FeedbackMessageSchema, message)
  if (feedback.success) {
    const { rating, answerMessageId } = feedback.output.messageData.feedback
    return { kind: 'feedback', rating, answerMessageId }
  }
  const escalation = v.safeParse(EscalationMessageSchema, message)
  if (escalation.success) return { kind: 'escalation', event: escalation.output.messageData.escalationEvent }
  if (v.is(GracefulDisconnectMessageSchema, message)) return { kind: 'graceful disconnect' }
  return { kind: 'other' }
}
