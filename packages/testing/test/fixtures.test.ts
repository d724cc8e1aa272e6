import { AiAgent } from '@aiagent/client'
import type { Emulator } from '@aiagent/emulator'
import { createTestService, type LocalTestService, nextEvent, serviceFixtures } from '@aiagent/testing'
import { servedServiceFixtures, serveTestService } from '@aiagent/testing/playwright'
import { describe, expect, test } from 'vitest'

const inProcess = test.extend(serviceFixtures())
const served = test.extend(servedServiceFixtures())

describe('the fixtures of a service', () => {
  inProcess('give each test a service in this process, whose agent repeats what it hears', async ({ service }) => {
    const agent = new AiAgent({ id: 'help', endpoint: service.endpoint }, service.environment)
    expect(service.sessionId()).toBeUndefined()
    expect(service.userTexts()).toEqual([])
    await agent.initialize()
    await agent.connect()
    const answer = nextEvent(agent, 'agentMessage')
    await agent.send('hello')
    expect((await answer).payload.message.content).toBe('You said: hello')
    expect(service.userTexts()).toEqual(['hello'])
    service.answerWith('Closed today.')
    expect((await agent.ask('Are you open?')).content).toBe('Closed today.')
    service.answerWith(({ text }) => ({ content: text.toUpperCase() }))
    expect((await agent.ask('hello')).content).toBe('HELLO')
    service.answerWith(undefined)
    expect((await agent.ask('hello')).content).toBe('You said: hello')
    await agent.destroy()
  })

  inProcess('give the next test another one', async ({ service }) => {
    expect(service.emulator.world.records.size).toBe(0)
  })

  served('serve a service on a port', async ({ service }) => {
    const agent = new AiAgent({ id: 'help', endpoint: service.endpoint })
    await agent.initialize()
    await agent.connect()
    expect((await agent.ask('hello')).content).toBe('You said: hello')
    expect(new URL(service.endpoint).port).toBe(String(service.port))
    await agent.destroy()
  })

  test('shut the service down after a test that fails', async () => {
    let endpoint = ''
    const { service } = servedServiceFixtures()
    const failing = service({}, async given => {
      endpoint = given.endpoint
      throw new Error('the test failed')
    })
    await expect(failing).rejects.toThrow('the test failed')
    await expect(fetch(endpoint)).rejects.toThrow()
  })

  test('name the event that did not come', async () => {
    const { service } = serviceFixtures()
    await service({}, async ({ endpoint, environment }) => {
      const agent = new AiAgent({ id: 'help', endpoint }, environment)
      await expect(nextEvent(agent, 'agentMessage', { timeoutMs: 10 })).rejects.toThrow(
        "No 'agentMessage' within 10 ms",
      )
    })
  })
})

describe.each([
  ['createTestService()', async () => createTestService()],
  ['serveTestService()', () => serveTestService()],
] as const)('%s', (_name, start) => {
  /** Starts an agent with a token, at a new service. */
  async function startWith(id: string, token: Parameters<Emulator['control']['issueToken']>[0]): Promise<unknown> {
    await using service = await start()
    const accessToken = service.emulator.control.issueToken(token)
    const environment = 'environment' in service ? (service as LocalTestService).environment : {}
    const config = { id, endpoint: service.endpoint, auth: { type: 'pre-auth', accessToken } } as const
    await using agent = new AiAgent(config, environment)
    return await agent.initialize().catch((error: unknown) => error)
  }

  test('[ADOPT-15] refuses a token without the scopes of the calls', async () => {
    expect(await startWith('account', { subject: 'customer' })).toEqual({ status: 'ready' })
    expect(await startWith('account', { subject: 'customer', scopes: [] })).toMatchObject({ status: 403 })
  })

  test('[ADOPT-15] refuses a token of another tenant', async () => {
    const refusal = { status: 401, message: expect.stringContaining('another tenant') }
    expect(await startWith('account', { subject: 'field-agent' })).toMatchObject(refusal)
    expect(await startWith('account', { subject: 'customer', tenantId: 'TEN0002' })).toMatchObject(refusal)
    expect(await startWith('field-desk', { subject: 'field-agent' })).toMatchObject({ status: 'choose' })
  })
})
