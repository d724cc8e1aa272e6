import { WEATHERS, type WeatherName } from '@aiagent/emulator'

/**
 * The weathers in which every scenario has the same outcome: they cost no time, which scenarios advance by hand. The scenario
 * "weather" plays the others.
 */
const OF_EVERY_SCENARIO = ['cache', 'byte order mark', 'large ids', 'repeated answers'] as const satisfies WeatherName[]

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
  const count = OF_EVERY_SCENARIO.length
  const first = number % count
  const second = (first + 1 + (Math.floor(number / count) % (count - 1))) % count
  return OF_EVERY_SCENARIO.filter((_, index) => index === first || index === second)
}

export const ALL_WEATHERS = Object.keys(WEATHERS) as WeatherName[]
