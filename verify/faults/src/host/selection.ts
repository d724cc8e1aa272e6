import type { AiAgent, InitializationResult } from '@aiagent/client'
import type { Random } from '../schedule/random.ts'
import type { Step } from '../schedule/step.ts'
import type { EventLog } from './event-log.ts'

/** The steps in which the user of a contact center selects something. */
export type SelectionStep = Extract<Step, { do: 'pick-portal' | 'pick-agent' | 'change-profile' | 'back' }>['do']

/** Answers a gate, as a user does. */
export function choose(
  agent: AiAgent,
  { gate, choices }: InitializationResult & { status: 'choose' },
  random: Random,
  options: { signal?: AbortSignal },
): Promise<InitializationResult> {
  if (gate === 'portal') return agent.selectPortal(random.pick(choices), options)
  if (gate === 'agent') return agent.selectAgent(random.pick(choices), options)
  return agent.selectUserProfile(random.pick(choices), options)
}

/** Selects what was offered last, or what exists in the world of the emulator. */
export async function pick(agent: AiAgent, offered: EventLog, what: SelectionStep, which: number): Promise<void> {
  if (what === 'back') return agent.restartPortalInitializer()
  if (what === 'pick-portal') await agent.selectPortal(pickOf(offered.portals, which) ?? { id: 1001 })
  else if (what === 'pick-agent') await agent.selectAgent(pickOf(offered.agents, which) ?? { agentId: 'desk' })
  else await agent.updateUserProfile(pickOf(offered.profiles, which) ?? { id: 10, name: 'Member' })
}

const pickOf = <T>(list: readonly T[], which: number): T | undefined => list[which % Math.max(1, list.length)]
