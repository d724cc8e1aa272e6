import { AiAgent } from '@aiagent/client'
import { type EmulatorServer, type FaultProxy, serveEmulator, startFaultProxy } from '@aiagent/emulator/node'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { LeakWatch } from '../leak-watch.ts'
import { verifiesAlone } from '../verifies.ts'
import { reply, WORLD } from '../world.ts'

/** Time between two pings in these scenarios, in milliseconds. */
const PING_MS = 150

interface Place {
  readonly proxy: FaultProxy
  readonly agent: AiAgent
  readonly journal: Journal
}

/** Runs a scenario on Node with an open chat through a proxy that can make the connection half-open. */
async function throughProxy(run: (place: Place) => Promise<void>, pingIntervalMs = PING_MS): Promise<void> {
  let service: EmulatorServer | undefined
  const proxy = await startFaultProxy({ target: () => service?.url ?? '' })
  service = await serveEmulator({ world: WORLD, reply, origin: proxy.url })
  const watch = new LeakWatch()
  const agent = new AiAgent(
    { id: 'help', endpoint: proxy.url, enableLogging: false, baseReconnectDelay: 20, maxReconnectDelay: 20 },
    { webSocketOptions: { pingIntervalMs } },
  )
  const journal = new Journal(agent)
  await agent.initialize()
  await agent.connect()
  await run({ proxy, agent, journal })
  await agent.destroy()
  await watch.expectNothingLeft()
  await proxy.close()
  await service.close()
  await watch.stop()
}

for (const isIdle of [true, false])
  verifiesAlone(
    'REL-100',
    `on Node a half-open connection is replaced, and what was written to it is answered or reported (idle: ${isIdle})`,
    () =>
      throughProxy(async ({ proxy, agent, journal }) => {
        await agent.send('one')
        await eventually(() => journal.answers.length === 1)
        proxy.stall()
        if (!isIdle) await agent.send('written into the void')
        await eventually(() => journal.of('closed').length === 1)
        expect(journal.of('closed')).toMatchObject([
          { code: 1006, cause: 'dead_connection', willReconnect: true, retryInMs: 0 },
        ])
        await eventually(() => agent.isConnected())
        await agent.send('two')
        await eventually(() => journal.answers.includes('You said: two'))
      }),
  )

verifiesAlone('REL-100', 'a connection that answers pings stays, however quiet the agent is', () =>
  throughProxy(async ({ agent, journal }) => {
    const since = performance.now()
    await eventually(() => performance.now() - since > 8 * PING_MS)
    expect([agent.isConnected(), journal.of('closed')]).toEqual([true, []])
  }),
)

verifiesAlone('REL-100', 'without pings a half-open connection stays open', () =>
  throughProxy(async ({ proxy, agent, journal }) => {
    proxy.stall()
    const since = performance.now()
    await eventually(() => performance.now() - since > 8 * PING_MS)
    expect([agent.isConnected(), journal.of('closed')]).toEqual([true, []])
  }, 0),
)
