import type { Emulator } from '@aiagent/emulator'
import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import type { FakeTab } from '../../test/fake-browser.ts'
import { FakeProvider } from '../../test/fake-login.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { setUpTabs } from '../../test/set-up-tabs.ts'
import { storedText } from '../../test/stored-text.ts'
import type { AuthenticationInput, AuthStrategy, PKCEAuthConfig } from '../auth/auth-strategy.ts'
import { userKey } from '../auth/stored-login.ts'

const AUTHORITY = 'https://login.test/acme'
const LOGIN = {
  clientId: 'client',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
  authorizationUrl: AUTHORITY,
  authScheme: 'popup',
  authorityMetadata: JSON.stringify({
    issuer: AUTHORITY,
    authorization_endpoint: `${AUTHORITY}/authorize`,
    token_endpoint: `${AUTHORITY}/token`,
    end_session_endpoint: `${AUTHORITY}/end`,
  }),
} as const
const USER_KEY = userKey(AUTHORITY, LOGIN.clientId)

const settings = { heartbeatBeforeReply: false, capabilities: [] }

/** Tabs, and what they have stored. */
function setUp() {
  const parts = setUpTabs({ settings })
  const { browser, emulator } = parts
  const tokenOf = (subject: string) => emulator.control.issueToken({ subject })
  const storedTexts = () =>
    [...browser.tabs].flatMap(tab => [...tab.sessionStorage.items, ...browser.localStorage.items].flat()).join()
  return { ...parts, tokenOf, storedTexts }
}

/** A browser in which an earlier page of each tab has signed the user in. */
function setUpLogin(subject = 'customer') {
  const parts = setUp()
  const { browser, clock, connected, emulator, tokenOf } = parts
  const accessToken = tokenOf(subject)
  const tokens = new Map([[3_600_000, accessToken]])
  const userOf = (loginId: string, lifeMs = 3_600_000) => {
    const issued = tokens.get(lifeMs) ?? emulator.control.issueToken({ subject, lifeSeconds: lifeMs / 1000 })
    tokens.set(lifeMs, issued)
    const refreshToken = `refresh of ${loginId}`
    const user = { loginId, accessToken: issued, refreshToken, expiresAt: clock.now() + lifeMs, subject }
    return storedText(user, clock.now())
  }
  /** @param localStorage as the tab sees it */
  const openSignedIn = async (
    {
      lifeMs,
      cacheLocation,
      ...more
    }: Pick<PKCEAuthConfig, 'cacheLocation'> & { id?: string; lifeMs?: number; tabs?: undefined } = {},
    localStorage = browser.localStorage,
  ) => {
    const earlier = new FakeStorage()
    const store = cacheLocation ? localStorage : earlier
    store.setItem(USER_KEY, userOf('first', lifeMs))
    const auth: AuthenticationInput = { type: 'pkce', config: { ...LOGIN, cacheLocation } }
    const tab = browser.open(earlier)
    tab.localStorage = localStorage
    return connected({ id: 'account', auth, ...more }, tab)
  }
  return { ...parts, accessToken, openSignedIn, userOf }
}

/** Why a call rejects, or `fulfilled`. */
const outcomeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'fulfilled',
    error => error.reason ?? error.code,
  )

/** Holds back what the provider answers. */
function holdProvider(emulator: Emulator) {
  const { fetch } = emulator
  const answers: ((response: Response) => void)[] = []
  const slow: typeof fetch = (input, init) =>
    String(input).startsWith(AUTHORITY) ? new Promise(resolve => answers.push(resolve)) : fetch(input, init)
  Object.assign(emulator, { fetch: slow })
  return {
    isAsked: () => answers.length > 0,
    answer: () => {
      const access_token = emulator.control.issueToken({ subject: 'customer' })
      const renewed = { access_token, refresh_token: 'the next', token_type: 'Bearer', expires_in: 3_600 }
      for (const answer of answers.splice(0)) answer(Response.json(renewed))
    },
  }
}

describe('a sign-out in one of the tabs that share a conversation', () => {
  it('[SEC-60] removes the tokens from the store of every tab, which ask for a login again', async () => {
    const { clock, accessToken, openSignedIn, storedTexts } = setUpLogin()
    const one = await openSignedIn()
    const two = await openSignedIn()
    expect(storedTexts()).toContain('refresh of first')
    // The browser blocks the window of the provider.
    expect(await outcomeOf(one.agent.logout())).toBe('popup_blocked')
    await clock.advance(200)
    expect(storedTexts()).not.toContain('refresh of first')
    expect(storedTexts()).not.toContain(accessToken)
    expect(await two.agent.getAccessToken()).toBeNull()
    expect(await outcomeOf(two.agent.initialize())).toBe('popup_blocked')
  })

  it('[SEC-60] ends a renewal in flight in another tab, which stores nothing', async () => {
    const { clock, emulator, openSignedIn, storedTexts } = setUpLogin()
    const one = await openSignedIn({ lifeMs: 10 * 60_000 })
    const two = await openSignedIn({ lifeMs: 10 * 60_000 })
    // No timer runs, so that nothing has renewed the tokens before.
    clock.jump(6 * 60_000)
    const provider = holdProvider(emulator)
    const renewal = outcomeOf(two.agent.getAccessToken())
    await eventually(provider.isAsked)
    expect(await outcomeOf(one.agent.logout())).toBe('popup_blocked')
    await clock.advance(200)
    expect(await renewal).toBe('token_missing')
    provider.answer()
    await clock.advance(200)
    expect(storedTexts()).not.toContain('the next')
    expect(await outcomeOf(two.agent.initialize())).toBe('popup_blocked')
  })

  it('[SEC-60] keeps a user who has signed in since, in the store of all tabs', async () => {
    const { browser, clock, openSignedIn, userOf } = setUpLogin()
    const one = await openSignedIn({ cacheLocation: 'localStorage' })
    const two = await openSignedIn({ cacheLocation: 'localStorage' })
    two.tab.freeze()
    expect(await outcomeOf(one.agent.logout())).toBe('popup_blocked')
    expect(browser.localStorage.getItem(USER_KEY)).toBeNull()
    browser.localStorage.setItem(USER_KEY, userOf('second'))
    two.tab.thaw()
    await clock.advance(200)
    expect(two.agent.getIsInitialized()).toBe(false)
    expect(browser.localStorage.getItem(USER_KEY)).toContain('refresh of second')
    await two.agent.initialize()
  })

  it('[SEC-60] reaches the other agents of each page that use the same login', async () => {
    const { clock, connected, openSignedIn, storedTexts } = setUpLogin()
    const one = await openSignedIn()
    const two = await openSignedIn()
    const auth = { type: 'pkce', config: LOGIN } as const
    const beside = await connected({ id: 'account', auth, tabs: undefined }, two.tab)
    expect(await outcomeOf(one.agent.logout())).toBe('popup_blocked')
    await clock.advance(200)
    expect(storedTexts()).not.toContain('refresh of first')
    expect(beside.agent.getIsInitialized()).toBe(false)
    expect(await outcomeOf(beside.agent.initialize())).toBe('popup_blocked')
  })

  it('[SEC-60] reaches the login of a host in other tabs', async () => {
    const { clock, connected, tokenOf } = setUp()
    const accessToken = tokenOf('customer')
    const open = async () => {
      const identity = new FakeProvider()
      identity.restored = async () => ({ accessToken })
      identity.forget = () => {
        identity.calls.push('forget')
        return null
      }
      return { ...(await connected({ id: 'account', auth: identity.login(LOGIN) })), identity }
    }
    const one = await open()
    const two = await open()
    await one.agent.logout()
    await clock.advance(200)
    expect(two.agent.getIsInitialized()).toBe(false)
    expect(two.identity.calls.slice(1)).toEqual(['forget'])
    two.identity.restored = async () => null
    expect(await outcomeOf(two.agent.initialize())).toBe('token_request_failed')
    expect(two.identity.calls).toContain('login popup')
  })

  it('[SEC-60] drops the token that another tab has supplied, and keeps that of the own host', async () => {
    const { clock, connected, tokenOf, emulator } = setUp()
    const own = tokenOf('customer')
    const config = { id: 'account', auth: { type: 'pre-auth', accessToken: own } } as const
    const one = await connected(config)
    const two = await connected(config)
    await clock.advance(1_000)
    const supplied = tokenOf('customer')
    await one.agent.updateAccessToken(supplied)
    await clock.advance(200)
    expect(await two.agent.getAccessToken()).toBe(supplied)
    await one.agent.logout()
    await clock.advance(200)
    const before = emulator.control.requests().length
    await two.agent.initialize()
    expect(await two.agent.getAccessToken()).toBe(own)
    expect(JSON.stringify(emulator.control.requests().slice(before))).not.toContain(supplied)
  })

  it('uses the token that another tab has supplied until it expires', async () => {
    const { clock, connected, tokenOf } = setUp()
    const config = { id: 'account', auth: { type: 'pre-auth', accessToken: tokenOf('customer') } } as const
    const one = await connected(config)
    const two = await connected(config)
    await clock.advance(30 * 60_000)
    const supplied = tokenOf('customer')
    await one.agent.updateAccessToken(supplied)
    await clock.advance(58 * 60_000)
    expect(await two.agent.getAccessToken()).toBe(supplied)
  })

  it('[SEC-60] ends the wait for a refreshTokenFn in another tab', async () => {
    const { clock, connected, tokenOf } = setUp()
    const accessToken = tokenOf('customer')
    const refreshTokenFn = () => new Promise<string>(() => {})
    const one = await connected({ id: 'account', auth: { type: 'pre-auth', accessToken } })
    const two = await connected({ id: 'account', auth: { type: 'pre-auth', accessToken, refreshTokenFn } })
    await clock.advance(57 * 60_000)
    const renewal = outcomeOf(two.agent.getAccessToken())
    await one.agent.logout()
    await clock.advance(200)
    expect(await renewal).toBe('token_missing')
  })

  it('[SEC-60] drops the token of a strategy of the host in other tabs, without a sign-out', async () => {
    const { clock, connected, tokenOf } = setUp()
    const calls: string[] = []
    const open = (name: string) => {
      const auth: AuthStrategy = {
        initialize: () => void calls.push(`${name} initialize`),
        authenticate: () => {},
        getToken: () => tokenOf('customer'),
        logout: () => void calls.push(`${name} logout`),
      }
      return connected({ id: 'account', auth })
    }
    const one = await open('one')
    const two = await open('two')
    calls.length = 0
    await one.agent.logout()
    await clock.advance(200)
    expect(await two.agent.getAccessToken()).toBeNull()
    await two.agent.initialize()
    expect(calls.toSorted()).toEqual(['one logout', 'two initialize'])
  })

  it('[SEC-60] makes every tab request another token for its client credentials', async () => {
    const { clock, connected, emulator } = setUp()
    const tokenUrl = `${emulator.origin}/oauth/TEN0001/token`
    const config = { tokenUrl, clientId: 'demo-service', clientSecret: 'demo-secret', allowInBrowser: true }
    const auth = { type: 'client-credentials', config } as const
    const one = await connected({ auth })
    const two = await connected({ auth })
    await one.agent.logout()
    await clock.advance(200)
    const grants = () => emulator.control.requests().filter(({ path }) => path.endsWith('/token')).length
    const before = grants()
    await two.agent.initialize()
    expect(grants()).toBe(before + 1)
  })

  it('[SEC-60] removes an anonymous token from the store of every tab, whose next session has another one', async () => {
    const { clock, connected, storedTexts } = setUp()
    const one = await connected()
    const two = await connected()
    const token = String(await two.agent.getAccessToken())
    expect(storedTexts()).toContain(token)
    await one.agent.logout()
    await clock.advance(200)
    expect(storedTexts()).not.toContain(token)
    await two.agent.initialize()
    expect(await two.agent.getAccessToken()).not.toBe(token)
  })
})

describe('a sign-out while another tab renews the tokens', () => {
  it('[SEC-04] leaves no tokens in the store of all tabs, also where the browser shows the removal to that tab late', async () => {
    const { browser, clock, emulator, openSignedIn } = setUpLogin()
    const shared = { cacheLocation: 'localStorage', tabs: undefined, lifeMs: 10 * 60_000 } as const
    const one = await openSignedIn(shared)
    // The store as the other tab sees it: what it writes is in all, what others write it does not have yet.
    const late = new FakeStorage()
    for (const [key, value] of browser.localStorage.items) late.setItem(key, value)
    const { setItem } = late
    late.setItem = (key, value) => {
      setItem.call(late, key, value)
      browser.localStorage.setItem(key, value)
    }
    const two = await openSignedIn(shared, late)
    // No timer runs, so that nothing has renewed the tokens before.
    clock.jump(6 * 60_000)
    const provider = holdProvider(emulator)
    const renewal = outcomeOf(two.agent.getAccessToken())
    await eventually(provider.isAsked)
    const signedOut = outcomeOf(one.agent.logout())
    await clock.advance(1_000)
    expect(await signedOut).toBe('popup_blocked')
    provider.answer()
    await clock.advance(1_000)
    expect(await renewal).toBe('fulfilled')
    await eventually(() => browser.localStorage.getItem(USER_KEY) === null)
    expect(late.getItem(USER_KEY)).toContain('the next')
  })
})

describe('a tab that is loaded again during a sign-out', () => {
  it('[SEC-60] asks for a login as soon as it sees the note, also where the browser shows it the writes of the other tab late', async () => {
    const { browser, emulator, connected, openSignedIn, accessToken } = setUpLogin()
    const { localStorage } = browser
    const one = await openSignedIn({ cacheLocation: 'localStorage' })
    const two = await openSignedIn({ cacheLocation: 'localStorage' })
    two.tab.freeze()
    // What is in the store of all tabs after each write.
    const written: [string, string][][] = []
    const { setItem, removeItem } = localStorage
    localStorage.setItem = (key, value) => {
      setItem.call(localStorage, key, value)
      written.push([...localStorage.items])
    }
    localStorage.removeItem = key => {
      removeItem.call(localStorage, key)
      written.push([...localStorage.items])
    }
    expect(await outcomeOf(one.agent.logout())).toBe('popup_blocked')
    one.tab.close()
    two.tab.crash()
    const noted = written.filter(items => items.some(([key]) => key.startsWith('aiagent_signed-out_')))
    expect(noted.length).toBeGreaterThan(0)
    const before = emulator.control.requests().length
    for (const items of noted) {
      const again = browser.open(two.tab.sessionStorage)
      again.localStorage = new FakeStorage()
      for (const [key, value] of items) again.localStorage.setItem(key, value)
      const auth: AuthenticationInput = { type: 'pkce', config: { ...LOGIN, cacheLocation: 'localStorage' } }
      expect(await outcomeOf(connected({ id: 'account', auth }, again))).toBe('popup_blocked')
      again.close()
    }
    expect(JSON.stringify(emulator.control.requests().slice(before))).not.toContain(accessToken)
  })
})

describe('a tab that was frozen during a sign-out, and is loaded again', () => {
  it.each([undefined, 'localStorage'] as const)(
    '[SEC-60] asks for a login, with cacheLocation %s',
    async cacheLocation => {
      const { browser, clock, emulator, connected, openSignedIn, storedTexts, accessToken } = setUpLogin()
      const used = { cacheLocation, resume: true, context: { page: 'first' } }
      const one = await openSignedIn(used)
      const two = await openSignedIn(used)
      await two.agent.setContext({ plan: 'gold' })
      two.tab.freeze()
      expect(await outcomeOf(one.agent.logout())).toBe('popup_blocked')
      one.tab.close()
      await clock.advance(5 * 24 * 60 * 60_000)
      two.tab.crash()
      const before = emulator.control.requests().length
      const auth: AuthenticationInput = { type: 'pkce', config: { ...LOGIN, cacheLocation } }
      const again = browser.open(two.tab.sessionStorage)
      expect(await outcomeOf(connected({ id: 'account', auth, ...used }, again))).toBe('popup_blocked')
      expect(JSON.stringify(emulator.control.requests().slice(before))).not.toContain(accessToken)
      expect(storedTexts()).not.toContain('refresh of first')
      expect(storedTexts()).not.toContain('gold')
    },
  )

  it('[SEC-60] has no cached responses, profiles and selections of the user', async () => {
    const { browser, connected, openSignedIn } = setUpLogin('desk-agent')
    const used = { id: 'desk', context: { vendor_portal_id: '1002' } }
    const one = await openSignedIn(used)
    const two = await openSignedIn(used)
    const leftIn = ({ sessionStorage }: FakeTab) =>
      [...sessionStorage.items.keys()].filter(key => /[:&]user=|^vendor_profiles_|selectedProfile-/.test(key))
    expect(leftIn(two.tab)).not.toEqual([])
    two.tab.freeze()
    expect(await outcomeOf(one.agent.logout())).toBe('popup_blocked')
    two.tab.crash()
    const auth: AuthenticationInput = { type: 'pkce', config: LOGIN }
    const again = browser.open(two.tab.sessionStorage)
    expect(await outcomeOf(connected({ auth, ...used }, again))).toBe('popup_blocked')
    expect(leftIn(again)).toEqual([])
  })

  it('[SEC-60] keeps a user who has signed in since, in the store of all tabs', async () => {
    const { browser, connected, openSignedIn, userOf } = setUpLogin()
    const one = await openSignedIn({ cacheLocation: 'localStorage' })
    const two = await openSignedIn({ cacheLocation: 'localStorage' })
    two.tab.freeze()
    expect(await outcomeOf(one.agent.logout())).toBe('popup_blocked')
    two.tab.crash()
    browser.localStorage.setItem(USER_KEY, userOf('second'))
    const auth: AuthenticationInput = { type: 'pkce', config: { ...LOGIN, cacheLocation: 'localStorage' } }
    await connected({ id: 'account', auth }, browser.open(two.tab.sessionStorage))
    expect(browser.localStorage.getItem(USER_KEY)).toContain('refresh of second')
  })

  it('[SEC-60] asks once: the next page of the tab keeps the user who has signed in there', async () => {
    const { browser, connected, openSignedIn, userOf } = setUpLogin()
    const one = await openSignedIn()
    const two = await openSignedIn()
    two.tab.freeze()
    expect(await outcomeOf(one.agent.logout())).toBe('popup_blocked')
    two.tab.crash()
    const auth: AuthenticationInput = { type: 'pkce', config: LOGIN }
    const again = browser.open(two.tab.sessionStorage)
    expect(await outcomeOf(connected({ id: 'account', auth }, again))).toBe('popup_blocked')
    again.sessionStorage.setItem(USER_KEY, userOf('second'))
    again.close()
    const next = await connected({ id: 'account', auth }, browser.open(again.sessionStorage))
    next.tab.close()
    await connected({ id: 'account', auth }, browser.open(next.tab.sessionStorage))
  })
})
