import { describe, expect, it } from 'vitest'
import { passing, setUp } from '../../test/agent-harness.ts'
import { FakeWindow } from '../../test/fake-window.ts'
import { HostStore } from '../../test/host-store.ts'

// Loaded before the clock is moved: loading a module takes real time.
await import('./session-resume.ts')

/** A process that resumes the sessions of the one before it, from a store of the host. */
function setUpProcess() {
  const { clock, emulator, make } = setUp()
  const store = new HostStore()
  const cache = { adapter: store, contextPrefix: 'one:' }
  const create = (config: object = {}) => make({ resume: true, cache, ...config }).agent
  const start = async (config?: object) => {
    const agent = create(config)
    await passing(clock, agent.initialize())
    return agent
  }
  const sessions = () => [...store.entries.keys()].filter(key => key.includes('session_'))
  return { clock, emulator, store, create, start, sessions }
}

describe('a session that a previous page has stored', () => {
  it('[SEC-15] is not resumed after a logout for which the store listed no keys', async () => {
    const { clock, store, create, start, sessions } = setUpProcess()
    const first = await start()
    const sessionId = first.getSessionId()
    await passing(clock, first.destroy())
    expect(sessions()).toHaveLength(1)
    const agent = create()
    store.refused = 'keys'
    await passing(clock, agent.logout())
    store.refused = undefined
    await passing(clock, agent.initialize())
    expect(agent.getSessionId()).not.toBe(sessionId)
    await passing(clock, agent.destroy())
  })

  it('[SEC-15] is not resumed, and its queue not sent, by its user after a logout before initialize()', async () => {
    const { clock, emulator, create, start } = setUpProcess()
    const auth = { getToken: async () => emulator.control.issueToken({ subject: 'customer' }) }
    const config = { auth, persistQueue: true, connectOnSend: true }
    const first = await start(config)
    emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    first.connect().catch(() => {})
    await first.send('before the logout')
    await clock.advance(1_000)
    const sessionId = first.getSessionId()
    expect(sessionId).toBeDefined()
    await passing(clock, first.destroy())
    const agent = create(config)
    await passing(clock, agent.logout())
    emulator.faults.lift()
    await passing(clock, agent.initialize())
    await passing(clock, agent.connect())
    await clock.advance(5_000)
    expect(agent.getSessionId()).not.toBe(sessionId)
    expect(JSON.stringify([...emulator.world.sessions.keys()].map(id => emulator.control.frames(id)))).not.toContain(
      'before the logout',
    )
    await passing(clock, agent.destroy())
    // What follows is handed over again.
    const next = await start(config)
    await passing(clock, next.connect())
    expect(next.getSessionId()).toBe(agent.getSessionId())
    await passing(clock, next.destroy())
  })

  it('[SEC-15] goes with a logout for which the store could not remove another one', async () => {
    const { clock, emulator, store, start, sessions } = setUpProcess()
    const auth = { type: 'pre-auth', accessToken: emulator.control.issueToken({ subject: 'customer' }) }
    const first = await start({ auth })
    await passing(clock, first.destroy())
    const [ofHelp = ''] = sessions()
    store.entries.set(ofHelp.replace('help', 'desk'), { value: {}, timestamp: 0 })
    const agent = await start({ id: 'account', auth })
    expect(sessions()).toHaveLength(3)
    store.lasting = ofHelp
    await passing(clock, agent.logout())
    expect(sessions()).toEqual([ofHelp])
    await passing(clock, agent.destroy())
  })
})

describe('the memory of a host in place of the stores of a page', () => {
  it('rejects without an unhandled rejection, and the agent starts', async () => {
    const memory = new HostStore()
    const { page } = new FakeWindow()
    const { clock, make, printed } = setUp({}, { page, memory })
    memory.refused = 'keys'
    const { agent } = make({ resume: true })
    await passing(clock, agent.initialize())
    expect(agent.status.phase).toEqual({ at: 'ready' })
    expect(printed.flat()).toContainEqual(expect.stringContaining('Could not remove stored data of the user.'))
    await passing(clock, agent.destroy())
  })
})
