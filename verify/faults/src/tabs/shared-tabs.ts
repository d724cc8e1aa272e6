import { CAPABILITIES } from '../../../../packages/client/test/set-up-tabs.ts'
import {
  HOST_KINDS,
  LAST_TAB,
  MOST_STEPS,
  TAB_KINDS,
  TabCampaign,
  type TabStep,
  WAITS_MS,
} from '../../../../packages/client/test/tab-campaign.ts'
import type { RunResult } from '../checks/violation.ts'
import { Random } from '../schedule/random.ts'

/** A seeded history of tabs that share a conversation, in process. */
export interface TabSchedule {
  readonly seed: number
  readonly transport: 'tabs'
  readonly setup: { readonly capabilities: readonly (typeof CAPABILITIES)[number][] }
  readonly steps: readonly TabStep[]
}

/** The history of a seed. */
export function createTabSchedule(seed: number): TabSchedule {
  const random = new Random(seed)
  const capabilities = random.chance(0.5) ? CAPABILITIES : []
  const steps = Array.from(
    { length: random.integer(2, MOST_STEPS) },
    (): TabStep => ({
      kind: random.chance(0.25) ? random.pick(HOST_KINDS) : random.pick([...TAB_KINDS, 'deafen'] as const),
      tab: random.integer(0, LAST_TAB),
      waitMs: random.pick(WAITS_MS),
    }),
  )
  return { seed, transport: 'tabs', setup: { capabilities }, steps }
}

/** Plays a history to its end and checks it. */
export async function playTabs({ seed, setup, steps }: TabSchedule): Promise<RunResult> {
  const campaign = await TabCampaign.play(steps, setup.capabilities)
  return { seed, violations: campaign.violations(setup.capabilities.length > 0), counts: campaign.counts }
}
