import { type AgentListItem, type Id, sameId, type UserProfile } from '@aiagent/protocol'
import { chooseProfile } from './auto-select.ts'
import type { Complete, EnteredPortal, PortalOutcome, Progress, Stop } from './pipeline-stage.ts'
import { persistsProfile, usesPortalProfile } from './portal-flow.ts'
import { type PortalRun, pipelineError, said } from './portal-run.ts'

/** A profile of this id stands for none: the service knows nothing of it. */
const NO_PROFILE = 'none'

/** Takes the profile that can be taken without asking, or stops at the last gate. */
export async function settleProfile(
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
  return takeProfile(run, entered, agent, choice, signal)
}

/**
 * Takes a profile: the service is told of it where it wants to know, then it is remembered.
 *
 * @throws {InitializationPipelineError} `PROFILE_PERSIST_FAILED`
 */
export async function takeProfile(
  run: PortalRun,
  entered: EnteredPortal,
  agent: AgentListItem | undefined,
  { profile, madeUp }: { profile: UserProfile; madeUp: boolean },
  signal: AbortSignal,
): Promise<Complete> {
  const { portal } = entered
  const persists = !madeUp && !sameId(profile.id, NO_PROFILE) && persistsProfile(run.agent, run.params)
  if (persists) await persist(run, { portal, agent }, profile, signal)
  signal.throwIfAborted()
  await run.selectedProfiles.remember(run.storagePrefix, portal.id, profile, run.person)
  return complete(run, entered, agent, profile, persists ? profile.id : undefined)
}

/**
 * Takes another profile after completion (FLOW-15). Kept lists of profiles are stale from then on, also when the service
 * refuses: who is asked to choose again shall see what the service knows.
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
  // The list is from before: what the service was told since then counts more.
  const isToldSince = listed !== undefined && persistedId !== undefined
  const isKnown = isToldSince ? sameId(persistedId, listed.id) : profile.isLastUsedInPortal === true
  const persists = !isKnown && !sameId(profile.id, NO_PROFILE) && !usesPortalProfile(run.agent, run.params)
  try {
    if (persists) await persist(run, outcome, profile, signal)
  } finally {
    await run.profileCache.forget()
    await run.api
      .invalidateCache('getUserProfiles')
      .catch(error => run.onWarning('Kept profiles could not be forgotten.', { error }))
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
  { portal, agent }: Pick<PortalOutcome, 'portal' | 'agent'>,
  profile: UserProfile,
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.selectUserProfile({ portalId: portal.id, profileId: profile.id, signal })
  } catch (cause) {
    const progress: Progress = { portal, agent }
    const message = `The service did not take the profile.${said(cause)}`
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
  // A customer's profiles come with the portal and the context, which may be others the next time.
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
