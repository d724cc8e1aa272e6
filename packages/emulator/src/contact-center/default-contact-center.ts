import type { AgentDetails } from '@aiagent/protocol'
import type { AgentSeed, WorldSeed } from '../world/seed.ts'
import { MASKING_RULES } from './masking-rules.ts'

const SECOND_TENANT = 'TEN0002'
const SERVICE = 999
const BILLING = 1010
const FIELD_SERVICE = 2020

/** An agent that assists a signed-in employee. */
const deskAgent = (
  agentId: string,
  name: string,
  description: string,
  departmentId: number,
  rest: Partial<AgentDetails> = {},
): AgentSeed => ({
  details: {
    name,
    description,
    agentProfileDetails: { name },
    agentType: 'contact-center',
    isAuthenticated: true,
    userType: 'agent',
    departmentId,
    languageCode: 'en-us',
    enableDataMasking: false,
    ...rest,
    agentId,
  },
})

/**
 * A contact center: two departments of the first tenant, one of the second.
 *
 * Its portals cover these cases: several profiles with a default one (1001), exactly one (1002), none (1003), only for
 * some users (1004), several without a default (1101), and no agent (1102).
 */
export const CONTACT_CENTER: Pick<WorldSeed, 'agents' | 'departments' | 'portals'> = {
  departments: [
    { id: SERVICE, name: 'Service' },
    { id: BILLING, name: 'Billing', maskingPatterns: { chat: MASKING_RULES } },
    { id: FIELD_SERVICE, name: 'Field service', tenantId: SECOND_TENANT },
  ],
  portals: [
    {
      id: 1001,
      name: 'Support',
      description: 'Questions about devices at home',
      departmentId: SERVICE,
      profiles: [
        { id: 10, name: 'Member' },
        { id: 11, name: 'Premium member' },
        { id: 12, name: 'Business' },
      ],
      defaultProfileId: 11,
      agentIds: ['desk', 'desk-orders'],
    },
    {
      id: 1002,
      name: 'Installation',
      description: 'Appointments and first steps',
      departmentId: SERVICE,
      profiles: [{ id: 20, name: 'Technician' }],
      agentIds: ['desk'],
    },
    {
      id: 1003,
      name: 'Returns',
      description: 'Parcels that come back',
      departmentId: SERVICE,
      profiles: [],
      agentIds: ['desk-orders'],
    },
    {
      id: 1004,
      name: 'Complaints',
      description: 'What a supervisor decides',
      departmentId: SERVICE,
      profiles: [{ id: 40, name: 'Supervisor' }],
      agentIds: ['desk'],
      memberIds: ['desk-supervisor'],
    },
    {
      id: 1101,
      name: 'Invoices',
      description: 'Amounts, due dates, reminders',
      departmentId: BILLING,
      profiles: [
        { id: 30, name: 'Private' },
        { id: 31, name: 'Business' },
      ],
      agentIds: ['desk-billing', 'billing'],
    },
    {
      id: 1102,
      name: 'Contracts',
      description: 'Terms and ends of contracts',
      departmentId: BILLING,
      profiles: [{ id: 32, name: 'Contract holder' }],
      agentIds: [],
    },
    {
      id: 2001,
      name: 'Visits',
      description: 'Technicians on the road',
      departmentId: FIELD_SERVICE,
      profiles: [
        { id: 50, name: 'Dispatcher' },
        { id: 51, name: 'Technician' },
      ],
      defaultProfileId: 50,
      agentIds: ['field-desk'],
    },
    {
      id: 2002,
      name: 'Spare parts',
      departmentId: FIELD_SERVICE,
      profiles: [{ id: 51, name: 'Technician' }],
      agentIds: ['field-desk'],
    },
  ],
  agents: [
    {
      ...deskAgent('desk', 'Desk Assistant', 'Listens in and looks things up', SERVICE, {
        portals: [1001, 1002, { id: 1101 }],
      }),
      apps: [
        { id: 'orders', name: 'Orders', platform: 'standalone', isConnected: true },
        { id: 'calendar', name: 'Calendar', platform: 'standalone', isConnected: false },
      ],
    },
    deskAgent('desk-orders', 'Order Assistant', 'Knows every parcel', SERVICE),
    deskAgent('desk-billing', 'Billing Assistant', 'Reads invoices', BILLING, { enableDataMasking: true }),
    deskAgent('field-desk', 'Field Assistant', 'Plans visits', FIELD_SERVICE, { portals: [2001, 2002] }),
    {
      details: {
        agentId: 'selfservice',
        name: 'Self Service',
        agentProfileDetails: { name: 'Self Service' },
        isAuthenticated: false,
        userType: 'customer',
        departmentId: SERVICE,
        portals: [1001, 1003],
        languageCode: 'en-gb',
        enableDataMasking: false,
      },
    },
    {
      details: {
        agentId: 'billing',
        name: 'Billing Help',
        agentProfileDetails: { name: 'Billing Help' },
        isAuthenticated: false,
        userType: 'customer',
        departmentId: BILLING,
        languageCode: 'en-us',
        enableDataMasking: true,
      },
    },
  ],
}
