import type { AgentListItem } from '@aiagent/protocol'
import type { EnteredPortal } from './pipeline-stage.ts'
import { causeMessage, type PortalRun, pipelineError } from './portal-run.ts'

/**
 * Loads the choices of the agent gate: the agents of the selected portal.
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
      'The portal details name no department, so the agents cannot be loaded. Select another portal.',
      { portal },
    )
  const agents = await api.getAgentsByPortal({ departmentId, portalId: portal.id, signal }).catch(cause => {
    const message = `Could not load the agents of the portal.${causeMessage(cause)}`
    throw pipelineError('NO_AGENTS_FOR_PORTAL', 'agent', message, { portal }, cause)
  })
  if (agents.length === 0)
    throw pipelineError('NO_AGENTS_FOR_PORTAL', 'agent', 'The portal has no agents. Select another portal.', { portal })
  return Object.freeze(agents)
}
