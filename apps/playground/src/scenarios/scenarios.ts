import type { AiAgentConfig } from '@aiagent/client'
import type { UserSeed } from '@aiagent/emulator'

/** A conversation to try. */
export interface Scenario {
  readonly id: string
  readonly title: string
  /** What is special about it, in a sentence. */
  readonly description: string
  /** What to type, as a suggestion. */
  readonly tryThis: readonly string[]
  readonly agentId: string
  /** Users who sign in; undefined where nobody does. */
  readonly login: UserSeed['userType'] | undefined
  /** Users that the conversation can change to. */
  readonly users: readonly string[]
  readonly config: Partial<AiAgentConfig>
}

export const SCENARIOS: readonly [Scenario, ...Scenario[]] = [
  {
    id: 'help',
    title: 'Anonymous help',
    description:
      'A help agent for everybody: no login, no portals. Answers come with sources and suggestions. When you ask for a human, you answer as the colleague, in the tab Desk.',
    tryThis: ['How do I reset my router?', 'I want to talk to a human'],
    agentId: 'help',
    login: undefined,
    users: ['customer', 'new-customer'],
    config: {},
  },
  {
    id: 'desk',
    title: 'Desk agent',
    description: 'Staff sign in by popup, then choose a portal and a profile (Flow A). Supervisors see other profiles.',
    tryThis: ['What does the warranty cover?'],
    agentId: 'desk',
    login: 'agent',
    users: ['desk-agent', 'desk-supervisor'],
    config: {},
  },
  {
    id: 'selfservice',
    title: 'Self-service',
    description: 'Customers choose a portal, without a login. One portal has profiles, the other has none.',
    tryThis: ['How do I return a router?'],
    agentId: 'selfservice',
    login: undefined,
    users: ['customer', 'new-customer'],
    config: {},
  },
  {
    id: 'flow-b',
    title: 'Agent selection',
    description: 'Flow B: after the portal, staff choose the agent that answers, then the profile.',
    tryThis: ['Where is my parcel?'],
    agentId: 'desk',
    login: 'agent',
    users: ['desk-agent', 'desk-supervisor'],
    config: { initParams: { isDefaultAgent: 'true' } },
  },
  {
    id: 'masking',
    title: 'Masking',
    description: 'Card numbers and similar data are masked in this page, before anything is sent or stored.',
    tryThis: ['My card is 4111 1111 1111 1111', 'Why is my invoice higher this month?'],
    agentId: 'billing',
    login: undefined,
    users: ['customer', 'new-customer'],
    config: { masking: { required: true } },
  },
]

/** The scenario of an agent of a deployment. */
export function deploymentScenario(agentId: string): Scenario {
  return {
    id: 'deployment',
    title: agentId,
    description: 'An agent of a deployment, as it is configured there.',
    tryThis: [],
    agentId,
    login: undefined,
    users: [],
    config: {},
  }
}
