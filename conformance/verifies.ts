import { it } from 'vitest'
import { findRule } from './rules.ts'
import { type Service, type ServiceOptions, WIRES } from './wire.ts'

/** Longer than any single wait within a scenario, so that the wait can report what did not happen. */
const LIMIT_MS = 20_000

type RuleIds = string | readonly string[]

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
  it(titleOf(rules, title), run)
}

function titleOf(rules: RuleIds, title: string): string {
  const ids = [rules].flat()
  for (const id of ids) if (!findRule(id)) throw new Error(`There is no rule ${id}.`)
  return `${ids.map(id => `[${id}]`).join(' ')} ${title}`
}
