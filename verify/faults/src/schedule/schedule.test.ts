import { describe, expect, it } from 'vitest'
import { createSchedule } from './create-schedule.ts'
import { shrink } from './shrink.ts'
import { isLossless } from './step.ts'

describe('a schedule', () => {
  it('is the same for the same seed, and another for another', () => {
    for (const transport of ['in-process', 'proxied'] as const) {
      expect(createSchedule(7, transport)).toEqual(createSchedule(7, transport))
      expect(createSchedule(8, transport)).not.toEqual(createSchedule(7, transport))
    }
  })

  it('covers every kind of step within 500 seeds', () => {
    const kinds = (transport: 'in-process' | 'proxied') => {
      const steps = Array.from({ length: 500 }, (_, seed) => createSchedule(seed, transport).steps).flat()
      return new Set(steps.map(step => (step.do === 'fault' ? `fault ${step.fault.kind}` : step.do)))
    }
    expect(kinds('in-process').size).toBeGreaterThan(30)
    expect([...kinds('proxied')]).toEqual(expect.arrayContaining(['tcp-cut', 'tcp-stall', 'tcp-refuse', 'half-open']))
  })

  it('counts as lossless only where no frame can be lost', () => {
    const schedules = Array.from({ length: 200 }, (_, seed) => createSchedule(seed, 'in-process'))
    const lossless = schedules.filter(isLossless)
    expect(lossless.length).toBeGreaterThan(30)
    expect(lossless.flatMap(({ steps }) => steps.filter(step => step.do === 'half-open'))).toEqual([])
  })
})

describe('shrink', () => {
  it('finds the items that fail together', async () => {
    const list = Array.from({ length: 40 }, (_, index) => index)
    const fails = async (candidate: readonly number[]) => candidate.includes(3) && candidate.includes(31)
    expect(await shrink(list, fails)).toEqual([3, 31])
  })

  it('tries no more often than allowed', async () => {
    let tries = 0
    const fails = async () => ++tries < 0
    expect(await shrink([1, 2, 3, 4, 5, 6, 7, 8], fails, 5)).toHaveLength(8)
    expect(tries).toBe(5)
  })
})
