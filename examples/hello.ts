// A question and its answer, with the service on a port of this machine.
import assert from 'node:assert/strict'
// #region main
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'

const service = await serveEmulator()
const agent = new AiAgent({ id: 'help', endpoint: service.url, autoConnect: true })
await agent.initialize()
const answer = await agent.ask('How do I reset my router?')
console.log(answer.content)
await agent.disconnect()
await service.close()
// #endregion

assert.match(answer.content ?? '', /reset button for ten seconds/)
assert.equal(agent.getState(), 'CLOSED')
