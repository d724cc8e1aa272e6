import { assertType, describe, expectTypeOf, it } from 'vitest'
import {
  type CacheAdapter,
  type CacheConfig,
  type CacheEntry,
  type CacheStorageType,
  type Clock,
  createCacheAdapter,
  type Environment,
  MemoryCacheAdapter,
  type Page,
  type SocketCloseEvent,
  StorageCacheAdapter,
  type StorageLike,
  type WebSocketConstructor,
  type WebSocketLike,
} from '../index.ts'
import type { ConsoleSink } from '../logger.ts'
import type { MemoryCacheOptions } from '../storage/memory-cache-adapter.ts'
import type { StoreWarning } from '../storage/store-guard.ts'
import { type UnstorageCacheOptions, type UnstorageLike, unstorageCacheAdapter } from '../unstorage.ts'
import type { WebSocketOptions } from './environment.ts'
import type { PageScript, PageWindow, ScriptAttributes } from './page.ts'

declare const environment: Environment
declare const storage: Storage
declare const socket: WebSocketLike

describe('stores', () => {
  it('CacheEntry contains a value and the time when it was stored', () => {
    assertType<CacheEntry<string>>({ value: 'en-us', timestamp: 0 })
    // @ts-expect-error the time is a number of milliseconds
    assertType<CacheEntry<string>>({ value: 'en-us', timestamp: new Date(0) })
  })

  it('CacheAdapter may be synchronous or asynchronous', () => {
    const later = { get: async () => null, set: async () => {}, delete: async () => {}, clear: async () => {} }
    assertType<CacheAdapter>(new MemoryCacheAdapter())
    assertType<CacheAdapter>({ ...later, keys: async () => [] })
    // @ts-expect-error keys() is missing
    assertType<CacheAdapter>(later)
  })

  it('CacheStorageType names the three built-in stores', () => {
    expectTypeOf<CacheStorageType>().toEqualTypeOf<'session' | 'local' | 'memory'>()
    expectTypeOf(createCacheAdapter).parameter(0).toEqualTypeOf<CacheStorageType | undefined>()
    // @ts-expect-error a custom store is passed as an adapter
    assertType<CacheStorageType>('cookie')
  })

  it('CacheConfig selects a built-in store or a custom one', () => {
    assertType<CacheConfig>({ enabled: true, storageType: 'local', keyPrefix: 'shop_', ttl: 60_000 })
    assertType<CacheConfig>({ adapter: new MemoryCacheAdapter() })
    // @ts-expect-error a Map is not an adapter
    assertType<CacheConfig>({ adapter: new Map() })
  })

  it('MemoryCacheAdapter and StorageCacheAdapter are synchronous', () => {
    expectTypeOf<MemoryCacheAdapter['get']>().returns.toEqualTypeOf<CacheEntry | null>()
    expectTypeOf(new MemoryCacheAdapter().get<string>('a')).toEqualTypeOf<CacheEntry<string> | null>()
    expectTypeOf(new StorageCacheAdapter('local').get<string>('a')).toEqualTypeOf<CacheEntry<string> | null>()
    // @ts-expect-error memory has an adapter of its own
    assertType(new StorageCacheAdapter('memory'))
    assertType<MemoryCacheOptions>({ maxEntries: 100, maxChars: 100_000 })
    // @ts-expect-error a number of entries
    assertType<MemoryCacheOptions>({ maxEntries: '100' })
    // @ts-expect-error a Map has other results
    assertType<MemoryCacheAdapter>(new Map<string, CacheEntry>())
    assertType<StorageCacheAdapter>(new StorageCacheAdapter(storage))
    // @ts-expect-error a Storage has neither times nor prefixes
    assertType<StorageCacheAdapter>(storage)
  })

  it('StorageLike is the shape of a browser store', () => {
    assertType<StorageLike>(storage)
    // @ts-expect-error values are strings
    assertType<StorageLike>({ ...storage, getItem: () => 7 })
  })
})

describe('a shared store', () => {
  it('UnstorageLike requires four functions of a storage', () => {
    const storage = { getItem: async () => null, setItem: async () => {}, removeItem: async () => {} }
    assertType<UnstorageLike>({ ...storage, getKeys: async () => [] })
    expectTypeOf(unstorageCacheAdapter).returns.toEqualTypeOf<CacheAdapter>()
    // @ts-expect-error getKeys() is missing
    assertType<UnstorageLike>(storage)
  })

  it('UnstorageCacheOptions and StoreWarning set keys and the warning callback', () => {
    assertType<UnstorageCacheOptions>({ base: 'shop:chat', ttl: 86_400_000, warn: text => void text.length })
    // @ts-expect-error a time is a number of milliseconds
    assertType<UnstorageCacheOptions>({ ttl: '1 day' })
    assertType<StoreWarning>((text, details) => console.warn(text, details?.error))
    // @ts-expect-error the warning is a string
    assertType<StoreWarning>((status: number) => status)
  })
})

describe('the platform', () => {
  it('Environment replaces any part of the platform', () => {
    assertType<Environment>({ ...environment, random: () => 0.5, sessionStorage: undefined })
    // @ts-expect-error random() returns a number
    assertType<Environment>({ ...environment, random: () => '0.5' })
  })

  it('Clock has the time and timers', () => {
    const clock = { now: () => 0, monotonic: () => 0, setTimeout: () => 1, clearTimeout() {} }
    assertType<Clock>(clock)
    // @ts-expect-error the time is a number of milliseconds
    assertType<Clock>({ ...clock, now: () => new Date(0) })
  })

  it('ConsoleSink has four methods', () => {
    assertType<ConsoleSink>(console)
    // @ts-expect-error the other methods are missing
    assertType<ConsoleSink>({ debug() {}, info() {} })
  })

  it('WebSocketConstructor and WebSocketLike accept a compatible class', () => {
    assertType<WebSocketConstructor>(WebSocket)
    // @ts-expect-error a constructor is not a function call
    assertType<WebSocketConstructor>((url: string) => new WebSocket(url))
    assertType<WebSocketLike>({ ...socket, send: text => expectTypeOf(text).toBeString() })
    // @ts-expect-error send() is missing
    assertType<WebSocketLike>({ ...socket, send: (data: Uint8Array) => void data })
  })

  it('SocketCloseEvent has a code and a reason', () => {
    assertType<SocketCloseEvent>({ code: 1006, reason: '', httpStatus: 404 })
    // @ts-expect-error the reason is missing
    assertType<SocketCloseEvent>({ code: 1006 })
  })

  it('WebSocketOptions are options of `ws`', () => {
    assertType<WebSocketOptions>({ ca: 'certificate' })
    // @ts-expect-error options are an object
    assertType<WebSocketOptions>('certificate')
  })
})

describe('the page', () => {
  const script: PageScript = { ran: Promise.resolve({}), isCurrent: () => false, remove: () => {} }

  it('Page, PageScript and ScriptAttributes can be replaced in the environment', () => {
    const page: Page = {
      isHidden: () => false,
      nextTask: setTimeout,
      onReturn: () => () => {},
      addScript: () => script,
    }
    assertType<Page>(page)
    assertType<Environment>({ ...environment, page })
    // @ts-expect-error a page adds scripts
    assertType<Page>({ isHidden: () => false, nextTask: setTimeout, onReturn: () => () => {} })
    assertType<PageScript>(script)
    // @ts-expect-error a script can be removed
    assertType<PageScript>({ ran: Promise.resolve({}), isCurrent: () => false })
    assertType<ScriptAttributes>({ src: 'https://cdn.test/connector.js', nonce: 'n0nce' })
    // @ts-expect-error the address is missing
    assertType<ScriptAttributes>({ integrity: 'sha384-x' })
  })

  it('PageWindow is a window with its channels', () => {
    assertType<PageWindow>(window)
    // @ts-expect-error a document
    assertType<PageWindow>(document)
  })
})
