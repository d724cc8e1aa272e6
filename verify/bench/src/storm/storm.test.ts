import { describe, expect, it } from 'vitest'
import { compareStorms } from './figures.ts'
import { simulateStorm } from './simulate.ts'

const conditions = { clients: 20_000, seed: 1, outageMs: 120_000, acceptedPerSecond: 1000 }

describe('[REL-78] a reconnect storm', () => {
  it('is spread by the policy of the client, and meets the service in one moment without jitter', () => {
    const { withJitter, withoutJitter } = compareStorms(conditions)
    expect(withoutJitter.figures.settledPeakPerSecond).toBe(20_000)
    expect(withJitter.figures.settledPeakPerSecond).toBeLessThan(20_000 / 10)
    expect(withJitter.figures.allBackS).toBeLessThan(60)
    expect(withoutJitter.figures.allBackS).toBeGreaterThan(500)
    expect(withoutJitter.perSecond.slice(0, 8)).toEqual([0, 20_000, 0, 20_000, 0, 0, 0, 20_000])
  })

  it('has the same figures for the same seed, and others for another', () => {
    const first = compareStorms(conditions)
    expect(compareStorms(conditions)).toEqual(first)
    const other = compareStorms({ ...conditions, seed: 2 })
    expect(other.withJitter).not.toEqual(first.withJitter)
    expect(other.withoutJitter).toEqual(first.withoutJitter)
  })

  it('connects every client once, and no more in a second than the service accepts', () => {
    const { accepted, attempts } = simulateStorm({ ...conditions, delayFor: attempt => 1000 + attempt * 700 })
    expect(accepted.reduce((sum, count) => sum + count, 0)).toBe(20_000)
    expect(accepted.slice(0, 1200).every(count => count === 0)).toBe(true)
    for (let second = 0; second * 10 < accepted.length; second++) {
      const inSecond = accepted.slice(second * 10, second * 10 + 10).reduce((sum, count) => sum + count, 0)
      expect(inSecond).toBeLessThanOrEqual(1000)
    }
    expect(attempts.length).toBe(accepted.length)
  })

  it('that cannot end is an error', () => {
    expect(() => simulateStorm({ ...conditions, acceptedPerSecond: 0, delayFor: () => 30_000 })).toThrow('does not end')
  })
})
