import type { AgentListItem } from '@aiagent/protocol'
import type { EnteredPortal } from './pipeline-stage.ts'
import { type PortalRun, pipelineError, said } from './portal-run.ts'

/**
 * What can be chosen at the second gate: the agents of the portal that was entered.
 *
 * @throws {InitializationPipelineError} `DEPARTMENT_ID_REQUIRED`, `NO_AGENTS_FOR_PORTAL`
 */
export async function listAgents(
  { api }: PortalRun,
  { portal, details }: EnteredPortal,
  signal: AbortSignal,
): Promise<readonly AgentListItem[]> {
  const departmentId = String(details?.departmentId ?? '').trim()
  if (departmentId === '')
    throw pipelineError(
      'DEPARTMENT_ID_REQUIRED',
      'agent',
      'The portal belongs to no department, so its agents are unknown. Choose another portal.',
      { portal },
    )
  const agents = await api.getAgentsByPortal({ departmentId, portalId: portal.id, signal }).catch(cause => {
    const message = `The agents of the portal could not be had.${said(cause)}`
    throw pipelineError('NO_AGENTS_FOR_PORTAL', 'agent', message, { portal }, cause)
  })
  if (agents.length === 0)
    throw pipelineError('NO_AGENTS_FOR_PORTAL', 'agent', 'The portal has no agent. Choose another portal.', { portal })
  return Object.freeze(agents)
}
