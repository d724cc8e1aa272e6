import type { AgentDetails } from '@aiagent/protocol'
import type { KnownInitParams } from '../../init-params.ts'

/** Whether a portal must be entered before the chat (FLOW-01). */
export function needsPortal(
  agent: Pick<AgentDetails, 'portals'>,
  params: Pick<KnownInitParams, 'portalIds' | 'isDefaultAgent'>,
): boolean {
  return params.portalIds.length > 0 || Boolean(agent.portals?.length) || params.isDefaultAgent
}

/** Whether the portals are those for customers, rather than the user's own. */
export function listsForCustomers(agent: Pick<AgentDetails, 'userType' | 'portals'>): boolean {
  return agent.userType === 'customer' && Boolean(agent.portals?.length)
}

/** The department whose portals are offered: the agent's, else the host's. A blank one counts as missing. */
export function departmentOf(
  agent: Pick<AgentDetails, 'departmentId'>,
  params: Pick<KnownInitParams, 'departmentId'>,
): string | undefined {
  return String(agent.departmentId ?? '').trim() || params.departmentId
}

/** Whether the portal itself determines the profile, rather than the user's list of profiles (INIT-05). */
export function usesPortalProfile(
  agent: Pick<AgentDetails, 'userType'>,
  params: Pick<KnownInitParams, 'authType'>,
): boolean {
  return agent.userType === 'customer' || params.authType === 'customer'
}

/** Whether the selected profile is stored at the service. */
export function persistsProfile(
  agent: Pick<AgentDetails, 'userType'>,
  params: Pick<KnownInitParams, 'authType'>,
): boolean {
  if (usesPortalProfile(agent, params)) return false
  const isUser = agent.userType === 'agent' || params.authType === 'user'
  return isUser || (!agent.userType?.trim() && !params.authType)
}
