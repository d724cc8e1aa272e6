import { restBase } from '@aiagent/protocol'
import { describe, expect, it, vi } from 'vitest'
import { FakeIdentityClient } from '../../../test/fake-identity-client.ts'
import { pageWithWindow } from '../../../test/fake-login-page.ts'
import { FakeService, FakeStorage, fakeToken } from '../../../test/fake-service.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import { LazyPkceStrategy } from './pkce-login.ts'
import { userKey } from './provider-address.ts'

const CONFIG: PKCEAuthConfig = {
  clientId: 'client',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
  authScheme: 'popup',
}
const deploymentInfo = { apiDomain: 'api.test' }
const KEY = userKey('https://login.test', CONFIG.clientId)

function setUp({ ownClient = true }: { ownClient?: boolean } = {}) {
  const service = new FakeService()
  const identity = new FakeIdentityClient()
  let count = 0
  const session = () => ({
    accessToken: fakeToken({ exp: service.clock.now() / 1000 + 3600, jti: ++count }),
    idToken: fakeToken({ iss: 'https://login.test', sub: 'customer' }),
    expiresAt: service.clock.now() + 3_600_000,
  })
  identity.signIn = async () => session()
  identity.renewed = async () => session()
  const sessionStorage = new FakeStorage()
  const page = pageWithWindow({ location: { href: 'https://app.test/chat', origin: 'https://app.test' } })
  const environment = service.environment({ page, sessionStorage })
  const input = { type: 'pkce' as const, config: CONFIG, ...(ownClient && { identityClient: identity.factory }) }
  const login = new LazyPkceStrategy(input, { environment })
  const told: unknown[] = []
  const start = () => login.initialize({ deploymentInfo, postAuthentication: result => void told.push(result) })
  return { identity, login, session, sessionStorage, start, told, environment }
}

describe('a login whose code is loaded by initialize()', () => {
  it('has nothing before, and refuses what needs its code', async () => {
    const { login } = setUp()
    expect([login.hasSession, login.identity, login.expiresAt, login.getDomain()]).toEqual([
      false,
      undefined,
      undefined,
      undefined,
    ])
    expect(() => login.cleanup()).not.toThrow()
    for (const call of [() => login.authenticate(), () => login.getToken(), () => login.refresh()])
      expect(call).toThrow(expect.objectContaining({ name: 'AuthError', reason: 'token_missing' }))
  })

  it('passes everything on afterwards', async () => {
    const { identity, login, session, start, told } = setUp()
    await start()
    expect(login.getDomain()).toBe('login.test')
    expect(login.hasSession).toBe(false)
    const first = session()
    identity.signIn = async () => first
    await login.authenticate()
    expect(told).toEqual([{ accessToken: first.accessToken }])
    expect([login.hasSession, login.expiresAt]).toEqual([true, first.expiresAt])
    expect(login.identity).toContain('customer')
    expect(await login.getToken()).toBe(first.accessToken)
    const second = session()
    identity.renewed = async () => second
    expect(await login.refresh()).toBe(second.accessToken)
    await login.logout()
    expect(login.hasSession).toBe(false)
    expect(identity.calls).toEqual(['restore', 'login popup', 'renew', 'logout popup'])
  })

  it('keeps its state when it is initialized again', async () => {
    const { identity, login, session, start } = setUp()
    await start()
    await login.authenticate()
    identity.restored = async () => session()
    await start()
    expect(login.hasSession).toBe(true)
    expect(identity.calls).toEqual(['restore', 'login popup', 'restore'])
  })

  it('asks before it asks the user', async () => {
    const { identity, login, start } = setUp()
    identity.restored = async () => ({ accessToken: fakeToken({ exp: 1 }) })
    identity.renewed = async () => Promise.reject(new Error('needs the user'))
    await start()
    await expect(login.getToken(() => false)).rejects.toMatchObject({ reason: 'token_request_failed' })
    expect(identity.calls).toEqual(['restore', 'renew'])
  })

  it('reports the sign-out of another tab, and no longer after cleanup()', async () => {
    const { identity, login, session, start } = setUp()
    const listeners = new Set<() => void>()
    Object.assign(identity, {
      onSignedOut: (listener: () => void) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    })
    identity.restored = async () => session()
    await start()
    for (const listener of listeners) listener()
    expect(login.hasSession).toBe(false)
    const signedOut = vi.fn()
    login.setSignedOutCallback(signedOut)
    for (const listener of listeners) listener()
    expect(signedOut).toHaveBeenCalledTimes(1)
    login.cleanup()
    expect(listeners.size).toBe(0)
  })
})

describe('a logout', () => {
  it('[SEC-05] before initialize() signs out at the provider of a host’s client', async () => {
    const { identity, login } = setUp()
    await login.logout()
    expect(identity.calls).toEqual(['logout popup'])
  })

  it('[SEC-05] before initialize() removes the stored user at once', () => {
    const { login, sessionStorage } = setUp({ ownClient: false })
    sessionStorage.setItem(KEY, JSON.stringify({ accessToken: 'the-token', idToken: 'the-id-token' }))
    void login.logout().catch(() => {})
    expect(sessionStorage.getItem(KEY)).toBeNull()
  })

  it('before initialize() does nothing if no user is stored, nor without stores', async () => {
    const { login, sessionStorage, environment } = setUp({ ownClient: false })
    await expect(login.logout()).resolves.toBeUndefined()
    expect([sessionStorage.length, login.getDomain()]).toEqual([0, undefined])
    const bare = new LazyPkceStrategy({ type: 'pkce', config: CONFIG }, {})
    await expect(bare.logout()).resolves.toBeUndefined()
    expect(bare.getDomain()).toBeUndefined()
    expect(environment.sessionStorage).toBe(sessionStorage)
  })

  it('removes the metadata of its deployment, and those only', async () => {
    const { login, sessionStorage, start } = setUp()
    await start()
    const base = restBase(deploymentInfo.apiDomain)
    const own = ['a', 'b'].map(name => `aiagent_auth_metadata:${name}:${base}:${name}`)
    const others = [
      'aiagent_auth_metadata:a:https://else.test/:a',
      `else:a:${base}:a`,
      `x:${base}:aiagent_auth_metadata:`,
    ]
    for (const key of [...own, ...others, 'last']) sessionStorage.setItem(key, 'x')
    await login.logout()
    expect([...sessionStorage.items.keys()].sort()).toEqual([...others, 'last'].sort())
  })
})
