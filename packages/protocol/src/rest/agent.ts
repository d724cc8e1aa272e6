import { listOf, optional, type Reader, readFlag, readRecord, readText, readTextOrTexts } from '../reading.ts'
import { type Id, readId } from './id.ts'

/** The profile of an agent, as far as a client reads it. */
export interface AgentProfileDetails {
  /** Name to show where the agent itself has none. */
  name?: string | null
}

/** A portal that an agent serves, where the service sends an object instead of the bare id. */
export interface PortalReference {
  /** Id of the portal. */
  id: Id
}

/**
 * The agent's record, from `GET …/aiagent/details/agent/{agentId}`. Every field may be missing or null; further fields
 * pass through, see {@link allFields}.
 */
export interface AgentDetails {
  /** Id of the agent. The client fills in the requested id where the service leaves it out. */
  agentId?: Id | null
  /** Name to show. Where it is empty, `agentProfileDetails.name` is used. */
  name?: string | null
  /** The agent's profile, which may hold its name. */
  agentProfileDetails?: AgentProfileDetails | null
  /** Kind of agent; `contact-center` is the known value. Information only. */
  agentType?: string | null
  /** True when a user must sign in; the chat then expects a token frame after each opening. */
  isAuthenticated?: boolean | null
  /** `agent` (a user of the contact center) or `customer`. Decides login, default scopes and portal list. */
  userType?: string | null
  /** Portals that the agent serves, as ids or objects with an id. A filled list starts the portal pipeline. */
  portals?: (Id | PortalReference)[] | null
  /** Department of the agent, for portals and masking rules. */
  departmentId?: Id | null
  /** Language of the following REST calls, such as `en-us`. */
  languageCode?: string | null
  /** True when the client must mask messages by the department's rules. */
  enableDataMasking?: boolean | null
  /** Host of the chat socket where it is not `chat.<aiAgentDomain>` of the deployment. */
  webSocketDomain?: string | null
  /** Further scopes that the agent needs: a list, or text split on commas and blanks. */
  extraScopes?: string[] | string | null
  /** OAuth client id for logins to this agent. */
  clientAppId?: string | null
}

/** The part of the agent details that decides how to sign in. */
export type AgentAuthDetails = Pick<AgentDetails, 'isAuthenticated' | 'userType' | 'extraScopes' | 'clientAppId'>

/** An agent to choose from, from `GET …/details/department/{departmentId}/portal/{portalId}`. */
export interface AgentListItem {
  /** Id of the agent. */
  agentId: Id
  /** Name to show. */
  name?: string | null
  /** A sentence about the agent. */
  description?: string | null
}

/** @throws {ProtocolError} when the value is not an agent record */
export const parseAgentDetails: Reader<AgentDetails> = (value, path, onLeftOut) => {
  const text = optional(readText)
  const id = optional(readId)
  const readers = {
    agentId: id,
    name: text,
    agentProfileDetails: optional((profile, at) => readRecord<AgentProfileDetails>(profile, at, { name: text })),
    agentType: text,
    isAuthenticated: optional(readFlag),
    userType: text,
    portals: optional(
      listOf((portal, at) =>
        typeof portal === 'object' ? readRecord<PortalReference>(portal, at, { id: readId }) : readId(portal, at),
      ),
    ),
    departmentId: id,
    languageCode: text,
    enableDataMasking: optional(readFlag),
    webSocketDomain: text,
    extraScopes: optional(readTextOrTexts),
    clientAppId: text,
  }
  return readRecord<AgentDetails>(value, path, readers, onLeftOut)
}

/**
 * Reads the agents of a portal: a bare list.
 *
 * @throws {ProtocolError} when the value is not a list
 */
export const parseAgentList: Reader<AgentListItem[]> = /* @__PURE__ */ listOf((item, at) => {
  const text = optional(readText)
  return readRecord<AgentListItem>(item, at, { agentId: readId, name: text, description: text })
})
