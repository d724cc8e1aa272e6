import { type AgentSeed, DEFAULT_WORLD, type Reply, type WorldSeed } from '@aiagent/emulator'
import type { AgentDetails, OpenRecord } from '@aiagent/protocol'
import { DESK_AGENTS } from './desk-world.ts'

const agent = (agentId: string, details: OpenRecord<AgentDetails> = {}, rest: Partial<AgentSeed> = {}): AgentSeed => ({
  details: { name: 'Help Desk', isAuthenticated: false, userType: 'customer', ...details, agentId },
  ...rest,
})

/** A portal with a field that the type does not name. */
const SERVICE_PORTAL = { id: 1003, name: 'Service' }

/** Agent details with every field set. */
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
  portals: [1001, '1002', SERVICE_PORTAL],
  userType: 'customer',
} satisfies OpenRecord<AgentDetails>

/** The world of the scenarios: an anonymous help desk, a desk for signed-in users, a contact center, and special cases. */
export const WORLD: Partial<WorldSeed> = {
  ...DEFAULT_WORLD,
  agents: [
    agent('help'),
    agent('account', { isAuthenticated: true }),
    { details: FULL_DETAILS },
    // Without a webSocketDomain: the chat is at the deployment's host.
    agent('shared-host', { webSocketDomain: '' }),
    // The webSocketDomain is a bare host name, as services send it.
    agent('own-host', { webSocketDomain: 'chat.example.test' }),
    // Nothing listens at the chat address.
    agent('unreachable', { webSocketDomain: 'ws://127.0.0.1:1' }),
    // Accepts one context attribute of one type.
    agent('strict', {}, { contextAttributes: { age: { type: 'integer' }, plan: { type: 'string' } } }),
    ...DESK_AGENTS,
  ],
}

/** Escalates on request, reports its context on request, and otherwise repeats the message. */
export const reply: Reply = ({ text, context, escalation }) => {
  if (text === 'I want to talk to a human')
    return {
      content: 'I am connecting you with a colleague.',
      messageData: { escalation: true, escalationData: { live: true, ...escalation } },
    }
  if (text === 'What do you know of me?') return { content: JSON.stringify(context) }
  return { content: `You said: ${text}` }
}
