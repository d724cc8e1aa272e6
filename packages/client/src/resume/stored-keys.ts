import type { AgentScope } from '../scope.ts'
import { ANONYMOUS, type KeyParts } from '../storage/keyed-store.ts'
import { fnv1a } from '../util/fnv1a.ts'

/**
 * The parts of a key that name the conversation of a user. Each portal and profile has its own, since they are part of the
 * session's context. Undefined while the user is unknown, and where users cannot be told apart.
 *
 * @param isOfTab whether they are the keys of a tab's own store
 */
export function conversationParts(
  { facts, environment, config }: Pick<AgentScope<never>, 'facts' | 'environment' | 'config'>,
  user: string | undefined,
  version: number,
  isOfTab = false,
): KeyParts | undefined {
  // A process may share its store between the conversations of many users.
  if (user === ANONYMOUS && !isOfTab && !environment.page && config.cache.contextPrefix === undefined) return undefined
  if (user === undefined) return undefined
  const { portal, profile } = facts.selection ?? {}
  const [portalId, profileId] = [portal?.id, profile?.id].map(id => String(id ?? ''))
  const hash = fnv1a(config.endpoint)
  return { hash, user, selectedAgent: facts.agentId, portal: portalId, profile: profileId, version: String(version) }
}

/**
 * The parts of the keys that go with a user, whatever the agent. Where the user is unknown: those of everybody in a store of
 * the page or the tab, and under a prefix, which names the conversation; elsewhere undefined.
 *
 * @param isOwn whether it is such a store
 */
export function partsOfUser(
  { config }: Pick<AgentScope<never>, 'config'>,
  user: string | undefined,
  isOwn: boolean,
): KeyParts | undefined {
  const isKnown = user !== undefined || isOwn || config.cache.contextPrefix !== undefined
  return isKnown ? { hash: fnv1a(config.endpoint), user } : undefined
}
