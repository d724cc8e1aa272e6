import { isJsonObject, type Portal, type PortalDetails, sameId, type UserProfile } from '@aiagent/protocol'
import { untilAborted } from '../../util/abort.ts'
import { portalProfiles } from './auto-select.ts'
import type { EnteredPortal } from './pipeline-stage.ts'
import { causeMessage, type PortalRun, pipelineError } from './portal-run.ts'
import { usesPortalProfile } from './profile-mode.ts'

/**
 * Loads a portal's details, its profiles and the connector's filter tags, in parallel.
 *
 * @throws {InitializationPipelineError} `PORTAL_DETAILS_FAILED`, which has priority, or `PROFILE_FETCH_FAILED`
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
  // A failure of the details is reported first, also when the profiles fail earlier.
  profilesAsked.catch(() => {})
  const details = await detailsAsked.catch(cause => {
    const message = `Could not load the portal details.${causeMessage(cause)}`
    throw pipelineError('PORTAL_DETAILS_FAILED', 'portal', message, { portal }, cause)
  })
  const profiles = await profilesAsked.catch(cause => {
    const message = `Could not load the profiles.${causeMessage(cause)}`
    throw pipelineError('PROFILE_FETCH_FAILED', 'profile', message, { portal }, cause)
  })
  const tags = await tagsAsked
  signal.throwIfAborted()
  if (tags) run.onFilterTags(tags)
  return { ...withPortalName(portals, portal, details), details, profiles: Object.freeze(profiles) }
}

async function loadProfiles(run: PortalRun, portal: Portal, signal: AbortSignal): Promise<readonly UserProfile[]> {
  const kept = await run.profileCache.get(portal.id, run.person)
  return kept ?? run.api.getUserProfiles({ portalId: portal.id, signal })
}

/** The connector's filter tags for a portal: `{}` when the hook fails, undefined without a hook. Never rejects. */
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
    if (!signal.aborted) onWarning('The connector’s hook onPortalSelected() failed.', { error })
    return {}
  }
}

/** Replaces the portal's name by that of the details: portals that the host lists by id have no name. */
function withPortalName(
  portals: readonly Portal[],
  portal: Portal,
  details: PortalDetails | null,
): Pick<EnteredPortal, 'portals' | 'portal'> {
  const name = details?.name
  if (!name?.trim()) return { portals, portal }
  const renamed = { ...portal, name }
  return { portal: renamed, portals: Object.freeze(portals.map(each => (sameId(each.id, portal.id) ? renamed : each))) }
}
