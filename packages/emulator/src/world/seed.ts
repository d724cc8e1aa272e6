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
  clientId?: string
  intClientId?: string
  extClientId?: string
  /** Further applications that people may sign in to, by client id. */
  loginClientIds?: readonly string[]
  /** Version of the deployment. */
  version?: string
}

/** An attribute that an agent knows of. */
export interface ContextAttributeSeed {
  type?: string
  /** Longest value in characters; the setting `contextValueLimit` otherwise. */
  maxLength?: number
}

/** An agent, as its details tell, and what only the service knows of it. */
export interface AgentSeed {
  details: OpenRecord<AgentDetails> & { agentId: string }
  /** The only attributes that a context may have. Without it, all are welcome. */
  contextAttributes?: Readonly<Record<string, ContextAttributeSeed>>
  /** The applications it is connected to. None by default. */
  apps?: readonly ConnectedApp[]
}

/** A program that gets tokens with its own credentials. */
export interface ClientSeed {
  id: string
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
  email?: string
  /** The tenant they belong to; the first one by default. */
  tenantId?: string
  /** The profile they used last in each portal, by the portal's id. */
  lastUsedProfiles?: Readonly<Record<string, Id>>
  /** What else their details tell. */
  details?: Readonly<Record<string, unknown>>
}

export interface WorldSeed {
  /** The first is the one that deployment info describes. */
  tenants: readonly TenantSeed[]
  agents: readonly AgentSeed[]
  clients: readonly ClientSeed[]
  users: readonly UserSeed[]
  departments: readonly DepartmentSeed[]
  portals: readonly PortalSeed[]
}
