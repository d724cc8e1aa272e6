const VISITING = [
  'concat',
  'every',
  'filter',
  'find',
  'findIndex',
  'findLastIndex',
  'flatMap',
  'forEach',
  'includes',
  'indexOf',
  'map',
  'shift',
  'slice',
  'some',
  'splice',
  Symbol.iterator,
] as const

/**
 * How many elements of arrays a piece of work visits, moves or copies with the methods of arrays: a measure of its effort that does
 * not depend on the machine.
 */
export async function countVisitedElements(work: () => unknown): Promise<number> {
  const prototype = Array.prototype as unknown as Record<PropertyKey, (...given: unknown[]) => unknown>
  const originals = VISITING.map(name => [name, prototype[name]] as const)
  let count = 0
  for (const [name, original] of originals)
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      value(this: unknown[], ...given: unknown[]) {
        count += this.length
        return original?.apply(this, given)
      },
    })
  try {
    await work()
  } finally {
    for (const [name, value] of originals)
      Object.defineProperty(prototype, name, { configurable: true, writable: true, value })
  }
  return count
}
