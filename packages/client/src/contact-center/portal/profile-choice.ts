import { type AgentListItem, type Id, sameId, type UserProfile } from '@aiagent/protocol'
import type { PortalSelection } from '../../facts.ts'
import { chooseProfile } from './auto-select.ts'
import type { Complete, EnteredPortal, Progress, Stop } from './pipeline-stage.ts'
import { causeMessage, type PortalRun, pipelineError } from './portal-run.ts'
import { persistsProfile, usesPortalProfile } from './profile-mode.ts'

/** Pseudo id for "no profile": the service does not know it. */
const NO_PROFILE = 'none'

/** Applies the profile that can be selected automatically, or stops at the profile gate. */
export async function resolveProfile(
  run: PortalRun,
  entered: EnteredPortal,
  agent: AgentListItem | undefined,
  signal: AbortSignal,
): Promise<Stop> {
  const { portal, details, profiles } = entered
  const rememberedId = await run.selectedProfiles.recall(run.storagePrefix, portal.id, run.person)
  const choice = chooseProfile({ profiles, context: run.context, rememberedId, details })
  if (choice.kind === 'ask') return { at: 'profile', entered, agent }
  if (choice.kind === 'none') return complete(run, entered, agent, undefined)
  return applyProfile(run, entered, agent, choice, signal)
}

/**
 * Applies a profile: stores it at the service if required, then in the tab.
 *
 * @throws {InitializationPipelineError} `PROFILE_PERSIST_FAILED`
 */
export async function applyProfile(
  run: PortalRun,
  entered: EnteredPortal,
  agent: AgentListItem | undefined,
  { profile, synthetic }: { profile: UserProfile; synthetic: boolean },
  signal: AbortSignal,
): Promise<Complete> {
  const { portal } = entered
  const persists = !synthetic && !sameId(profile.id, NO_PROFILE) && persistsProfile(run.agent, run.params)
  if (persists) await persist(run, { portal, agent }, profile, signal)
  signal.throwIfAborted()
  await run.selectedProfiles.remember(run.storagePrefix, portal.id, profile, run.person)
  return complete(run, entered, agent, profile, persists ? profile.id : undefined)
}

/**
 * Applies another profile after completion (FLOW-15). Cached profile lists are then stale, even if the service rejects
 * the change.
 *
 * @throws {InitializationPipelineError} `PROFILE_PERSIST_FAILED`
 */
export async function changeProfile(
  run: PortalRun,
  { outcome, persistedId }: Complete,
  given: UserProfile,
  signal: AbortSignal,
): Promise<Complete> {
  const { portal, availableProfiles } = outcome
  const listed = availableProfiles.find(({ id }) => sameId(id, given.id))
  const profile = listed ?? given
  // The list is older than the last profile that was stored at the service.
  const wasStoredSince = listed !== undefined && persistedId !== undefined
  const isKnown = wasStoredSince ? sameId(persistedId, listed.id) : profile.isLastUsedInPortal === true
  const persists = !isKnown && !sameId(profile.id, NO_PROFILE) && !usesPortalProfile(run.agent, run.params)
  try {
    if (persists) await persist(run, outcome, profile, signal)
  } finally {
    await run.profileCache.forget()
    await run.api
      .invalidateCache('getUserProfiles')
      .catch(error => run.onWarning('Could not remove the cached profiles.', { error }))
  }
  signal.throwIfAborted()
  await run.selectedProfiles.remember(run.storagePrefix, portal.id, profile, run.person)
  return {
    at: 'complete',
    outcome: Object.freeze({ ...outcome, profile }),
    persistedId: persists ? profile.id : persistedId,
  }
}

async function persist(
  { api }: PortalRun,
  { portal, agent }: Pick<PortalSelection, 'portal' | 'agent'>,
  profile: UserProfile,
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.selectUserProfile({ portalId: portal.id, profileId: profile.id, signal })
  } catch (cause) {
    const progress: Progress = { portal, agent }
    const message = `Could not store the profile at the service.${causeMessage(cause)}`
    throw pipelineError('PROFILE_PERSIST_FAILED', 'profile', message, progress, cause)
  }
}

async function complete(
  run: PortalRun,
  { portals, portal, details, profiles }: EnteredPortal,
  agent: AgentListItem | undefined,
  profile: UserProfile | undefined,
  persistedId?: Id,
): Promise<Complete> {
  // A customer's profiles depend on the portal and the context, which may differ the next time.
  if (!usesPortalProfile(run.agent, run.params)) await run.profileCache.keep(portal.id, run.person, profiles)
  const outcome = Object.freeze({
    portal,
    portalDetails: details,
    agent,
    profile,
    availableProfiles: profiles,
    availablePortals: portals,
  })
  return { at: 'complete', outcome, persistedId }
}
