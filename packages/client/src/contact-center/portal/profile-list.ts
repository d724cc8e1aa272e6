import { isJsonObject, type Portal, type PortalDetails, sameId, type UserProfile } from '@aiagent/protocol'
import { untilAborted } from '../../util/abort.ts'
import { portalProfiles } from './auto-select.ts'
import type { EnteredPortal } from './pipeline-stage.ts'
import { usesPortalProfile } from './portal-flow.ts'
import { type PortalRun, pipelineError, said } from './portal-run.ts'

/**
 * Enters a portal: its details, the profiles in it and the connector's filter tags, all asked for at the same time.
 *
 * @throws {InitializationPipelineError} `PORTAL_DETAILS_FAILED`, which goes first, or `PROFILE_FETCH_FAILED`
 */
export async function enterPortal(
  run: PortalRun,
  portals: readonly Portal[],
  portal: Portal,
  signal: AbortSignal,
): Promise<EnteredPortal> {
  const detailsAsked = run.api.getPortalDetails({ portalId: portal.id, signal })
  const profilesAsked = usesPortalProfile(run.agent, run.params)
    ? detailsAsked.then(details => portalProfiles(details, run.context))
    : loadProfiles(run, portal, signal)
  const tagsAsked = filterTags(run, portal, signal)
  // Failures of the details go first, whichever arrives first; those of the profiles may have nobody who waits then.
  profilesAsked.catch(() => {})
  const details = await detailsAsked.catch(cause => {
    const message = `What the portal is could not be learned.${said(cause)}`
    throw pipelineError('PORTAL_DETAILS_FAILED', 'portal', message, { portal }, cause)
  })
  const profiles = await profilesAsked.catch(cause => {
    const message = `The profiles could not be had.${said(cause)}`
    throw pipelineError('PROFILE_FETCH_FAILED', 'profile', message, { portal }, cause)
  })
  const tags = await tagsAsked
  signal.throwIfAborted()
  if (tags) run.onFilterTags(tags)
  return { ...named(portals, portal, details), details, profiles: Object.freeze(profiles) }
}

async function loadProfiles(run: PortalRun, portal: Portal, signal: AbortSignal): Promise<readonly UserProfile[]> {
  const kept = await run.profileCache.get(portal.id, run.person)
  return kept ?? run.api.getUserProfiles({ portalId: portal.id, signal })
}

/** The tags that a connector wants for a portal; none where it fails, and nothing where it has no say. It never rejects. */
async function filterTags(
  { hooks, onWarning }: PortalRun,
  portal: Portal,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const hook = hooks?.onPortalSelected
  if (!hook) return undefined
  try {
    const answer = await untilAborted(new Promise<unknown>(resolve => resolve(hook({ ...portal }))), signal)
    return isJsonObject(answer) ? answer : undefined
  } catch (error) {
    if (!signal.aborted) onWarning('The connector failed when it was told of the portal.', { error })
    return {}
  }
}

/** The portals with the name that the details give: portals the host named by id alone have none of their own. */
function named(
  portals: readonly Portal[],
  portal: Portal,
  details: PortalDetails | null,
): Pick<EnteredPortal, 'portals' | 'portal'> {
  const name = details?.name
  if (!name?.trim()) return { portals, portal }
  const renamed = { ...portal, name }
  return { portal: renamed, portals: Object.freeze(portals.map(each => (sameId(each.id, portal.id) ? renamed : each))) }
}
