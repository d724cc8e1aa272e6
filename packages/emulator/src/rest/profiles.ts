import { sameId, type UserProfileList } from '@aiagent/protocol'
import { ANONYMOUS_SUBJECT } from '../oauth/keys.ts'
import type { World } from '../world/world.ts'
import { RestError } from './error.ts'
import { enterPortal } from './portals.ts'

/** The profiles of a portal, with the last selected one of the user marked. */
export function listProfiles(world: World, subject: string, portalId: string): Required<UserProfileList> {
  const portal = enterPortal(world, subject, portalId)
  return {
    profile: portal.profiles.map(({ id, name }) => ({
      id,
      name,
      isLastUsedInPortal: world.lastUsedProfiles.has(subject, portal.id, id),
    })),
  }
}

/**
 * Selects a profile: it becomes the last used one. Nothing is stored for anonymous users.
 *
 * @throws {RestError} 404 when the portal has no such profile
 */
export function selectProfile(world: World, subject: string, portalId: string, profileId: string): void {
  const portal = enterPortal(world, subject, portalId)
  const profile = portal.profiles.find(({ id }) => sameId(id, profileId))
  if (!profile) throw new RestError(404, '005', `The portal "${portalId}" has no profile "${profileId}".`)
  if (subject !== ANONYMOUS_SUBJECT) world.lastUsedProfiles.set(subject, portal.id, profile.id)
}
