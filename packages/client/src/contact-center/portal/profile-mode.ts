import type { PortalAgent, PortalParams } from './portal-flow.ts'

/** Whether the portal itself determines the profile, rather than the user's list of profiles (INIT-05). */
export function usesPortalProfile(
  agent: Pick<PortalAgent, 'userType'>,
  params: Pick<PortalParams, 'authType'>,
): boolean {
  return agent.userType === 'customer' || params.authType === 'customer'
}

/** Whether the selected profile is stored at the service. */
export function persistsProfile(agent: Pick<PortalAgent, 'userType'>, params: Pick<PortalParams, 'authType'>): boolean {
  if (usesPortalProfile(agent, params)) return false
  const isUser = agent.userType === 'agent' || params.authType === 'user'
  return isUser || (!agent.userType?.trim() && !params.authType)
}
