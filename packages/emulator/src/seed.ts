import { type AgentDetails, SCOPE } from '@aiagent/protocol'

/** A customer of the hosted service. */
export interface TenantSeed {
  /** Stands in token addresses. */
  id: string
  /** The short name. */
  identifier: string
  /** Prefix of API scopes in token requests. */
  permissionPrefix: string
  /** Parent of the chat host, where agents name no host of their own. */
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
  details: AgentDetails & { agentId: string }
  /** The only attributes that a context may have. Without it, all are welcome. */
  contextAttributes?: Readonly<Record<string, ContextAttributeSeed>>
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
}

export interface WorldSeed {
  /** The first is the one that deployment info describes. */
  tenants: readonly TenantSeed[]
  agents: readonly AgentSeed[]
  clients: readonly ClientSeed[]
  users: readonly UserSeed[]
}

/** The small world that an emulator starts with: a help centre for everybody, and an agent for customers who signed in. */
export const DEFAULT_WORLD: WorldSeed = {
  tenants: [
    {
      id: 'TEN0001',
      identifier: 'acme',
      permissionPrefix: 'api://acme/',
      aiAgentDomain: 'agent.local.test',
      clientId: 'app-any',
      intClientId: 'app-int',
      extClientId: 'app-ext',
      version: '21.23.0',
    },
  ],
  agents: [
    {
      details: {
        agentId: 'help',
        name: 'Help Centre',
        agentProfileDetails: { name: 'Help Centre' },
        isAuthenticated: false,
        userType: 'customer',
        departmentId: '999',
        languageCode: 'en-us',
        enableDataMasking: false,
      },
    },
    {
      details: {
        agentId: 'account',
        name: 'Account Desk',
        agentProfileDetails: { name: 'Account Desk' },
        isAuthenticated: true,
        userType: 'customer',
        departmentId: '999',
        languageCode: 'en-us',
        enableDataMasking: false,
      },
    },
  ],
  clients: [{ id: 'demo-service', secret: 'demo-secret', scopes: [SCOPE.PORTAL_MANAGER, SCOPE.AI_SERVICES] }],
  users: [
    { id: 'desk-agent', userType: 'agent', name: 'Desk agent', email: 'desk-agent@people.example' },
    { id: 'desk-supervisor', userType: 'agent', name: 'Desk supervisor', email: 'desk-supervisor@people.example' },
    { id: 'customer', userType: 'customer', name: 'Customer', email: 'customer@people.example' },
    { id: 'new-customer', userType: 'customer', name: 'New customer', email: 'new-customer@people.example' },
  ],
}
