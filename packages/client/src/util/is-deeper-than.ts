/** Whether a value has objects or lists in more than so many levels, itself included. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(inner => isDeeperThan(levels - 1, inner))
}
