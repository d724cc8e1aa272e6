import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../test/agent-harness.ts'
import { watchRejections } from '../../test/watch-rejections.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { AuthStrategy } from '../auth/auth-strategy.ts'

/** Calls that `destroy()` ends, and whether they need an agent that is ready. */
const CALLS = {
  'initialize()': [false, agent => agent.initialize()],
  'getAgentDetails()': [false, agent => agent.getAgentDetails()],
  'getDeploymentInfo()': [false, agent => agent.getDeploymentInfo()],
  'ask()': [false, agent => agent.ask('hello')],
  'connect()': [true, agent => agent.connect()],
  'restartConnection()': [true, agent => agent.restartConnection()],
  'restartPortalInitializer()': [true, agent => agent.restartPortalInitializer()],
  'getAccessToken()': [true, agent => agent.getAccessToken()],
  'updateAccessToken()': [true, agent => agent.updateAccessToken('token')],
  'logout()': [true, agent => agent.logout()],
} satisfies Record<string, readonly [boolean, (agent: AiAgent) => Promise<unknown>]>

describe('a call that nobody awaits', () => {
  it.each(Object.entries(CALLS))(
    '[REL-280] %s: destroy() leaves no unhandled rejection',
    async (_name, [ready, call]) => {
      const unhandled = watchRejections()
      const { make } = setUp()
      const { agent } = make()
      if (ready) await agent.initialize()
      void call(agent)
      await agent.destroy()
      await turnEventLoop()
      expect(unhandled).toEqual([])
    },
  )

  it('[REL-280] selectPortal(): destroy() leaves no unhandled rejection', async () => {
    const unhandled = watchRejections()
    const { make, emulator } = setUp()
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const { agent } = make({ id: 'desk', auth: { type: 'pre-auth', accessToken } })
    expect(await agent.initialize()).toMatchObject({ gate: 'portal' })
    void agent.selectPortal({ id: 1101 })
    await agent.destroy()
    await turnEventLoop()
    expect(unhandled).toEqual([])
  })

  it.each([
    ['disconnect()', 'connect()', (agent: AiAgent) => agent.disconnect()],
    ['logout()', 'connect()', (agent: AiAgent) => agent.logout()],
    ['logout()', 'initialize()', (agent: AiAgent) => agent.logout()],
  ] as const)('[REL-280] %s that ends %s leaves no unhandled rejection', async (_name, call, end) => {
    const unhandled = watchRejections()
    const { make, clock } = setUp()
    const { agent } = make()
    if (call === 'connect()') await agent.initialize()
    void CALLS[call][1](agent)
    await passing(clock, end(agent))
    await turnEventLoop()
    expect(unhandled).toEqual([])
    await agent.destroy()
  })

  it('[REL-280] that fails for another reason is reported by the platform', async () => {
    const unhandled = watchRejections()
    const { agent } = setUp().make({ id: 'unknown' })
    void agent.initialize()
    const error = await rejection(agent.initialize())
    await turnEventLoop()
    expect(unhandled).toEqual([error])
    await agent.destroy()
  })
})

it('[REL-280] a caller that awaits a call that destroy() ends receives ABORTED', async () => {
  const { agent } = setUp().make()
  const failure = rejection(agent.initialize())
  await agent.destroy()
  expect(await failure).toMatchObject({ code: 'ABORTED' })
})

describe('a strategy of the host that fails after destroy()', () => {
  const NAMES = ['initialize', 'authenticate', 'getToken', 'cleanup'] as const

  it.each(NAMES)('[REL-280] in %s() leaves no unhandled rejection', async name => {
    const unhandled = watchRejections()
    const { make, clock, emulator } = setUp()
    const fail: (() => void)[] = []
    const strategy: AuthStrategy = {
      initialize: () => {},
      authenticate: async () => {},
      getToken: () => emulator.control.issueToken({ subject: 'customer' }),
      [name]: () => new Promise((_, reject) => fail.push(() => reject(new Error('the strategy is gone')))),
    }
    const { agent } = make({ id: 'account', auth: strategy })
    void agent.initialize()
    await turnEventLoop()
    const destroyed = passing(clock, agent.destroy())
    await turnEventLoop()
    for (const each of fail) each()
    await destroyed
    await turnEventLoop()
    expect(unhandled).toEqual([])
  })
})

it('[REL-280] a connector that fails after destroy() leaves no unhandled rejection', async () => {
  const unhandled = watchRejections()
  const { make, emulator, clock } = setUp()
  const fail: (() => void)[] = []
  const component = {
    initPlatform: () => new Promise((_, reject) => fail.push(() => reject(new Error('the desk is gone')))),
  }
  const { agent } = make(
    {
      id: 'desk',
      auth: { type: 'pre-auth', accessToken: emulator.control.issueToken({ subject: 'desk-agent' }) },
      initParams: { platform: 'acme' },
      connector: { connectorUrl: 'file:///connector.mjs' },
    },
    { importModule: async () => ({ PlatformComponentService: component }) },
  )
  void agent.initialize()
  for (let turns = 0; turns < 100 && fail.length === 0; turns++) await turnEventLoop()
  expect(fail).toHaveLength(1)
  await passing(clock, agent.destroy())
  for (const each of fail) each()
  await turnEventLoop()
  expect(unhandled).toEqual([])
})
