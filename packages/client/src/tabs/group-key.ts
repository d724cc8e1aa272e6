import { subjectFingerprint } from '../util/subject-fingerprint.ts'

/** Where the user is in the parts of a group's key: agent, portal, profile and version follow. A prefix of the host may come first. */
const USER = -5

/** Whether the tabs of a group are anonymous, so that none of them may have the token of a user. */
export function isAnonymous(key = ''): boolean {
  return key.split(':').at(USER) === 'anonymous'
}

/** The key of the tabs of a user, for one of the anonymous tabs with a key. */
export function keyFor(token: string, key: string): string {
  const parts = key.split(':')
  parts.splice(USER, 1, subjectFingerprint(token))
  return parts.join(':')
}
