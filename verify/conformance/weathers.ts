import { WEATHERS, type WeatherName } from '@aiagent/emulator'

/** All weathers by name. */
export const ALL_WEATHERS = Object.keys(WEATHERS) as WeatherName[]

/**
 * The weathers in which a scenario is played too, by the variable `CONFORMANCE_WEATHER`: `all`, `drawn` (two for each scenario, by
 * the seed of the properties), or a name.
 */
export function weathersFor(title: string): readonly WeatherName[] {
  const asked = process.env['CONFORMANCE_WEATHER']
  if (!asked) return []
  if (asked === 'all') return ALL_WEATHERS
  if (asked !== 'drawn') return ALL_WEATHERS.filter(name => name === asked)
  let number = Number(process.env['PROPERTY_SEED'] ?? 1)
  for (const letter of title) number = (Math.imul(number, 31) + letter.charCodeAt(0)) >>> 0
  const count = ALL_WEATHERS.length
  const first = number % count
  const second = (first + 1 + (Math.floor(number / count) % (count - 1))) % count
  return ALL_WEATHERS.filter((_, index) => index === first || index === second)
}

/** The weathers that refuse a chat connection. */
export const WITH_REFUSED_CHATS = [
  'service in repair',
  'captive portal',
  'proxy sign-in',
] as const satisfies WeatherName[]

/** For scenarios whose subject is what a weather changes: in these it has another outcome, for a reason. */
export const differsIn = (names: readonly WeatherName[], reason: string): Partial<Record<WeatherName, string>> =>
  Object.fromEntries(names.map(name => [name, reason]))
