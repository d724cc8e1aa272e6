// One process of several: sends one message of one visitor and exits. Started by ../shared-store.ts.
import { AiAgent, ApiHelper } from '@aiagent/client'
import { unstorageCacheAdapter } from '@aiagent/client/unstorage'
import { createStorage } from 'unstorage'
import fileSystem from 'unstorage/drivers/fs-lite'
import redis from 'unstorage/drivers/redis'
import { nextEvent } from '../next-event.ts'

const [endpoint = '', folder = '', visitor = '', text = '', context = '{}'] = process.argv.slice(2)
const redisUrl = process.env['REDIS_URL']

// #region store
const storage = createStorage({ driver: redisUrl ? redis({ url: redisUrl }) : fileSystem({ base: folder }) })
const adapter = unstorageCacheAdapter(storage, { base: 'shop:agents', ttl: 24 * 60 * 60 * 1_000 })
// #endregion

// #region agent
ApiHelper.setStaticCacheAdapter(adapter)
const agent = new AiAgent({
  id: 'help',
  endpoint,
  context: JSON.parse(context),
  cache: { adapter, contextPrefix: `visitor_${visitor}_` },
  auth: { type: 'anonymous', config: { cache: { adapter } } },
})
// #endregion

await agent.initialize()
await agent.connect()
const answer = nextEvent(agent, 'agentMessage')
await agent.send(text)
process.send?.((await answer).message.content)

await agent.destroy()
await storage.dispose()
process.disconnect?.()
