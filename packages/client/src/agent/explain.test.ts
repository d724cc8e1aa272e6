import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../test/agent-harness.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import type { AiAgent } from '../ai-agent.ts'

await import('./explain.ts')

const textOf = async (agent: AiAgent) => (await agent.explain()).text

describe('explain()', () => {
  it('[REL-92] names the step before the agent is ready', async () => {
    const { emulator, make } = setUp()
    const { agent } = make()
    expect(await agent.explain()).toEqual({
      code: 'not_initialized',
      text: 'The agent is not initialized. Call initialize().',
      method: 'initialize()',
      queued: 0,
    })
    emulator.faults.add({ kind: 'answer', status: 503, times: 10 })
    const failing = agent.initialize()
    expect(await agent.explain()).toEqual({ code: 'preparing', text: 'The agent is loading.', queued: 0 })
    const error = await rejection(failing)
    expect(await agent.explain()).toMatchObject({ code: 'initialize_failed', method: 'initialize()', error })
    expect(await textOf(agent)).toMatch(/^The agent could not be loaded: .*503.*\. Call initialize\(\) to try again\.$/)
    await agent.send('one')
    expect(await agent.explain()).toMatchObject({ queued: 1 })
    await agent.destroy()
    expect(await textOf(agent)).toBe('The agent was destroyed. Create a new AiAgent.')
  })

  it('[REL-92] says that the user must sign in', async () => {
    const { make } = setUp()
    const { agent } = make({ id: 'account', auth: { getToken: () => null as never } })
    await rejection(agent.initialize())
    expect(await agent.explain()).toMatchObject({ code: 'login_needed', method: 'initialize()' })
    expect(await textOf(agent)).toMatch(/^The user must sign in: /)
    await agent.destroy()
  })

  it('[REL-92] names the choice that waits and its method', async () => {
    const { emulator, make } = setUp()
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const { agent } = make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, cache: { enabled: false } })
    const result = await agent.initialize()
    expect(result.status).toBe('choose')
    expect(await agent.explain()).toEqual({
      code: 'choice_needed',
      text: 'A portal must be selected. Call selectPortal().',
      gate: 'portal',
      method: 'selectPortal()',
      queued: 0,
    })
    await agent.destroy()
  })

  it('[REL-92] says why and when the next attempt follows, and what waits', async () => {
    const { clock, emulator, make } = setUp()
    const { agent } = make({ maxReconnectAttempts: 2 })
    await agent.initialize()
    expect(await textOf(agent)).toBe('The chat is not connected. Call connect().')
    await agent.connect()
    expect(await agent.explain()).toEqual({ code: 'connected', text: 'Connected.', queued: 0 })
    emulator.control.dropSockets(1012)
    await turnEventLoop(5)
    emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    for (const text of ['one', 'two', 'three']) await agent.send(text)
    expect(await agent.explain()).toMatchObject({
      code: 'reconnecting',
      text: 'Reconnecting in 2 s (attempt 1 of 2): the service closed with 1012; 3 messages wait.',
      queued: 3,
      retryInMs: 1_500,
      attempt: 1,
      maxAttempts: 2,
      closed: { code: 1012, cause: 'service_restart' },
    })
    await clock.advance(1_500)
    expect(await agent.explain()).toMatchObject({
      code: 'reconnecting',
      text: 'Reconnecting in 3 s (attempt 2 of 2): the chat could not be opened (HTTP status 503); 3 messages wait.',
      attempt: 2,
    })
    await clock.advance(3_000)
    expect(await agent.explain()).toMatchObject({
      code: 'closed',
      text: 'The chat is closed: all reconnect attempts are used up; 3 messages wait. Call connect() to try again.',
      method: 'connect()',
    })
    emulator.faults.lift()
    await agent.connect()
    expect(await agent.explain()).toMatchObject({ code: 'connected' })
    await passing(clock, agent.disconnect())
    expect(await textOf(agent)).toBe('The chat is closed: it was left. Call connect() to open it again.')
    await agent.destroy()
  })

  it('[REL-92] says what helps after a close of the service that ends the chat', async () => {
    const { emulator, make } = setUp()
    const { agent } = make()
    await agent.initialize()
    await agent.connect()
    emulator.control.dropSockets(1000)
    await turnEventLoop(5)
    expect(await textOf(agent)).toMatch(/^The chat is closed: the service closed with 1000\. Call connect\(\)\./)
    await agent.destroy()
  })

  it('[REL-92] says that the device is offline', async () => {
    const page = pageWithWindow({ location: { href: 'http://host.test/' }, navigator: { onLine: false } } as never)
    const { clock, emulator, make } = setUp({}, { page })
    const { agent } = make({ retryInitialize: true })
    emulator.faults.add({ kind: 'answer', status: 503 })
    const initializing = rejection(agent.initialize())
    await clock.advance(50)
    expect(await agent.explain()).toMatchObject({
      code: 'offline',
      text: 'The device is offline. Trying again to load the agent when the network returns.',
      attempt: 1,
    })
    await agent.destroy()
    await initializing
  })

  it('[REL-92] counts the attempts of initialize()', async () => {
    const { clock, emulator, make } = setUp()
    const { agent } = make({ retryInitialize: true })
    emulator.faults.add({ kind: 'answer', status: 503 })
    const initializing = rejection(agent.initialize())
    await clock.advance(50)
    expect(await agent.explain()).toMatchObject({ code: 'initialize_retry', attempt: 1 })
    expect(await textOf(agent)).toMatch(/^Trying again to load the agent in 2 s: .*503/)
    await agent.destroy()
    await initializing
  })

  it('[REL-92] says that an open chat waits for a token', async () => {
    const { emulator, make } = setUp()
    let token: string | null = emulator.control.issueToken({ subject: 'customer' })
    const { agent } = make({ id: 'account', auth: { getToken: async () => token as string } })
    await agent.initialize()
    emulator.control.expireTokens()
    token = null
    await agent.connect().catch(() => {})
    await turnEventLoop(10)
    expect(await agent.explain()).toMatchObject({ code: 'token_needed', method: 'updateAccessToken()' })
    await agent.destroy()
  })
})
