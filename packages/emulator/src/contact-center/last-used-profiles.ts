import { type Id, sameId } from '@aiagent/protocol'
import type { UserSeed } from '../world/seed.ts'

/** Owns which profile each user selected last in each portal. */
export class LastUsedProfiles {
  readonly #bySubject = new Map<string, Map<string, Id>>()

  /** Called after each change. */
  onChange: () => void = () => {}

  constructor(users: readonly UserSeed[]) {
    for (const { id, lastUsedProfiles = {} } of users)
      for (const [portalId, profileId] of Object.entries(lastUsedProfiles)) this.set(id, portalId, profileId)
  }

  /** All choices, as plain data. */
  entries(): [subject: string, portalId: string, profileId: Id][] {
    return [...this.#bySubject].flatMap(([subject, portals]) =>
      [...portals].map(([portalId, profileId]): [string, string, Id] => [subject, portalId, profileId]),
    )
  }

  /** Stores which profile a user selected in a portal, replacing an earlier one. */
  set(subject: string, portalId: Id, profileId: Id): void {
    const known = this.#bySubject.get(subject) ?? new Map<string, Id>()
    this.#bySubject.set(subject, known.set(String(portalId), profileId))
    this.onChange()
  }

  /** Whether the user last selected this profile in this portal. */
  has(subject: string, portalId: Id, profileId: Id): boolean {
    return sameId(this.#bySubject.get(subject)?.get(String(portalId)), profileId)
  }
}
