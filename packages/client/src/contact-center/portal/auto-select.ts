import { type Id, isJsonObject, type Portal, type PortalDetails, sameId, type UserProfile } from '@aiagent/protocol'
import { PORTAL_ATTRIBUTE, PROFILE_ATTRIBUTE } from './portal-context.ts'

/** Attributes that a conversation starts with, by name. */
export type InitialContext = Readonly<Record<string, unknown>>

/** The portal to take without asking: the only one, else the one that the context names. */
export function choosePortal(portals: readonly Portal[], context: InitialContext): Portal | undefined {
  if (portals.length === 1) return portals[0]
  return findById(portals, idInContext(context, PORTAL_ATTRIBUTE))
}

/** What to do about the profile: take one, go on without, or ask. */
export type ProfileChoice =
  | {
      kind: 'take'
      profile: UserProfile
      /** True: the context names it and no list has it, so the service is not told of it. */
      madeUp: boolean
    }
  | { kind: 'none' }
  | { kind: 'ask' }

export interface ProfileFacts {
  profiles: readonly UserProfile[]
  context: InitialContext
  /** What was chosen in this portal before. */
  rememberedId: Id | undefined
  details: PortalDetails | null
}

/** The profile to take without asking, in the order of FLOW-11. */
export function chooseProfile({ profiles, context, rememberedId, details }: ProfileFacts): ProfileChoice {
  const named = idInContext(context, PROFILE_ATTRIBUTE)
  const [first, second] = profiles
  if (!first) return named ? { kind: 'take', profile: madeUpProfile(named), madeUp: true } : { kind: 'none' }
  const profile = second
    ? (findById(profiles, rememberedId) ??
      findById(profiles, named) ??
      profiles.find(({ isLastUsedInPortal }) => isLastUsedInPortal === true) ??
      findById(profiles, details?.portalSettings?.defaultUserProfile?.id))
    : first
  return profile ? { kind: 'take', profile, madeUp: false } : { kind: 'ask' }
}

/**
 * The profiles of a customer, who has no list: the portal's default or, where the context names another, only that one.
 */
export function portalProfiles(details: PortalDetails | null, context: InitialContext): UserProfile[] {
  const { id, ...rest } = details?.portalSettings?.defaultUserProfile ?? {}
  const named = idInContext(context, PROFILE_ATTRIBUTE)
  if (named && !sameId(id, named)) return [madeUpProfile(named)]
  return id === undefined || id === null || id === '' ? [] : [{ ...rest, id }]
}

/** An id that the context carries: plain, or as `{ value }`. Blank counts as none. */
export function idInContext(context: InitialContext, attribute: string): string | undefined {
  if (!Object.hasOwn(context, attribute)) return undefined
  const given = context[attribute]
  const value = isJsonObject(given) ? given['value'] : given
  if (typeof value === 'string') return value.trim() || undefined
  return Number.isFinite(value) ? String(value) : undefined
}

function findById<T extends { id: Id }>(list: readonly T[], id: Id | null | undefined): T | undefined {
  return list.find(each => sameId(each.id, id))
}

function madeUpProfile(id: string): UserProfile {
  return { id, name: id }
}
