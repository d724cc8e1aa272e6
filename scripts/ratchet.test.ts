import { describe, expect, it } from 'vitest'
import { compare } from './ratchet.ts'

describe('[REL-36] a measured figure', () => {
  const ceilings = { page: { gzip: 50, files: 3 } }

  it('fits up to its ceiling', () => {
    expect(compare({ page: { gzip: 50, files: 3 } }, ceilings)).toMatchObject({ failures: [], lowered: ceilings })
  })

  it('fails above its ceiling, which stays', () => {
    const { failures, lowered } = compare({ page: { gzip: 50.001, files: 3 } }, ceilings)
    expect([failures, lowered]).toEqual([['page: gzip is 50.001, above the ceiling of 50.'], ceilings])
  })

  it('lowers its ceiling to itself, rounded up to 0.1 kB', () => {
    const { failures, lowered } = compare({ page: { gzip: 49.211, files: 2 } }, ceilings)
    expect([failures, lowered]).toEqual([[], { page: { gzip: 49.3, files: 2 } }])
  })

  it('fails without a ceiling, and becomes one', () => {
    const { failures, lowered } = compare({ page: { gzip: 50, files: 3 }, script: { gzip: 1 } }, ceilings)
    expect([failures, lowered['script']]).toEqual([['script has no ceiling for gzip.'], { gzip: 1 }])
  })

  it('keeps its ceiling where it cannot be measured', () => {
    expect(compare({ page: undefined }, ceilings)).toMatchObject({ failures: [], lowered: ceilings })
  })

  it('must exist for each ceiling', () => {
    expect(compare({}, ceilings)).toMatchObject({ failures: [expect.stringContaining('"page"')], lowered: {} })
  })
})
