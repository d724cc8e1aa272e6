import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { feature, optionalFeature } from './feature.ts'

describe('an optional feature', () => {
  const clock = new ManualClock()

  it('loads on first use, once, and returns the result of the work', async () => {
    let loaded = 0
    const part = optionalFeature(
      clock,
      'test',
      async () => ++loaded,
      () => {},
    )
    expect(loaded).toBe(0)
    expect(await Promise.all([part(number => number + 10), part(async number => number + 20)])).toEqual([11, 21])
    expect(loaded).toBe(1)
  })

  it('reports that it cannot be loaded, and retries with the next use', async () => {
    const failures: unknown[] = []
    let tries = 0
    const part = optionalFeature(
      clock,
      'test',
      async () => {
        if (++tries === 1) throw new Error('offline')
        return 'here'
      },
      message => failures.push(message),
    )
    expect(await part(text => text)).toBeUndefined()
    expect(failures).toEqual([expect.stringContaining('Could not load the part "test"')])
    expect(await part(text => text)).toBe('here')
  })

  it('passes failures of the work to the caller', async () => {
    const part = optionalFeature(
      clock,
      'test',
      async () => 'here',
      () => {
        throw new Error('nobody asked')
      },
    )
    await expect(part(() => Promise.reject(new Error('busy')))).rejects.toThrow('busy')
  })

  it('[REL-37] rejects with MODULE_LOAD_FAILED where the caller needs it', async () => {
    const cause = new Error('offline')
    await expect(feature(clock, 'test', () => Promise.reject(cause))).rejects.toMatchObject({
      code: 'MODULE_LOAD_FAILED',
      message: expect.stringContaining('reload the page'),
      cause,
    })
  })
})
