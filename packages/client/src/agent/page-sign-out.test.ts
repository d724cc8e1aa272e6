import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { namesOf, passing, setUp } from '../../test/agent-harness.ts'
import { FakeProvider } from '../../test/fake-login.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakeStorage, fakeToken } from '../../test/fake-service.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { AuthenticationInput, PKCEAuthConfig } from '../auth/auth-strategy.ts'
import type { AiAgentConfig } from '../config.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'

const ORIGIN = 'http://emulator.test'

/** A page whose agents each have their own login. */
function setUpPage() {
  const page = pageWithWindow({ location: { href: `${ORIGIN}/chat`, origin: ORIGIN } })
  const parts = setUp({}, { page, sessionStorage: new FakeStorage(), localStorage: new FakeStorage() })
  const idToken = (subject: string) => fakeToken({ iss: 'https://login.test', sub: subject })
  const makeFor = (subject: string, config: Partial<PKCEAuthConfig> = {}, more = {}) => {
    const identity = new FakeProvider()
    identity.signIn = async () => ({
      accessToken: parts.emulator.control.issueToken({ subject }),
      idToken: idToken(subject),
    })
    const login = { clientId: 'app', redirectUri: `${ORIGIN}/callback.html`, knownAuthorities: ['login.test'] }
    const made = parts.make(
      {
        id: 'account',
        auth: identity.login({ ...login, authScheme: 'popup', ...config }),
      },
      more,
    )
    let changes = 0
    made.agent.on('userChanged', () => void changes++)
    return { ...made, identity, changes: () => changes }
  }
  const start = async (agent: AiAgent) => {
    await agent.initialize({ context: { plan: 'gold' } })
    await agent.connect()
    await agent.send('my secret')
    await parts.clock.advance(20)
  }
  return { ...parts, page, makeFor, start }
}

const leftOf = async (agent: AiAgent) => [
  agent.getIsInitialized(),
  agent.getState(),
  agent.getTranscriptSize(),
  agent.getContext(),
  agent.getUserDetails(),
]
const EMPTY = [false, 'CLOSED', 0, null, null]

describe('two agents of one page', () => {
  it('[SEC-13] agree on a logout: the other one empties everything of the user and asks for a login', async () => {
    const { clock, makeFor, start } = setUpPage()
    const [first, second] = [makeFor('customer'), makeFor('customer')]
    await start(first.agent)
    await start(second.agent)
    await passing(clock, first.agent.logout())
    await clock.advance(200)
    expect(await leftOf(first.agent)).toEqual(EMPTY)
    expect(await leftOf(second.agent)).toEqual(EMPTY)
    expect([first.changes(), second.changes()]).toEqual([0, 1])
    expect(namesOf(second.told)).toContain('closed')
    expect(await second.agent.getAccessToken()).toBeNull()
    // Only the first one has signed out at the provider.
    expect(second.identity.calls).not.toContain('logout popup')
    await second.agent.initialize()
    expect(second.identity.calls.filter(call => call === 'login popup')).toHaveLength(2)
    expect(second.agent.getContext()).toBeNull()
  })

  it('[SEC-13] agree on a logout of one user also where each has its own store', async () => {
    const { clock, makeFor, start } = setUpPage()
    const first = makeFor('customer')
    const second = makeFor('customer', { cacheLocation: 'localStorage' })
    const third = makeFor('new-customer', { cacheLocation: 'localStorage', clientId: 'another-app' })
    for (const { agent } of [first, second, third]) await start(agent)
    await passing(clock, first.agent.logout())
    await clock.advance(200)
    expect([second.changes(), third.changes()]).toEqual([1, 0])
    expect([second.agent.getIsInitialized(), third.agent.getIsInitialized()]).toEqual([false, true])
  })

  it('[SEC-13] agree when another user signs in with the same login', async () => {
    const { clock, makeFor, start } = setUpPage()
    const [first, second] = [makeFor('customer'), makeFor('new-customer')]
    await start(first.agent)
    await start(second.agent)
    await clock.advance(200)
    expect(await leftOf(first.agent)).toEqual(EMPTY)
    expect([first.changes(), second.changes(), second.agent.getIsInitialized()]).toEqual([1, 0, true])
  })

  it('[SEC-13] are not concerned by the agents of another page, and no more after destroy()', async () => {
    const { clock, makeFor, start } = setUpPage()
    const otherPage = pageWithWindow({ location: { href: `${ORIGIN}/chat`, origin: ORIGIN } })
    const first = makeFor('customer')
    const second = makeFor('customer', {}, { page: otherPage })
    const destroyed = makeFor('customer')
    for (const { agent } of [first, second, destroyed]) await start(agent)
    await passing(clock, destroyed.agent.destroy())
    await passing(clock, first.agent.logout())
    await clock.advance(200)
    expect([second.changes(), second.agent.getIsInitialized(), destroyed.changes()]).toEqual([0, true, 0])
  })
})

describe('a page that is shown again from the back/forward cache', () => {
  /** A host's identity client leaves the page: its promises never settle. */
  const setUpRedirect = () => {
    const parts = setUpPage()
    const made = parts.makeFor('customer', { authScheme: 'redirect' })
    const comeBack = () => parts.page.window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    return { ...parts, ...made, comeBack }
  }

  it('[SEC-17] after a logout by redirect can be initialized again, and has nothing of the user', async () => {
    const { agent, identity, start, clock, comeBack } = setUpRedirect()
    await start(agent)
    identity.signOut = () => new Promise(() => {})
    const leaving = agent.logout()
    await clock.advance(500)
    await expect(agent.send('meanwhile')).rejects.toMatchObject({ code: 'ABORTED' })
    comeBack()
    await leaving
    expect(await leftOf(agent)).toEqual(EMPTY)
    await agent.initialize()
    expect([agent.getIsInitialized(), identity.calls.at(-1)]).toEqual([true, 'login redirect'])
  })

  it('[SEC-17] after a login by redirect rejects initialize(), which can be called again', async () => {
    const { agent, identity, comeBack } = setUpRedirect()
    const { signIn } = identity
    identity.signIn = () => new Promise(() => {})
    const initializing = agent.initialize().catch((error: { reason?: string }) => error.reason)
    await eventually(() => identity.calls.includes('login redirect'), 'the redirect')
    comeBack()
    expect(await initializing).toBe('popup_closed')
    identity.signIn = signIn
    await agent.initialize()
    expect(agent.getIsInitialized()).toBe(true)
  })
})

describe('a sign-out of an agent that has not stored everything itself', () => {
  const INFO = `aiagent_static_deployment-info-${ORIGIN}`

  /** A page whose stores another agent, which is destroyed by then, has filled. */
  async function setUpVisited(config: Partial<AiAgentConfig> & { subject?: string | undefined } = {}) {
    const { subject, ...earlier } = config
    const [sessionStorage, localStorage, memory] = [new FakeStorage(), new FakeStorage(), new MemoryCacheAdapter()]
    const page = pageWithWindow({ location: { href: `${ORIGIN}/chat`, origin: ORIGIN } })
    const parts = setUp({ origin: ORIGIN }, { page, sessionStorage, localStorage, memory })
    const getToken = async () => parts.emulator.control.issueToken({ subject: subject ?? '' })
    const auth: AuthenticationInput = subject === undefined ? { type: 'anonymous' } : { getToken }
    const { agent } = parts.make({ auth, context: { vendor_portal_id: '1002' }, ...earlier })
    await passing(parts.clock, agent.initialize())
    await passing(parts.clock, agent.connect())
    await agent.destroy()
    const left = () => [...sessionStorage.items.keys(), ...localStorage.items.keys(), ...memory.keys()]
    return { ...parts, auth, sessionStorage, left }
  }

  const AS_DESK = { id: 'desk', subject: 'desk-agent' }

  it.each([
    ['which asks for the deployment', (agent: AiAgent) => agent.getDeploymentInfo()],
    ['which asks for the details', (agent: AiAgent) => agent.getAgentDetails()],
    ['which is initialized', (agent: AiAgent) => agent.initialize()],
    ['which does nothing', () => {}],
  ])('[SEC-15] removes everything of the deployment from a page %s', async (_name, begin) => {
    for (const config of [
      AS_DESK,
      {},
      { cache: { storageType: 'memory' } },
      { cache: { storageType: 'local' } },
    ] as const) {
      const { clock, make, auth, left } = await setUpVisited({ ...config, resume: true })
      expect(left().length).toBeGreaterThan(2)
      const { agent } = make({ id: 'help', ...config, auth })
      await begin(agent)
      await passing(clock, agent.logout())
      expect(left().filter(key => key !== INFO)).toEqual([])
      await agent.destroy()
    }
  })

  it('[SEC-15] removes the anonymous tokens of the page also after the agent has signed in', async () => {
    const { clock, emulator, make, left } = await setUpVisited()
    const auth = { getToken: async () => emulator.control.issueToken({ subject: 'customer' }) }
    const { agent } = make({ id: 'account', auth })
    await passing(clock, agent.initialize())
    expect(left().some(key => key.includes('anonymous_token'))).toBe(true)
    await passing(clock, agent.logout())
    expect(left()).toEqual([INFO])
  })

  it('[SEC-15] removes an anonymous token under its own prefix before it knows the deployment', async () => {
    const auth = { type: 'anonymous', config: { cache: { keyPrefix: 'mine_' } } } as const
    const { clock, make, left } = await setUpVisited({ auth })
    expect(left().filter(key => key.startsWith('mine_')).length).toBeGreaterThan(1)
    const { agent } = make({ auth })
    await passing(clock, agent.logout())
    expect(left()).toEqual([INFO])
  })

  it('[AUTH-14] keeps the anonymous tokens of the page when only the user changes', async () => {
    const { clock, emulator, make, left } = await setUpVisited()
    const tokens = () => left().filter(key => key.includes('anonymous_token'))
    const before = tokens()
    expect(before.length).toBeGreaterThan(0)
    const tokenOf = (subject: string) => emulator.control.issueToken({ subject })
    const { agent } = make({ id: 'account', auth: { type: 'pre-auth', accessToken: tokenOf('customer') } })
    await passing(clock, agent.initialize())
    const changed = new Promise(resolve => agent.once('userChanged', resolve))
    await agent.updateAccessToken(tokenOf('new-customer'))
    await passing(clock, changed)
    expect(tokens()).toEqual(before)
    await agent.destroy()
  })

  it.each([undefined, 'customer'])(
    '[SEC-15] lets the next page resume no session of user %j, which the agent did not use',
    async subject => {
      const id = subject === undefined ? 'help' : 'account'
      const { clock, emulator, make, auth } = await setUpVisited({ id, subject, resume: true })
      const { agent } = make({ id, auth })
      await passing(clock, agent.initialize())
      await passing(clock, agent.logout())
      const sessions = emulator.world.sessions.size
      const next = make({ id, auth, resume: true }).agent
      await passing(clock, next.initialize())
      await passing(clock, next.connect())
      expect(emulator.world.sessions.size).toBe(sessions + 1)
      await next.destroy()
    },
  )

  it('[SEC-15] removes only what is of the user from a custom adapter, whatever stored it', async () => {
    const adapter = new MemoryCacheAdapter()
    const cache = { adapter, contextPrefix: 'one:' }
    const { clock, make, auth } = await setUpVisited({ ...AS_DESK, cache, resume: true })
    adapter.set('vendor_profiles_desk_1002_https://else.test_else_', { value: [], timestamp: 1 })
    const { agent } = make({ id: 'desk', auth, cache })
    await passing(clock, agent.getAgentDetails())
    await passing(clock, agent.logout())
    expect(adapter.keys().sort()).toEqual([
      expect.stringContaining('getAgentDetails'),
      'vendor_profiles_desk_1002_https://else.test_else_',
    ])
    await agent.destroy()
  })

  it('[SEC-15] removes nothing of another tenant of the same API host', async () => {
    const { clock, make, sessionStorage, left } = await setUpVisited()
    const other = `aiagent_auth_TEN0002:${ORIGIN}:anonymous_token:852d5e6b`
    sessionStorage.setItem(other, '{}')
    const { agent } = make()
    await agent.initialize()
    await passing(clock, agent.logout())
    expect(left()).toEqual([INFO, other])
  })
})
