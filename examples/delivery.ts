// What became of a message: its states, its outcome, and what the host can do about it.
import assert from 'node:assert/strict'
import { AiAgent, type DeliveryUpdate } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator()
const agent = new AiAgent({ id: 'help', endpoint: service.url, baseReconnectDelay: 50 })
await agent.initialize()

// #region watch
const marks = new Map<string, string>()
agent.on('deliveryUpdate', ({ payload }) => {
  const { id, state, reason } = payload
  marks.set(id, reason ? `${state}: ${reason}` : state)
})

const id = await agent.send('Where is my parcel?')
assert.equal(agent.delivery(id)?.state, 'queued')
await agent.connect()
assert.equal(marks.get(id), 'sent')
// #endregion

await nextEvent(agent, 'agentMessage')

// #region outage
const settled = (each: string) => agent.delivery(each)?.outcome

// The connection breaks, and frames to the service are lost with it.
service.emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
const lost = await agent.send('Thank you')
service.emulator.control.dropSockets()
service.emulator.faults.lift()

// After the reconnect the history of the service shows the first message, and not the second one.
assert.deepEqual(await Promise.all([settled(id), settled(lost)]), ['acknowledged', 'unknown'])
// #endregion

// #region retry
const update = nextEvent(agent, 'deliveryUpdate')
const delivery = agent.delivery(lost)
assert.equal(delivery?.reason, 'connection_lost')
assert.equal(delivery?.retry(), true)
assert.deepEqual(await update, { id: lost, state: 'queued', previousState: 'unknown' } satisfies DeliveryUpdate)
// #endregion

// #region explain
await agent.disconnect()
const another = await agent.send('Are you there?')
const { code, text } = await agent.explain()
assert.equal(code, 'closed')
assert.equal(text, 'The chat is closed: it was left; 1 message waits. Call connect() to open it again.')

assert.equal(agent.delivery(another)?.cancel(), true)
assert.equal(agent.getQueueSize(), 0)
// #endregion

await agent.destroy()
await service.close()
