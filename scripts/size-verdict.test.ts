import { describe, expect, it } from 'vitest'
import { judgeSize } from './size-verdict.ts'

describe('[REL-36] a measured size', () => {
  const budget = { goal: 20_000, ceiling: 30_000, why: '' }

  it('fits up to the goal', () => {
    expect(judgeSize('core', 20_000, budget)).toMatchObject({
      fits: true,
      line: expect.stringMatching(/^fits .*30\.00 kB$/),
    })
  })

  it('fits between goal and ceiling, with the excess', () => {
    const { fits, line } = judgeSize('core', 30_000, budget)
    expect([fits, line]).toEqual([true, expect.stringContaining('10.00 kB above the goal of 20.00 kB')])
    expect(line).toMatch(/^above goal/)
  })

  it('fails above the ceiling', () => {
    expect(judgeSize('core', 30_001, budget)).toMatchObject({ fits: false, line: expect.stringMatching(/^TOO LARGE/) })
  })

  it('fails without a budget', () => {
    expect(judgeSize('core', 1, undefined)).toMatchObject({ fits: false, line: expect.stringMatching(/^NO BUDGET/) })
  })
})
