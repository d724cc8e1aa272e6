/** The object in a text of JSON; undefined for anything else. */
export function objectIn(text: string | null): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(text ?? 'null')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A copy of a value of JSON, also where there is no `structuredClone`. Undefined stays undefined. */
export function copyJson<T>(value: T): T {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}

/** Whether a value has objects or lists in more than so many levels, itself included. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const inner of Object.values(value)) if (isDeeperThan(levels - 1, inner)) return true
  return false
}
