// An agent in a separate process with a Redis store: node agent-process.ts ENDPOINT SOCKET CONTEXT
// Prints the restored context and the answers as one line of JSON.
import { AiAgent, ApiHelper } from '@aiagent/client'
import { openRedisStore } from './redis-store.ts'

const [endpoint = '', path = '', context = '{}'] = process.argv.slice(2)
const { adapter, close } = openRedisStore(path)
ApiHelper.setStaticCacheAdapter(adapter)

const agent = new AiAgent({
  id: 'help',
  endpoint,
  enableLogging: false,
  cache: { adapter, contextPrefix: 'visitor-1_' },
  auth: { type: 'anonymous', config: { cache: { adapter } } },
})
await agent.initialize()
const found = agent.getContext()
await agent.setContext(JSON.parse(context))
const answer = new Promise<string>(resolve =>
  agent.once('agentMessage', ({ payload }) => resolve(String(payload.message.content))),
)
await agent.connect()
await agent.send('hello')
console.log(JSON.stringify({ found, heard: await answer }))
await agent.destroy()
close()
