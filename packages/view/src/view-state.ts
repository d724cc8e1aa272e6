import type { AgentPhase, AiAgent, ConnectionState } from '@aiagent/client'
import { describeError, remedyOf } from './conversation-error.ts'
import { NONE } from './conversation-message.ts'
import type { ConversationConnectionState, ConversationSnapshot } from './conversation-snapshot.ts'
import { keepSame } from './keep-same.ts'
import type { ConversationDesk } from './live-desk.ts'
import type { MessageList } from './message-list.ts'

/** What a snapshot is made of, beside what the agent and the list of messages own. */
export interface ViewFacts {
  readonly retryAt?: number | undefined
  /** Whether the service has asked for that wait. */
  readonly isWaitAsked?: boolean
  readonly isOffline?: boolean
  readonly isSilent?: boolean
  /** Whether the chat asked for a token that nothing but the user or the host can bring. */
  readonly needsToken?: boolean
  /** Whether `login()` waits for the user. */
  readonly isSigningIn?: boolean
  readonly unread?: number
  readonly draft?: string
  readonly error?: unknown
  readonly desk?: ConversationDesk | undefined
}

/** The next snapshot; the one before where nothing has changed. */
export function snapshotOf(
  agent: Pick<AiAgent, 'status'>,
  list: Pick<MessageList, 'get' | 'escalation' | 'newSession'>,
  {
    retryAt,
    isWaitAsked = false,
    isOffline = false,
    isSilent = false,
    needsToken = false,
    isSigningIn = false,
    unread = 0,
    draft = '',
    error,
    desk,
  }: ViewFacts,
  before?: ConversationSnapshot,
): ConversationSnapshot {
  const { phase, connection, working } = agent.status
  const state = stateOf(phase, connection)
  const isWaiting = state === 'reconnecting' || state === 'connecting' || state === 'initializing'
  const remedy =
    state === 'failed' && phase.at === 'idle'
      ? remedyOf(phase.error)
      : isWaiting
        ? 'wait'
        : state === 'closed' && phase.at !== 'destroyed'
          ? 'retry'
          : 'none'
  const newSession = list.newSession()
  const choice = phase.at === 'choosing' ? phase.choice : undefined
  return share(before, {
    messages: list.get(),
    newSession: newSession && share(before?.newSession, newSession),
    connection: share(before?.connection, {
      state,
      retryAt: isWaiting ? retryAt : undefined,
      isWaitAsked: isWaiting && isWaitAsked,
      isOffline,
      isSilent: isSilent && state === 'connected',
      remedy,
    }),
    gate: choice && share(before?.gate, choice),
    needsLogin: needsToken || (isSigningIn && phase.at === 'preparing') || remedy === 'login',
    escalation: list.escalation(),
    desk: desk && share(before?.desk, desk),
    isWorking: working,
    unread,
    draft,
    error:
      error === undefined ? undefined : share(before?.error, describeError(error, phase.at === 'destroyed', isWaiting)),
  })
}

/** The snapshot before anything happened, on a server too. */
export const EMPTY_SNAPSHOT: ConversationSnapshot = /* @__PURE__ */ snapshotOf(
  { status: { phase: { at: 'idle' }, connection: 'IDLE', working: false, retryAt: undefined } },
  { get: () => NONE, escalation: () => undefined, newSession: () => undefined },
  {},
)

function share<T extends object>(before: T | undefined, after: T): T {
  return keepSame(before, Object.freeze(after))
}

function stateOf(phase: AgentPhase, socket: ConnectionState): ConversationConnectionState {
  const { at } = phase
  if (at === 'idle') return 'error' in phase ? 'failed' : at
  if (at === 'leaving') return 'idle'
  if (at === 'destroyed') return 'closed'
  if (at === 'choosing') return at
  // With `retryInitialize` it is the initialization that waits for its next attempt.
  return at === 'preparing' && socket !== 'RECONNECTING'
    ? 'initializing'
    : (socket.toLowerCase() as Lowercase<ConnectionState>)
}
