import { describe, expect, it } from 'vitest'
import {
  framesArrived,
  namesOf,
  passing,
  payloadsOf,
  rejection,
  requestsTo,
  sessionBodies,
  setUp,
} from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import type { CacheEntry } from '../storage/cache-adapter.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { sleep } from '../util/abort.ts'

/** An account agent with a token of a person, over one tab. */
function setUpPerson() {
  const sessionStorage = new FakeStorage()
  const parts = setUp({}, { sessionStorage })
  const as = (subject: string) => {
    const accessToken = parts.emulator.control.issueToken({ subject })
    return parts.make({ id: 'account', auth: { type: 'pre-auth', accessToken } })
  }
  return { ...parts, sessionStorage, as }
}

describe('logout()', () => {
  it('[AUTH-20] closes the chat and drops the token', async () => {
    const { clock, as } = setUpPerson()
    const { agent, told } = as('customer')
    await agent.initialize()
    await agent.connect()
    await passing(clock, agent.logout())
    expect(namesOf(told).slice(-2)).toEqual(['stateChanged', 'closed'])
    expect(payloadsOf(told, 'closed')).toMatchObject([{ code: 1000, willReconnect: false }])
    expect([agent.getState(), agent.getIsInitialized(), await agent.getAccessToken()]).toEqual(['CLOSED', false, null])
  })

  it('[SEC-15] ends a request of details that is under way, which asks for no token of the next user', async () => {
    const { clock, emulator, make } = setUp()
    let subject = 'customer'
    const asked: string[] = []
    const getToken = async () => {
      asked.push(subject)
      return emulator.control.issueToken({ subject })
    }
    const { agent, told } = make({ id: 'account', auth: { getToken } })
    await passing(clock, agent.initialize())
    await passing(clock, agent.logout())
    asked.length = 0
    const details = rejection(agent.getAgentDetails())
    await passing(clock, agent.logout())
    await clock.advance(100)
    expect(await details).toMatchObject({ code: 'ABORTED' })
    expect(asked).toEqual([])
    subject = 'new-customer'
    await passing(clock, agent.initialize())
    expect(namesOf(told)).not.toContain('userChanged')
  })

  it('[SEC-15] drops answers that arrive before the chat is closed', async () => {
    const { clock, as } = setUpPerson()
    const { agent, told } = as('customer')
    await agent.initialize()
    await agent.connect()
    // The answer is under way when the user leaves.
    await agent.send('PRIVATE question')
    await passing(clock, agent.logout())
    expect(agent.getTranscript()).toEqual([])
    expect(namesOf(told)).not.toContain('agentMessage')
    expect(namesOf(told)).not.toContain('message')
  })

  it('[AUTH-23] signs out where the strategy can, and otherwise only drops what it has', async () => {
    const { clock, emulator, make } = setUp()
    const calls: string[] = []
    const strategy = {
      initialize: () => {},
      authenticate: () => {},
      getToken: () => emulator.control.issueToken({ subject: 'customer' }),
      logout: () => void calls.push('logout'),
    }
    const { agent } = make({ auth: strategy })
    await agent.initialize()
    await passing(clock, agent.logout())
    expect([calls, await agent.getAccessToken()]).toEqual([['logout'], null])
    const { agent: anonymous } = make()
    await anonymous.initialize()
    await passing(clock, anonymous.logout())
    expect(await anonymous.getAccessToken()).toBeNull()
  })

  it('[FLOW-19] [SEC-15] refuses messages while it runs, so that none is sent without the rules of its user', async () => {
    const { clock, make } = setUp()
    const { agent, told } = make({ id: 'billing' })
    await agent.initialize()
    const leaving = agent.logout()
    expect(await rejection(agent.send('4111 1111 1111 1111'))).toMatchObject({ code: 'ABORTED' })
    await passing(clock, leaving)
    expect(payloadsOf(told, 'transcriptUpdate')).toEqual([])
    expect([agent.getQueueSize(), agent.getTranscriptSize()]).toEqual([0, 0])
  })

  it('removes context, transcript, queued messages and cached responses of the user', async () => {
    const { clock, emulator, sessionStorage, as } = setUpPerson()
    const { agent, told } = as('customer')
    await agent.initialize({ context: { plan: 'gold' } })
    const id = await agent.send('not sent yet')
    expect(sessionStorage.length).toBeGreaterThan(0)
    await passing(clock, agent.logout())
    expect([agent.getContext(), agent.getTranscriptSize(), agent.getQueueSize()]).toEqual([null, 0, 0])
    expect(payloadsOf(told, 'error').map(({ error }) => error)).toMatchObject([{ reason: 'cleared', messageId: id }])
    const keys = Array.from({ length: sessionStorage.length }, (_, index) => sessionStorage.key(index))
    expect(keys.filter(key => key?.startsWith('aiagent_cache_') || key?.startsWith('aiagent_context_'))).toEqual([])
    const before = requestsTo(emulator).length
    await rejection(agent.connect())
    expect(requestsTo(emulator)).toHaveLength(before)
  })

  it('lets initialize() follow, in a new session', async () => {
    const { clock, emulator, make } = setUp()
    const { agent } = make({ context: { plan: 'gold' } })
    await agent.initialize()
    await passing(clock, agent.logout())
    await agent.initialize()
    await agent.connect()
    expect([agent.isConnected(), emulator.world.sessions.size]).toEqual([true, 2])
    expect(sessionBodies(emulator)).toEqual([{ context: { plan: 'gold' } }, { context: { plan: 'gold' } }])
  })

  it('gives up an initialization under way', async () => {
    const { clock, make } = setUp()
    const { agent } = make()
    const initializing = rejection(agent.initialize())
    await passing(clock, agent.logout())
    expect(await initializing).toMatchObject({ code: 'ABORTED' })
    await agent.initialize()
    expect(agent.getIsInitialized()).toBe(true)
  })
})

describe('a second person in the same tab', () => {
  it('does not see the context of the first, also without a logout', async () => {
    const { emulator, as } = setUpPerson()
    const first = as('customer').agent
    await first.initialize({ context: { plan: 'gold' } })
    await first.destroy()
    const second = as('new-customer').agent
    await second.initialize({ context: { language: 'en' } })
    expect(second.getContext()).toEqual({ language: 'en' })
    expect(sessionBodies(emulator).at(-1)).toEqual({ context: { language: 'en' } })
  })

  it('is the same user with another token', async () => {
    const { as } = setUpPerson()
    const before = as('customer').agent
    await before.initialize({ context: { plan: 'gold' } })
    await before.destroy()
    const after = as('customer').agent
    await after.initialize()
    expect(after.getContext()).toEqual({ plan: 'gold' })
  })

  it('does not see it as an anonymous visitor either, but takes along what it set before signing in', async () => {
    const sessionStorage = new FakeStorage()
    const { emulator, make } = setUp({}, { sessionStorage })
    const auth = (subject: string) =>
      ({ type: 'pre-auth', accessToken: emulator.control.issueToken({ subject }) }) as const
    const visitor = make().agent
    await visitor.initialize({ context: { page: 'returns' } })
    await visitor.destroy()
    const customer = make({ auth: auth('customer') }).agent
    await customer.initialize({ context: { plan: 'gold' } })
    expect(customer.getContext()).toEqual({ page: 'returns', plan: 'gold' })
    await customer.destroy()
    const another = make().agent
    await another.initialize()
    expect(another.getContext()).toBeNull()
  })
})

describe('logout() in every state', () => {
  it('[AUTH-20] leaves the chat before a strategy of the host signs out', async () => {
    const { clock, emulator, make } = setUp()
    const order: string[] = []
    const auth = {
      initialize: () => {},
      authenticate: () => {},
      getToken: () => emulator.control.issueToken({ subject: 'customer' }),
      logout: () => void order.push('signed out'),
    }
    const { agent } = make({ auth })
    agent.on('closed', () => void order.push('closed'))
    await agent.initialize()
    await agent.connect()
    await passing(clock, agent.logout())
    expect(order).toEqual(['closed', 'signed out'])
  })

  it('[SEC-15] [AUTH-23] empties memory before it returns, and refuses what would be sent or set while it runs', async () => {
    const { clock, emulator, sessionStorage, as } = setUpPerson()
    const { agent } = as('customer')
    await agent.initialize({ context: { plan: 'gold' } })
    await agent.connect()
    await agent.send('hello')
    await framesArrived(emulator, 2)
    const leaving = agent.logout()
    const known = [agent.getTranscriptSize(), agent.getQueueSize(), agent.getContext(), agent.getUserDetails()]
    expect(known).toEqual([0, 0, null, null])
    expect([...sessionStorage.items.keys()].filter(key => key.startsWith('aiagent_context_'))).toEqual([])
    const refused = [
      agent.send('typed while the window was open'),
      agent.ask('and asked'),
      agent.setContext({ note: 'private' }),
      agent.connect(),
      agent.initialize({ context: { note: 'private' } }),
      agent.updateAccessToken('token'),
      agent.restartConnection(),
      agent.restartPortalInitializer(),
      agent.selectPortal({ id: 1 }),
      agent.getAgentDetails(),
    ]
    for (const call of refused) expect(await rejection(call)).toMatchObject({ code: 'ABORTED' })
    expect(() => agent.setSessionId('s1')).toThrow(expect.objectContaining({ code: 'ABORTED' }))
    // A second call joins the first.
    await passing(clock, Promise.all([leaving, agent.logout()]))
    expect([agent.getQueueSize(), agent.getContext(), agent.getState()]).toEqual([0, null, 'CLOSED'])
  })

  it('[SEC-15] is joined by a logout() in a listener of `phaseChanged`', async () => {
    const { clock, as } = setUpPerson()
    const { agent } = as('customer')
    await agent.initialize()
    await agent.connect()
    const again: Promise<unknown>[] = []
    agent.on('phaseChanged', ({ payload }) => {
      if (payload.at === 'leaving') again.push(agent.logout().then(() => agent.initialize()))
    })
    await passing(clock, agent.logout())
    await passing(clock, Promise.all(again))
    expect([again.length, agent.getIsInitialized()]).toEqual([1, true])
    await agent.destroy()
  })

  it('[SEC-15] does not let a slow store bring the context of initialize() back', async () => {
    const { clock, emulator, make } = setUp()
    const adapter = new MemoryCacheAdapter()
    const slow = {
      get: async (key: string) => {
        await sleep(clock, 300)
        return adapter.get(key)
      },
      set: async (key: string, entry: CacheEntry) => adapter.set(key, entry),
      delete: async (key: string) => adapter.delete(key),
      clear: async (prefix?: string) => adapter.clear(prefix),
      keys: async (prefix?: string) => adapter.keys(prefix),
    }
    const { agent } = make({ cache: { adapter: slow, contextPrefix: 'mine_' } })
    const initializing = rejection(agent.initialize({ context: { customerNumber: 'C-42' } }))
    const leaving = agent.logout()
    expect(await initializing).toMatchObject({ code: 'ABORTED' })
    await passing(clock, leaving)
    for (let steps = 0; steps < 200; steps++) await clock.advance(5)
    expect(agent.getContext()).toBeNull()
    await passing(clock, agent.initialize())
    expect(sessionBodies(emulator)).toEqual([{}])
    await agent.destroy()
  })

  it('[SEC-15] works before initialize(), and removes what the previous page stored', async () => {
    const { clock, sessionStorage, as } = setUpPerson()
    const before = as('customer').agent
    await before.initialize({ context: { plan: 'gold' } })
    await before.destroy()
    expect([...sessionStorage.items.keys()].filter(key => key.startsWith('aiagent_c')).length).toBeGreaterThan(1)
    await passing(clock, as('customer').agent.logout())
    expect([...sessionStorage.items.keys()].filter(key => key.startsWith('aiagent_c'))).toEqual([])
  })
})

describe('a listener that signs out', () => {
  it.each(['transcriptUpdate', 'agentMessage'] as const)(
    '[SEC-15] [SEC-19] at a recovered message (%s) keeps it from the next user',
    async event => {
      const { clock, emulator, make } = setUp({ settings: { replyDelayMs: 500 } })
      const { agent, told } = make({
        auth: { type: 'pre-auth', accessToken: emulator.control.issueToken({ subject: 'customer' }) },
      })
      await agent.initialize()
      await agent.connect()
      const next = agent.messages().next()
      const unread = agent.messages()
      await agent.send('PRIVATE question')
      await clock.advance(100)
      emulator.control.dropSockets()
      let leaving: Promise<void> | undefined
      agent.on(event, ({ payload: { message } }) => {
        if (message.persona === 'agent') leaving ??= agent.logout()
      })
      await clock.advance(10_000)
      await passing(clock, leaving as unknown as Promise<void>)
      const names = namesOf(told)
      expect(names.lastIndexOf('agentMessage') > names.lastIndexOf('transcriptUpdate')).toBe(event === 'agentMessage')
      expect(names).not.toContain('messagesRecovered')
      agent.removeAllListeners()
      await agent.updateAccessToken(emulator.control.issueToken({ subject: 'another' }))
      await agent.initialize()
      await agent.connect()
      await agent.send('hello')
      await clock.advance(1_000)
      const answer = { value: { content: 'You said: hello' } }
      expect([await next, await unread.next()]).toMatchObject([answer, answer])
      await agent.destroy()
    },
  )
})
