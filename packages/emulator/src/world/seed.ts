import type { AgentDetails, Id, OpenRecord } from '@aiagent/protocol'
import type { ConnectedApp, DepartmentSeed, PortalSeed } from '../contact-center/contact-center-seed.ts'

/** A customer of the hosted service. */
export interface TenantSeed {
  /** Stands in token addresses. */
  id: string
  /** The short name. */
  identifier: string
  /** Prefix of API scopes in token requests. */
  permissionPrefix: string
  /** Parent of the chat host, for agents without a host. */
  aiAgentDomain: string
  /** Client id of logins for kinds of users without one. @default none */
  clientId?: string
  /** Client id of logins of the deployment's staff. @default none */
  intClientId?: string
  /** Client id of logins of customers. @default none */
  extClientId?: string
  /** Further applications that people may sign in to, by client id. */
  loginClientIds?: readonly string[]
  /** Version of the deployment. */
  version?: string
}

/** An attribute that an agent knows of. */
export interface ContextAttributeSeed {
  /** Required type of the value, such as `string` or `number`. @default any */
  type?: string
  /** Longest value in characters; the setting `contextValueLimit` otherwise. */
  maxLength?: number
}

/** An agent, as its details tell, and what only the service knows of it. */
export interface AgentSeed {
  /** Details that the service returns; other fields than the known ones pass through. */
  details: OpenRecord<AgentDetails> & { agentId: string }
  /** The only attributes that a context may have. Without it, all are welcome. */
  contextAttributes?: Readonly<Record<string, ContextAttributeSeed>>
  /** The applications it is connected to. None by default. */
  apps?: readonly ConnectedApp[]
}

/** A program that gets tokens with its own credentials. */
export interface ClientSeed {
  /** Client id. */
  id: string
  /** Secret of the client. */
  secret: string
  /** Granted when a request names none. */
  scopes: readonly string[]
}

/** A person who can sign in. */
export interface UserSeed {
  /** Subject of the person's tokens. */
  id: string
  /** Who they are to the deployment: its own staff, or a customer. Decides which login they belong to. */
  userType: 'agent' | 'customer'
  /** The role they play here. */
  name: string
  /** Email address, in the user's details and in the OpenID claim `email`. @default none */
  email?: string
  /** The tenant they belong to; the first one by default. */
  tenantId?: string
  /** The profile they used last in each portal, by the portal's id. */
  lastUsedProfiles?: Readonly<Record<string, Id>>
  /** What else their details tell. */
  details?: Readonly<Record<string, unknown>>
}

/** Data that an emulated service starts with. */
export interface WorldSeed {
  /** The first is the one that deployment info describes. */
  tenants: readonly TenantSeed[]
  /** The agents of all tenants. */
  agents: readonly AgentSeed[]
  /** Programs with credentials. */
  clients: readonly ClientSeed[]
  /** The users who can sign in. */
  users: readonly UserSeed[]
  /** The departments of all tenants. */
  departments: readonly DepartmentSeed[]
  /** The portals of all departments. */
  portals: readonly PortalSeed[]
}
