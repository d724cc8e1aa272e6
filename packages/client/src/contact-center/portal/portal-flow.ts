import type { AgentDetails } from '@aiagent/protocol'
import type { KnownInitParams } from '../../init-params.ts'

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
