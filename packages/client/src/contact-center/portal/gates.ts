import type { AgentDetails, AgentListItem, Portal, UserProfile } from '@aiagent/protocol'
import type { KnownInitParams } from '../../init-params.ts'

/**
 * What `initialize()` and the `select…()` methods resolve with: the agent is ready, or the user must choose at a gate.
 * Answer `portal` with `selectPortal()`, `agent` with `selectAgent()` and `profile` with `selectUserProfile()`.
 */
export type InitializationResult =
  | { readonly status: 'ready' }
  | { readonly status: 'choose'; readonly gate: 'portal'; readonly choices: readonly Portal[] }
  | { readonly status: 'choose'; readonly gate: 'agent'; readonly choices: readonly AgentListItem[] }
  | { readonly status: 'choose'; readonly gate: 'profile'; readonly choices: readonly UserProfile[] }

/** The method that answers each gate. */
export const SELECT_METHODS = {
  portal: 'selectPortal()',
  agent: 'selectAgent()',
  profile: 'selectUserProfile()',
} as const

/** Whether a portal must be entered before the chat (FLOW-01). */
export function needsPortal(
  agent: Pick<AgentDetails, 'portals'>,
  params: Pick<KnownInitParams, 'portalIds' | 'isDefaultAgent'>,
): boolean {
  return params.portalIds.length > 0 || Boolean(agent.portals?.length) || params.isDefaultAgent
}

/** Whether the portal itself determines the profile, rather than the user's list of profiles (INIT-05). */
export function usesPortalProfile(
  agent: Pick<AgentDetails, 'userType'>,
  params: Pick<KnownInitParams, 'authType'>,
): boolean {
  return agent.userType === 'customer' || params.authType === 'customer'
}
