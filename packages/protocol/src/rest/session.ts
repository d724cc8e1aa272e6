import * as v from 'valibot'
import { isUsableSessionId } from '../chat/address.ts'
import { jsonObject, openObject } from '../json-object.ts'

/** Body of the call that opens a session. */
export const SessionRequestSchema = jsonObject({ context: v.optional(openObject) })
/** What a client says when it opens a session. */
export type SessionRequest = v.InferOutput<typeof SessionRequestSchema>

/** Its answer. A number is taken when finite, as its text; blank text and placeholders are refused. */
export const SessionResponseSchema = jsonObject({
  sessionId: v.pipe(
    v.union([v.string(), v.number()], 'a session id is text or a number'),
    v.check(id => isUsableSessionId(id), 'the session id is blank or a placeholder'),
    v.transform(String),
  ),
})
/** The session that was opened. */
export type SessionResponse = v.InferOutput<typeof SessionResponseSchema>

/** Seconds of life a token must have left when a session is opened; below it the service answers 401. */
export const SESSION_MIN_TOKEN_LIFE_SECONDS = 290

/** Message of that 401. */
export const TOKEN_WILL_EXPIRE_SOON = 'Token will expire soon'
