/** The earlier of two objects with the same values, so that its identity says that nothing changed; else the later one. */
export function keepSame<T extends object>(before: T | undefined, after: T): T {
  if (!before) return after
  const keys = Object.keys(after) as (keyof T)[]
  return keys.every(key => Object.is(before[key], after[key])) && keys.length === Object.keys(before).length
    ? before
    : after
}
