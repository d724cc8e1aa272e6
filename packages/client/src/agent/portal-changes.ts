import type { UserProfile } from '@aiagent/protocol'
import type { ChatSession } from '../chat/chat-session.ts'
import type { CallState } from '../contact-center/connector/call-state.ts'
import { PROFILE_ATTRIBUTE } from '../contact-center/portal/portal-context.ts'
import type { ContextStore } from '../conversation/context-store.ts'
import { SDKError } from '../errors.ts'
import type { Startup } from './lifecycle.ts'
import { type Conversation, dropConversation, restartConversation } from './restart-conversation.ts'

/** What a change of portal or profile touches. */
export interface DeskConversation extends Conversation {
  readonly startup: Startup
  readonly session: ChatSession
  readonly context: ContextStore
  readonly calls: CallState
  /** Tells the host that the agent is ready again, with what was chosen. */
  readonly emitInitialized: () => void
}

/**
 * Leaves the chat and the session: what belonged to the portal ends here.
 *
 * @param requireCurrent throws when another choice took the place of this one, whose conversation is none of its business
 */
export async function leaveForPortal(
  conversation: Conversation & { readonly session: ChatSession },
  requireCurrent: () => void,
): Promise<void> {
  await conversation.chat.disconnect()
  requireCurrent()
  dropConversation(conversation)
  conversation.session.forget(conversation.session.id)
}

/** Runs the choice of portal, agent and profile anew; an agent without one starts its conversation over (FLOW-21). */
export async function restartPortals(conversation: DeskConversation, signal: AbortSignal | undefined): Promise<void> {
  const { startup, calls } = conversation
  startup.requireAlive('restartPortalInitializer()')
  const pipeline = startup.desk?.pipeline
  if (!pipeline || !startup.hasChoice) {
    startup.requireFacts('restartPortalInitializer()')
    return restartConversation(conversation, undefined, signal)
  }
  const requireCurrent = startup.reopen(false)
  await pipeline.reset()
  await leaveForPortal(conversation, requireCurrent)
  if (startup.desk?.isTest) calls.clearTranscript()
  await startup.chooseAgain(signal)
}

/** Takes another profile after completion: the service is told, and a new session starts with it (FLOW-15). */
export async function changeUserProfile(
  conversation: DeskConversation,
  profile: UserProfile,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { startup, context, emitInitialized } = conversation
  startup.requireFacts('updateUserProfile()')
  const pipeline = startup.requirePipeline('updateUserProfile()')
  if (!pipeline.outcome) throw new SDKError('updateUserProfile() needs a chosen portal.', 'NOT_INITIALIZED')
  const outcome = await pipeline.updateProfile(profile, { signal })
  const stored = context.get()?.[PROFILE_ATTRIBUTE]
  if (stored !== undefined && outcome.profile) {
    const id = String(outcome.profile.id)
    const isObject = typeof stored === 'object' && stored !== null && !Array.isArray(stored)
    context.merge({ [PROFILE_ATTRIBUTE]: isObject ? { ...stored, value: id } : id })
  }
  await restartConversation(conversation, undefined, signal)
  emitInitialized()
}
