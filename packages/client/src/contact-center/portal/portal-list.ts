import { type Id, isJsonObject, type Portal, sameId } from '@aiagent/protocol'
import { untilAborted } from '../../util/abort.ts'
import { choosePortal } from './auto-select.ts'
import type { PortalAgent, PortalParams } from './portal-flow.ts'
import { causeMessage, type PortalHooks, type PortalRun, pipelineError } from './portal-run.ts'

/** The portals to choose from, and the one that is selected automatically. */
export interface PortalChoice {
  readonly portals: readonly Portal[]
  readonly chosen: Portal | undefined
}

/**
 * Loads the choices of the portal gate.
 *
 * @throws {InitializationPipelineError} `PORTAL_FETCH_FAILED`, `DEPARTMENT_ID_REQUIRED`, `NO_PORTALS`
 */
export async function listPortals(run: PortalRun, signal: AbortSignal): Promise<PortalChoice> {
  const [portals] = await Promise.all([fetchPortals(run, signal), run.ready])
  signal.throwIfAborted()
  const { list, connectorDefault } = mayAskConnector(run) ? await askConnector(run, portals, signal) : { list: portals }
  if (list.length === 0)
    throw pipelineError('NO_PORTALS', 'portal', 'No portal is available to this user for this agent.')
  return { portals: Object.freeze(list), chosen: connectorDefault ?? choosePortal(list, run.context) }
}

async function fetchPortals(run: PortalRun, signal: AbortSignal): Promise<Portal[]> {
  const { api, agent, params } = run
  if (params.portalIds.length > 0) return params.portalIds.map(id => ({ id }))
  const { userId, isDefaultAgent } = params
  if (listsForCustomers(agent)) {
    const departmentId = agent.departmentId ?? undefined
    const portals = await orFetchError(api.getPortals({ departmentId, userId, signal }))
    return isDefaultAgent ? portals : servedByAgent(portals, agent)
  }
  if (!isDefaultAgent) return servedByAgent(await orFetchError(api.getMyPortals({ userId, signal })), agent)
  const department = departmentOf(agent, params)
  if (department === undefined)
    throw pipelineError(
      'DEPARTMENT_ID_REQUIRED',
      'portal',
      'The agent details name no department, so the portals cannot be loaded. Set initParams.departmentId.',
    )
  const portals = await orFetchError(api.getMyPortals({ userId, signal }))
  return portals.filter(portal => sameId(portal.department?.id, department))
}

async function orFetchError(list: Promise<Portal[]>): Promise<Portal[]> {
  try {
    return await list
  } catch (cause) {
    throw pipelineError('PORTAL_FETCH_FAILED', 'portal', `Could not load the portals.${causeMessage(cause)}`, {}, cause)
  }
}

/** The agent's portals; all portals if the agent lists none. */
function servedByAgent(portals: Portal[], { portals: served }: Pick<PortalAgent, 'portals'>): Portal[] {
  if (!served?.length) return portals
  const ids = served.map((entry): Id => (typeof entry === 'object' ? entry.id : entry))
  return portals.filter(({ id }) => ids.some(each => sameId(each, id)))
}

/** Hooks are called for the user's own portals only (INIT-03). */
function mayAskConnector({ params, agent }: PortalRun): boolean {
  return params.portalIds.length === 0 && !listsForCustomers(agent)
}

async function askConnector(
  { hooks = {}, onWarning }: PortalRun,
  portals: Portal[],
  signal: AbortSignal,
): Promise<{ list: Portal[]; connectorDefault?: Portal | undefined }> {
  const ask = <T>(hook: (portals: Portal[]) => T, list: Portal[]) =>
    untilAborted(
      // A hook may throw, and may change the list that it receives.
      new Promise<T>(resolve => resolve(hook(list.map(portal => ({ ...portal }))))),
      signal,
    )
  try {
    const list = hooks.getPortalList ? portalsIn(await ask(hooks.getPortalList, portals)) : portals
    if (list.length === 0 || !hooks.getDefaultPortal) return { list }
    const named = await ask(hooks.getDefaultPortal, list)
    if (!isPortal(named)) return { list }
    const { id } = named
    const connectorDefault = list.find(portal => sameId(portal.id, id))
    if (!connectorDefault) onWarning('The default portal of the connector is not in the list and is ignored.', { id })
    return { list, connectorDefault }
  } catch (cause) {
    signal.throwIfAborted()
    throw connectorFailed(hooks, cause)
  }
}

function connectorFailed({ address }: PortalHooks, cause: unknown) {
  const where = address ? ` at ${address}` : ''
  const message = `No portal is available: a portal hook of the connector${where} failed.${causeMessage(cause)}`
  return pipelineError('NO_PORTALS', 'portal', message, {}, cause)
}

/** The portals in a connector's answer; anything but an array counts as empty. */
function portalsIn(answer: unknown): Portal[] {
  return Array.isArray(answer) ? answer.filter(isPortal).map(portal => ({ ...portal })) : []
}

function isPortal(value: unknown): value is Portal {
  if (!isJsonObject(value)) return false
  const { id } = value
  return typeof id === 'number' || (typeof id === 'string' && id !== '')
}

/** Whether the portals are those for customers, rather than the user's own. */
export function listsForCustomers(agent: Pick<PortalAgent, 'userType' | 'portals'>): boolean {
  return agent.userType === 'customer' && Boolean(agent.portals?.length)
}

/** The department whose portals are offered: the agent's, else the host's. A blank one counts as missing. */
export function departmentOf(
  agent: Pick<PortalAgent, 'departmentId'>,
  params: Pick<PortalParams, 'departmentId'>,
): string | undefined {
  return String(agent.departmentId ?? '').trim() || params.departmentId
}
