import * as v from 'valibot'
import { PERSONA } from './persona.ts'
import { ROLE } from './role.ts'

const anything = v.record(v.string(), v.unknown())

/** A value of the conversation's context, with what the agent should know about it. Plain values are allowed as well. */
export const ContextAttributeSchema = v.looseObject({
  value: v.unknown(),
  type: v.optional(v.string()),
  description: v.optional(v.string()),
  /** True keeps the attribute away from the language model; the service's own rules still see it. */
  notInLLM: v.optional(v.boolean()),
})
export type ContextAttribute = v.InferOutput<typeof ContextAttributeSchema>

/** What every frame from a client has: one JSON object. Members that are not listed pass through. */
export const ClientMessageSchema = v.looseObject({
  persona: v.pipe(v.string(), v.nonEmpty()),
  role: v.pipe(v.string(), v.nonEmpty()),
  content: v.optional(v.string()),
  messageData: v.optional(anything),
})
export type ClientMessage = v.InferOutput<typeof ClientMessageSchema>

/** A sentence of the person who talks to the agent. */
export const UserMessageSchema = v.looseObject({
  persona: v.literal(PERSONA.CUSTOMER),
  role: v.literal(ROLE.HUMAN),
  content: v.optional(v.string()),
  messageData: v.optional(anything),
})
/** The access token: first frame after an opening of an authenticated agent, and the answer to a refresh request. */
export const TokenMessageSchema = v.looseObject({
  persona: v.literal(PERSONA.METADATA),
  role: v.literal(ROLE.TOKEN),
  messageData: v.looseObject({ token: v.string() }),
})
/** Attributes that join the session's context. */
export const ContextMessageSchema = v.looseObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.CONTEXT),
  messageData: v.looseObject({ context: anything }),
})
/** A thumb up or down for one answer. */
export const FeedbackMessageSchema = v.looseObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.FEEDBACK),
  messageData: v.looseObject({
    feedback: v.looseObject({ rating: v.picklist(['up', 'down']), answerMessageId: v.string() }),
  }),
})
/** Something happened to the hand-over to a human. The event's shape is the host's. */
export const EscalationMessageSchema = v.looseObject({
  persona: v.literal(PERSONA.SYSTEM),
  role: v.literal(ROLE.ESCALATION),
  messageData: v.looseObject({ escalationEvent: v.unknown() }),
})
/** The client is about to leave on purpose. */
export const GracefulDisconnectMessageSchema = v.looseObject({
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
  if (feedback.success) return { kind: 'feedback', ...feedback.output.messageData.feedback }
  const escalation = v.safeParse(EscalationMessageSchema, message)
  if (escalation.success) return { kind: 'escalation', event: escalation.output.messageData.escalationEvent }
  if (v.is(GracefulDisconnectMessageSchema, message)) return { kind: 'graceful disconnect' }
  return { kind: 'other' }
}
