// Messages sent without a connection are queued and sent in order later.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator()
const agent = new AiAgent({ id: 'help', endpoint: service.url, baseReconnectDelay: 50 })
await agent.initialize()

// #region queue
await agent.send('How do I reset my router?')
await agent.send('How do I find my WiFi password?')
assert.equal(agent.getQueueSize(), 2)

const sentAtLast = nextEvent(agent, 'queueFlushed')
await agent.connect()
assert.deepEqual(await sentAtLast, { count: 2 })
// #endregion

// #region reconnect
const lost = nextEvent(agent, 'closed')
service.emulator.control.dropSockets(1012)
const { cause, willReconnect, retryInMs = 0 } = await lost
assert.deepEqual([cause, willReconnect, retryInMs > 0], ['service_restart', true, true])

const sentAgain = nextEvent(agent, 'queueFlushed')
await agent.send('Where is my parcel?')
assert.equal(agent.getState(), 'RECONNECTING')
assert.deepEqual(await sentAgain, { count: 1 })
assert.equal(agent.getState(), 'CONNECTED')
// #endregion

// #region limit
const small = new AiAgent({ id: 'help', endpoint: service.url, maxQueueSize: 1 })
await small.send('This one waits.')
await assert.rejects(small.send('This one exceeds the limit.'), { code: 'MESSAGE_ERROR', reason: 'queue_full' })
assert.equal(small.getQueueSize(), 1)
await small.destroy()
// #endregion

await agent.disconnect()
await service.close()
