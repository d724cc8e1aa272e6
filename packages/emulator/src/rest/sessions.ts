import { SESSION_MIN_TOKEN_LIFE_SECONDS, type SessionResponse, TOKEN_WILL_EXPIRE_SOON } from '@aiagent/protocol'
import { validateContext } from '../chat/context-validation.ts'
import type { Clock } from '../clock.ts'
import { ANONYMOUS_SUBJECT, type TokenKeys, type VerifiedToken } from '../oauth/keys.ts'
import type { Random } from '../random.ts'
import type { EmulatorSettings } from '../settings.ts'
import { requiresSignIn } from '../world/requires-sign-in.ts'
import type { HistoryEntry } from '../world/session-record.ts'
import type { World } from '../world/world.ts'
import { findAgent } from './agents.ts'
import { RestError } from './error.ts'

export interface SessionParts {
  world: World
  clock: Clock
  random: Random
  settings: EmulatorSettings
  keys: TokenKeys
}

/**
 * Creates a session for an agent. Invalid attributes of the context are dropped, and reported over the chat later.
 *
 * @throws {RestError} 401 when the token expires too soon, 403 when an anonymous token is used for an agent that
 *   requires a signed-in user, 404 when the agent does not exist
 */
export function createSession(
  { world, clock, random, settings, keys }: SessionParts,
  agentId: string,
  token: VerifiedToken,
  context: Readonly<Record<string, unknown>>,
): SessionResponse {
  const agent = findAgent(world, agentId)
  if (keys.secondsLeft(token) < SESSION_MIN_TOKEN_LIFE_SECONDS) throw new RestError(401, '290', TOKEN_WILL_EXPIRE_SOON)
  if (requiresSignIn(agent, settings) && token.subject === ANONYMOUS_SUBJECT)
    throw new RestError(403, '002', `The agent "${agentId}" is for people who signed in.`)
  const { accepted, issues } = validateContext(context, {
    attributes: agent.contextAttributes,
    valueLimit: settings.contextValueLimit,
  })
  const session = world.addSession({
    id: newSessionId(world, random),
    agent,
    createdAt: clock.now(),
    subject: token.subject,
    context: accepted,
    contextIssues: issues,
  })
  return { sessionId: session.id }
}

/** An id that no session has had. A kept session may have one that the random numbers give again. */
function newSessionId(world: World, random: Random): string {
  let id: string
  do id = `s-${random.hex(20)}`
  while (world.records.has(id))
  return id
}

/**
 * The context in the body of a session call. An empty body has none.
 *
 * @throws {RestError} 400 when the body is not a JSON object, or its context is invalid
 */
export function readSessionContext(body: string): Record<string, unknown> {
  if (body.trim() === '') return {}
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    throw new RestError(400, '001', 'The body is not JSON.')
  }
  if (!isRecord(parsed)) throw new RestError(400, '001', 'The body is not a JSON object.')
  const { context = {} } = parsed
  if (!isRecord(context)) throw new RestError(400, '003', 'The context is not an object.')
  return context
}

/**
 * The transcript of a session, as the chat sends it when the session is opened again.
 *
 * @throws {RestError} 404 when the agent has no such session, 410 when it has ended: the statuses of the chat's
 *   upgrade, in a response that browsers can read
 */
export function readTranscript(world: World, agentId: string, sessionId: string): { messages: HistoryEntry[] } {
  findAgent(world, agentId)
  const session = world.sessions.get(sessionId)
  if (!session || session.agent.details.agentId !== agentId)
    throw new RestError(404, '001', `The agent "${agentId}" has no session of this id.`)
  if (session.ended) throw new RestError(410, '001', 'The session has ended.')
  return { messages: session.history.entries() }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
