import { ApiHelper, AuthError, AuthenticationService, type AuthStrategy, PreAuthStrategy } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { verifies } from '../verifies.ts'
import { differsIn, WITH_REFUSED_CHATS } from '../weathers.ts'
import type { Service } from '../wire.ts'

const FIVE_MINUTES_MS = 300_000
const HOUR_SECONDS = 3_600

/** Token requests so far. */
const tokenRequests = (service: Service) =>
  service.control.requests().filter(({ body }) => body?.includes('grant_type=client_credentials'))

const deploymentOf = (service: Service) =>
  service
    .patient(ApiHelper)
    .getDeploymentInfo(service.endpoint, { enabled: false }, { environment: service.environment() })

verifies(['CFG-02', 'AUTH-02'], 'without auth an agent obtains an anonymous token', async service => {
  const agent = await service.connectedAgent()
  expect(await agent.getAccessToken()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  const [request] = tokenRequests(service)
  expect(request).toMatchObject({ method: 'POST', status: 200, path: expect.stringContaining('anonymous') })
  expect(service.requestsTo(paths.session('help'), 'POST')[0]?.headers['authorization']).toContain(
    (await agent.getAccessToken()) ?? 'no token',
  )
})

verifies(
  'AUTH-01',
  'a pre-auth token is used, and no other token is requested',
  async service => {
    const accessToken = service.control.issueToken()
    const agent = await service.connectedAgent({ id: 'account', auth: { type: 'pre-auth', accessToken } })
    expect(await agent.getAccessToken()).toBe(accessToken)
    expect(service.requestsTo(paths.session('account'), 'POST')[0]?.headers['authorization']).toContain(accessToken)
    await eventually(() => service.frames().some(({ role }) => role === 'token'))
    expect(JSON.stringify(service.frames()[0])).toContain(accessToken)
    expect([tokenRequests(service), service.printed]).toEqual([[], []])
  },
  { differs: differsIn([...WITH_REFUSED_CHATS, 'ended connections', 'busy service'], 'the log names each failure') },
)

verifies('AUTH-01', "the deprecated type 'token' works the same, with one warning", async service => {
  const token = service.control.issueToken()
  const agent = await service.connectedAgent({ id: 'account', auth: { type: 'token', token } })
  expect(await agent.getAccessToken()).toBe(token)
  expect(service.printed.filter(line => /'token' is deprecated/.test(line))).toHaveLength(1)
})

verifies(
  'CFG-02',
  'auth accepts a config object, a provider or a strategy, and the chat opens with its token',
  async service => {
    const issue = () => service.control.issueToken()
    const steps: string[] = []
    const strategy: AuthStrategy = {
      initialize: ({ deploymentInfo }) => void steps.push(`initialize ${deploymentInfo.tenantId}`),
      authenticate: () => void steps.push('authenticate'),
      getToken: () => {
        steps.push('getToken')
        return issue()
      },
      logout: () => void steps.push('logout'),
    }
    const inputs = [
      { type: 'pre-auth', accessToken: issue() } as const,
      { getToken: async () => issue() },
      new PreAuthStrategy({ accessToken: issue() }),
      strategy,
    ]
    for (const auth of inputs) {
      const agent = await service.connectedAgent({ id: 'account', auth })
      const journal = new Journal(agent)
      await agent.send('Hello')
      await eventually(() => journal.answers.length)
      expect(journal.answers).toEqual(['You said: Hello'])
      await service.through(agent.logout())
    }
    expect(tokenRequests(service)).toEqual([])
    expect(steps[0]).toBe('initialize TEN0001')
    expect(steps).toContain('getToken')
    expect(steps.at(-1)).toBe('logout')
  },
)

verifies('CFG-02', 'auth of any other shape makes the constructor throw an AuthError', service => {
  for (const auth of [7, 'token', true, [], {}, { type: 'magic' }, { initialize() {}, authenticate() {} }]) {
    const make = () => service.newAgent({ auth: auth as never })
    expect(make).toThrow(AuthError)
    expect(make).toThrow(expect.objectContaining({ reason: 'invalid_input' }))
  }
})

verifies('OPS-04', 'getToken() requests a token once, and getCachedToken() returns it', async service => {
  const auth = service.patient(new AuthenticationService(undefined, { environment: service.environment() }))
  await auth.initialize({ deploymentInfo: await deploymentOf(service) })
  expect(auth.getCachedToken()).toBeNull()
  const [token, again] = await Promise.all([auth.getToken(), auth.getToken()])
  expect([again, await auth.getToken(), auth.getCachedToken()]).toEqual([token, token, token])
  expect(tokenRequests(service)).toHaveLength(1)
  await auth.cleanup()
})

verifies('OPS-04', 'updateScopes() makes the next token one with these scopes', async service => {
  const auth = service.patient(new AuthenticationService(undefined, { environment: service.environment() }))
  await auth.initialize({ deploymentInfo: await deploymentOf(service) })
  const before = await auth.getToken()
  await auth.updateScopes(['core.aiservices.read', 'core.customermgr.read'])
  expect(await auth.getToken()).not.toBe(before)
  const [, second, ...others] = tokenRequests(service).map(({ body }) => new URLSearchParams(body).get('scope'))
  expect(second).toContain('core.customermgr.read')
  expect(others).toEqual([])
  await auth.cleanup()
})

verifies('OPS-04', 'logout() drops the token', async service => {
  const accessToken = service.control.issueToken()
  const auth = new AuthenticationService({ type: 'pre-auth', accessToken }, { environment: service.environment() })
  await auth.initialize({ deploymentInfo: await deploymentOf(service) })
  expect(await auth.getToken()).toBe(accessToken)
  await auth.logout()
  expect(auth.getCachedToken()).toBeNull()
})

verifies(
  'EVT-05',
  'tokenExpiring is emitted once, five minutes before expiry, with the time of expiry',
  async service => {
    const expiresAt = Math.floor(service.clock.now() / 1000 + HOUR_SECONDS) * 1000
    const accessToken = service.control.issueToken({ lifeSeconds: HOUR_SECONDS })
    const agent = service.newAgent({ id: 'account', auth: { type: 'pre-auth', accessToken } })
    const journal = new Journal(agent)
    await agent.initialize()
    await service.elapse(expiresAt - service.clock.now() - FIVE_MINUTES_MS - 1_000)
    expect(journal.of('tokenExpiring')).toEqual([])
    await service.elapse(2_000)
    expect(journal.of('tokenExpiring')).toEqual([{ reason: 'expiring', expiresAt }])
    await service.elapse(FIVE_MINUTES_MS * 2)
    expect(journal.of('tokenExpiring')).toHaveLength(1)
  },
)

verifies(
  'EVT-05',
  'tokenExpiring is emitted when the chat needs a token now, and the chat waits for it',
  async service => {
    // The host's provider has a token at the start, but none when the chat opens.
    let token: string | null = service.control.issueToken()
    const agent = service.newAgent({ id: 'account', auth: { getToken: () => token } })
    const journal = new Journal(agent)
    await agent.initialize()
    token = null
    await agent.connect()
    await eventually(() => journal.of('tokenExpiring').length)
    expect(journal.of('tokenExpiring')).toEqual([{ reason: 'transport_request' }])
    await agent.send('Hello')
    token = service.control.issueToken()
    await agent.updateAccessToken(token)
    await service.until(() => journal.answers.length > 0)
    expect(journal.answers).toEqual(['You said: Hello'])
  },
)
