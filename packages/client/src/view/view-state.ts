import type { AiAgent } from '../index.ts'
import { type ConnectionFacts, connectionLine } from './connection-line.ts'
import { type ConversationError, remedyOf } from './conversation-error.ts'
import { NONE } from './conversation-message.ts'
import type { ConversationSnapshot } from './conversation-view.ts'
import { keepSame } from './keep-same.ts'
import type { MessageList } from './message-list.ts'

/** What a snapshot is made of, beside what the agent and the list of messages own. */
export interface ViewFacts {
  isWorking: boolean
  retryAt: number | undefined
  isOffline: boolean
  isSilent: boolean
  /** Whether the chat asked for a token that nothing but the user or the host can bring. */
  needsToken: boolean
  unread: number
  draft: string
  error: unknown
}

export const NO_FACTS: ViewFacts = {
  isWorking: false,
  retryAt: undefined,
  isOffline: false,
  isSilent: false,
  needsToken: false,
  unread: 0,
  draft: '',
  error: undefined,
}

/** The snapshot before anything happened, on a server too. */
export const EMPTY_SNAPSHOT: ConversationSnapshot = Object.freeze({
  messages: NONE,
  connection: Object.freeze(
    connectionLine({ phase: { at: 'idle' }, state: 'IDLE', retryAt: undefined, isOffline: false, isSilent: false }),
  ),
  gate: undefined,
  needsLogin: false,
  escalation: undefined,
  isWorking: false,
  unread: 0,
  draft: '',
  error: undefined,
})

/** The next snapshot; the one before where nothing has changed. */
export function snapshotOf(
  agent: Pick<AiAgent, 'getPhase' | 'getState'>,
  list: MessageList,
  facts: ViewFacts,
  before: ConversationSnapshot,
): ConversationSnapshot {
  const phase = agent.getPhase()
  const messages = list.get()
  const connection = keepSame(
    before.connection,
    Object.freeze(connectionLine({ ...facts, phase, state: agent.getState() } satisfies ConnectionFacts)),
  )
  const choice = phase.at === 'choosing' ? phase.choice : undefined
  const error = errorOf(facts.error, connection.state, before.error)
  return keepSame(
    before,
    Object.freeze({
      messages: messages.length ? messages : NONE,
      connection,
      gate: choice && keepSame(before.gate, Object.freeze(choice)),
      needsLogin: facts.needsToken || connection.remedy === 'login',
      escalation: list.escalation,
      isWorking: facts.isWorking,
      unread: facts.unread,
      draft: facts.draft,
      error,
    }),
  )
}

function errorOf(
  error: unknown,
  state: ConversationSnapshot['connection']['state'],
  before: ConversationError | undefined,
): ConversationError | undefined {
  if (error === undefined) return undefined
  const remedy = remedyOf(error)
  const message = error instanceof Error ? error.message : String(error)
  const isWaiting = remedy === 'retry' && (state === 'reconnecting' || state === 'connecting')
  return keepSame(before, Object.freeze({ error, message, remedy: isWaiting ? 'wait' : remedy }))
}
