import {
  type AgentDetails,
  type AgentListItem,
  type Id,
  isId,
  isJsonObject,
  type Portal,
  type PortalDetails,
  sameId,
  type UserProfile,
} from '@aiagent/protocol'
import type { AuthenticationService } from '../../auth/authentication-service.ts'
import {
  InitializationPipelineError,
  type InitializationPipelineErrorCode,
  type InitializationPipelineStage,
} from '../../errors.ts'
import type { LoadedAgent, PortalSelection } from '../../facts.ts'
import * as calls from '../../rest/service-calls.ts'
import type { AgentScope } from '../../scope.ts'
import type { Awaitable } from '../../storage/cache-adapter.ts'
import { untilAborted } from '../../util/abort.ts'
import { subjectFingerprint } from '../../util/jwt.ts'
import type { CallState } from '../connector/call-state.ts'
import type { ConnectorPortalHooks } from '../connector/platform-connector.ts'
import {
  choosePortal,
  chooseProfile,
  departmentOf,
  type InitialContext,
  listsForCustomers,
  persistsProfile,
  portalProfiles,
} from './auto-select.ts'
import { usesPortalProfile } from './gates.ts'
import type { Complete, EnteredPortal, Progress, Stop } from './pipeline-stage.ts'
import { type ProfileCache, type SelectedProfileStore, storagePrefix } from './profile-stores.ts'

/** Pseudo id for "no profile": the service does not know it. */
const NO_PROFILE = 'none'

/** Input of a run. */
export interface PortalInput {
  readonly loaded: LoadedAgent
  /** Initial context of the conversation; not the stored one. */
  readonly context: InitialContext
  readonly hooks?: ConnectorPortalHooks | undefined
  /** The portal list is fetched in parallel, and processed when this is fulfilled. The run fails when it rejects. */
  readonly ready?: Promise<unknown> | undefined
}

/** What every run uses. Nothing is called for a run that was replaced, reset or destroyed. */
export interface PortalParts {
  readonly scope: AgentScope<'portalsAvailable' | 'agentsAvailable' | 'profilesAvailable'>
  readonly authentication: Pick<AuthenticationService, 'getToken'>
  readonly profileCache: ProfileCache
  readonly selectedProfiles: SelectedProfileStore
  /** Receives the filter tags of the connector. */
  readonly calls: CallState
  /** Everything is selected. Called once for each run, and awaited. */
  onComplete(selection: PortalSelection): Awaitable<void>
  /** A completed run is replaced by one at another portal: the chat of the old one ends. Awaited. */
  onSwitch(portal: Portal): Awaitable<void>
}

/**
 * One run through portal, agent and profile: loads the choices of each gate, and applies what is selected. The pipeline decides which
 * step is next.
 */
export class PortalRun {
  readonly #input: PortalInput
  readonly #parts: PortalParts
  /** Fingerprint of the user. */
  readonly #user: string
  /** Distinguishes deployments in session storage. */
  readonly #prefix: string

  private constructor(input: PortalInput, parts: PortalParts, user: string, prefix: string) {
    this.#input = input
    this.#parts = parts
    this.#user = user
    this.#prefix = prefix
  }

  /**
   * Opens a run. Removes the selections of another user before anything of this one is read.
   *
   * @throws {InitializationPipelineError} `AUTH_TOKEN_REQUIRED` when there is no token
   */
  static async open(input: PortalInput, parts: PortalParts): Promise<PortalRun> {
    const { scope, authentication, profileCache, selectedProfiles } = parts
    const user = subjectFingerprint(await requireToken(authentication))
    const prefix = storagePrefix(input.loaded.deployment, scope.config.endpoint)
    await Promise.all([profileCache.claim(user), selectedProfiles.claim(prefix, user)])
    return new PortalRun(input, parts, user, prefix)
  }

  /** Why an entry of the last list was left out, for the error when nothing else is in it. */
  #leftOut = ''
  readonly #onLeftOut = (reason: string) => {
    this.#leftOut = ` ${reason}`
  }

  /** Whether the user selects an agent of the portal. */
  get hasAgents(): boolean {
    return this.#parts.scope.params.isDefaultAgent
  }

  // ── Portal ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Loads the choices of the portal gate, and selects one automatically if possible.
   *
   * @throws {InitializationPipelineError} `PORTAL_FETCH_FAILED`, `DEPARTMENT_ID_REQUIRED`, `NO_PORTALS`
   */
  async listPortals(signal: AbortSignal): Promise<{ portals: readonly Portal[]; chosen: Portal | undefined }> {
    const { loaded, context, ready } = this.#input
    const { params } = this.#parts.scope
    this.#leftOut = ''
    const [portals] = await Promise.all([this.#fetchPortals(signal), ready])
    signal.throwIfAborted()
    // Hooks are called for the user's own portals only (INIT-03).
    const hasHooks = params.portalIds.length === 0 && !listsForCustomers(loaded.agent)
    const { list, byDefault } = hasHooks ? await this.#askConnector(portals, signal) : { list: portals }
    if (list.length === 0)
      throw pipelineError('NO_PORTALS', 'portal', `No portal is available to this user for this agent.${this.#leftOut}`)
    return { portals: Object.freeze(list), chosen: byDefault ?? choosePortal(list, context) }
  }

  async #fetchPortals(signal: AbortSignal): Promise<Portal[]> {
    const { api, agent } = this.#input.loaded
    const onLeftOut = this.#onLeftOut
    const { params } = this.#parts.scope
    const { portalIds, userId, isDefaultAgent } = params
    if (portalIds.length > 0) return portalIds.map(id => ({ id }))
    const isForCustomers = listsForCustomers(agent)
    const department = departmentOf(agent, params)
    if (!isForCustomers && isDefaultAgent && department === undefined)
      throw pipelineError(
        'DEPARTMENT_ID_REQUIRED',
        'portal',
        'The agent details name no department, so the portals cannot be loaded. Set initParams.departmentId.',
      )
    const fetched = isForCustomers
      ? api.call(calls.getPortals, { departmentId: agent.departmentId ?? undefined, userId, signal, onLeftOut })
      : api.call(calls.getMyPortals, { userId, signal, onLeftOut })
    const portals = await fetched.catch(cause => {
      throw pipelineError('PORTAL_FETCH_FAILED', 'portal', 'Could not load the portals.', {}, cause)
    })
    if (!isDefaultAgent) return servedByAgent(portals, agent)
    return isForCustomers ? portals : portals.filter(portal => sameId(portal.department?.id, department))
  }

  async #askConnector(
    portals: Portal[],
    signal: AbortSignal,
  ): Promise<{ list: Portal[]; byDefault?: Portal | undefined }> {
    const { hooks } = this.#input
    const ask = <T>(hook: (portals: Portal[]) => T, list: Portal[]) =>
      untilAborted(
        // A hook may throw, and may change the list that it receives.
        new Promise<T>(resolve => resolve(hook(list.map(portal => ({ ...portal }))))),
        signal,
      )
    try {
      const list = hooks?.getPortalList ? portalsIn(await ask(hooks.getPortalList, portals)) : portals
      if (list.length === 0 || !hooks?.getDefaultPortal) return { list }
      const named = await ask(hooks.getDefaultPortal, list)
      if (!isPortal(named)) return { list }
      const { id } = named
      const byDefault = list.find(portal => sameId(portal.id, id))
      if (!byDefault)
        this.#parts.scope.logger.warn('The default portal of the connector is not in the list and is ignored.', { id })
      return { list, byDefault }
    } catch (cause) {
      signal.throwIfAborted()
      const where = hooks?.address ? ` at ${hooks.address}` : ''
      const message = `No portal is available: a portal hook of the connector${where} failed.`
      throw pipelineError('NO_PORTALS', 'portal', message, {}, cause)
    }
  }

  /**
   * Loads a portal's details, its profiles and the connector's filter tags, in parallel.
   *
   * @throws {InitializationPipelineError} `PORTAL_DETAILS_FAILED`, which has priority, or `PROFILE_FETCH_FAILED`
   */
  async enter(portals: readonly Portal[], portal: Portal, signal: AbortSignal): Promise<EnteredPortal> {
    const { context, loaded } = this.#input
    const { api } = loaded
    this.#leftOut = ''
    const detailsAsked = api.call(calls.getPortalDetails, { portalId: portal.id, signal, onLeftOut: this.#onLeftOut })
    const profilesAsked = this.#usesPortalProfile
      ? detailsAsked.then(details => portalProfiles(details, context))
      : this.#loadProfiles(portal, signal)
    const tagsAsked = this.#loadFilterTags(portal, signal)
    // A failure of the details is reported first, also when the profiles fail earlier.
    profilesAsked.catch(() => {})
    const details = await detailsAsked.catch(cause => {
      throw pipelineError('PORTAL_DETAILS_FAILED', 'portal', 'Could not load the portal details.', { portal }, cause)
    })
    const profiles = await profilesAsked.catch(cause => {
      throw pipelineError('PROFILE_FETCH_FAILED', 'profile', 'Could not load the profiles.', { portal }, cause)
    })
    const tags = await tagsAsked
    signal.throwIfAborted()
    if (tags) this.#setFilterTags(tags)
    return { ...withPortalName(portals, portal, details), details, profiles: Object.freeze(profiles) }
  }

  #setFilterTags(tags: Record<string, unknown>): void {
    const { calls, scope } = this.#parts
    try {
      calls.setUserFilterTags(tags)
    } catch (error) {
      scope.logger.warn('The filter tags of the connector are invalid.', { error })
    }
  }

  get #usesPortalProfile(): boolean {
    return usesPortalProfile(this.#input.loaded.agent, this.#parts.scope.params)
  }

  async #loadProfiles({ id: portalId }: Portal, signal: AbortSignal): Promise<readonly UserProfile[]> {
    const cached = await this.#parts.profileCache.get(portalId, this.#user)
    return cached ?? this.#input.loaded.api.call(calls.getUserProfiles, { portalId, signal })
  }

  /** The connector's filter tags for a portal: `{}` when the hook fails, undefined without a hook. Never rejects. */
  async #loadFilterTags(portal: Portal, signal: AbortSignal): Promise<Record<string, unknown> | undefined> {
    const hook = this.#input.hooks?.onPortalSelected
    if (!hook) return undefined
    try {
      const answer = await untilAborted(new Promise<unknown>(resolve => resolve(hook({ ...portal }))), signal)
      return isJsonObject(answer) ? answer : undefined
    } catch (error) {
      if (!signal.aborted) this.#parts.scope.logger.warn('The connector’s hook onPortalSelected() failed.', { error })
      return {}
    }
  }

  // ── Agent ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Loads the choices of the agent gate: the agents of the selected portal.
   *
   * @throws {InitializationPipelineError} `DEPARTMENT_ID_REQUIRED`, `NO_AGENTS_FOR_PORTAL`
   */
  async listAgents({ portal, details }: EnteredPortal, signal: AbortSignal): Promise<readonly AgentListItem[]> {
    const departmentId = String(details?.departmentId ?? '').trim()
    if (departmentId === '')
      throw pipelineError(
        'DEPARTMENT_ID_REQUIRED',
        'agent',
        `The portal details name no department, so the agents cannot be loaded.${this.#leftOut} Select another portal.`,
        { portal },
      )
    const onLeftOut = this.#onLeftOut
    const asked = this.#input.loaded.api.call(calls.getAgentsByPortal, {
      departmentId,
      portalId: portal.id,
      signal,
      onLeftOut,
    })
    const agents = await asked.catch(cause => {
      throw pipelineError(
        'NO_AGENTS_FOR_PORTAL',
        'agent',
        'Could not load the agents of the portal.',
        { portal },
        cause,
      )
    })
    if (agents.length > 0) return Object.freeze(agents)
    const message = `The portal has no agents.${this.#leftOut} Select another portal.`
    throw pipelineError('NO_AGENTS_FOR_PORTAL', 'agent', message, { portal })
  }

  // ── Profile ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Applies the profile that can be selected automatically, or stops at the profile gate. */
  async resolveProfile(entered: EnteredPortal, agent: AgentListItem | undefined, signal: AbortSignal): Promise<Stop> {
    const { portal, details, profiles } = entered
    const { context } = this.#input
    const rememberedId = await this.#parts.selectedProfiles.load(this.#prefix, portal.id, this.#user)
    const choice = chooseProfile({ profiles, context, rememberedId, details })
    if (choice.kind === 'ask') return { at: 'profile', entered, agent }
    if (choice.kind === 'none') return this.#complete(entered, agent, undefined)
    return this.applyProfile(entered, agent, choice, signal)
  }

  /**
   * Applies a profile: stores it at the service if required, then in the tab.
   *
   * @throws {InitializationPipelineError} `PROFILE_PERSIST_FAILED`
   */
  async applyProfile(
    entered: EnteredPortal,
    agent: AgentListItem | undefined,
    { profile, synthetic }: { profile: UserProfile; synthetic: boolean },
    signal: AbortSignal,
  ): Promise<Complete> {
    const { portal } = entered
    const isStored =
      !synthetic &&
      !sameId(profile.id, NO_PROFILE) &&
      persistsProfile(this.#input.loaded.agent, this.#parts.scope.params)
    if (isStored) await this.#persist({ portal, agent }, profile, signal)
    await this.#remember(portal, profile, signal)
    return this.#complete(entered, agent, profile, isStored ? profile.id : undefined)
  }

  /**
   * Applies another profile after completion (FLOW-15). Cached profile lists are then stale, even if the service rejects
   * the change.
   *
   * @throws {InitializationPipelineError} `PROFILE_PERSIST_FAILED`
   */
  async changeProfile({ outcome, persistedId }: Complete, given: UserProfile, signal: AbortSignal): Promise<Complete> {
    const { portal, availableProfiles } = outcome
    const listed = availableProfiles.find(({ id }) => sameId(id, given.id))
    const profile = listed ?? given
    // The list is older than the last profile that was stored at the service.
    const wasStoredSince = listed !== undefined && persistedId !== undefined
    const isKnown = wasStoredSince ? sameId(persistedId, listed.id) : profile.isLastUsedInPortal === true
    const isStored = !isKnown && !sameId(profile.id, NO_PROFILE) && !this.#usesPortalProfile
    try {
      if (isStored) await this.#persist(outcome, profile, signal)
    } finally {
      await this.forgetProfiles()
      await this.#input.loaded.api
        .invalidateCache('getUserProfiles')
        .catch(error => this.#parts.scope.logger.warn('Could not remove the cached profiles.', { error }))
    }
    await this.#remember(portal, profile, signal)
    return {
      at: 'complete',
      outcome: Object.freeze({ ...outcome, profile }),
      persistedId: isStored ? profile.id : persistedId,
    }
  }

  /** Removes the cached profiles of the user, of one portal or of all. */
  forgetProfiles(portalId?: Id): Promise<void> {
    return this.#parts.profileCache.forget(this.#user, portalId)
  }

  async #persist(
    { portal, agent }: Pick<PortalSelection, 'portal' | 'agent'>,
    { id: profileId }: UserProfile,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#input.loaded.api
      .call(calls.selectUserProfile, { portalId: portal.id, profileId, signal })
      .catch(cause => {
        const message = 'Could not store the profile at the service.'
        throw pipelineError('PROFILE_PERSIST_FAILED', 'profile', message, { portal, agent }, cause)
      })
  }

  async #remember(portal: Portal, profile: UserProfile, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await this.#parts.selectedProfiles.remember(this.#prefix, portal.id, profile, this.#user)
  }

  async #complete(
    { portals, portal, details, profiles }: EnteredPortal,
    agent: AgentListItem | undefined,
    profile: UserProfile | undefined,
    persistedId?: Id,
  ): Promise<Complete> {
    // A customer's profiles depend on the portal and the context, which may differ the next time.
    if (!this.#usesPortalProfile) await this.#parts.profileCache.keep(portal.id, this.#user, profiles)
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
}

/** An error of the portal pipeline. The message of its cause is appended. */
export function pipelineError(
  code: InitializationPipelineErrorCode,
  stage: InitializationPipelineStage,
  message: string,
  { portal, agent }: Progress = {},
  cause?: unknown,
): InitializationPipelineError {
  const detail = cause instanceof Error && cause.message ? ` ${cause.message}` : ''
  const options = { stage, portal, agent, ...(cause !== undefined && { cause }) }
  return new InitializationPipelineError(message + detail, code, options)
}

/** @throws {InitializationPipelineError} `AUTH_TOKEN_REQUIRED` when there is none */
async function requireToken(authentication: PortalParts['authentication']): Promise<string> {
  let cause: unknown
  try {
    const token = (await authentication.getToken()).trim()
    if (token) return token
  } catch (error) {
    cause = error
  }
  const message = 'The portals need an access token, and none could be obtained.'
  throw pipelineError('AUTH_TOKEN_REQUIRED', 'start', message, {}, cause)
}

/** The agent's portals; all portals if the agent lists none. */
function servedByAgent(portals: Portal[], { portals: served }: AgentDetails): Portal[] {
  if (!served?.length) return portals
  const ids = served.map((entry): Id => (typeof entry === 'object' ? entry.id : entry))
  return portals.filter(({ id }) => ids.some(each => sameId(each, id)))
}

/** The portals in a connector's answer; anything but an array counts as empty. */
function portalsIn(answer: unknown): Portal[] {
  return Array.isArray(answer) ? answer.filter(isPortal).map(portal => ({ ...portal })) : []
}

function isPortal(value: unknown): value is Portal {
  return isJsonObject(value) && isId(value['id']) && value['id'] !== ''
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
