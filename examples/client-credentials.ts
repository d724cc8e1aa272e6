// A program with its own client id and secret. Not for pages, which cannot keep a secret.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator()

// #region main
const agent = new AiAgent({
  id: 'help',
  endpoint: service.url,
  auth: {
    type: 'client-credentials',
    config: {
      tokenUrl: `${service.url}/oauth/TEN0001/token`,
      clientId: 'demo-service',
      clientSecret: process.env['DEMO_SECRET'] ?? 'demo-secret',
      scopes: ['knowledge.portalmgr.manage', 'core.aiservices.read'],
    },
  },
})
await agent.initialize()
await agent.connect()
// #endregion

const answer = nextEvent(agent, 'agentMessage')
await agent.send('How do I reset my router?')
assert.match((await answer).message.content ?? '', /reset button/)
assert.equal(service.emulator.control.requests().filter(({ path }) => path === '/oauth/TEN0001/token').length, 1)

await agent.disconnect()
await service.close()
