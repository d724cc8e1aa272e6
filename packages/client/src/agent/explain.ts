import { SELECT_METHODS } from '../contact-center/portal/gates.ts'
import { AuthError, ConnectionError, SDKError } from '../errors.ts'
import type { ChatClosed } from '../events.ts'
import type { OutboxParts } from '../outbox/outbox.ts'
import type { AgentScope } from '../scope.ts'
import type { AgentPhase } from './agent-status.ts'

/*
 * The present state of an agent in one sentence. A separate file in a page: its texts would weigh on every page.
 */

/**
 * What an agent does or waits for.
 *
 * - `not_initialized`, `initialize_failed`, `preparing`, `initialize_retry`: before `initialize()` has completed
 * - `login_needed`: no token without a sign-in of the user
 * - `choice_needed`: `gate` names what must be selected; `choice_loading`: the choices are loading
 * - `not_connected`: ready, and `connect()` was not called
 * - `connecting`, `reconnecting`, `offline`: the connection is being opened; `offline` when the device has no network
 * - `token_needed`: the chat is open and waits for an access token
 * - `connected`: messages are sent at once
 * - `closed`: the chat has ended, and no reconnect follows
 * - `leaving`: the user's data is being removed; `destroyed`: for good
 */
export type ExplanationCode =
  | 'not_initialized'
  | 'initialize_failed'
  | 'initialize_retry'
  | 'preparing'
  | 'login_needed'
  | 'choice_needed'
  | 'choice_loading'
  | 'not_connected'
  | 'connecting'
  | 'reconnecting'
  | 'offline'
  | 'token_needed'
  | 'connected'
  | 'closed'
  | 'leaving'
  | 'destroyed'

/** The present state of an agent, for people and for programs. */
export interface Explanation {
  /** Stable code of the state. Decide on it, not on the text. */
  readonly code: ExplanationCode
  /** One plain sentence in English, with what helps. */
  readonly text: string
  /** Number of queued messages. */
  readonly queued: number
  /** The method to call, where the host or the user has to do something. */
  readonly method?: string
  /** What must be selected, with `choice_needed`. */
  readonly gate?: 'portal' | 'agent' | 'profile'
  /** Wait before the next attempt, in milliseconds. */
  readonly retryInMs?: number
  /** Number of the next attempt. */
  readonly attempt?: number
  /** Number of attempts after which the connection is given up. */
  readonly maxAttempts?: number
  /** How the last open chat was closed. */
  readonly closed?: ChatClosed
  /** The failure of the last attempt. */
  readonly error?: unknown
}

/** The parts that an explanation reads. */
export interface ExplainedParts extends Pick<OutboxParts, 'chat' | 'connection'> {
  readonly scope: AgentScope
  readonly phase: AgentPhase
  readonly outbox: { readonly size: number }
}

/** What a state contributes; the queue is added to it. */
type Cause = Omit<Explanation, 'queued'>

/** Describes the present state of an agent. */
export function explain(parts: ExplainedParts): Explanation {
  const queued = parts.outbox.size
  const { text, ...cause } = causeOf(parts)
  const waiting = queued === 0 ? '' : `; ${queued} ${queued === 1 ? 'message waits' : 'messages wait'}`
  // The wait belongs to the first sentence; the second one says what helps.
  const end = text.indexOf('. ')
  const at = end < 0 ? text.length : end
  return { ...cause, text: `${text.slice(0, at)}${waiting}${text.slice(at)}.`, queued }
}

function causeOf(parts: ExplainedParts): Cause {
  const { phase } = parts
  switch (phase.at) {
    case 'destroyed':
      return { code: 'destroyed', text: 'The agent was destroyed. Create a new AiAgent', method: 'new AiAgent()' }
    case 'leaving':
      return { code: 'leaving', text: 'The data of the user is being removed. Wait for the next phase' }
    case 'choosing':
      return phase.choice
        ? choiceNeeded(phase.choice.gate)
        : { code: 'choice_loading', text: 'The choices are loading' }
    case 'preparing':
      return retryOf(parts, 'initialize_retry', 'Trying again to load the agent') ?? PREPARING
    case 'idle':
      return 'error' in phase ? failed(phase.error) : notInitialized()
    case 'ready':
      return chatCause(parts)
    default:
      return phase satisfies never
  }
}

function choiceNeeded(gate: keyof typeof SELECT_METHODS): Cause {
  const method = SELECT_METHODS[gate]
  const article = gate === 'agent' ? 'An' : 'A'
  return { code: 'choice_needed', text: `${article} ${gate} must be selected. Call ${method}`, method, gate }
}

const PREPARING: Cause = { code: 'preparing', text: 'The agent is loading' }

function notInitialized(): Cause {
  return { code: 'not_initialized', text: 'The agent is not initialized. Call initialize()', method: 'initialize()' }
}

function failed(error: unknown): Cause {
  const method = 'initialize()'
  if (needsLogin(error)) {
    const why = (error as AuthError).reason === 'interaction_required' ? '' : `: ${reasonOf(error)}`
    return { code: 'login_needed', text: `The user must sign in${why}. Call ${method}`, method, error }
  }
  return {
    code: 'initialize_failed',
    text: `The agent could not be loaded: ${reasonOf(error)}. Call ${method} to try again`,
    method,
    error,
  }
}

function chatCause(parts: ExplainedParts): Cause {
  const { chat, connection, scope } = parts
  const { state } = connection
  const { closed, failure } = scope.status
  const why = whyClosed(parts)
  switch (state) {
    case 'IDLE':
      return { code: 'not_connected', text: 'The chat is not connected. Call connect()', method: 'connect()' }
    case 'CONNECTING':
      return { code: 'connecting', text: why ? `Connecting again: ${why}` : 'Connecting', ...facts(parts) }
    case 'RECONNECTING':
      return (
        retryOf(parts, 'reconnecting', 'Reconnecting') ?? {
          code: 'reconnecting',
          text: 'Reconnecting',
          ...facts(parts),
        }
      )
    case 'CONNECTED':
      return chat.isTokenMissing
        ? {
            code: 'token_needed',
            text: 'The chat is open and waits for an access token. Call updateAccessToken()',
            method: 'updateAccessToken()',
          }
        : { code: 'connected', text: 'Connected' }
    case 'CLOSED': {
      const isUsedUp = failure instanceof ConnectionError && failure.reason === 'attempts_used_up'
      const text = isUsedUp
        ? 'The chat is closed: all reconnect attempts are used up. Call connect() to try again'
        : closed?.remedy
          ? `The chat is closed: ${why}. ${closed.remedy.replace(/\.$/, '')}`
          : `The chat is closed${why ? `: ${why}` : ''}. Call connect() to open it again`
      return { code: 'closed', text, method: 'connect()', ...facts(parts) }
    }
    default:
      return state satisfies never
  }
}

/** The wait before the next attempt; undefined when there is none. */
function retryOf(parts: ExplainedParts, code: 'reconnecting' | 'initialize_retry', start: string): Cause | undefined {
  const { environment, status, config } = parts.scope
  if (status.retryAt === undefined) return undefined
  const retryInMs = Math.max(0, status.retryAt - environment.clock.monotonic())
  const isOffline = environment.page?.window?.navigator.onLine === false
  const maxAttempts = config.maxReconnectAttempts
  const { attempts: attempt } = status.retry ?? parts.connection.retry
  const count = Number.isFinite(maxAttempts) ? ` (attempt ${attempt} of ${maxAttempts})` : ''
  const why = whyClosed(parts)
  const wait = retryInMs === 0 ? 'now' : `in ${Math.ceil(retryInMs / 1000)} s`
  return {
    ...(isOffline
      ? { code: 'offline' as const, text: `The device is offline. ${start} when the network returns` }
      : { code, text: `${start} ${wait}${count}${why ? `: ${why}` : ''}` }),
    retryInMs,
    attempt,
    maxAttempts,
    ...facts(parts),
  }
}

function facts({ scope: { status } }: ExplainedParts): Pick<Explanation, 'closed' | 'error'> {
  const { closed, failure } = status
  return { ...(closed && { closed }), ...(failure && { error: failure }) }
}

/** Why the chat is not open, as a part of a sentence; empty when there is nothing to say. */
function whyClosed({ scope }: ExplainedParts): string {
  const { closed, failure } = scope.status
  if (failure) return reasonOf(failure)
  if (!closed) return ''
  switch (closed.cause) {
    case 'left':
      return 'it was left'
    case 'network':
      return 'the connection broke'
    case 'dead_connection':
      return 'the connection did not answer any more'
    case 'session_unknown':
      return 'the service does not know the session any more'
    case 'frame_too_large':
      return 'a message of the service was too large'
    case 'service_restart':
    case 'service_error':
    case 'ended_by_service':
      return `the service closed with ${closed.code}`
    default:
      return closed.cause satisfies never
  }
}

/** The first sentence of an error, as a part of a sentence. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const [first = message] = message.split(/\.(?:\s|$)/)
  return first.charAt(0).toLowerCase() + first.slice(1)
}

const LOGIN_REASONS: ReadonlySet<string> = new Set([
  'token_missing',
  'interaction_required',
  'popup_blocked',
  'popup_closed',
  'popup_timeout',
])

function needsLogin(error: unknown): boolean {
  if (error instanceof AuthError) return LOGIN_REASONS.has(error.reason)
  return error instanceof SDKError && (error.code as string) === 'AUTH_TOKEN_REQUIRED'
}
