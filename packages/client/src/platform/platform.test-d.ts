import { assertType, describe, expectTypeOf, it } from 'vitest'
import {
  type CacheAdapter,
  type CacheConfig,
  type CacheEntry,
  type CacheStorageType,
  type Clock,
  type ConsoleSink,
  createCacheAdapter,
  type Environment,
  MemoryCacheAdapter,
  type SocketCloseEvent,
  StorageCacheAdapter,
  type StorageLike,
  type StoreWarning,
  type WebSocketConstructor,
  type WebSocketLike,
  type WebSocketOptions,
} from '../index.ts'
import { type UnstorageCacheOptions, type UnstorageLike, unstorageCacheAdapter } from '../unstorage.ts'

declare const environment: Environment
declare const storage: Storage
declare const socket: WebSocketLike

describe('stores', () => {
  it('CacheEntry: a value, and when it was stored', () => {
    assertType<CacheEntry<string>>({ value: 'en-us', timestamp: 0 })
    // @ts-expect-error the moment is a number of milliseconds
    assertType<CacheEntry<string>>({ value: 'en-us', timestamp: new Date(0) })
  })

  it('CacheAdapter: answers now or later', () => {
    const later = { get: async () => null, set: async () => {}, delete: async () => {}, clear: async () => {} }
    assertType<CacheAdapter>(new MemoryCacheAdapter())
    assertType<CacheAdapter>({ ...later, keys: async () => [] })
    // @ts-expect-error its keys cannot be listed
    assertType<CacheAdapter>(later)
  })

  it('CacheStorageType: three stores of the library’s', () => {
    expectTypeOf<CacheStorageType>().toEqualTypeOf<'session' | 'local' | 'memory'>()
    expectTypeOf(createCacheAdapter).parameter(0).toEqualTypeOf<CacheStorageType | undefined>()
    // @ts-expect-error another store is an adapter
    assertType<CacheStorageType>('cookie')
  })

  it('CacheConfig: one of them, or the host’s own', () => {
    assertType<CacheConfig>({ enabled: true, storageType: 'local', keyPrefix: 'shop_', ttl: 60_000 })
    assertType<CacheConfig>({ adapter: new MemoryCacheAdapter() })
    // @ts-expect-error a Map is no adapter
    assertType<CacheConfig>({ adapter: new Map() })
  })

  it('MemoryCacheAdapter, StorageCacheAdapter: answer at once', () => {
    expectTypeOf<MemoryCacheAdapter['get']>().returns.toEqualTypeOf<CacheEntry | null>()
    // @ts-expect-error a map has other answers
    assertType<MemoryCacheAdapter>(new Map<string, CacheEntry>())
    assertType<StorageCacheAdapter>(new StorageCacheAdapter(storage))
    // @ts-expect-error a store by itself knows neither moments nor prefixes
    assertType<StorageCacheAdapter>(storage)
  })

  it('StorageLike: as a browser has it', () => {
    assertType<StorageLike>(storage)
    // @ts-expect-error values are text
    assertType<StorageLike>({ ...storage, getItem: () => 7 })
  })
})

describe('a store that programs share', () => {
  it('UnstorageLike: four functions of a storage', () => {
    const storage = { getItem: async () => null, setItem: async () => {}, removeItem: async () => {} }
    assertType<UnstorageLike>({ ...storage, getKeys: async () => [] })
    expectTypeOf(unstorageCacheAdapter).returns.toEqualTypeOf<CacheAdapter>()
    // @ts-expect-error its keys cannot be listed
    assertType<UnstorageLike>(storage)
  })

  it('UnstorageCacheOptions, StoreWarning: where keys lie, and who hears of failures', () => {
    assertType<UnstorageCacheOptions>({ base: 'shop:chat', ttl: 86_400_000, warn: text => void text.length })
    // @ts-expect-error a time is a number of milliseconds
    assertType<UnstorageCacheOptions>({ ttl: '1 day' })
    assertType<StoreWarning>((text, details) => console.warn(text, details?.error))
    // @ts-expect-error the warning is text
    assertType<StoreWarning>((status: number) => status)
  })
})

describe('the platform', () => {
  it('Environment: any part of it can be another', () => {
    assertType<Environment>({ ...environment, random: () => 0.5, sessionStorage: undefined })
    // @ts-expect-error a chance is a number
    assertType<Environment>({ ...environment, random: () => '0.5' })
  })

  it('Clock: tells the time, and calls back', () => {
    const clock = { now: () => 0, monotonic: () => 0, setTimeout: () => 1, clearTimeout() {} }
    assertType<Clock>(clock)
    // @ts-expect-error the time is a number of milliseconds
    assertType<Clock>({ ...clock, now: () => new Date(0) })
  })

  it('ConsoleSink: four ways to print', () => {
    assertType<ConsoleSink>(console)
    // @ts-expect-error graver lines need a way of their own
    assertType<ConsoleSink>({ debug() {}, info() {} })
  })

  it('WebSocketConstructor, WebSocketLike: the platform’s, or one of the same shape', () => {
    assertType<WebSocketConstructor>(WebSocket)
    // @ts-expect-error a socket is made, not called for
    assertType<WebSocketConstructor>((url: string) => new WebSocket(url))
    assertType<WebSocketLike>({ ...socket, send: text => expectTypeOf(text).toBeString() })
    // @ts-expect-error the library sends text
    assertType<WebSocketLike>({ ...socket, send: (data: Uint8Array) => void data })
  })

  it('SocketCloseEvent: a code and a reason', () => {
    assertType<SocketCloseEvent>({ code: 1006, reason: '', httpStatus: 404 })
    // @ts-expect-error the reason is missing
    assertType<SocketCloseEvent>({ code: 1006 })
  })

  it('WebSocketOptions: what a host on Node passes to its sockets', () => {
    assertType<WebSocketOptions>({ ca: 'certificate' })
    // @ts-expect-error options are an object
    assertType<WebSocketOptions>('certificate')
  })
})
