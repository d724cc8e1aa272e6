import type { AuthenticationService } from '../auth/authentication-service.ts'
import type { ChatSession } from '../chat/chat-session.ts'
import type { ContextStore } from '../conversation/context-store.ts'
import type { LazyPart } from '../util/lazy-part.ts'
import type { Startup } from './lifecycle.ts'
import { type Conversation, dropConversation } from './restart-conversation.ts'

/** What belongs to the person who is signed in. */
export interface Presence extends Conversation {
  readonly startup: Startup
  readonly session: ChatSession
  readonly context: ContextStore
  readonly authentication: AuthenticationService
  /** What keeps the session for a later page. */
  readonly resumption: LazyPart<{ forget(): Promise<void> }> | undefined
}

/**
 * Leaves the chat, forgets what belonged to the person, and signs out; in this order, since a logout by redirect leaves
 * the page and never comes back to this line (AUTH-20, AUTH-23).
 */
export async function signOut(presence: Presence): Promise<void> {
  const { startup, chat, session, context, authentication, resumption } = presence
  startup.requireAlive('logout()')
  await chat.disconnect()
  session.forget(session.id)
  await resumption?.(part => part.forget())
  await context.remove()
  context.belongTo(undefined)
  await startup.forgetPerson()
  startup.reset()
  // Only now: what the person wrote until here belongs to nobody else.
  dropConversation(presence)
  await authentication.logout()
}
