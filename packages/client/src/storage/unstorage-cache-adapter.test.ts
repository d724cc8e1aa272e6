import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@aiagent/test-support'
import fc from 'fast-check'
import { createStorage, type Storage } from 'unstorage'
import fileSystem from 'unstorage/drivers/fs-lite'
import memory from 'unstorage/drivers/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type UnstorageLike, unstorageCacheAdapter } from '../unstorage.ts'

const entry = (value: unknown) => ({ value, timestamp: 1 })

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'aiagent-unstorage-'))))
afterAll(() => rm(folder, { recursive: true }))

let folders = 0
const DRIVERS: readonly [string, () => Storage][] = [
  ['memory', () => createStorage({ driver: memory() })],
  ['the file system', () => createStorage({ driver: fileSystem({ base: join(folder, `${++folders}`) }) })],
]

describe.each(DRIVERS)('an adapter over unstorage in %s', (_driver, open) => {
  it('returns what was set, and null otherwise', async () => {
    const adapter = unstorageCacheAdapter(open())
    const kept = { ...entry({ list: [1, null, 'x'], text: '7', none: null }), owner: 'somebody' }
    await adapter.set('aiagent_a', kept)
    expect(await adapter.get('aiagent_a')).toEqual(kept)
    expect(await adapter.get('aiagent_b')).toBeNull()
    await adapter.delete('aiagent_a')
    expect(await adapter.get('aiagent_a')).toBeNull()
    await adapter.delete('aiagent_a')
  })

  it('separates keys that the storage itself would treat as equal', async () => {
    const adapter = unstorageCacheAdapter(open())
    const keys = [
      'a',
      'a?',
      'a?x=1',
      'a:b',
      'a/b',
      'a\\b',
      'a::b',
      ':a',
      'a:',
      '.',
      '..',
      '../a',
      'a$',
      '',
      'é',
      'x'.repeat(450),
    ]
    for (const key of keys) await adapter.set(key, entry(key))
    for (const key of keys) expect(await adapter.get(key)).toEqual(entry(key))
    expect((await adapter.keys()).sort()).toEqual([...keys].sort())
  })

  it('lists and removes by a prefix that ends anywhere, and nothing else', async () => {
    const storage = open()
    const adapter = unstorageCacheAdapter(storage)
    const other = unstorageCacheAdapter(storage, { base: 'aiagent2' })
    await storage.setItem('cart', 'mine')
    await storage.setItem('aiagent:not.ours', 'mine')
    await other.set('aiagent_a1', entry('other'))
    for (const key of ['aiagent_a1', 'aiagent_a2', 'aiagent_b']) await adapter.set(key, entry(1))
    expect((await adapter.keys('aiagent_a')).sort()).toEqual(['aiagent_a1', 'aiagent_a2'])
    await adapter.clear('aiagent_a')
    expect(await adapter.keys()).toEqual(['aiagent_b'])
    await adapter.clear()
    expect(await adapter.keys()).toEqual([])
    expect(await other.get('aiagent_a1')).toEqual(entry('other'))
    expect(await storage.getItem('cart')).toBe('mine')
    expect(await storage.getItem('aiagent:not.ours')).toBe('mine')
  })
})

it('behaves as a map from keys to entries', async () => {
  const key = fc.oneof(
    fc.string({ unit: fc.constantFrom(':', '/', '?', '.', '~', 'a', 'b'), maxLength: 4 }),
    fc.string(),
  )
  const commands = fc.array(fc.record({ does: fc.constantFrom('set', 'delete', 'clear'), key, value: fc.nat() }), {
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(commands, async given => {
      const adapter = unstorageCacheAdapter(createStorage())
      const model = new Map<string, unknown>()
      for (const { does, key, value } of given) {
        if (does === 'set') {
          model.set(key, entry(value))
          await adapter.set(key, entry(value))
        } else if (does === 'delete') {
          model.delete(key)
          await adapter.delete(key)
        } else {
          for (const known of [...model.keys()]) if (known.startsWith(key)) model.delete(known)
          await adapter.clear(key)
        }
      }
      expect((await adapter.keys()).sort()).toEqual([...model.keys()].sort())
      for (const [known, value] of model) expect(await adapter.get(known)).toEqual(value)
    }),
  )
})

describe('the options of an adapter over unstorage', () => {
  it('set the base of its keys, and how long the store may keep them, in whole seconds', async () => {
    const seen: unknown[] = []
    const storage = recording(seen)
    await unstorageCacheAdapter(storage, { base: 'shop:agents', ttl: 1_500 }).set('a:b', entry(1))
    await unstorageCacheAdapter(storage).set('a', entry(1))
    await unstorageCacheAdapter(storage, { ttl: Number.POSITIVE_INFINITY }).set('a', entry(1))
    expect(seen).toEqual([
      ['shop:agents:a~3a_b', { ...entry(1), format: 2 }, { ttl: 2 }],
      ['aiagent:a', { ...entry(1), format: 2 }, {}],
      ['aiagent:a', { ...entry(1), format: 2 }, {}],
    ])
  })

  it.each(['', ':', 'a:', ':a', 'a::b', 'a/b', 'a b', 'a?', '..'])('reject %j as a base', base => {
    expect(() => unstorageCacheAdapter(createStorage(), { base })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', field: 'base', message: expect.stringContaining('letters') }),
    )
  })

  it.each([0, -1, Number.NaN])('reject %s as a time to live', ttl => {
    expect(() => unstorageCacheAdapter(createStorage(), { ttl })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        field: 'ttl',
        message: expect.stringContaining('milliseconds'),
      }),
    )
  })
})

it('ignores keys outside its base, even if a storage lists them', async () => {
  const removed: string[] = []
  const storage: UnstorageLike = {
    ...recording([]),
    getKeys: async () => ['aiagent:a', 'another:a', 'aiagenta'],
    removeItem: async key => void removed.push(key),
  }
  const adapter = unstorageCacheAdapter(storage)
  expect(await adapter.keys()).toEqual(['a'])
  await adapter.clear()
  expect(removed).toEqual(['aiagent:a'])
})

describe('a storage that fails', () => {
  const down = () => Promise.reject(new Error('connection lost'))
  const broken: UnstorageLike = { getItem: down, setItem: down, removeItem: down, getKeys: down }
  const useAll = async (adapter: ReturnType<typeof unstorageCacheAdapter>) => {
    await adapter.set('a', entry(1))
    expect(await adapter.get('a')).toBeNull()
    expect(await adapter.keys()).toEqual([])
    await adapter.delete('a')
    await adapter.clear()
  }

  it('counts as empty, and warns once by the callback of the host', async () => {
    const warnings: unknown[] = []
    await useAll(unstorageCacheAdapter(broken, { warn: (...warning) => warnings.push(warning) }))
    expect(warnings).toEqual([[expect.any(String), { error: new Error('connection lost') }]])
  })

  it('warns on the console without a callback', async () => {
    const printed: unknown[] = []
    const print = (...parts: unknown[]) => void printed.push(parts)
    const console = { debug: print, info: print, warn: print, error: print }
    await useAll(unstorageCacheAdapter(broken, { environment: { console } }))
    expect(printed).toEqual([[expect.stringContaining('cache adapter'), new Error('connection lost')]])
  })

  it('is not awaited for longer than two seconds', async () => {
    const clock = new ManualClock()
    const silent = { ...broken, getItem: () => new Promise(() => {}) }
    const adapter = unstorageCacheAdapter(silent, { warn: () => {}, environment: { clock } })
    const answer = adapter.get('a')
    await clock.advance(2_000)
    expect(await answer).toBeNull()
  })
})

/** A storage that only records what it should store. */
function recording(seen: unknown[]): UnstorageLike {
  return {
    getItem: async () => null,
    setItem: async (...given) => void seen.push(given),
    removeItem: async () => {},
    getKeys: async () => [],
  }
}
