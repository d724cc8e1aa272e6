import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { payloadsOf, rejection, setUp } from '../../test/agent-harness.ts'
import { FakeProvider } from '../../test/fake-login.ts'

describe('a rate limit of the service', () => {
  it.each([
    ['getDeploymentInfo', paths.deploymentInfo()],
    ['getOAuthMetadata', paths.metadataOfDeployment()],
    ['getToken', 'POST *'],
    ['getAgentDetails', paths.agentDetails('help')],
    ['getAiAgentSession', paths.session('help')],
  ])('[REL-19] of %s is reported with the wait, and initialize() goes on after it', async (operation, route) => {
    const { clock, emulator, make } = setUp()
    emulator.faults.add({ kind: 'rate-limit', retryAfterSeconds: 7, times: 1, route })
    const { agent, told } = make({ cache: { enabled: false } })
    const initialized = agent.initialize()
    await eventually(() => payloadsOf(told, 'rateLimited').length > 0, 'the event')
    expect(payloadsOf(told, 'rateLimited')).toEqual([{ source: 'rest', operation, retryInMs: 7_000 }])
    expect(agent.getIsInitialized()).toBe(false)
    await clock.advance(7_000)
    await initialized
    expect([agent.getIsInitialized(), payloadsOf(told, 'rateLimited').length]).toEqual([true, 1])
    await agent.destroy()
  })

  it('[REL-19] of the token endpoint is an error where the wait would be too long for a token', async () => {
    const { clock, emulator, make } = setUp()
    emulator.faults.add({ kind: 'rate-limit', retryAfterSeconds: 15, route: 'POST *' })
    const { agent, told } = make({ cache: { enabled: false } })
    const initialized = agent.initialize().catch((error: unknown) => error)
    await eventually(() => payloadsOf(told, 'rateLimited').length > 0, 'the event')
    await clock.advance(15_000)
    expect(await initialized).toMatchObject({ name: 'AuthError', reason: 'token_request_failed', status: 429 })
    expect(payloadsOf(told, 'rateLimited')).toHaveLength(1)
    await agent.destroy()
  })

  it('[REL-242] of a service in repair is the least wait of `retryInitialize`, up to the longest one', async () => {
    const { clock, emulator, make } = setUp()
    const route = paths.agentDetails('help')
    const asked = () => emulator.control.requests().filter(({ path }) => path === route).length
    for (const seconds of ['8', '90'])
      emulator.faults.add({ kind: 'answer', route, status: 503, headers: { 'Retry-After': seconds }, times: 1 })
    const { agent, told } = make({ retryInitialize: true, baseReconnectDelay: 300, maxReconnectDelay: 20_000 })
    const initialized = agent.initialize()
    await eventually(() => payloadsOf(told, 'stateChanged').some(({ state }) => state === 'RECONNECTING'))
    await clock.advance(7_900)
    expect(asked()).toBe(1)
    await clock.advance(200)
    await eventually(() => asked() === 2)
    await clock.advance(19_000)
    expect(asked()).toBe(2)
    await clock.advance(1_100)
    await initialized
    expect(asked()).toBe(3)
    await agent.destroy()
  })

  it('[REL-245] does not repeat the session call of a connection that has ended: a session may have begun', async () => {
    const { emulator, make } = setUp()
    emulator.faults.add({ kind: 'cut-request', route: 'POST */session', times: 1 })
    const { agent } = make()
    expect(await rejection(agent.initialize())).toMatchObject({ code: 'API_ERROR', reason: 'network' })
    expect(emulator.world.sessions.size).toBe(0)
    await agent.initialize()
    expect(emulator.world.sessions.size).toBe(1)
    await agent.destroy()
  })

  it('[REL-19] of the identity provider is reported by its client', async () => {
    const { make } = setUp()
    const identity = new FakeProvider()
    const limit = { operation: 'getToken', retryInMs: 2_000 }
    identity.restored = async () => {
      identity.onRateLimited?.(limit)
      return null
    }
    const config = { clientId: 'app-ext', redirectUri: 'http://emulator.test/c.html', knownAuthorities: ['login.test'] }
    const { agent, told } = make({ auth: identity.login(config) })
    await agent.getAgentDetails()
    expect(payloadsOf(told, 'rateLimited')).toEqual([{ source: 'rest', ...limit }])
    await agent.destroy()
  })

  it('[REL-19] of a message in the chat is reported with the message of the service', async () => {
    const { clock, emulator, make } = setUp()
    const { agent, told } = make()
    await agent.initialize()
    await agent.connect()
    emulator.faults.add({ kind: 'rate-limit', only: 'messages', times: 1 })
    await agent.send('hello')
    await clock.advance(20)
    const [limit] = payloadsOf(told, 'rateLimited')
    expect(limit).toMatchObject({ source: 'chat', message: { role: 'error' } })
    expect(payloadsOf(told, 'errorMessage')).toHaveLength(1)
    await agent.destroy()
  })
})
