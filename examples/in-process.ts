// Client and service in one process without a port, for tests and pages.
import assert from 'node:assert/strict'
// #region main
import { AiAgent } from '@aiagent/client'
import { createEmulator } from '@aiagent/emulator'
import { nextEvent } from './next-event.ts'

const service = createEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }) })
const { fetch, WebSocket } = service
const agent = new AiAgent({ id: 'help', endpoint: service.origin }, { fetch, WebSocket })
await agent.initialize()
await agent.connect()

const answer = nextEvent(agent, 'agentMessage')
await agent.send('hello')
assert.equal((await answer).message.content, 'You said: hello')
// #endregion

// #region requests
const requests = () => service.control.requests().map(({ method, path }) => `${method} ${path}`)
const first = requests()
assert.deepEqual(first, [
  'GET /system/deploymentInfo',
  'GET /core/authmgr/v3/metadata/deployment',
  'POST /oauth/TEN0001/anonymous/token',
  'GET /core/aiservices/v4/aiagent/details/agent/help',
  'POST /oauth/TEN0001/anonymous/token', // the agent is for customers: its token needs one more scope
  'POST /core/aiservices/v4/aiagent/chat/agent/help/session',
  'GET /',
])

const second = new AiAgent({ id: 'help', endpoint: service.origin }, { fetch, WebSocket })
await second.initialize()
assert.deepEqual(requests().slice(first.length), ['POST /core/aiservices/v4/aiagent/chat/agent/help/session'])
// #endregion

await agent.disconnect()
service.close()
