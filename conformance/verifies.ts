import { it } from 'vitest'
import { findRule } from './rules.ts'
import { type Service, type ServiceOptions, WIRES } from './wire.ts'

/** A declared scenario. */
export interface Scenario {
  readonly rules: readonly string[]
  readonly title: string
  /** Names of the wires on which it runs; empty if it needs no service. */
  readonly wires: readonly string[]
}

/** Longer than any single wait within a scenario, so that the wait can report what did not happen. */
const LIMIT_MS = 20_000

type RuleIds = string | readonly string[]

/** Collects declarations instead of running them, while set. */
let collected: Scenario[] | undefined

/**
 * Declares a scenario that proves rules, whose ids are put into its test titles. It runs once per wire, in process and
 * over a port, against a new service that is closed afterwards.
 */
export function verifies(
  rules: RuleIds,
  title: string,
  run: (service: Service) => void | Promise<void>,
  options: ServiceOptions = {},
): void {
  const names = WIRES.map(wire => wire.name)
  if (collected) return void collected.push({ rules: [rules].flat(), title, wires: names })
  for (const wire of WIRES) {
    it(`${titleOf(rules, title)} (${wire.name})`, { timeout: LIMIT_MS }, async () => {
      const service = await wire.serve(options)
      try {
        await run(service)
      } catch (error) {
        // A failure of close() after a failed scenario is only a consequence.
        await service.close().catch(() => {})
        throw error
      }
      await service.close()
    })
  }
}

/** Declares a scenario that needs no service. */
export function verifiesAlone(rules: RuleIds, title: string, run: () => void | Promise<void>): void {
  if (collected) return void collected.push({ rules: [rules].flat(), title, wires: [] })
  it(titleOf(rules, title), run)
}

/** Collects the scenarios that the given files declare, without running them. */
export async function collectScenarios(load: () => Promise<unknown>): Promise<Scenario[]> {
  const scenarios: Scenario[] = []
  collected = scenarios
  try {
    await load()
  } finally {
    collected = undefined
  }
  return scenarios
}

function titleOf(rules: RuleIds, title: string): string {
  const ids = [rules].flat()
  for (const id of ids) if (!findRule(id)) throw new Error(`There is no rule ${id}.`)
  return `${ids.map(id => `[${id}]`).join(' ')} ${title}`
}
