import { WEATHERS, type WeatherName } from '@aiagent/emulator'

/**
 * The weathers in which every scenario has the same outcome: they cost no time, which scenarios advance by hand. The scenario
 * "weather" plays the others.
 */
const OF_EVERY_SCENARIO = ['cache', 'byte order mark', 'large ids', 'repeated answers'] as const satisfies WeatherName[]

/** How many weathers are drawn for each scenario. */
const DRAWN = 2

/**
 * The weathers in which a scenario is played too, by the variable `CONFORMANCE_WEATHER`: `all`, `drawn` (two for each scenario, by
 * the seed of the properties), or a name.
 */
export function weathersFor(title: string): readonly WeatherName[] {
  const asked = process.env['CONFORMANCE_WEATHER']
  if (!asked) return []
  if (asked === 'all') return OF_EVERY_SCENARIO
  if (asked !== 'drawn') return OF_EVERY_SCENARIO.filter(name => name === asked)
  let number = Number(process.env['PROPERTY_SEED'] ?? 1)
  for (const letter of title) number = (Math.imul(number, 31) + letter.charCodeAt(0)) >>> 0
  const first = number % OF_EVERY_SCENARIO.length
  const further = 1 + (Math.floor(number / OF_EVERY_SCENARIO.length) % (OF_EVERY_SCENARIO.length - 1))
  return [0, further]
    .slice(0, DRAWN)
    .flatMap(step => OF_EVERY_SCENARIO[(first + step) % OF_EVERY_SCENARIO.length] ?? [])
}

export const ALL_WEATHERS = Object.keys(WEATHERS) as WeatherName[]
