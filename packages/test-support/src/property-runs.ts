/**
 * How often a property is tried: `PROPERTY_RUNS` if it is set, so that one property can be run thousands of times, else
 * the given number.
 */
export function propertyRuns(usual: number): number {
  const given = Number(process.env['PROPERTY_RUNS'] || usual)
  if (!Number.isInteger(given) || given < 1) throw new Error('PROPERTY_RUNS must be a positive integer.')
  return given
}
