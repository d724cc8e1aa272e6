// Context attributes: facts about the user and the page that the agent receives beside the messages.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator({ reply: ({ context }) => ({ content: `You are looking at ${context.page}.` }) })
// #region start
const agent = new AiAgent({ id: 'help', endpoint: service.url, context: { page: 'the basket' } })
await agent.initialize({ context: { plan: 'gold' } })
assert.deepEqual(agent.getContext(), { page: 'the basket', plan: 'gold' })
// #endregion
await agent.connect()

// #region change
await agent.setContext({ page: 'the checkout' }, { sendImmediately: true })

const answer = nextEvent(agent, 'agentMessage')
await agent.send('What am I looking at?')
assert.equal((await answer).message.content, 'You are looking at the checkout.')
// #endregion

// #region refused
const refused = nextEvent(agent, 'contextValidation')
await agent.setContext({ seats: { value: 'many', type: 'integer' } }, { sendImmediately: true })
const { issues } = await refused
assert.deepEqual(issues, [{ name: 'seats', reason: 'type_mismatch', expectedType: 'integer', providedType: 'string' }])
assert.equal(agent.isConnected(), true)
// #endregion

// #region forget
await agent.removeContext()
assert.equal(agent.getContext(), null)
// #endregion

await agent.disconnect()
await service.close()
