import { createStorage } from 'unstorage'
import redis from 'unstorage/drivers/redis'
import { type UnstorageCacheOptions, unstorageCacheAdapter } from '../../src/unstorage.ts'

/** A store of the Redis server at a socket, which several programs share. */
export function openRedisStore(path: string, options?: UnstorageCacheOptions) {
  const driver = redis({ path })
  const client = driver.getInstance?.()
  if (client === undefined) throw new Error('The driver has no client.')
  // Otherwise the client prints each attempt to reconnect.
  client.on('error', () => {})
  const storage = createStorage({ driver })
  return { client, storage, adapter: unstorageCacheAdapter(storage, options), close: () => client.disconnect() }
}
