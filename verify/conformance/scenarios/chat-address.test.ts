import { paths } from '@aiagent/protocol'
import { eventually, FakeWebSocket } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { verifiesOnEachWire } from '../verifies.ts'
import type { Service } from '../wire.ts'

/** Records the address of a socket that never opens. */
async function addressOf(service: Service, config: object): Promise<URL> {
  FakeWebSocket.reset()
  const agent = service.newAgent(config, { ...service.environment(), WebSocket: FakeWebSocket })
  await agent.initialize()
  const connecting = agent.connect()
  await eventually(() => FakeWebSocket.made.length)
  FakeWebSocket.last.accept()
  await connecting
  return new URL(FakeWebSocket.last.url)
}

verifiesOnEachWire(
  'WS-01',
  'the chat address is wss:// and the webSocketDomain of the agent if it has one',
  async service => {
    expect((await addressOf(service, { id: 'own-host' })).origin).toBe('wss://chat.example.test')
  },
)

verifiesOnEachWire(
  'WS-01',
  'the chat address is wss://chat. and the aiAgentDomain if the agent has no webSocketDomain',
  async service => {
    const { aiAgentDomain } = await service.newAgent().getDeploymentInfo()
    const address = await addressOf(service, { id: 'shared-host' })
    expect(address.origin).toBe(`wss://chat.${aiAgentDomain}`)
  },
)

verifiesOnEachWire('WS-01', 'a chat opens at a webSocketDomain with scheme and port', async service => {
  const agent = await service.connectedAgent()
  const journal = new Journal(agent)
  expect((await agent.getAgentDetails()).webSocketDomain).toBe(service.endpoint.replace(/^http/, 'ws'))
  await agent.send('hello')
  await eventually(() => journal.answers.length)
  expect(service.openings).toHaveLength(1)
})

verifiesOnEachWire(
  'WS-02',
  'the session id is sent as the query parameter sessionId, encoded as search parameters are',
  async service => {
    for (const sessionId of ['s-1', 'a b+c&d=e?f#g%20/h', 'ünï✓']) {
      const address = await addressOf(service, { sessionId })
      expect(address.searchParams.get('sessionId')).toBe(sessionId)
      expect([...address.searchParams.keys()]).toEqual(['sessionId'])
      expect(address.hash).toBe('')
    }
    await service.connectedAgent()
    const opening = service.control.requests().find(({ status }) => status === 101)
    expect(opening?.query).toEqual({ sessionId: service.session })
  },
)

verifiesOnEachWire(
  'CFG-10',
  'with a sessionId there is no session call, and the id is used unchanged',
  async service => {
    const first = await service.connectedAgent()
    const sessionId = service.session
    await service.through(first.disconnect())
    const calls = () => service.requestsTo(paths.session('help')).length
    expect(calls()).toBe(1)

    const agent = await service.connectedAgent({ sessionId })
    const journal = new Journal(agent)
    await agent.send('hello')
    await eventually(() => journal.answers.length)
    expect(calls()).toBe(1)
    expect(service.openings).toEqual([sessionId, sessionId])
    expect((await addressOf(service, { sessionId: 42 })).searchParams.get('sessionId')).toBe('42')
    expect(calls()).toBe(1)
  },
)

const UNUSABLE = [
  '',
  '   ',
  'undefined',
  'null',
  ' NULL ',
  'Undefined',
  null,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  {},
  true,
]

verifiesOnEachWire(['CFG-10', 'REST-10'], 'the constructor rejects an unusable sessionId', service => {
  for (const sessionId of UNUSABLE) {
    const create = () => service.newAgent({ sessionId: sessionId as never })
    expect(create, String(sessionId)).toThrow(expect.objectContaining({ code: 'SESSION_ID_INVALID' }))
  }
  expect(service.control.requests()).toEqual([])
})

verifiesOnEachWire(
  'REST-10',
  'setSessionId() and restartConnection() reject an unusable id, and the current session stays',
  async service => {
    const agent = await service.connectedAgent()
    const { session } = service
    const requests = service.control.requests().length
    for (const id of [...UNUSABLE, undefined]) {
      expect(() => agent.setSessionId(id as never), String(id)).toThrow(
        expect.objectContaining({ code: 'SESSION_ID_INVALID' }),
      )
    }
    for (const sessionId of UNUSABLE) {
      await expect(agent.restartConnection({ sessionId: sessionId as never })).rejects.toMatchObject({
        code: 'SESSION_ID_INVALID',
      })
    }
    expect(agent.isConnected()).toBe(true)
    expect(service.control.requests()).toHaveLength(requests)
    await service.through(agent.disconnect())
    await agent.connect()
    expect(service.session).toBe(session)
  },
)

verifiesOnEachWire('REST-10', 'setSessionId() applies from the next connection on', async service => {
  const other = await service.connectedAgent()
  const supplied = service.session
  await service.through(other.disconnect())
  const agent = await service.connectedAgent()
  agent.setSessionId(supplied)
  expect(service.session).not.toBe(supplied)
  await service.through(agent.disconnect())
  await agent.connect()
  expect(service.session).toBe(supplied)
})
