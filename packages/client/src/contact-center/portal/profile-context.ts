import { type Id, isJsonObject } from '@aiagent/protocol'

/** Context attribute that names the profile to select. */
export const PROFILE_ATTRIBUTE = 'vendor_personalization_profile_id'

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
