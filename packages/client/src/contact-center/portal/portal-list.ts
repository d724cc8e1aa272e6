import { type Id, isJsonObject, type Portal, sameId } from '@aiagent/protocol'
import { untilAborted } from '../../util/abort.ts'
import { choosePortal } from './auto-select.ts'
import { departmentOf, listsForCustomers, type PortalAgent } from './portal-flow.ts'
import { type PortalHooks, type PortalRun, pipelineError, said } from './portal-run.ts'

/** The portals to choose from, and the one to take without asking. */
export interface PortalChoice {
  readonly portals: readonly Portal[]
  readonly chosen: Portal | undefined
}

/**
 * What can be chosen at the first gate.
 *
 * @throws {InitializationPipelineError} `PORTAL_FETCH_FAILED`, `DEPARTMENT_ID_REQUIRED`, `NO_PORTALS`
 */
export async function listPortals(run: PortalRun, signal: AbortSignal): Promise<PortalChoice> {
  const [portals] = await Promise.all([fetchPortals(run, signal), run.ready])
  signal.throwIfAborted()
  const { list, byConnector } = mayAskConnector(run) ? await askConnector(run, portals, signal) : { list: portals }
  if (list.length === 0)
    throw pipelineError('NO_PORTALS', 'portal', 'There is no portal that this person and this agent have in common.')
  return { portals: Object.freeze(list), chosen: byConnector ?? choosePortal(list, run.context) }
}

async function fetchPortals(run: PortalRun, signal: AbortSignal): Promise<Portal[]> {
  const { api, agent, params } = run
  if (params.portalIds.length > 0) return params.portalIds.map(id => ({ id }))
  const { userId, isDefaultAgent } = params
  if (listsForCustomers(agent)) {
    const departmentId = agent.departmentId ?? undefined
    const portals = await fetched(api.getPortals({ departmentId, userId, signal }))
    return isDefaultAgent ? portals : served(portals, agent)
  }
  if (!isDefaultAgent) return served(await fetched(api.getMyPortals({ userId, signal })), agent)
  const department = departmentOf(agent, params)
  if (department === undefined)
    throw pipelineError(
      'DEPARTMENT_ID_REQUIRED',
      'portal',
      'The agent belongs to no department, so its portals are unknown. Set initParams.departmentId.',
    )
  const portals = await fetched(api.getMyPortals({ userId, signal }))
  return portals.filter(portal => sameId(portal.department?.id, department))
}

async function fetched(list: Promise<Portal[]>): Promise<Portal[]> {
  try {
    return await list
  } catch (cause) {
    throw pipelineError('PORTAL_FETCH_FAILED', 'portal', `The portals could not be had.${said(cause)}`, {}, cause)
  }
}

/** The portals that an agent serves; an agent that names none serves all. */
function served(portals: Portal[], { portals: of }: Pick<PortalAgent, 'portals'>): Portal[] {
  if (!of?.length) return portals
  const ids = of.map((entry): Id => (typeof entry === 'object' ? entry.id : entry))
  return portals.filter(({ id }) => ids.some(each => sameId(each, id)))
}

/** Hooks are asked about a user's own portals only (INIT-03). */
function mayAskConnector({ params, agent }: PortalRun): boolean {
  return params.portalIds.length === 0 && !listsForCustomers(agent)
}

async function askConnector(
  { hooks = {}, onWarning }: PortalRun,
  portals: Portal[],
  signal: AbortSignal,
): Promise<{ list: Portal[]; byConnector?: Portal | undefined }> {
  const ask = <T>(hook: (portals: Portal[]) => T, list: Portal[]) =>
    untilAborted(
      // A hook may throw, and may change the list that it gets.
      new Promise<T>(resolve => resolve(hook(list.map(portal => ({ ...portal }))))),
      signal,
    )
  try {
    const list = hooks.getPortalList ? portalsIn(await ask(hooks.getPortalList, portals)) : portals
    if (list.length === 0 || !hooks.getDefaultPortal) return { list }
    const named = await ask(hooks.getDefaultPortal, list)
    if (!isPortal(named)) return { list }
    const { id } = named
    const byConnector = list.find(portal => sameId(portal.id, id))
    if (!byConnector)
      onWarning('The default portal of the connector is none of those to choose from, and is ignored.', { id })
    return { list, byConnector }
  } catch (cause) {
    signal.throwIfAborted()
    throw connectorFailed(hooks, cause)
  }
}

function connectorFailed({ address }: PortalHooks, cause: unknown) {
  const where = address ? ` at ${address}` : ''
  const message = `No portal is left: the connector${where} failed while it was asked for portals.${said(cause)}`
  return pipelineError('NO_PORTALS', 'portal', message, {}, cause)
}

/** What a connector gave for a list: its portals; what is no list counts as an empty one. */
function portalsIn(answer: unknown): Portal[] {
  return Array.isArray(answer) ? answer.filter(isPortal).map(portal => ({ ...portal })) : []
}

function isPortal(value: unknown): value is Portal {
  if (!isJsonObject(value)) return false
  const { id } = value
  return typeof id === 'number' || (typeof id === 'string' && id !== '')
}
