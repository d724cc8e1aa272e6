import { describe, expect, it } from 'vitest'
import { LONGEST_POLL_MS, PollPlan } from './poll-plan.ts'

/** Reads one stream for so many milliseconds, and returns the times of the reads. */
function play(plan: PollPlan, from: number, until: number, hasEntries: (now: number) => boolean): number[] {
  const reads: number[] = []
  for (let now = from; now < until; now++) {
    if (!plan.isDue('in', now)) continue
    reads.push(now)
    plan.note('in', hasEntries(now), now)
  }
  return reads
}

describe('the plan for reading streams one by one', () => {
  it('[REL-153] reads a silent stream less and less often, and at least five times a second', () => {
    const plan = new PollPlan()
    const reads = play(plan, 0, 10_000, () => false)
    expect(reads.slice(0, 5)).toEqual([0, 25, 75, 175, 375])
    expect(reads.length).toBeLessThan(55)
    const pauses = reads.slice(1).map((at, index) => at - (reads[index] ?? 0))
    expect(Math.max(...pauses)).toBe(LONGEST_POLL_MS)
  })

  it('[REL-153] reads a stream at once again in which something was found', () => {
    const plan = new PollPlan()
    play(plan, 0, 10_000, () => false)
    const reads = play(plan, 10_000, 10_500, now => now < 10_300)
    const [first = 0, second] = reads
    expect(second).toBe(first + 1)
    expect(reads.filter(at => at >= 10_300).slice(0, 3)).toEqual([10_300, 10_350, 10_450])
  })
})
