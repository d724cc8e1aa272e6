import { describe, expect, it, vi } from 'vitest'
import { passing, payloadsOf, rejection, requestsTo, setUp } from '../../test/agent-harness.ts'
import type { AuthStrategy, PostAuthenticationCallback } from '../auth/auth-strategy.ts'

const HOUR_SECONDS = 3_600

describe('the life of a token', () => {
  it('[EVT-05] tokenExpiring says once, five minutes before, when the present token expires', async () => {
    const { clock, emulator, make } = setUp()
    const accessToken = emulator.control.issueToken({ subject: 'customer', lifeSeconds: HOUR_SECONDS })
    const expiresAt = Math.floor(clock.now() / 1000) * 1000 + HOUR_SECONDS * 1000
    const { agent, told } = make({ id: 'account', auth: { type: 'pre-auth', accessToken } })
    await agent.initialize()
    await clock.advance(expiresAt - clock.now() - 301_000)
    expect(payloadsOf(told, 'tokenExpiring')).toEqual([])
    await clock.advance(2_000)
    expect(payloadsOf(told, 'tokenExpiring')).toEqual([{ reason: 'expiring', expiresAt }])
    await clock.advance(400_000)
    expect(payloadsOf(told, 'tokenExpiring')).toHaveLength(1)
  })

  it('[EVT-05] tokenExpiring reports that the chat needs one and none can be obtained; queued messages follow the next', async () => {
    const { clock, emulator, make } = setUp()
    const token = () => emulator.control.issueToken({ subject: 'customer', lifeSeconds: HOUR_SECONDS })
    const { agent, told } = make({ id: 'account', auth: { type: 'pre-auth', accessToken: token() } })
    await agent.initialize()
    await agent.connect()
    emulator.control.expireTokens()
    await agent.send('Where is my parcel?')
    for (let steps = 0; steps < 50 && payloadsOf(told, 'tokenExpiring').length === 0; steps++) await clock.advance(10)
    expect(payloadsOf(told, 'tokenExpiring')).toEqual([{ reason: 'transport_request' }])
    expect(payloadsOf(told, 'error')).toEqual([])
    await agent.updateAccessToken(token())
    for (let steps = 0; steps < 200 && payloadsOf(told, 'agentMessage').length === 0; steps++) await clock.advance(10)
    expect(payloadsOf(told, 'agentMessage').map(({ message }) => message.content)).toEqual([
      'You said: Where is my parcel?',
    ])
  })

  it('[AUTH-04] a token with blanks around it, as from a file, is used without them, in calls and in the chat', async () => {
    const { clock, emulator, make } = setUp()
    const token = () => emulator.control.issueToken({ subject: 'customer', lifeSeconds: HOUR_SECONDS })
    const given = token()
    const { agent, told } = make({ id: 'account', auth: { type: 'pre-auth', accessToken: `${given}\n` } })
    await agent.initialize()
    await agent.connect()
    expect(await agent.getAccessToken()).toBe(given)
    const next = token()
    await agent.updateAccessToken(` ${next}\r\n`)
    expect(await agent.getAccessToken()).toBe(next)
    await agent.send('Where is my parcel?')
    for (let steps = 0; steps < 200 && payloadsOf(told, 'agentMessage').length === 0; steps++) await clock.advance(10)
    expect(payloadsOf(told, 'agentMessage').map(({ message }) => message.content)).toEqual([
      'You said: Where is my parcel?',
    ])
  })

  it.each([
    ['its scheme', (token: string) => `Bearer ${token}`, 'begins with "Bearer"'],
    ['quotes', (token: string) => `"${token}"`, 'in quotes'],
    ['its JSON answer', (token: string) => JSON.stringify({ access_token: token }), 'is a JSON answer'],
  ])(
    '[ADOPT-12] a token with %s around it is sent, and the error of its refusal says so',
    async (_what, wrap, advice) => {
      const { emulator, make } = setUp()
      const accessToken = wrap(emulator.control.issueToken({ subject: 'customer', lifeSeconds: 60 }))
      const { agent, told } = make({ id: 'account', auth: { type: 'pre-auth', accessToken } })
      const error = await rejection(agent.initialize())
      expect(error).toMatchObject({ status: 401, message: expect.stringContaining(advice) })
      expect(error.message).not.toContain(accessToken)
      const sent = emulator.control.requests().flatMap(({ headers }) => headers['authorization'] ?? [])
      expect(sent).toContain(`Bearer ${accessToken}`)
      expect(payloadsOf(told, 'tokenExpiring')).toEqual([])
    },
  )

  it('[AUTH-05] a token that is about to expire and cannot be renewed is returned once tokenExpiring has been emitted', async () => {
    const { clock, emulator, make } = setUp()
    const issue = (lifeSeconds: number) => emulator.control.issueToken({ subject: 'customer', lifeSeconds })
    const accessToken = issue(HOUR_SECONDS)
    const { agent, told } = make({ id: 'account', auth: { type: 'pre-auth', accessToken } })
    await agent.initialize()
    // No timer runs from now on.
    await agent.disconnect()
    await clock.advance((HOUR_SECONDS - 60) * 1_000)
    const count = () => payloadsOf(told, 'tokenExpiring').length
    expect(count()).toBe(0)
    expect([await agent.getAccessToken(), count()]).toEqual([accessToken, 1])
    expect([await agent.getAccessToken(), count()]).toEqual([accessToken, 1])
    const next = issue(60)
    await agent.updateAccessToken(next)
    expect([await agent.getAccessToken(), count()]).toEqual([next, 2])
    await agent.destroy()
  })

  it('[REL-07] getAccessToken() renews a token that has expired, also without a connection', async () => {
    const { clock, emulator, make } = setUp()
    const issue = () => emulator.control.issueToken({ subject: 'customer', lifeSeconds: HOUR_SECONDS })
    const refreshTokenFn = vi.fn(async () => issue())
    const { agent } = make({ id: 'account', auth: { type: 'pre-auth', accessToken: issue(), refreshTokenFn } })
    expect(await agent.getAccessToken()).toBeNull()
    await agent.getAgentDetails()
    expect(await agent.getAccessToken()).toBeNull()
    await agent.initialize()
    const first = await agent.getAccessToken()
    // A disconnected agent renews nothing by itself.
    await agent.disconnect()
    await clock.advance((HOUR_SECONDS + 60) * 1_000)
    expect(refreshTokenFn).not.toHaveBeenCalled()
    const [second, third] = await Promise.all([agent.getAccessToken(), agent.getAccessToken()])
    expect([second === first, second === third]).toEqual([false, true])
    expect(second).toBe(await refreshTokenFn.mock.results[0]?.value)
    expect(refreshTokenFn).toHaveBeenCalledTimes(1)
  })

  it('[REL-07] getAccessToken() rejects for an expired token that cannot be renewed', async () => {
    const { clock, emulator, make } = setUp()
    const issue = () => emulator.control.issueToken({ subject: 'customer', lifeSeconds: HOUR_SECONDS })
    const accessToken = issue()
    const { agent } = make({ id: 'account', auth: { type: 'pre-auth', accessToken } })
    await agent.initialize()
    await clock.advance((HOUR_SECONDS - 10) * 1_000)
    expect(await agent.getAccessToken()).toBe(accessToken)
    await clock.advance(20_000)
    expect(await rejection(agent.getAccessToken())).toMatchObject({ name: 'AuthError', reason: 'token_missing' })
    const next = issue()
    await agent.updateAccessToken(next)
    expect(await agent.getAccessToken()).toBe(next)
    await agent.destroy()
    expect(await agent.getAccessToken()).toBeNull()
  })

  it('[AUTH-06] requests a session again with a renewed token after a 401, once', async () => {
    const { emulator, make } = setUp()
    const issue = (lifeSeconds: number) => emulator.control.issueToken({ subject: 'customer', lifeSeconds })
    const [accessToken, renewed] = [issue(200), issue(HOUR_SECONDS)]
    const refreshTokenFn = vi.fn(async () => renewed)
    // The client renews one minute before expiry; the service refuses tokens that expire within five.
    const auth = { type: 'pre-auth', accessToken, refreshTokenFn, expiryBufferMs: 60_000 } as const
    await make({ id: 'account', auth }).agent.initialize()
    const sessions = emulator.control.requests().filter(({ path }) => path.endsWith('/session'))
    expect(sessions.map(({ status, headers }) => [status, headers['authorization']])).toEqual([
      [401, `Bearer ${accessToken}`],
      [200, `Bearer ${renewed}`],
    ])
    expect(refreshTokenFn).toHaveBeenCalledTimes(1)
  })

  it('[AUTH-06] if no better token can be obtained, the error has a specific code', async () => {
    const { emulator, make } = setUp({ settings: { tokenLifeSeconds: 200 } })
    const { agent } = make()
    const error = await rejection(agent.initialize())
    expect(error).toMatchObject({ code: 'SESSION_UNAUTHORIZED', status: 401 })
    expect(error.message).toMatch(/Token will expire soon.*at least five more minutes/)
    // The refused attempt, and the one with the token of the forced refresh.
    expect(requestsTo(emulator).filter(line => line === 'POST session')).toHaveLength(2)
  })

  it('[AUTH-24] uses the token that the strategy returns after a sign-in, not the argument of the callback', async () => {
    const { clock, emulator, make } = setUp()
    const issue = () => emulator.control.issueToken({ subject: 'customer', lifeSeconds: HOUR_SECONDS })
    let token = issue()
    let told: PostAuthenticationCallback | undefined
    const strategy: AuthStrategy = {
      initialize({ postAuthentication }) {
        told = postAuthentication
      },
      async authenticate() {
        await told?.({ accessToken: issue() })
        // Renewed the moment the person was back.
        token = issue()
      },
      getToken: () => token,
    }
    const { agent } = make({ id: 'account', auth: strategy })
    await passing(clock, agent.initialize())
    expect(await agent.getAccessToken()).toBe(token)
    const session = emulator.control.requests().find(({ path }) => path.endsWith('/session'))
    expect(session?.headers['authorization']).toBe(`Bearer ${token}`)
  })
})
