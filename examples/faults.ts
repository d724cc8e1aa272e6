// Failures on request: faults of the service, and a proxy that breaks connections below HTTP.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { type EmulatorServer, serveEmulator, startFaultProxy } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const { emulator, url, close } = await serveEmulator()
const agent = new AiAgent({ id: 'help', endpoint: url, enableLogging: false })

// #region add
const { faults } = emulator
faults.add({ kind: 'answer', route: 'POST */session', status: 503, times: 2 })
await assert.rejects(agent.initialize(), { code: 'API_ERROR', status: 503 })
await assert.rejects(agent.initialize(), { code: 'API_ERROR', status: 503 })
await agent.initialize()

const slow = faults.add({ kind: 'delay-frames', ms: 200, jitterMs: 100 })
assert.equal(faults.inForce().length, 1) // [{ id, fault, hits }]; a fault that was applied often enough is removed
faults.lift({ id: slow.id }) // or { kind }, or no argument for all
// #endregion
await agent.connect()

// #region drop
faults.add({ kind: 'drop', code: 1011 })
const closed = await nextEvent(agent, 'closed')
assert.deepEqual([closed.code, closed.willReconnect], [1011, true])
// #endregion
await agent.destroy()
await close()

// #region proxy
let service: EmulatorServer | undefined
const proxy = await startFaultProxy({ target: () => service?.url ?? '' })
service = await serveEmulator({ origin: proxy.url }) // so that all addresses in its responses lead through the proxy

const distant = new AiAgent({ id: 'help', endpoint: proxy.url, enableLogging: false })
await distant.initialize()
await distant.connect()
proxy.cut()
assert.equal((await nextEvent(distant, 'closed')).code, 1006)
// #endregion
await distant.destroy()
await proxy.close()
await service.close()
