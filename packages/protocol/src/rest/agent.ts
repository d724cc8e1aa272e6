import * as v from 'valibot'
import { jsonObject, recordList } from '../json-object.ts'
import { IdSchema } from './id.ts'

const text = v.nullish(v.string())
const flag = v.nullish(v.boolean())

/** What the service says of one agent. `GET …/aiagent/details/agent/{agentId}`. */
export const AgentDetailsSchema = jsonObject({
  agentId: v.nullish(IdSchema),
  name: text,
  agentProfileDetails: v.nullish(jsonObject({ name: text })),
  agentType: text,
  /** True: a person must sign in, and the chat wants a token frame. */
  isAuthenticated: flag,
  /** `agent` or `customer`. */
  userType: text,
  /** Ids, or objects with an id, of the portals the agent serves. */
  portals: v.nullish(v.array(v.union([IdSchema, jsonObject({ id: IdSchema })]))),
  departmentId: v.nullish(IdSchema),
  languageCode: text,
  enableDataMasking: flag,
  /** Host of the chat socket, when it is not the deployment's own. */
  webSocketDomain: text,
  /** Further scopes of this agent: a list, or text split on commas and blanks. */
  extraScopes: v.nullish(v.union([v.array(v.string()), v.string()])),
  clientAppId: text,
})
/** What the service says of one agent, read; fields that are not listed pass through. */
export type AgentDetails = v.InferOutput<typeof AgentDetailsSchema>

/** The part of the agent details that decides how to sign in. */
export type AgentAuthDetails = Pick<AgentDetails, 'isAuthenticated' | 'userType' | 'extraScopes' | 'clientAppId'>

/** An agent to choose from. `GET …/details/department/{departmentId}/portal/{portalId}`. */
export const AgentListItemSchema = jsonObject({
  agentId: IdSchema,
  name: text,
  description: text,
})
/** An agent to choose from. */
export type AgentListItem = v.InferOutput<typeof AgentListItemSchema>

/** The agents of a portal: a bare list. A client reads anything else as empty. */
export const AgentListSchema = recordList(AgentListItemSchema)

/** The name to show for an agent: its own, else its profile's, else empty. */
export function agentDisplayName(agent: Pick<AgentDetails, 'name' | 'agentProfileDetails'>): string {
  return agent.name || agent.agentProfileDetails?.name || ''
}
