import { DEFAULTS } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { eventually, turnEventLoop } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { newTab } from '../tab.ts'
import { verifiesOnEachWire } from '../verifies.ts'
import type { Service } from '../wire.ts'

/** Short waits, which pass in real time over a port. */
const SHORT = { baseReconnectDelay: 2, maxReconnectDelay: 40 }

for (const code of [1000, 1005]) {
  verifiesOnEachWire('FLOW-02', `after close code ${code} no reconnect is scheduled`, async service => {
    const agent = await service.connectedAgent(SHORT)
    const journal = new Journal(agent)
    service.control.dropSockets(code)
    await eventually(() => journal.of('closed').length)
    expect(journal.of('closed')).toMatchObject([{ code, willReconnect: false }])
    expect(agent.getState()).toBe('CLOSED')
    // Without a timer no attempt can follow.
    expect(service.clock.pending).toEqual([])
    await service.elapse(120_000)
    expect(service.openings).toHaveLength(1)
    await agent.connect()
    expect(service.openings).toEqual([service.session, service.session])
  })
}

for (const code of [undefined, 1001, 1008, 1011, 1012, 3000, 4000, 4999]) {
  verifiesOnEachWire(
    'FLOW-03',
    `after ${code ? `close code ${code}` : 'a broken connection'} the agent reconnects`,
    async service => {
      const agent = await service.connectedAgent(SHORT)
      const journal = new Journal(agent)
      service.control.dropSockets(code)
      await eventually(() => journal.of('closed').length)
      expect(journal.of('closed')).toMatchObject([{ code: code ?? 1006, willReconnect: true }])
      await service.until(() => agent.isConnected())
      expect(service.openings).toEqual([service.session, service.session])
      expect(journal.of('stateChanged').map(({ state }) => state)).toEqual(['RECONNECTING', 'CONNECTING', 'CONNECTED'])
      await agent.send('still there?')
      await eventually(() => journal.answers.includes('You said: still there?'))
    },
  )
}

const BY_HAND = { time: 'by hand' } as const

/** Waits between the attempts of an agent whose chat cannot be reached, as requested from its clock. */
async function waits(service: Service, attempts: number, config: object, random: number): Promise<number[]> {
  const agent = service.newAgent({ id: 'unreachable', ...config }, { ...service.environment(), random: () => random })
  const journal = new Journal(agent)
  await agent.initialize()
  await expect(agent.connect()).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
  const asked: number[] = []
  while (asked.length < attempts) {
    await eventually(() => journal.of('error').length > asked.length && agent.getState() === 'RECONNECTING')
    expect(service.clock.pending).toHaveLength(1)
    asked.push(service.clock.pending[0] ?? -1)
    await service.elapse(asked.at(-1) ?? 0)
  }
  await agent.destroy()
  return asked
}

verifiesOnEachWire(
  ['FLOW-03', 'CFG-06'],
  'the waits grow from the base delay to the maximum: 1000 and 30000 ms by default',
  async service => {
    expect([DEFAULTS.baseReconnectDelay, DEFAULTS.maxReconnectDelay]).toEqual([1000, 30_000])
    expect(await waits(service, 7, {}, 0)).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
    expect(await waits(service, 7, {}, 1)).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  },
  BY_HAND,
)

verifiesOnEachWire(
  ['FLOW-03', 'CFG-06'],
  'baseReconnectDelay and maxReconnectDelay bound every wait, for any jitter',
  async service => {
    const config = { baseReconnectDelay: 100, maxReconnectDelay: 700 }
    for (const random of [0, 0.5, 1]) {
      const asked = await waits(service, 6, config, random)
      expect(Math.min(...asked)).toBeGreaterThanOrEqual(100)
      expect(Math.max(...asked)).toBeLessThanOrEqual(700)
      expect(asked).toEqual([...asked].sort((a, b) => a - b))
      expect(asked.at(-1)).toBeGreaterThan(asked[0] ?? 0)
    }
  },
  BY_HAND,
)

verifiesOnEachWire(
  ['FLOW-03', 'CFG-05'],
  'used-up attempts end in CLOSED with one error and no timer, and connect() starts again',
  async service => {
    const agent = service.newAgent({ id: 'unreachable', maxReconnectAttempts: 3, ...SHORT })
    const journal = new Journal(agent)
    await agent.initialize()
    const giveUps = () =>
      journal.of('error').filter(({ error }) => 'reason' in error && error.reason === 'attempts_used_up')
    for (const round of [1, 2]) {
      await expect(agent.connect()).rejects.toMatchObject({ code: 'CONNECTION_ERROR', reason: 'refused' })
      await service.until(() => agent.getState() === 'CLOSED')
      expect(giveUps()).toHaveLength(round)
      // One for connect(), one for each of the three attempts, and a final one.
      expect(journal.of('error')).toHaveLength(round * 5)
      expect(service.clock.pending).toEqual([])
    }
  },
)

verifiesOnEachWire(
  'CFG-05',
  'maxReconnectAttempts is Infinity by default: attempts continue after any number of failures',
  async service => {
    expect(DEFAULTS.maxReconnectAttempts).toBe(Number.POSITIVE_INFINITY)
    const asked = await waits(service, 60, {}, 0.5)
    expect(asked).toHaveLength(60)
  },
  BY_HAND,
)

verifiesOnEachWire('CFG-05', 'with maxReconnectAttempts 0 a lost connection is not reopened', async service => {
  const agent = await service.connectedAgent({ maxReconnectAttempts: 0 })
  const journal = new Journal(agent)
  service.control.dropSockets()
  await eventually(() => journal.of('error').length)
  expect(journal.of('closed')).toMatchObject([{ code: 1006, willReconnect: false }])
  expect(journal.of('error')).toMatchObject([{ error: { reason: 'attempts_used_up' } }])
  expect(agent.getState()).toBe('CLOSED')
  expect(service.clock.pending).toEqual([])
})

verifiesOnEachWire(
  'OWN-02',
  'disconnect() followed immediately by connect() ends connected on one socket',
  async service => {
    const agent = await service.connectedAgent()
    const journal = new Journal(agent)
    await service.through(Promise.all([agent.disconnect(), agent.connect()]))
    expect(agent.getState()).toBe('CONNECTED')
    await agent.send('hello again')
    await eventually(() => journal.answers.length)
    expect(service.openings).toHaveLength(2)
    expect(journal.of('closed')).toMatchObject([{ code: 1000, willReconnect: false }])
    expect(journal.answers).toEqual(['You said: hello again'])
  },
)

verifiesOnEachWire('OWN-02', 'concurrent calls of initialize() and connect() share one attempt', async service => {
  const agent = service.newAgent()
  const journal = new Journal(agent)
  await Promise.all([agent.initialize(), agent.initialize()])
  await Promise.all([agent.connect(), agent.connect()])
  await agent.connect()
  expect(service.openings).toHaveLength(1)
  expect(journal.types.filter(type => type === 'initialized' || type === 'connected')).toEqual([
    'initialized',
    'connected',
  ])
})

verifiesOnEachWire(
  'OWN-03',
  'a service that accepts and closes at once is retried with growing delays',
  async service => {
    const agent = service.newAgent(
      { baseReconnectDelay: 1, maxReconnectDelay: 64 },
      { ...service.environment(), random: () => 0 },
    )
    const asked: number[] = []
    agent.on('connected', () => void turnEventLoop(1).then(() => service.control.dropSockets(1011)))
    agent.on('closed', () => asked.push(service.clock.pending.at(-1) ?? -1))
    await agent.initialize()
    await agent.connect().catch(() => {})
    await service.until(() => asked.length >= 6)
    expect(asked.slice(0, 6)).toEqual([1, 2, 4, 8, 16, 32])
  },
)

verifiesOnEachWire('OWN-03', 'a message of the agent resets the backoff', async service => {
  const agent = service.newAgent(
    { baseReconnectDelay: 1, maxReconnectDelay: 64 },
    { ...service.environment(), random: () => 0 },
  )
  const journal = new Journal(agent)
  const asked: number[] = []
  agent.on('closed', () => asked.push(service.clock.pending.at(-1) ?? -1))
  await agent.initialize()
  await agent.connect()
  for (const speaks of [false, false, true, false]) {
    const { length } = journal.answers
    if (speaks) {
      await agent.send('say something')
      await eventually(() => journal.answers.length > length)
    }
    service.control.dropSockets(1011)
    await eventually(() => agent.getState() !== 'CONNECTED')
    await service.until(() => agent.isConnected())
  }
  expect(asked).toEqual([1, 2, 1, 2])
})

for (const [title, lose] of [
  [
    'forgotten while the chat is open (4404)',
    (service: Service) => void service.control.forgetSession(service.session),
  ],
  [
    'ended, and refused with 410 at the next connection',
    (service: Service) => {
      const { session } = service
      service.control.dropSockets()
      service.control.endSession(session)
    },
  ],
  [
    'forgotten during an outage, and refused with 404',
    (service: Service) => {
      const { session } = service
      service.control.dropSockets()
      service.control.forgetSession(session)
    },
  ],
  [
    'forgotten during an outage, and refused with 4404',
    (service: Service) => {
      service.control.change({ unknownSession: 'close-4404' })
      const { session } = service
      service.control.dropSockets()
      service.control.forgetSession(session)
    },
  ],
] as const) {
  verifiesOnEachWire(
    'OWN-04',
    `a session that is ${title} is replaced by a new one with the context`,
    async service => {
      const agent = await service.connectedAgent({ context: { plan: 'gold' }, ...SHORT }, service.environment(newTab()))
      const journal = new Journal(agent)
      const lost = service.session
      lose(service)
      await service.until(() => service.session !== lost && agent.isConnected(), 'the agent is connected again')
      expect(journal.of('error').filter(({ error }) => error.message.includes('session'))).toHaveLength(1)
      expect(journal.errorCodes).toEqual(['CONNECTION_ERROR'])
      expect(service.requestsTo(paths.session('help'), 'POST').map(({ body }) => JSON.parse(body ?? ''))).toEqual([
        { context: { plan: 'gold' } },
        { context: { plan: 'gold' } },
      ])
      await agent.send('hello again')
      await eventually(() => journal.answers.includes('You said: hello again'))
    },
  )
}
