import type { AgentDetails } from '@aiagent/protocol'
import type { KnownInitParams } from '../../init-params.ts'

/** The agent details that the portal selection depends on. */
export type PortalAgent = Pick<AgentDetails, 'userType' | 'portals' | 'departmentId'>

/** The init parameters that the portal selection depends on. */
export type PortalParams = Pick<
  KnownInitParams,
  'portalIds' | 'departmentId' | 'userId' | 'authType' | 'isDefaultAgent'
>

/** Whether a portal must be entered before the chat (FLOW-01). */
export function needsPortal(
  agent: Pick<PortalAgent, 'portals'>,
  params: Pick<PortalParams, 'portalIds' | 'isDefaultAgent'>,
): boolean {
  return params.portalIds.length > 0 || Boolean(agent.portals?.length) || params.isDefaultAgent
}
