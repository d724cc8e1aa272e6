import type { AiAgent, AiAgentConfig } from '@aiagent/client'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { type LeakWatch, outcomeOf, watched } from '../leak-watch.ts'
import { verifiesOnEachWire } from '../verifies.ts'
import type { Service } from '../wire.ts'

const BY_HAND = { time: 'by hand' } as const

/** Time limit of an upgrade. */
const OPENING_LIMIT_MS = 10_000

const WAIT_MS = 500
const STEADY: Partial<AiAgentConfig> = { baseReconnectDelay: WAIT_MS, maxReconnectDelay: WAIT_MS }

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `message ${from + index}`)

/** Initializes an agent whose resources are counted. */
async function readyAgent(service: Service, watch: LeakWatch, config: Partial<AiAgentConfig> = {}) {
  const agent = service.newAgent(
    { ...STEADY, ...config },
    { ...watch.counting(service.environment()), page: watch.page },
  )
  const journal = new Journal(agent)
  await agent.initialize()
  return { agent, journal }
}

async function sendAll(agent: AiAgent, texts: readonly string[]): Promise<void> {
  for (const text of texts) await agent.send(text)
}

/** Destroys the agent and counts its remaining resources. */
async function expectCleanEnd(service: Service, watch: LeakWatch, agent: AiAgent): Promise<void> {
  expect(agent.getState()).toBe('CONNECTED')
  expect(watch.openSockets).toBe(1)
  expect(watch.mostSockets).toBeLessThanOrEqual(1)
  await agent.destroy()
  await watch.expectNothingLeft()
  expect(service.clock.pending).toEqual([])
}

verifiesOnEachWire(
  ['OWN-01', 'FLOW-03'],
  'connect() settles when upgrades are refused, reconnects continue, and queued messages arrive once and in order',
  watched(async (service, watch) => {
    const { agent, journal } = await readyAgent(service, watch)
    await sendAll(agent, numbered(0, 20))
    service.faults.add({ kind: 'refuse-upgrade', status: 503, times: 3 })
    await expect(agent.connect()).rejects.toMatchObject({
      code: 'CONNECTION_ERROR',
      reason: 'refused',
      httpStatus: 503,
    })
    await sendAll(agent, numbered(20, 40))
    await service.until(() => journal.of('queueFlushed').length > 0)
    await eventually(() => journal.answers.length === 40)
    expect(service.said()).toEqual(numbered(0, 40))
    expect(journal.of('error')).toHaveLength(3)
    await expectCleanEnd(service, watch, agent)
  }),
)

verifiesOnEachWire(
  ['OWN-01', 'OWN-02'],
  'connect() settles when an upgrade hangs, and a late response opens no second socket',
  watched(async (service, watch) => {
    const { agent, journal } = await readyAgent(service, watch)
    const { signal } = watch.controller()
    service.faults.add({ kind: 'hang-upgrade' })
    const connecting = outcomeOf(agent.connect({ signal }))
    await eventually(() => service.faults.inForce().some(({ hits }) => hits === 1))
    await sendAll(agent, numbered(0, 3))
    await service.elapse(OPENING_LIMIT_MS)
    await eventually(() => connecting.settled)
    expect(connecting.error).toMatchObject({ code: 'CONNECTION_ERROR', reason: 'timeout' })
    expect(agent.getState()).toBe('RECONNECTING')
    service.faults.lift()
    await service.until(() => agent.isConnected())
    await eventually(() => journal.answers.length === 3)
    expect(service.said()).toEqual(numbered(0, 3))
    expect(journal.of('connected')).toHaveLength(1)
    await eventually(() => watch.openSockets === 1)
    await expectCleanEnd(service, watch, agent)
  }),
  BY_HAND,
)

verifiesOnEachWire(
  ['OWN-01', 'FLOW-02'],
  'disconnect() settles while an upgrade hangs, and leaves nothing behind',
  watched(async (service, watch) => {
    const { agent } = await readyAgent(service, watch)
    service.faults.add({ kind: 'hang-upgrade' })
    const { signal } = watch.controller()
    const connecting = outcomeOf(agent.connect({ signal }))
    await eventually(() => service.faults.inForce().some(({ hits }) => hits === 1))
    await agent.disconnect()
    await eventually(() => connecting.settled)
    expect(connecting.error).toMatchObject({ code: 'ABORTED' })
    // A disconnected agent holds no listener of the page.
    expect([service.clock.pending, watch.pageListeners]).toEqual([[], 0])
    await eventually(() => watch.openSockets === 0)
    service.faults.lift()
    await agent.connect()
    await expectCleanEnd(service, watch, agent)
  }),
)

verifiesOnEachWire(
  ['FLOW-04', 'OWN-06'],
  'a service restart with memory keeps the session, and messages sent meanwhile arrive once and in order',
  watched(async (service, watch) => {
    const { agent, journal } = await readyAgent(service, watch)
    await agent.connect()
    await sendAll(agent, numbered(0, 5))
    await eventually(() => journal.answers.length === 5)
    const session = service.session
    service.faults.add({ kind: 'restart', downMs: WAIT_MS / 2 })
    await eventually(() => agent.getState() === 'RECONNECTING')
    await sendAll(agent, numbered(5, 30))
    // The service is back before the next attempt.
    await service.elapse(WAIT_MS / 2)
    await service.until(() => journal.of('queueFlushed').length > 0)
    await agent.send('message 30')
    await eventually(() => journal.answers.length === 31)
    expect(service.session).toBe(session)
    expect(service.said()).toEqual(numbered(0, 31))
    expect(journal.of('closed')).toMatchObject([{ code: 1001, willReconnect: true }])
    await expectCleanEnd(service, watch, agent)
  }),
  BY_HAND,
)

verifiesOnEachWire(
  ['OWN-04', 'FLOW-08'],
  'a service restart without memory emits an error, and messages sent meanwhile arrive in a new session with the context',
  watched(async (service, watch) => {
    const { agent, journal } = await readyAgent(service, watch, { context: { plan: 'gold' } })
    await agent.connect()
    await sendAll(agent, numbered(0, 5))
    await eventually(() => journal.answers.length === 5)
    const session = service.session
    service.faults.add({ kind: 'restart', memory: false, code: 1006, downMs: WAIT_MS / 2 })
    await eventually(() => agent.getState() === 'RECONNECTING')
    await sendAll(agent, numbered(5, 30))
    await service.elapse(WAIT_MS / 2)
    await service.until(() => journal.of('queueFlushed').length > 0)
    await eventually(() => journal.answers.length === 30)
    expect(service.session).not.toBe(session)
    expect([service.said(session), service.said()]).toEqual([numbered(0, 5), numbered(5, 30)])
    expect(journal.errorCodes).toEqual(['CONNECTION_ERROR'])
    await agent.send('What do you know of me?')
    await eventually(() => journal.answers.length === 31)
    expect(JSON.parse(journal.answers[30] ?? '')).toMatchObject({ plan: 'gold' })
    await expectCleanEnd(service, watch, agent)
  }),
  BY_HAND,
)

verifiesOnEachWire(
  ['OWN-01', 'OWN-02'],
  'on a dead connection that looks open every call settles, and the next connection works',
  watched(async (service, watch) => {
    const { agent, journal } = await readyAgent(service, watch)
    const { signal } = watch.controller()
    await agent.connect({ signal })
    await agent.send('heard')
    await eventually(() => journal.answers.length === 1)
    service.faults.add({ kind: 'silence' })
    await sendAll(agent, numbered(0, 40))
    await agent.connect({ signal })
    expect(agent.getState()).toBe('CONNECTED')
    await service.through(agent.disconnect({ signal }))
    expect(agent.getState()).toBe('CLOSED')
    service.faults.lift()
    await agent.connect({ signal })
    await agent.send('received again')
    // The answers to what was written to the dead connection are recovered beside it.
    await eventually(() => journal.answers.includes('You said: received again'))
    // Messages written to the dead connection are not repeated: here the service received them.
    await eventually(() => service.said().length === 42)
    expect(service.said().filter(text => text?.startsWith('message'))).toEqual(numbered(0, 40))
    await eventually(() => watch.openSockets === 1)
    await expectCleanEnd(service, watch, agent)
  }),
)

verifiesOnEachWire(
  ['OWN-06', 'FLOW-05'],
  'a slow, jittery link changes no order, in either direction',
  watched(async (service, watch) => {
    const { agent, journal } = await readyAgent(service, watch)
    service.faults.add({ kind: 'delay-frames', ms: 20, jitterMs: 60 })
    service.faults.add({ kind: 'slow-link', bytesPerSecond: 50_000, only: 'frames' })
    await sendAll(agent, numbered(0, 40))
    await agent.connect()
    await sendAll(agent, numbered(40, 80))
    await service.until(() => service.clock.pending.length === 0 && agent.getQueueSize() === 0)
    await agent.send('message 80')
    await elapseUntil(service, () => journal.answers.length === 81)
    expect(service.said()).toEqual(numbered(0, 81))
    expect(journal.answers).toEqual(numbered(0, 81).map(text => `You said: ${text}`))
    expect(journal.of('queueFlushed')).toMatchObject([{ count: expect.any(Number) }])
    await expectCleanEnd(service, watch, agent)
  }),
)

verifiesOnEachWire(
  'OWN-06',
  'frames lost by the network are not sent again, and the others keep their order',
  watched(async (service, watch) => {
    const { agent, journal } = await readyAgent(service, watch)
    await agent.connect()
    service.faults.add({ kind: 'lose-frames', direction: 'to-service', chance: 0.5 })
    await sendAll(agent, numbered(0, 60))
    await eventually(() => watch.openSockets === 1)
    service.faults.lift()
    await agent.send('message 60')
    await eventually(() => service.said().includes('message 60'))
    const heard = service.said().map(text => Number(String(text).split(' ')[1]))
    expect(heard).toEqual([...new Set(heard)].sort((a, b) => a - b))
    expect(journal.of('error')).toEqual([])
    expect(agent.getTranscriptSize()).toBeGreaterThanOrEqual(61)
    await expectCleanEnd(service, watch, agent)
  }),
)

verifiesOnEachWire(
  ['OWN-03', 'FLOW-03'],
  'a service that closes the chat with one code after the other leaves one socket, and no message is lost or doubled',
  watched(async (service, watch) => {
    const { agent, journal } = await readyAgent(service, watch)
    await agent.connect()
    const codes = [1001, 1006, 1011, 1012, 1013, 4000, 4409]
    for (const [index, code] of codes.entries()) {
      service.faults.add({ kind: 'drop', code })
      await eventually(() => agent.getState() === 'RECONNECTING')
      await sendAll(agent, numbered(index * 20, index * 20 + 20))
      await service.until(() => journal.of('queueFlushed').length === index + 1)
    }
    await eventually(() => journal.answers.length === codes.length * 20)
    expect(service.said()).toEqual(numbered(0, codes.length * 20))
    expect(journal.of('closed').map(({ code }) => code)).toEqual(codes)
    await eventually(() => watch.openSockets === 1)
    await expectCleanEnd(service, watch, agent)
  }),
)

verifiesOnEachWire(
  ['OWN-06', 'FLOW-03'],
  'a token that expires during an outage is renewed, and the next connection starts with the new one',
  watched(async (service, watch) => {
    let issued = 0
    const fresh = () => service.control.issueToken({ lifeSeconds: 3600 + ++issued })
    const auth = { type: 'pre-auth', accessToken: fresh(), refreshTokenFn: fresh } as const
    const { agent, journal } = await readyAgent(service, watch, { id: 'account', auth })
    await agent.connect()
    await agent.send('message 0')
    await eventually(() => journal.answers.length === 1)
    service.faults.add({ kind: 'drop' })
    service.faults.add({ kind: 'expire-tokens' })
    await eventually(() => agent.getState() === 'RECONNECTING')
    await sendAll(agent, numbered(1, 10))
    await service.until(() => journal.answers.length === 10)
    expect(service.said()).toEqual(numbered(0, 10))
    await expectCleanEnd(service, watch, agent)
  }),
)

/** Lets time pass in small steps until a condition holds. */
async function elapseUntil(service: Service, probe: () => boolean): Promise<void> {
  for (let step = 0; step < 1_000 && !probe(); step++) await service.elapse(20)
  await eventually(probe)
}
