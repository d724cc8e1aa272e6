import {
  type AgentDetails,
  type Id,
  isJsonObject,
  type Portal,
  type PortalDetails,
  sameId,
  type UserProfile,
} from '@aiagent/protocol'
import { PORTAL_ATTRIBUTE } from '../../chat/context-store.ts'
import type { KnownInitParams } from '../../init-params.ts'
import { usesPortalProfile } from './gates.ts'

/** Context attribute that names the profile to select. */
const PROFILE_ATTRIBUTE = 'vendor_personalization_profile_id'

/** Initial context of a conversation, by attribute name. */
export type InitialContext = Readonly<Record<string, unknown>>

/** The portal to select automatically: the only one, else the one named in the context. */
export function choosePortal(portals: readonly Portal[], context: InitialContext): Portal | undefined {
  if (portals.length === 1) return portals[0]
  return findById(portals, idInContext(context, PORTAL_ATTRIBUTE))
}

/** The profile decision: one is selected, there is none, or the user must choose. */
export type ProfileChoice =
  | {
      kind: 'take'
      profile: UserProfile
      /** True when the id comes from the context and no list contains it, so the service does not know it. */
      synthetic: boolean
    }
  | { kind: 'none' }
  | { kind: 'ask' }

export interface ProfileFacts {
  profiles: readonly UserProfile[]
  context: InitialContext
  /** Id of the profile that was last selected in this portal. */
  rememberedId: Id | undefined
  details: PortalDetails | null
}

/** The profile to select automatically, in the order of FLOW-11. */
export function chooseProfile({ profiles, context, rememberedId, details }: ProfileFacts): ProfileChoice {
  const named = idInContext(context, PROFILE_ATTRIBUTE)
  const [first, second] = profiles
  if (!first) return named ? { kind: 'take', profile: syntheticProfile(named), synthetic: true } : { kind: 'none' }
  const profile = second
    ? (findById(profiles, rememberedId) ??
      findById(profiles, named) ??
      profiles.find(({ isLastUsedInPortal }) => isLastUsedInPortal === true) ??
      findById(profiles, details?.portalSettings?.defaultUserProfile?.id))
    : first
  return profile ? { kind: 'take', profile, synthetic: false } : { kind: 'ask' }
}

/**
 * The profiles of a customer, who has no list: the portal's default, or only the one named in the context if it differs.
 */
export function portalProfiles(details: PortalDetails | null, context: InitialContext): UserProfile[] {
  const { id, ...rest } = details?.portalSettings?.defaultUserProfile ?? {}
  const named = idInContext(context, PROFILE_ATTRIBUTE)
  if (named && !sameId(id, named)) return [syntheticProfile(named)]
  return id === undefined || id === null || id === '' ? [] : [{ ...rest, id }]
}

/** An id in the context: plain, or as `{ value }`. A blank one counts as missing. */
export function idInContext(context: InitialContext, attribute: string): string | undefined {
  if (!Object.hasOwn(context, attribute)) return undefined
  const given = context[attribute]
  const value = isJsonObject(given) ? given['value'] : given
  if (typeof value === 'string') return value.trim() || undefined
  return Number.isSafeInteger(value) ? String(value) : undefined
}

function findById<T extends { id: Id }>(list: readonly T[], id: Id | null | undefined): T | undefined {
  return list.find(each => sameId(each.id, id))
}

function syntheticProfile(id: string): UserProfile {
  return { id, name: id }
}

/** The context attribute that names the profile, with another id; undefined when the context does not hold it. */
export function profileAttribute(
  context: Readonly<Record<string, unknown>> | null,
  profileId: Id,
): Record<string, unknown> | undefined {
  const stored = context?.[PROFILE_ATTRIBUTE]
  if (stored === undefined) return undefined
  const id = String(profileId)
  return { [PROFILE_ATTRIBUTE]: isJsonObject(stored) ? { ...stored, value: id } : id }
}

/** Whether the portals are those for customers, rather than the user's own. */
export function listsForCustomers(agent: Pick<AgentDetails, 'userType' | 'portals'>): boolean {
  return agent.userType === 'customer' && Boolean(agent.portals?.length)
}

/** The department whose portals are offered: the agent's, else the host's. A blank one counts as missing. */
export function departmentOf(
  agent: Pick<AgentDetails, 'departmentId'>,
  params: Pick<KnownInitParams, 'departmentId'>,
): string | undefined {
  return String(agent.departmentId ?? '').trim() || params.departmentId
}

/** Whether the selected profile is stored at the service. */
export function persistsProfile(
  agent: Pick<AgentDetails, 'userType'>,
  params: Pick<KnownInitParams, 'authType'>,
): boolean {
  if (usesPortalProfile(agent, params)) return false
  const isUser = agent.userType === 'agent' || params.authType === 'user'
  return isUser || (!agent.userType?.trim() && !params.authType)
}
