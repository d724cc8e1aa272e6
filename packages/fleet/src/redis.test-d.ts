import type { Cluster, Redis } from 'ioredis'
import { assertType, describe, it } from 'vitest'
import type { RedisSource } from './index.ts'

describe('the store of a fleet', () => {
  it('[REL-147] is an address, or a connection of any copy of ioredis 5 or 6', () => {
    assertType<RedisSource>('redis://127.0.0.1:6379')
    assertType<RedisSource>({} as Redis)
    assertType<RedisSource>({} as Cluster)
    // The form of the declarations of ioredis 6, where the mode of its replies is a type parameter.
    assertType<RedisSource>({} as { isCluster: boolean; duplicate(override?: { db?: number }): { mode: 'legacy' } })
    // @ts-expect-error a client of another package
    assertType<RedisSource>({} as { duplicate(): unknown })
  })
})
