// A question and its answer, with the service on a port of this machine.
import assert from 'node:assert/strict'
// #region main
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'

const service = await serveEmulator()
const agent = new AiAgent({ id: 'help', endpoint: service.url, autoConnect: true })
const answer = new Promise(resolve => agent.once('agentMessage', event => resolve(event.payload.message.content)))
await agent.initialize()
await agent.send('How do I reset my router?')
console.log(await answer)
await agent.disconnect()
await service.close()
// #endregion

assert.match(String(await answer), /reset button for ten seconds/)
assert.equal(agent.getState(), 'CLOSED')
