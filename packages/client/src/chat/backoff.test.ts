import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../check-config.ts'
import { ReconnectPolicy } from './backoff.ts'

const defaults = resolveConfig({ id: 'help', endpoint: 'https://agents.example' })

describe('ReconnectPolicy', () => {
  it.each([
    [0, 1_000, 2_000],
    [1, 2_000, 4_000],
    [2, 4_000, 8_000],
    [3, 8_000, 16_000],
    [4, 15_000, 30_000],
    [5, 15_000, 30_000],
    [1_000_000, 15_000, 30_000],
  ])('[CFG-06] [LIM-01] waits before attempt %i from %i to %i ms by default', (attempt, shortest, longest) => {
    expect(new ReconnectPolicy(defaults, { random: () => 0 }).delayFor(attempt)).toBe(shortest)
    expect(new ReconnectPolicy(defaults, { random: () => 1 }).delayFor(attempt)).toBe(longest)
    expect(new ReconnectPolicy(defaults, { random: () => 0.5 }).delayFor(attempt)).toBe((shortest + longest) / 2)
  })

  it('[CFG-05] [LIM-01] never gives up by default', () => {
    expect(new ReconnectPolicy(defaults, { random: () => 0 }).maxAttempts).toBe(Number.POSITIVE_INFINITY)
  })

  it('[FLOW-03] keeps every wait between base and max, and never below half of the step, whatever is configured', () => {
    const ms = fc.integer({ min: 0, max: 10_000_000 })
    fc.assert(
      fc.property(ms, ms, fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (base, max, attempt, random) => {
        const options = {
          maxReconnectAttempts: 5,
          baseReconnectDelay: base,
          maxReconnectDelay: max,
        }
        const policy = new ReconnectPolicy(options, { random: () => random })
        const delay = policy.delayFor(attempt)
        const step = Math.min(base * 2 ** (attempt + 1), max)
        expect(delay).toBeLessThanOrEqual(max)
        expect(delay).toBeGreaterThanOrEqual(Math.min(base, max))
        if (base > 0) expect(delay).toBeGreaterThanOrEqual(step / 2)
        if (base > 0) expect(delay).toBeLessThanOrEqual(step)
        expect(policy.delayFor(attempt + 1)).toBeGreaterThanOrEqual(delay / 2)
      }),
    )
  })

  it('[FLOW-03] spreads clients over the whole step', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.double({ min: 0, max: 0.9, noNaN: true }), (attempt, random) => {
        const at = (value: number) => new ReconnectPolicy(defaults, { random: () => value }).delayFor(attempt)
        expect(at(random + 0.1) - at(random)).toBeGreaterThan(50)
      }),
    )
  })
})
