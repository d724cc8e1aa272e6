import { type Id, isJsonObject } from '@aiagent/protocol'

/** Context attribute that names the portal: it selects the portal automatically, and new sessions carry it. */
export const PORTAL_ATTRIBUTE = 'vendor_portal_id'

const DESCRIPTION = 'Portal id to use'

/**
 * The context of a new session: with the selected portal as the attribute `vendor_portal_id`, which the agent's language
 * model does not see. An attribute that the host has set keeps its other fields.
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
