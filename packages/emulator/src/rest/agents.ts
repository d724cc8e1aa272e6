import { type AgentDetails, socketBase } from '@aiagent/protocol'
import type { EmulatorSettings } from '../settings.ts'
import { requiresSignIn } from '../world/requires-sign-in.ts'
import type { AgentSeed } from '../world/seed.ts'
import type { World } from '../world/world.ts'
import { RestError } from './error.ts'

/** @throws {RestError} 404 when the agent does not exist */
export function findAgent(world: World, agentId: string): AgentSeed {
  const agent = world.agents.get(agentId)
  if (agent) return agent
  const known = [...world.agents.keys()].join(', ')
  throw new RestError(404, '002', `There is no agent "${agentId}". The agents here are: ${known}.`)
}

/** The agent's details. They always contain the chat host: an IP address has no `chat.` subdomain. */
export function describeAgent(world: World, settings: EmulatorSettings, agentId: string, origin: string): AgentDetails {
  const agent = findAgent(world, agentId)
  const { details } = agent
  const isOpen = details.isAuthenticated === true && !requiresSignIn(agent, settings)
  const { protocol, host } = new URL(origin)
  // A bare host means TLS.
  const webSocketDomain = protocol === 'https:' ? host : socketBase(origin)
  return { webSocketDomain, ...details, ...(isOpen && { isAuthenticated: false }) }
}
