import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { rejection, requestsTo, setUp } from '../../test/agent-harness.ts'
import { FakeProvider } from '../../test/fake-login.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import type { AuthenticationInput } from '../auth/auth-strategy.ts'
import type { LoginSession } from '../auth/login/login.ts'
import { AuthError } from '../errors.ts'

const ORIGIN = 'http://emulator.test'

/** A page on which no window can be opened, and what was tried there. */
function fakePage(origin = ORIGIN) {
  const opened: string[] = []
  const page = pageWithWindow({
    location: { href: `${origin}/chat#top`, origin },
    open: (_address: string, name: string) => (opened.push(name), null),
  })
  return { page, opened }
}

/** The scopes of each anonymous token that was asked for. */
const scopesAsked = (emulator: ReturnType<typeof setUp>['emulator']) =>
  emulator.control
    .requests()
    .filter(({ body }) => body?.includes('client_credentials'))
    .map(({ body }) =>
      new URLSearchParams(body)
        .get('scope')
        ?.split(' ')
        .map(scope => scope.split('/').at(-1)),
    )

const DEFAULTS = ['knowledge.portalmgr.manage', 'core.aiservices.read']

describe('scopes at the start', () => {
  it('[FLOW-17] [AUTH-11] are requested again once the agent of a customer is known, and then cached for the session', async () => {
    const { emulator, make } = setUp()
    await make().agent.initialize()
    expect(scopesAsked(emulator)).toEqual([DEFAULTS, [...DEFAULTS, 'core.customermgr.read']])
    await make().agent.initialize()
    expect(scopesAsked(emulator)).toHaveLength(2)
  })

  it('[INIT-06] are exactly those of the host from the first token on', async () => {
    const { emulator, make } = setUp()
    await make({ initParams: { scopes: 'core.aiservices.read, other.read' } }).agent.initialize()
    expect(scopesAsked(emulator)).toEqual([['core.aiservices.read', 'other.read']])
  })
})

describe('an agent for signed-in users', () => {
  const byLogin = (identity: FakeProvider): AuthenticationInput =>
    identity.login({
      clientId: 'app-ext',
      redirectUri: `${ORIGIN}/callback.html`,
      knownAuthorities: ['login.test'],
      authScheme: 'popup',
    })

  it('is met with an anonymous token, then signed in to, and only then asked for a session', async () => {
    const { emulator, make } = setUp()
    const identity = new FakeProvider()
    const { agent } = make({ id: 'account', auth: byLogin(identity) })
    await agent.getAgentDetails()
    expect(identity.calls).toEqual(['restore'])
    const accessToken = emulator.control.issueToken()
    identity.signIn = async () => {
      expect(requestsTo(emulator)).not.toContain('POST session')
      return { accessToken }
    }
    await agent.initialize()
    expect(identity.calls).toEqual(['restore', 'login popup'])
    expect(await agent.getAccessToken()).toBe(accessToken)
  })

  it('opens a login only once it may ask the user', async () => {
    const { emulator, make } = setUp()
    const identity = new FakeProvider()
    identity.signIn = async () => ({ accessToken: emulator.control.issueToken() })
    const { agent } = make({ id: 'account', auth: byLogin(identity) })
    const refused = await rejection(agent.initialize({ interactive: false }))
    expect(refused).toBeInstanceOf(AuthError)
    expect(refused).toMatchObject({ reason: 'interaction_required' })
    expect(identity.calls).toEqual(['restore'])
    // A run that must not ask does not forbid it to a call that joins it.
    const quiet = agent.initialize({ interactive: false })
    await agent.initialize()
    await quiet
    expect(identity.calls.filter(call => call !== 'restore')).toEqual(['login popup'])
  })

  it('opens the login of a run that may ask the user, also when a call joins it that may not', async () => {
    const { emulator, make } = setUp()
    const identity = new FakeProvider()
    identity.signIn = async () => ({ accessToken: emulator.control.issueToken() })
    const { agent } = make({ id: 'account', auth: byLogin(identity) })
    await Promise.all([agent.initialize(), agent.initialize({ interactive: false })])
    expect(identity.calls.filter(call => call !== 'restore')).toEqual(['login popup'])
  })

  it('opens no login for two calls at once of which neither may ask the user', async () => {
    const identity = new FakeProvider()
    const { agent } = setUp().make({ id: 'account', auth: byLogin(identity) })
    const calls = [agent.initialize({ interactive: false }), agent.initialize({ interactive: false })]
    for (const refused of await Promise.all(calls.map(rejection)))
      expect(refused).toMatchObject({ reason: 'interaction_required' })
    expect(identity.calls).toEqual(['restore'])
  })

  it('opens no login for a call that may not ask the user after the portal selection that it waited for has failed', async () => {
    const { emulator, clock, make } = setUp()
    const identity = new FakeProvider()
    const old = {
      accessToken: emulator.control.issueToken({ subject: 'desk-agent', lifeSeconds: 310 }),
      expiresAt: clock.now() + 310_000,
    }
    identity.restored = async () => old
    identity.renewed = async () => {
      throw new AuthError('The user is needed.', 'interaction_required')
    }
    let isHeld = false
    let fail: (() => void) | undefined
    const fetch: typeof emulator.fetch = (input, init) =>
      isHeld && String(input).includes('/myportals')
        ? new Promise((_resolve, reject) => {
            fail = () => reject(new Error('The network failed.'))
          })
        : emulator.fetch(input, init)
    const { agent } = make({ id: 'desk', auth: byLogin(identity), cache: { enabled: false } }, { fetch })
    expect(await agent.initialize({ interactive: false })).toMatchObject({ gate: 'portal' })
    isHeld = true
    const restarted = rejection(agent.restartPortalInitializer())
    await eventually(() => fail !== undefined, 'the request for the portals')
    const waiting = rejection(agent.initialize({ interactive: false }))
    await clock.advance(20_000)
    isHeld = false
    fail?.()
    expect(await restarted).toMatchObject({ code: 'PORTAL_FETCH_FAILED' })
    expect(await waiting).toMatchObject({ reason: 'interaction_required' })
    expect(identity.calls).not.toContain('login popup')
    await agent.destroy()
  })

  it('renews a restored login without the user until it may ask', async () => {
    const { emulator, clock, make } = setUp()
    const identity = new FakeProvider()
    const issue = (lifeSeconds: number) => emulator.control.issueToken({ lifeSeconds })
    const old = { accessToken: issue(200), expiresAt: clock.now() + 200_000 }
    identity.restored = async () => old
    identity.renewed = async () => {
      throw new AuthError('The user is needed.', 'interaction_required')
    }
    identity.signIn = async () => ({ accessToken: issue(3600) })
    const { agent } = make({ id: 'account', auth: byLogin(identity) })
    const refused = await rejection(agent.initialize({ interactive: false }))
    expect(refused).toMatchObject({ reason: 'interaction_required' })
    expect(identity.calls).not.toContain('login popup')
    // A run that must not ask does not forbid it to a call that joins it.
    const quiet = agent.initialize({ interactive: false })
    await agent.initialize()
    await quiet
    expect(identity.calls.at(-1)).toBe('login popup')
  })

  describe('with a stored login that has expired and cannot be renewed', () => {
    /** An agent whose login waits for the user; `refuse()` ends a silent renewal. */
    function expiredLogin() {
      const { emulator, clock, make } = setUp()
      const identity = new FakeProvider()
      identity.restored = async () => ({ accessToken: emulator.control.issueToken(), expiresAt: clock.now() - 1 })
      const renewals: { resolve(session: LoginSession): void; reject(error: unknown): void }[] = []
      identity.renewed = () => new Promise((resolve, reject) => renewals.push({ resolve, reject }))
      identity.signIn = () => new Promise(() => {})
      const { agent } = make({ id: 'account', auth: byLogin(identity) })
      const refuse = async (number: number) => {
        await eventually(() => renewals.length === number)
        renewals.at(-1)?.reject(new AuthError('The user is needed.', 'interaction_required'))
      }
      const signIns = () => identity.calls.filter(call => call === 'login popup').length
      const session = () => ({ accessToken: emulator.control.issueToken() })
      return { agent, identity, renewals, refuse, signIns, session }
    }

    it.each(['initialize', 'getAgentDetails'] as const)(
      '[EL-26] ends the sign-in with the signal of %s(), and asks again in the next call',
      async name => {
        const { agent, identity, refuse, signIns, session } = expiredLogin()
        const cancel = new AbortController()
        const first = rejection(agent[name](cancel))
        await refuse(1)
        await eventually(() => signIns() === 1)
        cancel.abort()
        expect(await first).toMatchObject({ code: 'ABORTED' })
        expect(identity.logins[0]?.signal?.aborted).toBe(true)
        identity.signIn = async () => session()
        const second = agent.initialize()
        await refuse(2)
        await second
        expect(signIns()).toBe(2)
      },
    )

    it.each(['initialize', 'getAgentDetails'] as const)(
      '[EL-26] does not ask when the signal of %s() was aborted during the silent renewal',
      async name => {
        const { agent, renewals, refuse, signIns } = expiredLogin()
        const cancel = new AbortController()
        const first = rejection(agent[name](cancel))
        await eventually(() => renewals.length === 1)
        cancel.abort()
        expect(await first).toMatchObject({ code: 'ABORTED' })
        await refuse(1)
        await turnEventLoop()
        expect(signIns()).toBe(0)
      },
    )

    it('[EL-26] asks in a call that joins the silent renewal of an aborted one', async () => {
      const { agent, identity, renewals, refuse, signIns, session } = expiredLogin()
      const cancel = new AbortController()
      const first = rejection(agent.initialize(cancel))
      await eventually(() => renewals.length === 1)
      cancel.abort()
      await first
      identity.signIn = async () => session()
      const second = agent.initialize()
      await turnEventLoop()
      await refuse(1)
      await second
      expect(signIns()).toBe(1)
    })

    it('uses a silent renewal that succeeds after the call was aborted', async () => {
      const { agent, renewals, signIns, session } = expiredLogin()
      const cancel = new AbortController()
      const first = rejection(agent.initialize(cancel))
      await eventually(() => renewals.length === 1)
      cancel.abort()
      await first
      renewals[0]?.resolve(session())
      await agent.initialize()
      expect([renewals.length, signIns()]).toEqual([1, 0])
    })
  })

  it('ends a wait of getAccessToken() with its signal, and not the renewal', async () => {
    const { emulator, clock, make } = setUp()
    const identity = new FakeProvider()
    identity.restored = async () => ({ accessToken: emulator.control.issueToken(), expiresAt: clock.now() + 600_000 })
    const { agent } = make({ id: 'account', auth: byLogin(identity) })
    await agent.initialize()
    let renew = (_session: LoginSession) => {}
    identity.renewed = () => new Promise(resolve => (renew = resolve))
    await clock.advance(301_000)
    const cancel = new AbortController()
    const aborted = rejection(agent.getAccessToken(cancel))
    const other = agent.getAccessToken()
    cancel.abort()
    expect(await aborted).toMatchObject({ code: 'ABORTED' })
    const accessToken = emulator.control.issueToken()
    renew({ accessToken })
    expect(await other).toBe(accessToken)
  })

  it('opens a login for a later call after a start that may not ask the user', async () => {
    const { emulator, clock, make } = setUp()
    const identity = new FakeProvider()
    const issue = () => emulator.control.issueToken({ lifeSeconds: 3_600 })
    const restored = { accessToken: issue(), expiresAt: clock.now() + 3_600_000 }
    identity.restored = async () => restored
    identity.renewed = () => Promise.reject(new AuthError('The user is needed.', 'interaction_required'))
    const { agent } = make({ id: 'account', auth: byLogin(identity) })
    await agent.initialize({ interactive: false })
    await clock.advance(3_600_000)
    expect(identity.calls).not.toContain('login popup')
    identity.signIn = async () => ({ accessToken: issue() })
    await agent.connect()
    expect(agent.isConnected()).toBe(true)
    expect(identity.calls.at(-1)).toBe('login popup')
    await agent.destroy()
  })

  it('[AUTH-18] opens no login when a session was restored', async () => {
    const { emulator, make } = setUp()
    const identity = new FakeProvider()
    const accessToken = emulator.control.issueToken()
    identity.restored = async () => ({ accessToken })
    const { agent } = make({ id: 'account', auth: byLogin(identity) })
    await agent.initialize()
    expect(identity.calls).toEqual(['restore'])
    expect(scopesAsked(emulator)).toEqual([])
  })

  it('[CFG-14] ignores `authScheme` where the host configures the login', async () => {
    const { emulator, make } = setUp()
    const identity = new FakeProvider()
    const accessToken = emulator.control.issueToken()
    identity.signIn = async () => ({ accessToken })
    const { agent } = make({ id: 'account', auth: byLogin(identity), authScheme: 'redirect' })
    await agent.initialize()
    await agent.logout()
    expect(identity.calls).toEqual(['restore', 'login popup', 'logout popup'])
  })

  it('[AUTH-18] does not renew the login when the service refuses the agent details', async () => {
    const { emulator, make } = setUp()
    const identity = new FakeProvider()
    const accessToken = emulator.control.issueToken()
    identity.restored = async () => ({ accessToken })
    identity.renewed = async () => ({ accessToken: emulator.control.issueToken() })
    emulator.faults.add({ kind: 'answer', route: 'GET */account', status: 401, times: 1 })
    const { agent } = make({ id: 'account', auth: byLogin(identity) })
    expect(await rejection(agent.initialize())).toMatchObject({ name: 'ApiError', status: 401 })
    expect(identity.calls).toEqual(['restore'])
  })

  it('can be tried again after its window was blocked', async () => {
    const { emulator, make } = setUp()
    const identity = new FakeProvider()
    const { agent } = make({ id: 'account', auth: byLogin(identity) })
    identity.signIn = () => Promise.reject(new AuthError('No.', 'popup_blocked'))
    expect(await rejection(agent.initialize())).toMatchObject({ name: 'AuthError', reason: 'popup_blocked' })
    const accessToken = emulator.control.issueToken()
    identity.signIn = async () => ({ accessToken })
    await agent.initialize()
    expect(await agent.getAccessToken()).toBe(accessToken)
  })

  it('[CFG-14] without a configured login opens the deployment’s own, in a window', async () => {
    const { page, opened } = fakePage()
    const { emulator, make } = setUp({ offersLogin: true }, { page, sessionStorage: new FakeStorage() })
    const { agent } = make({ id: 'account' })
    expect(await rejection(agent.initialize())).toMatchObject({ name: 'AuthError', reason: 'popup_blocked' })
    expect(opened).toEqual(['aiagent-login'])
    // The metadata are kept; a click later there is nothing left to wait for but the window.
    const before = requestsTo(emulator).length
    expect(await rejection(agent.initialize())).toMatchObject({ reason: 'popup_blocked' })
    expect(requestsTo(emulator)).toHaveLength(before)
  })

  it('[REL-09] names both addresses when the page is not on the origin of the deployment’s login', async () => {
    const { page, opened } = fakePage('https://shop.example.com')
    const { make } = setUp({ offersLogin: true }, { page, sessionStorage: new FakeStorage() })
    const error = await rejection(make({ id: 'account' }).agent.initialize())
    expect(error).toMatchObject({ name: 'AuthError', reason: 'invalid_input' })
    expect(error.message).toContain(`${ORIGIN}/system/templates/selfservice/auth-redirect.html`)
    expect(error.message).toContain('https://shop.example.com')
    expect(opened).toEqual([])
  })

  it('rejects if the deployment has no login', async () => {
    const { page } = fakePage()
    const { make } = setUp({}, { page, sessionStorage: new FakeStorage() })
    expect(await rejection(make({ id: 'account' }).agent.initialize())).toMatchObject({ reason: 'metadata_failed' })
  })
})

it('an agent that does not ask who talks to it needs no login, though one is configured', async () => {
  const { make } = setUp()
  const identity = new FakeProvider()
  const { agent } = make({
    auth: identity.login({ clientId: 'app-ext', redirectUri: `${ORIGIN}/c.html`, knownAuthorities: ['login.test'] }),
  })
  await agent.initialize()
  await agent.connect()
  expect(identity.calls).toEqual(['restore'])
  await agent.destroy()
})
