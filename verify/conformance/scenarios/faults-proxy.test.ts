import { AiAgent } from '@aiagent/client'
import { type EmulatorServer, serveEmulator, startFaultProxy } from '@aiagent/emulator/node'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { LeakWatch } from '../leak-watch.ts'
import { verifiesAlone } from '../verifies.ts'
import { reply, WORLD } from '../world.ts'

/** A service behind a proxy that can break connections below TCP, and an agent with an open chat. */
async function behindProxy() {
  let service: EmulatorServer | undefined
  const proxy = await startFaultProxy({ target: () => service?.url ?? '' })
  const server = await serveEmulator({ world: WORLD, reply, origin: proxy.url })
  service = server
  const watch = new LeakWatch()
  const agent = new AiAgent({
    id: 'help',
    endpoint: proxy.url,
    enableLogging: false,
    baseReconnectDelay: 20,
    maxReconnectDelay: 20,
  })
  const journal = new Journal(agent)
  await agent.initialize()
  await agent.connect()
  const said = () => {
    const { control } = server.emulator
    const session = control.requests().findLast(({ status }) => status === 101)?.query['sessionId'] ?? ''
    return control.frames(session).flatMap(({ message }) => (message?.role === 'human' ? [message.content] : []))
  }
  const end = async () => {
    await agent.destroy()
    await watch.expectNothingLeft()
    await proxy.close()
    await server.close()
    await watch.stop()
  }
  return { agent, journal, proxy, said, watch, end }
}

verifiesAlone(
  ['OWN-01', 'OWN-02'],
  'on a connection that is no longer read every call settles, and the next connection works',
  async () => {
    const { agent, journal, proxy, said, watch, end } = await behindProxy()
    proxy.stall()
    for (let index = 0; index < 30; index++) await agent.send(`never read ${index}`)
    await agent.connect()
    await agent.disconnect()
    expect(agent.getState()).toBe('CLOSED')
    await agent.connect()
    await agent.send('heard')
    await eventually(() => journal.answers.includes('You said: heard'))
    expect(said()).toEqual(['heard'])
    // The old connection is dropped without a response to its close frame.
    await eventually(() => watch.openSockets === 1)
    await end()
  },
)

verifiesAlone(
  ['OWN-06', 'FLOW-03'],
  'a reset connection is replaced, and messages sent meanwhile arrive once and in order',
  async () => {
    const { agent, journal, proxy, said, watch, end } = await behindProxy()
    proxy.refuse()
    proxy.cut()
    await eventually(() => agent.getState() !== 'CONNECTED')
    const texts = Array.from({ length: 50 }, (_, index) => `message ${index}`)
    for (const text of texts) await agent.send(text)
    await eventually(() => journal.of('error').length > 1, 'attempts fail')
    proxy.refuse(false)
    await eventually(() => journal.answers.length === texts.length)
    expect(said()).toEqual(texts)
    expect(journal.of('closed')).toMatchObject([{ code: 1006, willReconnect: true }])
    await eventually(() => watch.openSockets === 1)
    await end()
  },
)
