import type { AgentDetails } from './agent.ts'

/** The name to show for an agent: its own, else its profile's, else empty. */
export function agentDisplayName(agent: Pick<AgentDetails, 'name' | 'agentProfileDetails'>): string {
  return agent.name || agent.agentProfileDetails?.name || ''
}
