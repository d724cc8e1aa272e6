import { type AgentSeed, DEFAULT_WORLD, type Reply, type WorldSeed } from '@aiagent/emulator'
import type { AgentDetails } from '@aiagent/protocol'
import { DESK_AGENTS } from './desk-world.ts'

const agent = (agentId: string, details: AgentDetails = {}, rest: Partial<AgentSeed> = {}): AgentSeed => ({
  details: { name: 'Help Desk', isAuthenticated: false, userType: 'customer', ...details, agentId },
  ...rest,
})

/** Details of an agent that has everything that details can tell. */
export const FULL_DETAILS = {
  agentId: 'full',
  name: 'Orders',
  webSocketDomain: 'chat.example.test',
  extraScopes: ['core.orders.read'],
  clientAppId: 'app-orders',
  languageCode: 'en-gb',
  enableDataMasking: true,
  isAuthenticated: true,
  departmentId: 999,
  portals: [1001, '1002', { id: 1003, name: 'Service' }],
  userType: 'customer',
} satisfies AgentDetails

/** What the scenarios count on: an open help desk, a desk for people who signed in, a contact center, and a few odd ones. */
export const WORLD: Partial<WorldSeed> = {
  ...DEFAULT_WORLD,
  agents: [
    agent('help'),
    agent('account', { isAuthenticated: true }),
    { details: FULL_DETAILS },
    // No host of its own: its chat is at the deployment's.
    agent('shared-host', { webSocketDomain: '' }),
    // Its chat host is given as services give it: a name alone.
    agent('own-host', { webSocketDomain: 'chat.example.test' }),
    // Nobody answers where its chat should be.
    agent('unreachable', { webSocketDomain: 'ws://127.0.0.1:1' }),
    // Knows one attribute, and its type.
    agent('strict', {}, { contextAttributes: { age: { type: 'integer' }, plan: { type: 'string' } } }),
    ...DESK_AGENTS,
  ],
}

/** Asked for a human it escalates, asked what it knows it tells the context, and otherwise it repeats what was said. */
export const reply: Reply = ({ text, context, escalation }) => {
  if (text === 'I want to talk to a human')
    return {
      content: 'I connect you with a colleague.',
      messageData: { escalation: true, escalationData: { live: true, ...escalation } },
    }
  if (text === 'What do you know of me?') return { content: JSON.stringify(context) }
  return { content: `You said: ${text}` }
}
