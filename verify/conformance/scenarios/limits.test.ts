import { ApiHelper, DEFAULTS } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { newTab } from '../tab.ts'
import { verifies } from '../verifies.ts'
import { differsIn, WITH_REFUSED_CHATS } from '../weathers.ts'
import type { Service } from '../wire.ts'

verifies('LIM-01', 'the queue holds 1000 messages', async service => {
  expect(DEFAULTS.maxQueueSize).toBe(1000)
  const agent = service.newAgent()
  await agent.initialize()
  for (let index = 0; index < 1000; index++) await agent.send('hello')
  await expect(agent.send('hello')).rejects.toMatchObject({ reason: 'queue_full' })
})

verifies('LIM-01', 'reconnect attempts are unlimited and wait from 1000 to 30000 ms', async service => {
  const { maxReconnectAttempts, baseReconnectDelay, maxReconnectDelay } = DEFAULTS
  expect([maxReconnectAttempts, baseReconnectDelay, maxReconnectDelay]).toEqual([
    Number.POSITIVE_INFINITY,
    1000,
    30_000,
  ])
  const agent = service.newAgent({ id: 'unreachable' })
  const journal = new Journal(agent)
  await agent.initialize()
  await expect(agent.connect()).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
  for (let failures = 1; failures <= 40; failures++) {
    await eventually(() => journal.of('error').length === failures && agent.getState() === 'RECONNECTING')
    const [wait = -1] = service.clock.pending
    const [least, most] = failures === 1 ? [1000, 2000] : failures > 4 ? [15_000, 30_000] : [1000, 30_000]
    expect(wait).toBeGreaterThanOrEqual(least)
    expect(wait).toBeLessThanOrEqual(most)
    await service.elapse(wait)
  }
})

verifies(
  'LIM-01',
  'responses are fresh for 300000 ms',
  async service => {
    const tab = service.environment(newTab())
    const asked = () =>
      [paths.deploymentInfo(), paths.agentDetails('help')].map(path => service.requestsTo(path).length)
    await service.newAgent({}, tab).initialize()
    expect(asked()).toEqual([1, 1])
    await service.elapse(299_999)
    await service.newAgent({}, tab).initialize()
    expect(asked()).toEqual([1, 1])
    await service.elapse(2)
    await service.newAgent({}, tab).initialize()
    expect(asked()).toEqual([2, 2])
  },
  { differs: differsIn(['busy service'], 'the waits count in the time') },
)

/** Number of anonymous token requests. */
const tokenRequests = (service: Service) =>
  service.control.requests().filter(({ body }) => body?.includes('grant_type')).length

verifies('LIM-01', 'a token is used until five minutes before its expiry', async service => {
  service.control.change({ tokenLifeSeconds: 600 })
  const tab = service.environment(newTab())
  // With host scopes the first token is valid for the agent too, so each start requests at most one.
  const config = { initParams: { scopes: 'core.aiservices.read' } }
  await service.newAgent(config, tab).initialize()
  expect(tokenRequests(service)).toBe(1)
  await service.elapse(298_000)
  await service.newAgent(config, tab).initialize()
  expect(tokenRequests(service)).toBe(1)
  await service.elapse(3000)
  await service.newAgent(config, tab).initialize()
  expect(tokenRequests(service)).toBe(2)
})

verifies(
  'LIM-01',
  'the bursts of a flush are 5 ms apart',
  async service => {
    const agent = service.newAgent()
    await agent.initialize()
    for (let index = 0; index < 33; index++) await agent.send(`message ${index}`)
    await agent.connect()
    for (const count of [16, 32]) {
      await eventually(() => service.said().length === count)
      expect(service.clock.pending).toEqual([5])
      await service.elapse(4)
      expect(agent.getQueueSize()).toBe(33 - count)
      await service.elapse(1)
    }
    await eventually(() => service.said().length === 33)
  },
  { differs: differsIn(WITH_REFUSED_CHATS, 'after an attempt, a history is awaited') },
)

verifies(
  'LIM-01',
  'the service refuses to open a session with less than 290 s of token life',
  async service => {
    const open = (lifeSeconds: number) =>
      service.patient(new ApiHelper({ apiDomain: service.endpoint }, service.environment())).getAiAgentSession({
        agentId: 'help',
        authToken: service.control.issueToken({ lifeSeconds }),
      })
    expect(await open(290)).toMatch(/\S/)
    const refused = { status: 401, body: expect.objectContaining({ message: 'Token will expire soon' }) }
    await expect(open(289)).rejects.toMatchObject(refused)
    await expect(open(1)).rejects.toMatchObject(refused)
  },
  { differs: differsIn(['busy service'], 'the waits count in the time') },
)
