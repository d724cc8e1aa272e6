import { describe, expect, it } from 'vitest'
import { passing, setUp } from '../../test/agent-harness.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { AiAgentConfig } from '../config.ts'
import { Logger, LogLevel } from '../logger.ts'
import { WARN_AFTER_MS } from './outbox.ts'

const HOW = /connect\(\).*autoConnect.*connectOnSend/

/** An agent whose warnings are collected. */
function setUpLogged(config: Partial<AiAgentConfig> = {}) {
  const parts = setUp()
  const logger = new Logger({ enableConsole: false })
  const warnings: string[] = []
  logger.on('log', ({ level, message }) => level >= LogLevel.WARN && warnings.push(message))
  const { agent } = parts.make({ logger, ...config })
  return { ...parts, agent, warnings }
}

describe('a message that nothing opens the chat for', () => {
  it.each<[string, (agent: AiAgent) => unknown]>([
    ['before initialize()', () => {}],
    ['after initialize()', agent => agent.initialize()],
    [
      'after disconnect()',
      agent =>
        agent
          .initialize()
          .then(() => agent.connect())
          .then(() => agent.disconnect()),
    ],
  ])('[REL-286] is one warning with the ways to open it: %s', async (_case, prepare) => {
    const { agent, clock, warnings } = setUpLogged()
    await passing(clock, Promise.resolve(prepare(agent)))
    await agent.send('one')
    expect(warnings).toEqual([expect.stringMatching(HOW)])
    await agent.send('two')
    agent.ask('three').catch(() => {})
    await agent.destroy()
    expect(warnings).toHaveLength(1)
  })

  it('[REL-286] is one warning for a question too', async () => {
    const { agent, clock, warnings } = setUpLogged()
    await agent.initialize()
    agent.ask('one').catch(() => {})
    await clock.advance(WARN_AFTER_MS)
    expect(warnings).toEqual([expect.stringMatching(HOW)])
    // Each further question has its own, which names what it waits for.
    agent.ask('two').catch(() => {})
    await clock.advance(WARN_AFTER_MS)
    expect(warnings).toEqual([expect.anything(), expect.stringContaining('not connected')])
    await agent.destroy()
  })

  it('[REL-286] is one warning where it was sent while initialize() ran', async () => {
    const { agent, clock, warnings } = setUpLogged()
    const ready = agent.initialize()
    await agent.send('one')
    await ready
    expect(warnings).toEqual([])
    await clock.advance(WARN_AFTER_MS)
    expect(warnings).toEqual([expect.stringMatching(HOW)])
    await agent.destroy()
  })

  it.each(['disconnect', 'destroy'] as const)('[REL-286] leaves no timer after %s()', async end => {
    const { agent, clock, warnings } = setUpLogged()
    await Promise.all([agent.initialize(), agent.send('one')])
    await agent[end]()
    expect(clock.pendingTimers).toBe(0)
    await clock.advance(WARN_AFTER_MS)
    expect(warnings).toEqual([])
  })

  it('[REL-286] is one warning after a close of the service that ends the chat', async () => {
    const { agent, clock, emulator, warnings } = setUpLogged()
    await agent.initialize()
    await agent.connect()
    emulator.control.dropSockets(1000)
    await clock.advance(10)
    await agent.send('one')
    expect(warnings).toEqual([expect.stringMatching(HOW)])
    await agent.destroy()
  })

  it.each<[string, Partial<AiAgentConfig>, (agent: AiAgent) => Promise<unknown>]>([
    ['opens in the same turn', {}, agent => agent.initialize().then(() => [agent.send('one'), agent.connect()])],
    ['is opening', {}, agent => agent.initialize().then(() => [agent.connect(), agent.send('one')])],
    ['is opened by connectOnSend', { connectOnSend: true }, agent => agent.initialize().then(() => agent.send('one'))],
    ['will be opened by connectOnSend', { connectOnSend: true }, agent => agent.send('one')],
    ['will be opened by autoConnect', { autoConnect: true }, agent => agent.send('one')],
    [
      'is opened after an initialize() that runs',
      {},
      agent => Promise.all([agent.initialize().then(() => agent.connect()), agent.send('one')]),
    ],
  ])('[REL-286] writes no warning where the chat %s', async (_case, config, act) => {
    const { agent, clock, warnings } = setUpLogged(config)
    await passing(clock, act(agent))
    await clock.advance(WARN_AFTER_MS)
    expect(warnings).toEqual([])
    await passing(clock, agent.destroy())
  })

  it('[REL-286] writes no warning where a reconnect is planned, or the message was taken back', async () => {
    const { agent, clock, emulator, warnings } = setUpLogged()
    await agent.initialize()
    const sent = agent.send('taken back')
    agent.clearQueue()
    await sent
    await agent.connect()
    emulator.control.dropSockets(1012)
    await clock.advance(10)
    expect(agent.getState()).toBe('RECONNECTING')
    await agent.send('one')
    expect(warnings.filter(text => HOW.test(text))).toEqual([])
    await passing(clock, agent.destroy())
  })

  it('[REL-286] is not printed with enableLogging: false', async () => {
    const { make, printed } = setUp()
    await make({ enableLogging: false }).agent.send('one')
    expect(printed).toEqual([])
    await make().agent.send('one')
    expect(printed).toHaveLength(1)
  })
})
