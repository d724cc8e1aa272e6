import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { payloadsOf, setUp } from '../../test/agent-harness.ts'
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
