import { describe, expect, it } from 'vitest'
import { lazyPart } from './lazy-part.ts'

describe('lazyPart', () => {
  it('loads on first use, once, and returns the result of the work', async () => {
    let loaded = 0
    const part = lazyPart(
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
    const part = lazyPart(
      async () => {
        if (++tries === 1) throw new Error('offline')
        return 'here'
      },
      error => failures.push(error),
    )
    expect(await part(text => text)).toBeUndefined()
    expect(failures).toEqual([new Error('offline')])
    expect(await part(text => text)).toBe('here')
  })

  it('passes failures of the work to the caller', async () => {
    const part = lazyPart(
      async () => 'here',
      () => {
        throw new Error('nobody asked')
      },
    )
    await expect(part(() => Promise.reject(new Error('busy')))).rejects.toThrow('busy')
  })
})
