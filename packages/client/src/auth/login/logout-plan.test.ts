import { describe, expect, it } from 'vitest'
import { fakeToken } from '../../../test/fake-service.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import { endSessionRequest, fallbackAddress, planLogout } from './logout-plan.ts'

const CONFIG: PKCEAuthConfig = {
  clientId: 'client',
  authScheme: 'redirect',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
}
const AUTHORITY = 'https://login.test/acme/policy/'

/** The plan of a login with an account, whose access token may have a claim. */
function plan(more: Partial<PKCEAuthConfig> = {}, logout?: string, authority = AUTHORITY) {
  const session = { accessToken: fakeToken({ logout }), idToken: 'the-id-token' }
  return planLogout({ ...CONFIG, ...more }, authority, 'https://app.test/chat?x=1#top', session)
}

describe('planLogout', () => {
  it.each<[string, Partial<PKCEAuthConfig>, string | undefined]>([
    ['the address to return to without its hash', {}, 'https://app.test/chat?x=1'],
    ['nothing in a popup', { authScheme: 'popup' }, undefined],
  ])('[AUTH-21] hands over %s', (_case, more, state) => {
    expect(plan(more).state).toBe(state)
  })

  it.each<[string, Partial<PKCEAuthConfig>, string]>([
    ['a popup', { authScheme: 'popup' }, 'https://app.test/callback.html?logout=true'],
    [
      'a popup whose page has a query',
      { authScheme: 'popup', redirectUri: 'https://app.test/?p=1' },
      'https://app.test/?p=1&logout=true',
    ],
    ['a redirect', {}, 'https://app.test/callback.html'],
  ])('[AUTH-21] returns from %s to the right page', (_case, more, expected) => {
    expect(plan(more).postLogoutRedirectUri).toBe(expected)
  })

  it('[AUTH-21] sends the active account’s id token as the hint', () => {
    const address = new URL(endSessionRequest('https://login.test/end?x=1', plan()))
    expect(Object.fromEntries(address.searchParams)).toEqual({
      x: '1',
      id_token_hint: 'the-id-token',
      post_logout_redirect_uri: 'https://app.test/callback.html',
      state: 'https://app.test/chat?x=1',
    })
  })

  it('sends the client id if there is no id token', () => {
    const unknown = planLogout(CONFIG, AUTHORITY, 'https://app.test/', undefined)
    const address = new URL(endSessionRequest('https://login.test/end', unknown))
    expect(address.searchParams.get('client_id')).toBe('client')
    expect(address.searchParams.has('id_token_hint')).toBe(false)
  })
})

describe('the constructed endpoint', () => {
  it.each(['', '/', '//'])('has one slash before its path for an authority that ends in "%s"', slashes => {
    const { constructedEndpoint } = plan({}, undefined, `https://login.test/acme/policy${slashes}`)
    expect(constructedEndpoint).toBe('https://login.test/acme/policy/oauth2/v2.0/logout')
  })
})

describe('fallbackAddress', () => {
  const base = (address: string) => address.split('?')[0]

  it.each<[string, string | undefined, string | undefined, string]>([
    ['the claim', 'https://login.test/bye', 'https://login.test/end', 'https://login.test/bye'],
    ['the named endpoint', undefined, 'https://login.test/end', 'https://login.test/end'],
    ['the constructed endpoint', undefined, undefined, 'https://login.test/acme/policy/oauth2/v2.0/logout'],
    ['the claim rather than the constructed endpoint', 'https://login.test/bye', undefined, 'https://login.test/bye'],
    ['a claim without encryption', 'http://127.0.0.1/bye', undefined, 'http://127.0.0.1/bye'],
    ['the endpoint, not a script', 'javascript:alert(1)', 'https://login.test/end', 'https://login.test/end'],
    ['the endpoint, not another protocol', 'shttp://login.test', 'https://login.test/end', 'https://login.test/end'],
    ['the endpoint, not a part of an address', '/bye', 'https://login.test/end', 'https://login.test/end'],
  ])('[AUTH-22] is %s', (_case, claim, named, expected) => {
    expect(base(fallbackAddress(plan({}, claim), named))).toBe(expected)
  })
})
