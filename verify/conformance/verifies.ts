import type { WeatherName } from '@aiagent/emulator'
import { it } from 'vitest'
import { findRule } from './rules.ts'
import { weathersFor } from './weathers.ts'
import { inProcess, overPort, type Service, type ServiceOptions, type Wire } from './wire.ts'

/** Longer than any single wait within a scenario, so that the wait can report what did not happen. */
const LIMIT_MS = 20_000

type RuleIds = string | readonly string[]

type Scenario = (service: Service) => void | Promise<void>

/**
 * Declares a scenario that proves rules, whose ids are put into its test title. It runs in process against a new service, which is
 * closed afterwards.
 */
export function verifies(rules: RuleIds, title: string, run: Scenario, options: ServiceOptions = {}): void {
  declare(titleOf(rules, title), inProcess, run, options)
}

/** Declares a scenario about what passes between client and service, which runs once per wire: in process and over a port. */
export function verifiesOnEachWire(rules: RuleIds, title: string, run: Scenario, options: ServiceOptions = {}): void {
  for (const wire of [inProcess, overPort]) declare(`${titleOf(rules, title)} (${wire.name})`, wire, run, options)
}

function declare(title: string, wire: Wire, run: Scenario, options: ServiceOptions): void {
  it(title, { timeout: LIMIT_MS }, () => play(undefined, wire, run, options))
  for (const weather of options.entersWeather ? [] : weathersFor(title)) {
    const reason = options.differs?.[weather]
    const name = `${title} (weather: ${weather}${reason ? `, differs: ${reason}` : ''})`
    // A reason without a difference fails. What is expected to fail needs no second try.
    it(name, { timeout: LIMIT_MS, ...(reason !== undefined && { fails: true, retry: 0 }) }, () =>
      // The scenario itself moves the time, on each wire.
      play(weather, wire, run, { ...options, time: 'by hand' }),
    )
  }
}

async function play(
  weather: WeatherName | undefined,
  wire: Wire,
  run: Scenario,
  options: ServiceOptions,
): Promise<void> {
  const service = await wire.serve(options)
  if (weather) service.enter(weather)
  try {
    await run(service)
  } catch (error) {
    // A failure of close() after a failed scenario is only a consequence.
    await service.close().catch(() => {})
    throw error
  }
  await service.close()
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
