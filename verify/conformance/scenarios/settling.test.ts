import { paths } from '@aiagent/protocol'
import { eventually, FakeWebSocket } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import type { RawAnswer } from '../raw-service.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

/** An agent whose REST calls work, and whose chat upgrade gets the given response. */
async function agentOf(service: Service, opening: RawAnswer) {
  const raw = await service.rawService(({ path }) => {
    if (path === paths.deploymentInfo())
      return { body: { apiDomain: raw.endpoint, aiAgentDomain: 'agent.example.test' } }
    if (path === paths.agentDetails('help'))
      return { body: { agentId: 'help', webSocketDomain: raw.endpoint.replace(/^http/, 'ws') } }
    return path === paths.session('help') ? { body: { sessionId: 's-1' } } : opening
  })
  FakeWebSocket.reset()
  const auth = { type: 'pre-auth', accessToken: service.control.issueToken() } as const
  const agent = service.newAgent({ endpoint: raw.endpoint, auth }, raw.environment)
  await agent.initialize()
  return agent
}

verifies(
  'OWN-01',
  'connect() rejects within ten seconds when the service never responds, with one error event',
  async service => {
    const agent = await agentOf(service, { ending: 'silent' })
    const journal = new Journal(agent)
    const connecting = agent.connect()
    await eventually(() => service.clock.pending.includes(10_000))
    await Promise.all([
      expect(connecting).rejects.toMatchObject({ code: 'CONNECTION_ERROR', reason: 'timeout' }),
      service.elapse(10_000),
    ])
    expect(journal.of('error')).toHaveLength(1)
    expect(agent.getState()).toBe('RECONNECTING')
    await agent.disconnect()
    expect(agent.getState()).toBe('CLOSED')
  },
)

verifies('OWN-01', 'connect() rejects when its signal is aborted, and no attempt continues', async service => {
  const agent = await agentOf(service, { ending: 'silent' })
  const controller = new AbortController()
  const connecting = agent.connect({ signal: controller.signal })
  await eventually(() => service.clock.pending.includes(10_000))
  controller.abort(new Error('no longer needed'))
  await expect(connecting).rejects.toMatchObject({ code: 'ABORTED', cause: controller.signal.reason })
  expect(agent.getState()).toBe('CLOSED')
  expect(service.clock.pending).toEqual([])
})

verifies('OWN-01', 'connect() settles when disconnect() comes first', async service => {
  const agent = await agentOf(service, { ending: 'silent' })
  const connecting = agent.connect()
  await Promise.all([expect(connecting).rejects.toMatchObject({ code: 'ABORTED' }), agent.disconnect()])
  expect(agent.getState()).toBe('CLOSED')
  expect(service.clock.pending).toEqual([])
})

verifies('OWN-01', 'connect() settles when the service refuses', async service => {
  const agent = service.newAgent({ id: 'unreachable' })
  await agent.initialize()
  await expect(agent.connect()).rejects.toMatchObject({ code: 'CONNECTION_ERROR', reason: 'refused' })
})

verifies('OWN-01', 'initialize() rejects when its signal is aborted, and a later run works', async service => {
  let answer: RawAnswer = { ending: 'silent' }
  const raw = await service.rawService(({ path }) => {
    if (path === paths.deploymentInfo()) return answer
    return { body: path === paths.session('help') ? { sessionId: 's-1' } : { agentId: 'help' } }
  })
  const auth = { type: 'pre-auth', accessToken: service.control.issueToken() } as const
  const agent = service.newAgent({ endpoint: raw.endpoint, auth }, raw.environment)
  const controller = new AbortController()
  const preparing = agent.initialize({ signal: controller.signal })
  await eventually(() => raw.requests.length)
  controller.abort()
  await expect(preparing).rejects.toMatchObject({ code: 'ABORTED' })
  expect(agent.getIsInitialized()).toBe(false)
  expect(service.clock.pending).toEqual([])
  answer = { body: { apiDomain: raw.endpoint, aiAgentDomain: 'agent.example.test' } }
  await agent.initialize()
  expect(agent.getIsInitialized()).toBe(true)
})

verifies('OWN-01', 'disconnect() and send() settle in every state', async service => {
  const agent = service.newAgent()
  await agent.disconnect()
  await agent.initialize()
  await agent.disconnect()
  await agent.connect()
  await service.through(agent.disconnect())
  await agent.disconnect()
  expect(agent.getState()).toBe('CLOSED')
  expect(await agent.send('for later')).toMatch(/\S/)
  await agent.connect()
  await eventually(() => service.said().length)
  await agent.destroy()
  await expect(agent.send('too late')).rejects.toMatchObject({ code: expect.any(String) })
  await agent.disconnect()
})
