import { listOf, optional, type Reader, readFlag, readRecord, readText } from '../reading.ts'
import { type Id, readId } from './id.ts'

/** A personalization profile of a user within a portal, from `GET …/portals/{portalId}/userprofiles`. */
export interface UserProfile {
  /** Id of the profile. */
  id: Id
  /** Name to show. */
  name?: string | null
  /** True for the profile that the user worked with last. */
  isLastUsedInPortal?: boolean | null
}

/** The profiles of a user within a portal. A missing list reads as empty. */
export interface UserProfileList {
  /** The profiles. */
  profile?: UserProfile[] | null
}

/** @throws {ProtocolError} when the value is not an answer with profiles */
export const parseUserProfileList: Reader<UserProfileList> = (value, path, onLeftOut) => {
  const profile: Reader<UserProfile> = (each, at) =>
    readRecord<UserProfile>(each, at, { id: readId, name: optional(readText), isLastUsedInPortal: optional(readFlag) })
  return readRecord<UserProfileList>(value, path, { profile: optional(listOf(profile)) }, onLeftOut)
}
