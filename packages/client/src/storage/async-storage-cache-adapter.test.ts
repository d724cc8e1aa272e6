import { describe, expect, it } from 'vitest'
import { NativeDevice } from '../../test/native-parts.ts'
import { asyncStorageCacheAdapter } from './async-storage-cache-adapter.ts'

const entry = (value: unknown) => ({ value, timestamp: 1 })

describe('an adapter over AsyncStorage', () => {
  it('[VIEW-13] returns what was set, with unknown fields, and null otherwise', async () => {
    const adapter = asyncStorageCacheAdapter(new NativeDevice().asyncStorage)
    const kept = { ...entry({ list: [1, null, 'x'] }), owner: 'somebody' }
    await adapter.set('aiagent_a', kept)
    expect(await adapter.get('aiagent_a')).toEqual(kept)
    expect(await adapter.get('aiagent_b')).toBeNull()
    await adapter.delete('aiagent_a')
    expect(await adapter.get('aiagent_a')).toBeNull()
  })

  it('[VIEW-13] lists and removes its own keys only', async () => {
    const { asyncStorage, stored } = new NativeDevice()
    stored.set('theme', 'dark')
    stored.set('aiagent_one', 'of the app')
    const adapter = asyncStorageCacheAdapter(asyncStorage)
    const other = asyncStorageCacheAdapter(asyncStorage, { prefix: 'second:' })
    for (const key of ['a_1', 'a_2', 'b_1']) await adapter.set(key, entry(key))
    await other.set('a_1', entry('other'))
    expect(await adapter.keys()).toEqual(['a_1', 'a_2', 'b_1'])
    expect(await adapter.keys('a_')).toEqual(['a_1', 'a_2'])
    await adapter.clear('a_')
    expect(await adapter.keys()).toEqual(['b_1'])
    await adapter.clear()
    expect([...stored.keys()]).toEqual(['theme', 'aiagent_one', 'second:a_1'])
  })
})
