import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { lastSession, passing, payloadsOf, rejection, sessionBodies, setUp } from '../../test/agent-harness.ts'
import { HostStore } from '../../test/host-store.ts'
import type { AiAgent } from '../ai-agent.ts'
import { LogLevel } from '../logger.ts'

// Loaded before, since the manual clock does not wait for a file.
await import('./portal-lifecycle.ts')

/** Calls that need an agent that is ready. */
const CALLS = {
  'connect()': agent => agent.connect(),
  'restartConnection()': agent => agent.restartConnection(),
  'restartPortalInitializer()': agent => agent.restartPortalInitializer(),
  'updateUserProfile()': agent => agent.updateUserProfile({ id: 1 }),
  'selectPortal()': agent => agent.selectPortal({ id: 1 }),
} satisfies Record<string, (agent: AiAgent) => Promise<unknown>>

const NAMES = Object.keys(CALLS) as (keyof typeof CALLS)[]

/** An agent with a strategy of the host. */
function setUpStrategy(more: { logout?(): unknown; cleanup?(): unknown } = {}) {
  const parts = setUp()
  const auth = {
    initialize: () => {},
    authenticate: () => {},
    getToken: () => parts.emulator.control.issueToken({ subject: 'customer' }),
    ...more,
  }
  return { ...parts, ...parts.make({ auth: auth as never }) }
}

describe('a call that comes too early or too late', () => {
  it.each(NAMES)(
    '[ADOPT-10] %s names itself and the missing step before initialize() and while it runs',
    async name => {
      const { make } = setUp()
      const { agent } = make()
      const early = await rejection(CALLS[name](agent))
      expect(early).toMatchObject({ code: 'NOT_INITIALIZED', message: expect.stringContaining(name) })
      const initializing = agent.initialize()
      const meanwhile = await rejection(CALLS[name](agent))
      expect(meanwhile).toMatchObject({ code: 'NOT_INITIALIZED', message: expect.stringContaining(name) })
      if (!name.startsWith('select')) expect(meanwhile.message).toContain('still running')
      for (const { message } of [early, meanwhile]) expect(message).toContain('not initialized')
      await initializing
      await agent.destroy()
    },
  )

  it.each(NAMES)('%s names itself and logout() while the user is being signed out', async name => {
    const { make, clock } = setUp()
    const { agent } = make()
    await agent.initialize()
    const leaving = agent.logout()
    const error = await rejection(CALLS[name](agent))
    expect(error).toMatchObject({ code: 'ABORTED', message: expect.stringContaining(name) })
    expect(error.message).toContain('logout()')
    await passing(clock, leaving)
    await agent.destroy()
  })

  it.each([...NAMES, 'initialize()', 'updateAccessToken()', 'logout()'] as const)(
    '%s names itself after destroy()',
    async name => {
      const { make, emulator } = setUp()
      const { agent } = make()
      await agent.destroy()
      const calls = {
        ...CALLS,
        'initialize()': () => agent.initialize(),
        'logout()': () => agent.logout(),
        'updateAccessToken()': () => agent.updateAccessToken(emulator.control.issueToken()),
      }
      const error = await rejection(calls[name](agent))
      expect(error).toMatchObject({ code: 'ABORTED', message: expect.stringContaining(name) })
    },
  )

  it('initialize() names itself when its caller gives up', async () => {
    const { agent } = setUp().make()
    const caller = new AbortController()
    const failed = rejection(agent.initialize({ signal: caller.signal }))
    caller.abort()
    expect(await failed).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('initialize()') })
    await agent.destroy()
  })
})

describe('an agent without portals', () => {
  it('[FLOW-21] restarts its conversation in a new session with restartPortalInitializer()', async () => {
    const { emulator, make } = setUp()
    const { agent } = make()
    await agent.initialize()
    expect(sessionBodies(emulator)).toHaveLength(1)
    await agent.restartPortalInitializer()
    expect(sessionBodies(emulator)).toHaveLength(2)
    expect(agent.getIsInitialized()).toBe(true)
    await agent.destroy()
  })

  it('[ADOPT-10] has nothing to select, and says so', async () => {
    const { agent } = setUp().make()
    await agent.initialize()
    for (const name of ['selectPortal()', 'updateUserProfile()'] as const)
      expect(await rejection(CALLS[name](agent))).toMatchObject({
        code: 'NOT_INITIALIZED',
        message: expect.stringMatching(/nothing to select.*not initialized/),
      })
    await agent.destroy()
  })

  it('sends without a warning that the message waits', async () => {
    const { printed, make } = setUp()
    const { agent } = make()
    await agent.initialize()
    await agent.connect()
    await agent.send('hello')
    expect(printed.flat().join('\n')).not.toContain('the message waits')
    await agent.destroy()
  })
})

describe('calls that meet', () => {
  it('disconnect() leaves a run of initialize() alone without retryInitialize', async () => {
    const { agent } = setUp().make()
    const initializing = agent.initialize()
    await agent.disconnect()
    expect(await initializing).toEqual({ status: 'ready' })
    await agent.destroy()
  })

  it('[REL-03] destroy() during a sign-out leaves the agent destroyed when that has ended', async () => {
    let end: (() => void) | undefined
    const { agent } = setUpStrategy({ logout: () => new Promise<void>(resolve => (end = resolve)) })
    await agent.initialize()
    const phases: string[] = []
    const leaving = agent.logout()
    agent.on('phaseChanged', ({ payload }) => void phases.push(payload.at))
    await agent.destroy()
    await eventually(() => end !== undefined)
    end?.()
    await leaving.catch(() => {})
    expect([agent.status.phase.at, phases]).toEqual(['destroyed', ['destroyed']])
  })

  it.each([
    ['destroy()', 'destroyed', (agent: AiAgent) => agent.destroy()],
    ['logout()', 'idle', (agent: AiAgent) => agent.logout()],
  ] as const)('[REL-03] %s by a listener of the start ends the start', async (_name, phase, end) => {
    const { emulator, make } = setUp()
    const accessToken = emulator.control.issueToken({ subject: 'customer', lifeSeconds: 3_600 })
    const { agent } = make({ auth: { type: 'pre-auth', accessToken }, autoConnect: true })
    let ended: Promise<void> | undefined
    agent.once('phaseChanged', () => {
      ended = end(agent)
    })
    expect(await rejection(agent.initialize())).toMatchObject({ code: 'ABORTED' })
    await ended
    expect([agent.status.phase.at, agent.getIsInitialized()]).toEqual([phase, false])
    expect(sessionBodies(emulator)).toEqual([])
    await agent.destroy()
  })

  it('[FLOW-26] initialize() by a listener of the start joins it', async () => {
    const { emulator, make } = setUp()
    const { agent } = make()
    const joined: Promise<unknown>[] = []
    agent.once('phaseChanged', () => joined.push(agent.initialize()))
    expect(await agent.initialize()).toEqual({ status: 'ready' })
    expect(await Promise.all(joined)).toEqual([{ status: 'ready' }])
    expect(sessionBodies(emulator)).toHaveLength(1)
    await agent.destroy()
  })

  it('[REL-03] destroy() by a listener of a frame ends its other events', async () => {
    const { emulator, make } = setUp()
    const { agent, told } = make()
    await agent.initialize()
    await agent.connect()
    const begin = told.length
    agent.on('message', () => agent.destroy())
    const frame = { persona: 'agent', role: 'customer support agent', content: 'Good day' }
    emulator.control.pushFrame(lastSession(emulator), frame)
    await eventually(() => agent.status.phase.at === 'destroyed', 'destroyed')
    const names = told.slice(begin).map(({ name }) => name)
    expect(names).toContain('message')
    expect(names).not.toContain('agentMessage')
  })

  it('a restart that its caller aborts is not an error of the chat', async () => {
    const { make } = setUp()
    const { agent, told } = make()
    await agent.initialize()
    await agent.connect()
    const caller = new AbortController()
    const restarting = rejection(agent.restartConnection({ signal: caller.signal }))
    caller.abort()
    expect(await restarting).toMatchObject({ code: 'ABORTED' })
    expect(payloadsOf(told, 'error')).toEqual([])
    await agent.destroy()
  })

  it('[REL-12] a question after a sign-out waits for initialize() again, and says so', async () => {
    const { clock, make } = setUp()
    const { agent } = make()
    await agent.initialize()
    await passing(clock, agent.logout())
    const asked = rejection(agent.ask('one', { timeoutMs: 1_000 }))
    await clock.advance(1_000)
    expect(await asked).toMatchObject({ reason: 'timeout', message: expect.stringContaining('not initialized') })
    await agent.destroy()
  })
})

describe('an end that is not complete', () => {
  it('[SEC-15] is logged when a store keeps data of the user, who is signed out nevertheless', async () => {
    const store = new HostStore()
    const { clock, emulator, printed, make } = setUp()
    const auth = { getToken: () => emulator.control.issueToken({ subject: 'customer' }) }
    const { agent } = make({ id: 'account', auth, cache: { adapter: store, contextPrefix: 'one_' } })
    await agent.initialize({ context: { plan: 'gold' } })
    store.fails = true
    await passing(clock, agent.logout())
    expect(agent.status.phase).toEqual({ at: 'idle' })
    expect(printed.flat().join('\n')).toContain('Could not remove stored data of the user')
    await agent.destroy()
  })

  it('[REL-03] is logged when a strategy of the host cannot clean up', async () => {
    const cause = new Error('The strategy is stuck.')
    const { agent, printed } = setUpStrategy({ cleanup: () => Promise.reject(cause) })
    await agent.initialize()
    await agent.destroy()
    expect(printed.flat().map(String).join('\n')).toContain('could not be cleaned up')
    expect(printed.flat()).toContainEqual({ error: expect.objectContaining({ cause }) })
  })

  it('[SEC-16] is an event without content when another user replaces the first', async () => {
    const { clock, emulator, make } = setUp()
    const issue = (subject: string) => emulator.control.issueToken({ subject })
    const { agent } = make({ id: 'account', auth: { getToken: () => issue('customer') } })
    const payloads: unknown[] = []
    agent.on('userChanged', ({ payload }) => void payloads.push(payload))
    await agent.initialize()
    await passing(clock, agent.updateAccessToken(issue('new-customer')))
    expect(payloads).toEqual([{}])
    await agent.destroy()
  })

  it('is logged when the chat of autoConnect cannot be opened', async () => {
    const { emulator, printed, make } = setUp()
    const { agent, told } = make({ autoConnect: true, maxReconnectAttempts: 0, logLevel: LogLevel.DEBUG })
    emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    await agent.initialize()
    await eventually(() => payloadsOf(told, 'error').length > 0, 'the error')
    expect(printed.flat().join('\n')).toContain('A connection in the background failed')
    await agent.destroy()
  })
})
