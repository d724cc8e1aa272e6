import { createStorage } from 'unstorage'
import redis from 'unstorage/drivers/redis'
import { type UnstorageCacheOptions, unstorageCacheAdapter } from '../../src/unstorage.ts'

/** The store that a Redis server at a socket holds, as programs share it. */
export function openRedisStore(path: string, options?: UnstorageCacheOptions) {
  const driver = redis({ path })
  const client = driver.getInstance?.()
  if (client === undefined) throw new Error('The driver has no client.')
  // Else the client prints each attempt to come back.
  client.on('error', () => {})
  const storage = createStorage({ driver })
  return { client, storage, adapter: unstorageCacheAdapter(storage, options), close: () => client.disconnect() }
}
