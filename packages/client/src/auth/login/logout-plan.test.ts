import { describe, expect, it } from 'vitest'
import { endSessionRequest, fallbackAddress, type LogoutFacts, planLogout } from './logout-plan.ts'

const facts: LogoutFacts = {
  scheme: 'redirect',
  redirectUri: 'https://app.test/callback.html',
  returnTo: 'https://app.test/chat?x=1#top',
  idToken: 'the-id-token',
  authority: 'https://login.test/acme/policy/',
}

describe('planLogout', () => {
  it.each<[string, Partial<LogoutFacts>, string | undefined]>([
    ['the address to return to without its hash', {}, 'https://app.test/chat?x=1'],
    ['nothing in a popup', { scheme: 'popup' }, undefined],
  ])('[AUTH-21] hands over %s', (_case, more, state) => {
    expect(planLogout({ ...facts, ...more }).state).toBe(state)
  })

  it.each<[string, Partial<LogoutFacts>, string]>([
    ['a popup', { scheme: 'popup' }, 'https://app.test/callback.html?logout=true'],
    [
      'a popup whose page has a query',
      { scheme: 'popup', redirectUri: 'https://app.test/?p=1' },
      'https://app.test/?p=1&logout=true',
    ],
    ['a redirect', {}, 'https://app.test/callback.html'],
  ])('[AUTH-21] returns from %s to the right page', (_case, more, expected) => {
    expect(planLogout({ ...facts, ...more }).postLogoutRedirectUri).toBe(expected)
  })

  it('[AUTH-21] sends the active account’s id token as the hint', () => {
    const address = new URL(endSessionRequest('https://login.test/end?x=1', planLogout(facts), 'client'))
    expect(Object.fromEntries(address.searchParams)).toEqual({
      x: '1',
      id_token_hint: 'the-id-token',
      post_logout_redirect_uri: 'https://app.test/callback.html',
      state: 'https://app.test/chat?x=1',
    })
  })

  it('sends the client id if there is no id token', () => {
    const address = new URL(
      endSessionRequest('https://login.test/end', planLogout({ ...facts, idToken: undefined }), 'client'),
    )
    expect(address.searchParams.get('client_id')).toBe('client')
    expect(address.searchParams.has('id_token_hint')).toBe(false)
  })
})

describe('the constructed endpoint', () => {
  it.each(['', '/', '//'])('has one slash before its path for an authority that ends in "%s"', slashes => {
    const plan = planLogout({ ...facts, authority: `https://login.test/acme/policy${slashes}` })
    expect(plan.constructedEndpoint).toBe('https://login.test/acme/policy/oauth2/v2.0/logout')
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
  ])('[AUTH-22] is %s', (_case, logoutClaim, named, expected) => {
    expect(base(fallbackAddress(planLogout({ ...facts, logoutClaim }), named, 'client'))).toBe(expected)
  })
})
