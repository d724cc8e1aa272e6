import { paths } from '@aiagent/protocol'
import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, payloadsOf, requestsTo, sessionBodies } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { FakeLocks, FakeWindow } from '../../test/fake-window.ts'
import { linesOf, setUpTab } from '../../test/resume-harness.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'

const sessionsAsked = (emulator: Parameters<typeof requestsTo>[0]) =>
  requestsTo(emulator).filter(line => line === 'POST session').length

describe('a session that the service no longer knows', () => {
  it.each([
    ['forgotten', 404, 'forgetSession'],
    ['ended', 410, 'endSession'],
  ] as const)('%s: an error reports it, and a new one begins with the stored context', async (_fate, status, lose) => {
    const { emulator, open, talk, talkAndLeave, session, kept } = setUpTab({ context: { plan: 'gold' } })
    const lost = await talkAndLeave('one')
    emulator.control[lose](lost)
    const { agent, told } = await open()
    expect(payloadsOf(told, 'error')).toMatchObject([
      { error: { name: 'ConnectionError', reason: 'refused', httpStatus: status } },
    ])
    expect(payloadsOf(told, 'transcriptRestored')).toEqual([])
    expect(session()).not.toBe(lost)
    expect(sessionBodies(emulator)).toEqual([{ context: { plan: 'gold' } }, { context: { plan: 'gold' } }])
    await talk({ agent, told }, 'two')
    expect(linesOf(agent)).toEqual(['sent: two', 'received: You said: two'])
    expect(kept()).toEqual([session()])
  })

  it('is replaced when the chat rejects it later', async () => {
    const { clock, emulator, load, talkAndLeave, session, kept } = setUpTab()
    const lost = await talkAndLeave('one')
    const { agent, told } = load({ baseReconnectDelay: 1, maxReconnectDelay: 1 })
    await agent.initialize()
    emulator.control.forgetSession(lost)
    await expect(agent.connect()).rejects.toMatchObject({ httpStatus: 404 })
    await clock.advance(1)
    await eventually(() => agent.isConnected())
    expect(session()).not.toBe(lost)
    expect(kept()).toEqual([session()])
    expect(payloadsOf(told, 'error')).toHaveLength(1)
  })

  it('[REL-14] is looked up after two refusals for a reason that does not name the session', async () => {
    const { clock, emulator, load, talkAndLeave, session } = setUpTab()
    const lost = await talkAndLeave('one')
    const { agent, told } = load({ baseReconnectDelay: 1, maxReconnectDelay: 1 })
    await agent.initialize()
    const asked = () => requestsTo(emulator).filter(line => line === `GET ${lost}`).length
    emulator.faults.add({ kind: 'refuse-upgrade', status: 503, times: 3 })
    await expect(agent.connect()).rejects.toMatchObject({ reason: 'refused' })
    expect(asked()).toBe(1)
    // The chat is down and the session known: the session is kept.
    await clock.advance(1)
    await eventually(() => asked() === 2)
    expect([payloadsOf(told, 'error').length, sessionsAsked(emulator)]).toEqual([2, 1])
    emulator.control.forgetSession(lost)
    await clock.advance(1)
    await eventually(() => agent.isConnected())
    expect(session()).not.toBe(lost)
    expect([asked(), sessionsAsked(emulator)]).toEqual([3, 2])
  })
})

describe('[REL-295] the data of a session that the service has forgotten', () => {
  /** The chat has lost its session, and the service creates no other one. */
  async function setUpForgotten() {
    const parts = setUpTab({ baseReconnectDelay: 1, maxReconnectDelay: 1 })
    const { clock, emulator, open, session } = parts
    const { agent } = await open()
    await agent.setSessionData('half a sentence')
    emulator.faults.add({ kind: 'answer', route: paths.session('help'), status: 503, times: 1_000 })
    emulator.control.forgetSession(session())
    await eventually(() => !agent.isConnected())
    await clock.advance(1)
    await eventually(() => agent.getSessionId() === null)
    return { ...parts, agent }
  }

  it('are those of the next one, also where the page is loaded again before there is one', async () => {
    const { emulator, open, agent } = await setUpForgotten()
    expect(await agent.getSessionData()).toBe('half a sentence')
    await agent.setSessionData('a sentence')
    await agent.destroy()
    emulator.faults.lift()
    const next = await open()
    expect(await next.agent.getSessionData()).toBe('a sentence')
    await next.agent.destroy()
    const last = await open()
    expect(await last.agent.getSessionData()).toBe('a sentence')
  })

  it('end with the conversation', async () => {
    const { clock, emulator, agent, kept, sessionStorage } = await setUpForgotten()
    emulator.faults.lift()
    await passing(clock, agent.restartConnection())
    expect(await agent.getSessionData()).toBeUndefined()
    expect(kept()).toEqual([agent.getSessionId()])
    await passing(clock, agent.logout())
    expect(JSON.stringify([...sessionStorage.items])).not.toContain('sentence')
  })
})

describe('a session in which nothing was said before the reload', () => {
  it('[REL-82] shows in its history that it has the first message of this page', async () => {
    const { clock, emulator, open, load } = setUpTab()
    await (await open()).agent.destroy()
    const { agent } = load({ baseReconnectDelay: 1, maxReconnectDelay: 1 })
    await agent.initialize()
    await agent.connect()
    const id = await agent.send('one')
    await eventually(() => linesOf(agent).length === 2)
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await clock.advance(1)
    await eventually(() => agent.isConnected())
    expect(sessionsAsked(emulator)).toBe(1)
    await eventually(() => agent.delivery(id)?.state !== 'sent')
    expect(agent.delivery(id)?.state).toBe('acknowledged')
    await agent.destroy()
  })
})

describe('the stored session', () => {
  it('is kept by disconnect() and by destroy()', async () => {
    const { clock, open, kept, session } = setUpTab()
    const { agent } = await open()
    await passing(clock, agent.disconnect())
    expect(kept()).toEqual([session()])
    await agent.destroy()
    expect(kept()).toEqual([session()])
  })

  it('is resumed by an agent that is created right after destroy(), without waiting', async () => {
    const { open, session } = setUpTab()
    const { agent } = await open()
    const first = session()
    const destroyed = agent.destroy()
    await open()
    await destroyed
    expect(session()).toBe(first)
  })

  it('is removed when the service ends the conversation, and a later page begins another', async () => {
    const { emulator, open, kept, session } = setUpTab()
    const { agent, told } = await open()
    const over = session()
    emulator.control.endSession(over)
    await eventually(() => agent.getState() === 'CLOSED')
    await turnEventLoop()
    expect(kept()).toEqual([])
    await agent.destroy()
    const next = await open()
    expect(session()).not.toBe(over)
    expect([...payloadsOf(told, 'error'), ...payloadsOf(next.told, 'error')]).toEqual([])
  })

  it('is kept when the connection breaks, or the service closes it for another reason', async () => {
    const { emulator, open, kept, session } = setUpTab()
    const { agent } = await open()
    for (const code of [1001, 1005, 1006, 1008]) {
      emulator.control.dropSockets(code)
      await eventually(() => !agent.isConnected())
      expect(kept()).toEqual([session()])
      await agent.connect()
    }
  })

  it('is stored again if an ended chat can be opened again', async () => {
    const { emulator, open, kept, session } = setUpTab()
    const { agent } = await open()
    emulator.control.dropSockets(1000)
    await eventually(() => agent.getState() === 'CLOSED')
    await turnEventLoop()
    expect(kept()).toEqual([])
    await agent.connect()
    await turnEventLoop()
    expect(kept()).toEqual([session()])
  })

  it('is replaced by that of restartConnection(), new or given', async () => {
    const { clock, emulator, open, talk, load, kept, session } = setUpTab()
    const made = await open()
    const first = session()
    await talk(made, 'one')
    await passing(clock, made.agent.restartConnection())
    const second = session()
    await turnEventLoop()
    expect([second === first, kept()]).toEqual([false, [second]])
    await passing(clock, made.agent.restartConnection({ sessionId: first }))
    await turnEventLoop()
    expect(kept()).toEqual([first])
    await made.agent.destroy()
    const { agent } = load()
    await agent.initialize()
    expect(linesOf(agent)).toEqual(['sent: one', 'received: You said: one'])
    expect(sessionsAsked(emulator)).toBe(2)
  })

  it('is replaced by that of setSessionId(), also before the user is known', async () => {
    const { open, load, kept, session, talkAndLeave, sessionStorage } = setUpTab()
    const first = await talkAndLeave('one')
    sessionStorage.items.clear()
    const { agent } = load()
    agent.setSessionId(first)
    await agent.initialize()
    await agent.connect()
    await turnEventLoop()
    expect([session(), kept()]).toEqual([first, [first]])
    // Only a session of a previous page is looked up.
    expect(agent.getTranscript({ role: 'human' })).toEqual([])
    await agent.destroy()
    await open()
    expect(session()).toBe(first)
  })

  it('is removed by logout(), also if it was not looked up yet', async () => {
    const { clock, open, load, kept, session, talkAndLeave } = setUpTab()
    const { agent } = await open()
    await passing(clock, agent.logout())
    expect(kept()).toEqual([])
    await agent.initialize()
    await agent.connect()
    expect(kept()).toEqual([session()])
    await agent.destroy()
    await talkAndLeave('one')
    const early = load()
    await early.agent.logout()
    expect(kept()).toEqual([])
  })

  it('is not resumed for another user, whose sign-in removes it', async () => {
    const { emulator, open, session, kept } = setUpTab({ id: 'account' })
    const as = (subject: string) => ({
      auth: { type: 'pre-auth' as const, accessToken: emulator.control.issueToken({ subject }) },
    })
    const ann = await open(as('ann'))
    const annes = session()
    await ann.agent.destroy()
    const again = await open(as('ann'))
    expect(session()).toBe(annes)
    await again.agent.destroy()
    const bob = await open(as('bob'))
    expect(session()).not.toBe(annes)
    expect(kept()).toEqual([session()])
    await bob.agent.destroy()
    const later = await open(as('ann'))
    expect(session()).not.toBe(annes)
    await later.agent.destroy()
  })

  it('is separate for each agent', async () => {
    const { open, session, kept } = setUpTab({}, { settings: { withoutSignIn: ['account'] } })
    await open()
    const one = session()
    await open({ id: 'account' })
    expect(session()).not.toBe(one)
    expect(kept()).toEqual([one, session()])
  })

  it.each(['the tab', 'a store that users share'])(
    '[OWN-33] goes with its user from %s in a sign-out, for every agent; what another user has with another agent stays',
    async place => {
      const memory = new MemoryCacheAdapter()
      const inTab = place === 'the tab'
      const cache = inTab ? {} : { adapter: memory }
      const { clock, emulator, open, session } = setUpTab({ cache })
      const as = (subject: string) => ({
        type: 'pre-auth' as const,
        accessToken: emulator.control.issueToken({ subject }),
      })
      const visit = async (id: string, subject: string) => {
        const { agent } = await open({ id, auth: as(subject) }, inTab ? {} : { sessionStorage: undefined })
        return { agent, used: session() }
      }
      for (const [subject, stays] of [
        ['customer', false],
        ['new-customer', true],
      ] as const) {
        const earlier = await visit('help', subject)
        await earlier.agent.destroy()
        const { agent } = await visit('account', 'customer')
        await passing(clock, agent.logout())
        const later = await visit('help', subject)
        expect(later.used === earlier.used).toBe(stays)
        await later.agent.destroy()
      }
    },
  )

  it('is stored under another key than cached responses', async () => {
    const { open, sessionStorage } = setUpTab({ cache: { keyPrefix: 'shop_' } })
    await open()
    const keys = [...sessionStorage.items.keys()].filter(key => key.includes('session'))
    expect(keys).toEqual([expect.stringMatching(/^shop_session_[0-9a-f]{8}:help:anonymous:help:::1$/)])
  })

  it.each([
    ['resume is off', { resume: false }],
    ['the cache is off', { cache: { enabled: false } }],
    ['the host names the session', { sessionId: 'mine' }],
  ])('does not exist if %s', async (_case, config) => {
    const { load, kept, emulator } = setUpTab()
    const { agent } = load(config)
    await agent.initialize()
    agent.setSessionId('another')
    await agent.destroy()
    expect(kept()).toEqual([])
    expect(requestsTo(emulator).some(line => line.startsWith('GET mine'))).toBe(false)
  })

  it.each(['local', 'session'] as const)(
    '[SEC-80] is stored in sessionStorage with storageType %s',
    async storageType => {
      const localStorage = new FakeStorage()
      const { open, kept, session } = setUpTab({ cache: { storageType } })
      await open({}, { localStorage })
      expect(kept()).toEqual([session()])
      expect([...localStorage.items.keys()].some(key => key.includes('session'))).toBe(false)
    },
  )

  it('does not outlive a process without a store, and agents there never share one', async () => {
    const { open, session } = setUpTab()
    const memory = new MemoryCacheAdapter()
    const first = await open({}, { sessionStorage: undefined, memory })
    const one = session()
    await first.agent.destroy()
    await open({}, { sessionStorage: undefined, memory })
    expect(session()).not.toBe(one)
    expect(memory.keys('aiagent_session_')).toEqual([])
  })

  it('is found in a custom store by another process, for the same user', async () => {
    const adapter = new MemoryCacheAdapter()
    const { emulator, open, session, talk } = setUpTab({ id: 'account', cache: { adapter } })
    const auth = { type: 'pre-auth' as const, accessToken: emulator.control.issueToken({ subject: 'ann' }) }
    const other = { type: 'pre-auth' as const, accessToken: emulator.control.issueToken({ subject: 'bob' }) }
    const here = await open({ auth }, { sessionStorage: undefined })
    await talk(here, 'one')
    const first = session()
    await here.agent.destroy()
    await (await open({ auth: other }, { sessionStorage: undefined })).agent.destroy()
    const there = await open({ auth }, { sessionStorage: undefined })
    expect(session()).toBe(first)
    expect(linesOf(there.agent)).toEqual(['sent: one', 'received: You said: one'])
  })

  it('does not exist for anonymous users in a shared store, unless the host separates their conversations', async () => {
    const adapter = new MemoryCacheAdapter()
    const { open, session } = setUpTab({ cache: { adapter } })
    const sessionOf = async (contextPrefix?: string) => {
      const cache = contextPrefix === undefined ? { adapter } : { adapter, contextPrefix }
      const { agent } = await open({ cache }, { sessionStorage: undefined })
      await agent.destroy()
      return session()
    }
    expect(await sessionOf()).not.toBe(await sessionOf())
    expect(adapter.keys('aiagent_session_')).toEqual([])
    const visitor = await sessionOf('visitor-1:')
    expect(await sessionOf('visitor-2:')).not.toBe(visitor)
    expect(await sessionOf('visitor-1:')).toBe(visitor)
  })

  it('alone is lost if a custom store never answers', async () => {
    const silent = () => new Promise<never>(() => {})
    const adapter = { get: silent, set: silent, delete: silent, clear: silent, keys: silent }
    const { clock, load, printed } = setUpTab({ cache: { adapter, contextPrefix: 'visitor-1:' } })
    const { agent } = load()
    const initializing = agent.initialize()
    while (!agent.getIsInitialized()) {
      await clock.advance(500)
      await turnEventLoop()
    }
    await initializing
    await agent.connect()
    expect(agent.isConnected()).toBe(true)
    expect(printed.flat().join('\n')).toContain('cache adapter')
  })
})

describe('a tab that a page opens', () => {
  /** Pages with separate windows, in a browser with locks. */
  const setUpPages = () => {
    const tab = setUpTab()
    const locks = new FakeLocks()
    const openIn = async (sessionStorage: FakeStorage) => {
      const window = new FakeWindow(locks)
      const made = await tab.open({}, { sessionStorage, page: window.page, memory: new MemoryCacheAdapter() })
      return { ...made, window }
    }
    return { ...tab, openIn }
  }

  it('copies token and context, but not the session', async () => {
    const { emulator, openIn, session, sessionStorage } = setUpPages()
    const first = await openIn(sessionStorage)
    await first.agent.setContext({ plan: 'gold' })
    const one = session()
    const copy = new FakeStorage()
    for (const [key, value] of sessionStorage.items) copy.setItem(key, value)
    const tokens = () => requestsTo(emulator).filter(line => line.includes('token')).length
    const before = tokens()
    const second = await openIn(copy)
    const two = session()
    expect(two).not.toBe(one)
    expect(second.agent.getContext()).toEqual({ plan: 'gold' })
    expect(tokens()).toBe(before)
    // Each resumes its own session after a reload.
    for (const [page, storage, id] of [
      [first, sessionStorage, one],
      [second, copy, two],
    ] as const) {
      page.window.leave()
      await page.agent.destroy()
      await openIn(storage)
      expect(session()).toBe(id)
    }
  })
})
