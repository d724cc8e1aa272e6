import type { EmulatorSettings } from '../settings.ts'
import type { AgentSeed } from './seed.ts'

/** Whether an agent is for people who signed in: so it says, unless the settings let everybody in. */
export function requiresSignIn({ details }: AgentSeed, { withoutSignIn }: EmulatorSettings): boolean {
  return details.isAuthenticated === true && !withoutSignIn.includes(details.agentId)
}
