/** Calls and upgrades of the service: when each came and was answered, in milliseconds, and its address. */
export type Timeline = [came: number, answered: number, address: string][]

/** The longest chain in which each call came after the one before was answered. */
export function depthOf(timeline: Timeline): number {
  let depth = 0
  let free = -Infinity
  for (const [came, answered] of [...timeline].sort((a, b) => a[1] - b[1]))
    if (came >= free) {
      depth++
      free = answered
    }
  return depth
}
