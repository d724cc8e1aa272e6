import { describe, expect, it, vi } from 'vitest'
import { rejection, setUp } from '../../test/agent-harness.ts'
import type { AiAgentConfig } from '../config.ts'

/** An agent that was never initialized, with a strategy of the host. */
function setUpStrategy(more: object = {}) {
  const parts = setUp()
  const strategy = { initialize: vi.fn(), authenticate: vi.fn(), getToken: vi.fn(() => null), ...more }
  const { agent } = parts.make({ auth: strategy as never })
  return { ...parts, strategy, agent }
}

describe('before initialize()', () => {
  it('[REL-03] destroy() releases the strategy of the host, and waits for it', async () => {
    let finish = () => {}
    const cleanup = vi.fn(() => new Promise<void>(resolve => (finish = resolve)))
    const { agent, emulator } = setUpStrategy({ cleanup })
    let isDestroyed = false
    const destroyed = agent.destroy().then(() => (isDestroyed = true))
    await Promise.resolve()
    expect(cleanup).toHaveBeenCalledTimes(1)
    expect(isDestroyed).toBe(false)
    finish()
    await destroyed
    expect(emulator.control.requests()).toEqual([])
  })

  it.each<[string, AiAgentConfig['auth']]>([
    ['no login', undefined],
    ['a function of the host', { getToken: () => 'token' }],
    ['a token of the host', { type: 'pre-auth', accessToken: 'token' }],
    ['a strategy without an end', { initialize() {}, authenticate() {}, getToken: () => null } as never],
  ])('[REL-03] destroy() and logout() have nothing to release with %s', async (_what, auth) => {
    for (const end of ['destroy', 'logout'] as const) {
      const { make, emulator, printed } = setUp()
      const { agent } = make(auth === undefined ? {} : { auth })
      await agent[end]()
      expect(agent.getPhase()).toEqual({ at: end === 'destroy' ? 'destroyed' : 'idle' })
      expect([emulator.control.requests(), printed]).toEqual([[], []])
    }
  })

  it('[REL-12] disconnect() rejects a question, and keeps a message', async () => {
    const { agent } = setUp().make()
    const id = await agent.send('one')
    const asked = rejection(agent.ask('two'))
    await agent.disconnect()
    expect(await asked).toMatchObject({ reason: 'closed' })
    expect([agent.getQueueSize(), agent.delivery(id)?.state]).toEqual([1, 'queued'])
    await agent.destroy()
  })
})

describe('a call that another one ends', () => {
  it.each([
    ['logout', 'logout()', {}],
    ['disconnect', 'disconnect()', { retryInitialize: true }],
    ['destroy', 'destroyed', {}],
  ] as const)('initialize() names %s()', async (end, name, config) => {
    const { agent } = setUp().make(config)
    const failed = rejection(agent.initialize())
    const ended = agent[end]()
    expect(await failed).toMatchObject({ code: 'ABORTED', message: expect.stringContaining(name) })
    await ended
    await agent.destroy()
  })

  it('ask() names destroy()', async () => {
    const { agent } = setUp().make()
    const asked = rejection(agent.ask('one'))
    await agent.destroy()
    expect(await asked).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('destroy()') })
  })

  it('connect() names initialize() again when a choice has ended with logout()', async () => {
    const { make, emulator } = setUp()
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const { agent } = make({ id: 'desk', auth: { type: 'pre-auth', accessToken } })
    expect(await agent.initialize()).toMatchObject({ status: 'choose' })
    await agent.logout()
    const error = await rejection(agent.connect())
    expect(error).toMatchObject({ code: 'NOT_INITIALIZED', message: expect.stringContaining('initialize()') })
    expect(error.message).not.toContain('select')
    await agent.destroy()
  })
})
