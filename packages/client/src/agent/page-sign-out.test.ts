import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { namesOf, passing, setUp } from '../../test/agent-harness.ts'
import { FakeProvider } from '../../test/fake-login.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakeStorage, fakeToken } from '../../test/fake-service.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { PKCEAuthConfig } from '../auth/auth-strategy.ts'

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
