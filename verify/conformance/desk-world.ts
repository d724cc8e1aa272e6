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

/** The emulator's contact center (portals and users: see its README), and agents that differ from it in one detail. */
export const DESK_AGENTS: readonly AgentSeed[] = [
  ...DEFAULT_WORLD.agents.filter(({ details }) => details.agentId !== 'help' && details.agentId !== 'account'),
  // Without a user type.
  deskAgent('desk-anyone', { userType: null }),
  // Without a department.
  deskAgent('desk-nowhere', { departmentId: null, portals: null }),
  // Serves an unknown portal.
  deskAgent('desk-elsewhere', { portals: [9999] }),
  // Serves the portal without profiles, and a restricted one.
  deskAgent('desk-few', { portals: [1003] }),
  deskAgent('desk-members', { portals: [1001, 1004] }),
  deskAgent('desk-british', { languageCode: 'en-GB' }),
  deskAgent('desk-danish', { languageCode: 'da-DA' }),
  // For signed-in customers.
  deskAgent('orders', { userType: 'customer', portals: [1001, 1003] }),
]
