import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it, vi } from 'vitest'
import { fakeToken } from '../../test/fake-service.ts'
import type { PreAuthConfig } from './auth-strategy.ts'
import { PreAuthStrategy } from './pre-auth-strategy.ts'

const deploymentInfo = { apiDomain: 'api.test' }

function setUp(makeConfig: (token: (life: number) => string) => PreAuthConfig) {
  const clock = new ManualClock()
  let count = 0
  const token = (life: number) => fakeToken({ exp: clock.now() / 1000 + life, jti: ++count })
  return { clock, strategy: new PreAuthStrategy(makeConfig(token), clock), token }
}

describe('a token of the host', () => {
  it.each(['', '  ', undefined, null, 7, {}])('is refused when it is %j', accessToken => {
    const { strategy } = setUp(() => ({ accessToken: accessToken as string }))
    expect(() => strategy.initialize({ deploymentInfo })).toThrow(
      expect.objectContaining({ reason: 'token_missing', message: expect.stringContaining('auth.accessToken') }),
    )
  })

  it.each([
    ['a promise', Promise.resolve('token'), /is a Promise: await it/],
    ['the answer of a provider', { access_token: 'token' }, /is an object/],
  ])('[ADOPT-12] is named when it is %s', (_what, accessToken, message) => {
    const { strategy } = setUp(() => ({ accessToken: accessToken as never }))
    expect(() => strategy.initialize({ deploymentInfo })).toThrow(message)
  })

  it('is passed on by authenticate(), with or without a callback', async () => {
    const { strategy } = setUp(() => ({ accessToken: 'given' }))
    await strategy.authenticate()
    const postAuthentication = vi.fn()
    strategy.initialize({ deploymentInfo, postAuthentication })
    await strategy.authenticate()
    expect(postAuthentication.mock.calls).toEqual([[{ accessToken: 'given' }]])
  })

  it('is used to its end where the host cannot renew it', async () => {
    const { strategy, clock, token } = setUp(make => ({ accessToken: make(60) }))
    const given = await strategy.getToken()
    await clock.advance(120_000)
    expect([await strategy.getToken(), await strategy.refresh(), strategy.autoRenews]).toEqual([given, given, false])
    const next = token(3_600)
    strategy.updateToken(next)
    expect(await strategy.getToken()).toBe(next)
  })

  it('is never renewed by itself where it names no expiry', async () => {
    const refreshTokenFn = vi.fn(async () => 'renewed')
    const { strategy, clock } = setUp(() => ({ accessToken: 'opaque', refreshTokenFn }))
    await clock.advance(86_400_000)
    expect(await strategy.getToken()).toBe('opaque')
    expect(refreshTokenFn).not.toHaveBeenCalled()
    expect(await strategy.refresh()).toBe('renewed')
    expect(await strategy.getToken()).toBe('renewed')
  })

  it('is renewed by the host’s function before it expires', async () => {
    const { strategy, clock, token } = setUp(make => ({
      accessToken: make(3_600),
      refreshTokenFn: async () => token(3_600),
      expiryBufferMs: 60_000,
    }))
    const given = await strategy.getToken()
    await clock.advance(3_539_999)
    expect(await strategy.getToken()).toBe(given)
    await clock.advance(1)
    const renewed = await strategy.getToken()
    expect(renewed).not.toBe(given)
    expect(await strategy.getToken()).toBe(renewed)
  })

  it.each([undefined, null, '', ' ', 7, {}])('is kept when the host’s function returns %j', async returned => {
    const { strategy } = setUp(() => ({ accessToken: 'given', refreshTokenFn: async () => returned as string }))
    await expect(strategy.refresh()).rejects.toMatchObject({
      reason: 'token_request_failed',
      message: expect.stringContaining('refreshTokenFn'),
    })
    expect(await strategy.getToken()).toBe('given')
  })

  it('is kept when the host’s function fails, with its reason', async () => {
    const cause = new Error('no network')
    const { strategy } = setUp(() => ({ accessToken: 'given', refreshTokenFn: () => Promise.reject(cause) }))
    await expect(strategy.refresh()).rejects.toMatchObject({
      reason: 'token_request_failed',
      message: expect.stringContaining('no network'),
      cause,
    })
  })
})
