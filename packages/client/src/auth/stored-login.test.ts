import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakeService, FakeStorage, fakeToken } from '../../test/fake-service.ts'
import { storedText } from '../../test/stored-text.ts'
import type { AuthenticationInput, AuthStrategy, PKCEAuthConfig } from './auth-strategy.ts'
import { AuthenticationService } from './authentication-service.ts'
import { userKey } from './stored-login.ts'

const ENDPOINT = 'https://desk.test'
const deploymentInfo = { apiDomain: 'api.test' }
const LOGIN: PKCEAuthConfig = {
  clientId: 'client',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
  authScheme: 'redirect',
}
const USER = userKey('https://login.test', LOGIN.clientId)

/** A tab in which an earlier page has signed its user in with the login of the deployment. */
async function setUpTab() {
  const service = new FakeService()
  service.on('GET /.well-known/openid-configuration', {
    issuer: 'https://login.test',
    authorization_endpoint: 'https://login.test/authorize',
    token_endpoint: 'https://login.test/token',
    end_session_endpoint: 'https://login.test/bye',
  })
  const left: string[] = []
  const location = {
    href: 'https://app.test/chat',
    origin: 'https://app.test',
    assign: (address: string) => void left.push(address),
  }
  const sessionStorage = new FakeStorage()
  /** A page of the tab. */
  const open = (input?: AuthenticationInput, endpoint: string | undefined = ENDPOINT) => {
    const environment = service.environment({ page: pageWithWindow({ location }), sessionStorage })
    return new AuthenticationService(input, { environment, endpoint })
  }
  const earlier = open()
  await earlier.initialize({ deploymentInfo })
  await earlier.switchStrategyTo(LOGIN)
  await earlier.cleanup()
  const idToken = fakeToken({ iss: 'https://login.test', sub: 'ann' })
  const user = { loginId: 'a', accessToken: fakeToken({}), idToken }
  sessionStorage.setItem(USER, storedText(user, service.clock.now()))
  return { open, left, sessionStorage, idToken, hasUser: () => sessionStorage.getItem(USER) !== null }
}

describe('the login that an earlier page of the tab used', () => {
  it.each([false, true])('[SEC-05] is signed out by a page without a login (initialized: %j)', async isInitialized => {
    const { open, left, idToken, hasUser } = await setUpTab()
    const auth = open()
    if (isInitialized) await auth.initialize({ deploymentInfo })
    void auth.logout()
    // Whatever happens at the provider, nothing of the user is left here.
    expect(hasUser()).toBe(false)
    await eventually(() => left.length > 0, 'the sign-out at the provider')
    expect(left).toEqual([expect.stringMatching(/^https:\/\/login\.test\/bye\?/)])
    expect(new URL(left[0] ?? '').searchParams.get('id_token_hint')).toBe(idToken)
  })

  it('[SEC-05] is signed out by a page whose login is not loaded yet', async () => {
    const { open, left, idToken, hasUser } = await setUpTab()
    void open({ type: 'pkce', config: LOGIN }).logout()
    expect(hasUser()).toBe(false)
    await eventually(() => left.length > 0, 'the sign-out at the provider')
    expect(new URL(left[0] ?? '').searchParams.get('id_token_hint')).toBe(idToken)
  })

  it('is signed out once', async () => {
    const { open, left, sessionStorage } = await setUpTab()
    const auth = open()
    void auth.logout()
    await eventually(() => left.length > 0, 'the sign-out at the provider')
    expect([...sessionStorage.items.keys()].filter(key => key.startsWith('aiagent_auth'))).toEqual([])
    await auth.logout()
    expect(left).toHaveLength(1)
  })

  it.each<[string, AuthenticationInput]>([
    ['a token of the host', { type: 'pre-auth', accessToken: 'given' }],
    [
      'a strategy of the host',
      { initialize() {}, authenticate() {}, getToken: () => 'own' } as unknown as AuthStrategy,
    ],
  ])('stays signed in where the page uses %s', async (_case, input) => {
    const { open, left, hasUser } = await setUpTab()
    const auth = open(input)
    await auth.initialize({ deploymentInfo })
    await auth.logout()
    expect([hasUser(), left]).toEqual([true, []])
  })

  const planted = [null, 5, 'x', [], {}, { clientId: 'a', knownAuthorities: 'x' }]
  it.each(['{', ...planted.map(value => JSON.stringify(value)), ...planted.map(value => storedText(value))])(
    '[SEC-05] is none, if other code of the page has stored %s in its place: a sign-out has nothing to end',
    async stored => {
      const { open, left, sessionStorage } = await setUpTab()
      for (const key of [...sessionStorage.items.keys()]) if (key !== USER) sessionStorage.setItem(key, stored)
      await open().logout()
      expect([left, [...sessionStorage.items.keys()]]).toEqual([[], [USER]])
    },
  )

  it('stays signed in where the page talks to another endpoint', async () => {
    const { open, left, hasUser } = await setUpTab()
    await open(undefined, 'https://else.test').logout()
    expect([hasUser(), left]).toEqual([true, []])
  })
})
