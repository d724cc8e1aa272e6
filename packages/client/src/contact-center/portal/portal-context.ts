import { type Id, isJsonObject } from '@aiagent/protocol'

/** Attribute of the context that names the portal: it chooses for the person, and tells a session where it belongs. */
export const PORTAL_ATTRIBUTE = 'vendor_portal_id'

/** Attribute of the context that names the profile to take. */
export const PROFILE_ATTRIBUTE = 'vendor_personalization_profile_id'

const DESCRIPTION = 'Portal id to use'

/**
 * The context as a new session gets it: with the chosen portal as the attribute `vendor_portal_id`, which the agent's
 * language model does not see. What the host wrote into that attribute stays, but for value, type and visibility.
 */
export function withPortalAttribute(context: Readonly<Record<string, unknown>>, portalId: Id): Record<string, unknown> {
  const given = context[PORTAL_ATTRIBUTE]
  const attribute = isJsonObject(given) ? given : {}
  const { description } = attribute
  return {
    ...context,
    [PORTAL_ATTRIBUTE]: {
      ...attribute,
      value: String(portalId),
      type: 'string',
      notInLLM: true,
      description: typeof description === 'string' && description.trim() ? description : DESCRIPTION,
    },
  }
}
