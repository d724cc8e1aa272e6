import { describe, expect, it } from 'vitest'
import { MemoryCacheAdapter } from './memory-cache-adapter.ts'

const entry = (value: unknown) => ({ value, timestamp: 1 })

describe('MemoryCacheAdapter', () => {
  it('[REL-20] drops the least recently used entry when there are too many', () => {
    const adapter = new MemoryCacheAdapter({ maxEntries: 2 })
    adapter.set('a', entry(1))
    adapter.set('b', entry(2))
    adapter.get('a')
    adapter.set('c', entry(3))
    expect(adapter.keys()).toEqual(['a', 'c'])
    adapter.set('a', entry(4))
    expect([adapter.get('a')?.value, adapter.keys().length]).toEqual([4, 2])
  })

  it('[REL-20] drops entries until the rest fits, and keeps one that is too large alone', () => {
    const adapter = new MemoryCacheAdapter({ maxChars: 30 })
    for (const key of ['a', 'b', 'c']) adapter.set(key, entry('123456789'))
    expect(adapter.keys()).toEqual(['b', 'c'])
    adapter.set('large', entry('x'.repeat(100)))
    expect(adapter.keys()).toEqual(['large'])
    adapter.set('d', entry(1))
    expect(adapter.keys()).toEqual(['d'])
  })

  it('[REL-20] no longer counts deleted or replaced entries', () => {
    const adapter = new MemoryCacheAdapter({ maxChars: 30 })
    for (let round = 0; round < 10; round++) {
      adapter.set('a', entry('x'.repeat(20)))
      adapter.delete('a')
      adapter.delete('a')
    }
    adapter.set('b', entry('123456789'))
    adapter.set('c', entry('123456789'))
    expect(adapter.keys()).toEqual(['b', 'c'])
  })

  it('stores values that JSON cannot represent', () => {
    const adapter = new MemoryCacheAdapter()
    adapter.set('a', entry(1n))
    expect(adapter.get('a')?.value).toBe(1n)
  })
})
