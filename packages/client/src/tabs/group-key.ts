import { subjectFingerprint } from '../util/subject-fingerprint.ts'

/** The anonymous user in the key of a group, and what follows it: agent, portal, profile and version. */
const ANONYMOUS = /:anonymous:((?:[^:]*:){3}[^:]*)$/

/** Whether the tabs of a group are anonymous, so that none of them may have the token of a user. */
export function isAnonymous(key = ''): boolean {
  return ANONYMOUS.test(key)
}

/** The key of the tabs of a user, for one of the anonymous tabs with a key. */
export function keyFor(token: string, key: string): string {
  return key.replace(ANONYMOUS, `:${subjectFingerprint(token)}:$1`)
}
