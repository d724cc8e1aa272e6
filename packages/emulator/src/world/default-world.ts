import { SCOPE } from '@aiagent/protocol'
import { CONTACT_CENTER } from '../contact-center/default-contact-center.ts'
import type { WorldSeed } from './seed.ts'

/**
 * The small world that an emulator starts with: a help centre for everybody, an agent for customers who signed in, and
 * a contact center.
 */
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
    {
      id: 'TEN0002',
      identifier: 'northwind',
      permissionPrefix: 'api://northwind/',
      aiAgentDomain: 'agent.northwind.test',
      clientId: 'northwind-any',
      intClientId: 'northwind-int',
      extClientId: 'northwind-ext',
      // Too old to hide anything in chats.
      version: '21.22.1',
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
    ...CONTACT_CENTER.agents,
  ],
  clients: [{ id: 'demo-service', secret: 'demo-secret', scopes: [SCOPE.PORTAL_MANAGER, SCOPE.AI_SERVICES] }],
  users: [
    {
      id: 'desk-agent',
      userType: 'agent',
      name: 'Desk agent',
      email: 'desk-agent@people.example',
      details: { departmentId: 999, languageCode: 'en-us' },
    },
    {
      id: 'desk-supervisor',
      userType: 'agent',
      name: 'Desk supervisor',
      email: 'desk-supervisor@people.example',
      lastUsedProfiles: { 1001: 12 },
      details: { departmentId: 999, languageCode: 'en-us' },
    },
    { id: 'customer', userType: 'customer', name: 'Customer', email: 'customer@people.example' },
    { id: 'new-customer', userType: 'customer', name: 'New customer', email: 'new-customer@people.example' },
    {
      id: 'field-agent',
      userType: 'agent',
      name: 'Field agent',
      email: 'field-agent@people.example',
      tenantId: 'TEN0002',
    },
  ],
  departments: CONTACT_CENTER.departments,
  portals: CONTACT_CENTER.portals,
}
