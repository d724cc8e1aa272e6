import { describe, expect, it } from 'vitest'
import { lazyPart } from './lazy-part.ts'

describe('lazyPart', () => {
  it('loads with the first use, once, and gives what the work brings', async () => {
    let loaded = 0
    const part = lazyPart(
      async () => ++loaded,
      () => {},
    )
    expect(loaded).toBe(0)
    expect(await Promise.all([part(number => number + 10), part(async number => number + 20)])).toEqual([11, 21])
    expect(loaded).toBe(1)
  })

  it('says that it cannot be loaded, and tries again with the next use', async () => {
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

  it('leaves failures of the work to the caller', async () => {
    const part = lazyPart(
      async () => 'here',
      () => {
        throw new Error('nobody asked')
      },
    )
    await expect(part(() => Promise.reject(new Error('busy')))).rejects.toThrow('busy')
  })
})
