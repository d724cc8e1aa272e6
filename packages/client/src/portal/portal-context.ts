import { type Id, isJsonObject } from '@aiagent/protocol'

const DESCRIPTION = 'Portal id to use'

/**
 * The context as a new session gets it: with the chosen portal as the attribute `vendor_portal_id`, which the agent's
 * language model does not see. What the host wrote into that attribute stays, but for value, type and visibility.
 */
export function withPortalAttribute(context: Readonly<Record<string, unknown>>, portalId: Id): Record<string, unknown> {
  const given = context['vendor_portal_id']
  const attribute = isJsonObject(given) ? given : {}
  const { description } = attribute
  return {
    ...context,
    vendor_portal_id: {
      ...attribute,
      value: String(portalId),
      type: 'string',
      notInLLM: true,
      description: typeof description === 'string' && description.trim() ? description : DESCRIPTION,
    },
  }
}
