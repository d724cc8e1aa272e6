import { type AgentSeed, DEFAULT_WORLD } from '@aiagent/emulator'
import type { AgentDetails } from '@aiagent/protocol'

const deskAgent = (agentId: string, details: AgentDetails = {}): AgentSeed => ({
  details: {
    name: 'Desk Assistant',
    agentType: 'contact-center',
    isAuthenticated: true,
    userType: 'agent',
    departmentId: 999,
    portals: [1001, '1002', { id: 1101 }],
    languageCode: 'en-us',
    ...details,
    agentId,
  },
})

/** The service's own contact center, whose portals and people stand in its README, and agents that differ in one thing. */
export const DESK_AGENTS: readonly AgentSeed[] = [
  ...DEFAULT_WORLD.agents.filter(({ details }) => details.agentId !== 'help' && details.agentId !== 'account'),
  // Does not say for whom it is.
  deskAgent('desk-anyone', { userType: null }),
  // Belongs to no department.
  deskAgent('desk-nowhere', { departmentId: null, portals: null }),
  // Serves a portal that does not exist.
  deskAgent('desk-elsewhere', { portals: [9999] }),
  // Serves the portal without profiles, and the one that is not for everybody.
  deskAgent('desk-few', { portals: [1003] }),
  deskAgent('desk-members', { portals: [1001, 1004] }),
  deskAgent('desk-british', { languageCode: 'en-GB' }),
  deskAgent('desk-danish', { languageCode: 'da-DA' }),
  // For customers who signed in.
  deskAgent('orders', { userType: 'customer', portals: [1001, 1003] }),
]
