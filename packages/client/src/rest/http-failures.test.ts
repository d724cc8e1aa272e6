import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { DETAILS, failure, SESSION, setUpApi } from '../../test/api-set-up.ts'
import { FakeService, fakeToken } from '../../test/fake-service.ts'
import { readClaims } from '../auth/access-token.ts'
import { Logger, LogLevel } from '../logger.ts'
import { ApiHelper } from './api-helper.ts'

const DEPLOYMENT = 'GET /system/deploymentInfo'

/** What Node's `fetch` rejects with. */
const fetchFailed = (code: string) =>
  Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(code), { code }) })

/** A call that fails without a response. */
async function failedCall(endpoint: string, error: unknown) {
  const environment = new FakeService().environment({ fetch: () => Promise.reject(error) })
  return failure(ApiHelper.getDeploymentInfo(endpoint, { enabled: false }, { environment }))
}

describe('a call without a response', () => {
  it.each([
    ['http://127.0.0.1:9', 'ECONNREFUSED', 'http://127.0.0.1:9 could not be reached: nothing listens on 127.0.0.1:9'],
    ['nobody.test', 'ENOTFOUND', 'https://nobody.test could not be reached: the host name nobody.test is unknown'],
    ['https://a.test:80', 'ERR_SSL_WRONG_VERSION_NUMBER', 'a.test:80 speaks http, not https'],
    ['http://a.test:443', 'UND_ERR_SOCKET', 'it may expect https'],
    ['a.test', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)'],
    ['a.test', 'EHOSTUNREACH', 'the connection failed (EHOSTUNREACH)'],
  ])('[REL-24] names the address and the cause: %s, %s', async (endpoint, code, text) => {
    const error = await failedCall(endpoint, fetchFailed(code))
    expect(error).toMatchObject({ name: 'ApiError', reason: 'network', message: expect.stringContaining(text) })
  })

  it('[REL-24] names the address if the platform reveals no cause', async () => {
    const error = await failedCall('https://a.test/shop', new TypeError('Failed to fetch'))
    expect(error).toMatchObject({ message: 'getDeploymentInfo failed: https://a.test could not be reached.' })
  })

  it('[REL-120] of the previous transcript is repeated once with a new token after status 401', async () => {
    const sent: (string | null)[] = []
    const fetch = async (_input: string, init: RequestInit = {}) => {
      const token = new Headers(init.headers).get('Authorization')
      sent.push(token)
      return Response.json({ messages: ['one'] }, { status: token?.endsWith('new.b.c') ? 200 : 401 })
    }
    const refreshed = { refreshToken: async () => 'new.b.c' }
    const load = (config: object) =>
      new ApiHelper(
        { apiDomain: 'api.test', getToken: () => 'a.b.c', ...config },
        new FakeService().environment({ fetch }),
      ).getPreviousTranscript({ agentId: '7', sessionId: 's-1' })
    expect(await load(refreshed)).toEqual(['one'])
    expect(sent).toHaveLength(2)
    const failing = { refreshToken: () => Promise.reject(new Error('No login.')) }
    for (const config of [{}, failing, { refreshToken: async () => 'still.b.c' }])
      expect(await failure(load(config))).toMatchObject({ name: 'ApiError', status: 401 })
    expect(sent).toHaveLength(6)
  })

  it('[REL-118] rejects a body that is nested too deep to be copied', async () => {
    const { service } = setUpApi()
    const nested = (levels: number) => `{"name":"Seven","odd":${'['.repeat(levels)}1${']'.repeat(levels)}}`
    const answer = (text: string) => new Response(text, { status: 200 })
    let levels = 5_000
    const deep = new ApiHelper(
      { apiDomain: 'api.test', getToken: () => 'a.b.c', cache: { enabled: false } },
      service.environment({ fetch: async () => answer(nested(levels)) }),
    )
    expect(await failure(deep.getAgentDetails({ agentId: '7' }))).toMatchObject({ name: 'ApiError', reason: 'body' })
    levels = 400
    expect(await deep.getAgentDetails({ agentId: '7' })).toMatchObject({ name: 'Seven' })
  })

  it('[REL-27] is repeated once over a new connection if that is safe, and not for a POST', async () => {
    const { service } = setUpApi()
    let failures = 1
    const fetch: typeof service.fetch = async (...call) => {
      const answer = await service.fetch(...call)
      if (failures-- > 0) throw fetchFailed('UND_ERR_SOCKET')
      return answer
    }
    service.on(`GET ${DETAILS}`, { name: 'Seven' }).on(`POST ${SESSION}`, { sessionId: 's-1' })
    const config = { apiDomain: 'api.test', getToken: () => 'a.b.c', cache: { enabled: false } }
    const api = new ApiHelper(config, service.environment({ fetch }))
    expect(await api.getAgentDetails({ agentId: '7' })).toMatchObject({ name: 'Seven' })
    expect(service.seen).toHaveLength(2)
    failures = 2
    await failure(api.getAgentDetails({ agentId: '7' }))
    expect(service.seen).toHaveLength(4)
    failures = 1
    expect(await failure(api.getAiAgentSession({ agentId: '7' }))).toMatchObject({ reason: 'network' })
    expect(service.seen).toHaveLength(5)
  })
})

describe('an unexpected response', () => {
  it('[REL-24] suggests to check the endpoint if a web site answers', async () => {
    const service = new FakeService().on(DEPLOYMENT, () => new Response('<html>'))
    const error = await failure(
      ApiHelper.getDeploymentInfo('a.test', { enabled: false }, { environment: service.environment() }),
    )
    expect(error).toMatchObject({ reason: 'body', message: expect.stringMatching(/not JSON.*Check that `endpoint`/) })
  })

  it('[REL-24] names the agent that does not exist', async () => {
    const { api } = setUpApi()
    const error = await failure(api.getAgentDetails({ agentId: 'halp' }))
    expect(error).toMatchObject({
      status: 404,
      message: expect.stringContaining('failed for agent "halp": status 404'),
    })
  })

  it.each([
    ['expired', fakeToken({ exp: -60 }), 'has expired'],
    ['about to expire', fakeToken({ exp: 240 }), 'five more minutes'],
    ['rejected for another reason', fakeToken({ exp: 3_600 }), 'pass another access token'],
    ['no JWT', 'nonsense', 'not a JWT'],
    ['preceded by its scheme', `Bearer ${fakeToken({ sub: 'ada' })}`, 'begins with "Bearer"'],
    ['in quotes', `"${fakeToken({ sub: 'ada' })}"`, 'in quotes'],
    ['inside its JSON answer', `{"access_token":"${fakeToken({ sub: 'ada' })}"}`, 'is a JSON answer'],
  ])('[REL-25] [ADOPT-12] has a matching remedy for a token that is %s', async (_case, token, text) => {
    const { service, api } = setUpApi({ getToken: () => token })
    const { exp } = readClaims(token)
    // Times of the tokens are relative to now.
    const at = service.clock.now() / 1_000
    const authToken = exp ? fakeToken({ exp: at + exp }) : token
    service.on(`GET ${DETAILS}`, () => new Response('{"message":"no"}', { status: 401 }))
    expect(await failure(api.getAgentDetails({ agentId: '7', authToken }))).toMatchObject({
      name: 'ApiError',
      status: 401,
      message: expect.stringContaining(text),
    })
  })

  it('[SEC-35] removes the session id that a call of the previous transcript names', async () => {
    const { service, api } = setUpApi()
    const address = 'GET /core/aiservices/v4/aiagent/details/department/1000/agent/7/conversations/sessions/s-4711'
    service.on(address, () => Response.json({ message: 'No session s-4711 here', id: 's-4711' }, { status: 404 }))
    const error = await failure(api.getPreviousTranscript({ agentId: '7', sessionId: 's-4711' }))
    expect(error).toMatchObject({ status: 404, body: { message: 'No session … here', id: '…' } })
    expect(inspect(error)).not.toContain('4711')
  })

  it('leaves the words of a body alone that contain a stand-in for a token', async () => {
    const { service, api } = setUpApi()
    const body = { message: 'The token will expire soon.' }
    service.on(`GET ${DETAILS}`, () => Response.json(body, { status: 401 }))
    for (const authToken of ['t', 'token'])
      expect(await failure(api.getAgentDetails({ agentId: '7', authToken }))).toMatchObject({ body })
  })

  it('[SEC-32] removes everything that looks like a token of the user', async () => {
    const other = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`
    const { service, api } = setUpApi()
    const body = { message: `Not valid: ${other}`, refresh_token: 'opaque-secret', detail: ['secret-token'] }
    service.on(`GET ${DETAILS}`, () => Response.json(body, { status: 400 }))
    const error = (await failure(api.getAgentDetails({ agentId: '7' }))) as Error & { body: unknown }
    expect(error.message).toContain('Not valid: …')
    expect(error.body).toEqual({ message: 'Not valid: …', refresh_token: '…', detail: ['…'] })
  })
})

describe('a rate limit', () => {
  /** A helper whose calls are rejected a number of times, and its log. */
  function setUpLimit(times: number, headers: Record<string, string> = {}, status = 429) {
    const told: string[] = []
    const logger = new Logger({ level: LogLevel.WARN, enableConsole: false })
    logger.on('log', ({ message }) => told.push(message))
    const { service, api } = setUpApi({ logger, cache: { enabled: false } })
    let left = times
    service.on(`GET ${DETAILS}`, () =>
      left-- > 0
        ? Response.json({ code: '429-001' }, { status, headers: dated(headers) })
        : Response.json({ name: 'Seven' }),
    )
    const dated = (given: Record<string, string>) =>
      given['retry-after'] === 'a date' ? { 'retry-after': new Date(service.clock.now() + 8_000).toUTCString() } : given
    return { service, api, told }
  }

  it.each([
    ['the given seconds', { 'retry-after': '7' }, 429, 7_000],
    ['until the given date', { 'retry-after': 'a date' }, 429, undefined],
    ['a second without a header', {}, 429, 1_000],
    ['if only the code says so', {}, 503, 1_000],
  ] as const)('[REL-26] is repeated after a wait: %s', async (_case, headers, status, waitMs) => {
    const { service, api, told } = setUpLimit(1, headers, status)
    const asked = api.getAgentDetails({ agentId: '7' })
    if (waitMs !== undefined) {
      await service.clock.advance(waitMs - 1)
      expect(service.seen).toHaveLength(1)
      await service.clock.advance(1)
    } else {
      await service.clock.advance(6_999)
      expect(service.seen).toHaveLength(1)
      await service.clock.advance(1_001)
    }
    expect(await asked).toMatchObject({ name: 'Seven' })
    expect(told).toEqual([expect.stringContaining('limits the rate')])
  })

  it('[REL-26] is repeated a limited number of times, after limited waits', async () => {
    const many = setUpLimit(10)
    const failed = failure(many.api.getAgentDetails({ agentId: '7' }))
    await many.service.clock.advance(7_000)
    expect(await failed).toMatchObject({ status: 429 })
    expect(many.service.seen).toHaveLength(4)
    const long = setUpLimit(1, { 'retry-after': '31' })
    expect(await failure(long.api.getAgentDetails({ agentId: '7' }))).toMatchObject({ status: 429 })
  })

  it('[REL-26] is not repeated once the caller aborts', async () => {
    const { service, api } = setUpLimit(1)
    const controller = new AbortController()
    const failed = failure(api.getAgentDetails({ agentId: '7', signal: controller.signal }))
    await service.clock.advance(500)
    controller.abort()
    expect(await failed).toMatchObject({ reason: 'aborted' })
    expect(service.seen).toHaveLength(1)
  })
})

describe('an unencrypted address from a service with encryption', () => {
  it.each([
    ['https://a.test', 'http://api.test', true],
    ['a.test', 'http://api.test', true],
    ['a.test', 'ws://api.test', true],
    ['a.test', 'http://127.0.0.1:8080', true],
    ['https://a.test', 'http://localhost:8080', true],
    ['https://127.0.0.1', 'http://127.0.0.1:8080', false],
    ['https://localhost', 'http://127.0.0.1:8080', false],
    ['https://localhost', 'http://api.test', true],
    ['http://a.test', 'http://api.test', false],
    ['a.test', 'api.test', false],
  ])('[SEC-33] at %s, apiDomain %s: rejected is %s', async (endpoint, apiDomain, isRefused) => {
    const service = new FakeService().on(DEPLOYMENT, { apiDomain })
    const call = ApiHelper.getDeploymentInfo(endpoint, { enabled: false }, { environment: service.environment() })
    const outcome: unknown = await call.catch((error: unknown) => error)
    expect(outcome).toMatchObject(
      isRefused ? { reason: 'body', message: expect.stringContaining('apiDomain') } : { apiDomain },
    )
  })

  it.each([
    ['https://a.test', 'ws://agents.test', true],
    ['https://a.test', 'http://agents.test', true],
    ['https://a.test', 'ws://localhost:8080', true],
    ['https://localhost', 'ws://localhost:8080', false],
    ['https://a.test', 'agents.test', false],
    ['http://a.test', 'ws://agents.test', false],
  ])('[SEC-33] at %s, aiAgentDomain %s: rejected is %s', async (endpoint, aiAgentDomain, isRefused) => {
    const service = new FakeService().on(DEPLOYMENT, { apiDomain: endpoint, aiAgentDomain })
    const call = ApiHelper.getDeploymentInfo(endpoint, { enabled: false }, { environment: service.environment() })
    const outcome: unknown = await call.catch((error: unknown) => error)
    expect(outcome).toMatchObject(
      isRefused ? { reason: 'body', message: expect.stringContaining('aiAgentDomain') } : { aiAgentDomain },
    )
  })

  it('[SEC-33] is rejected as webSocketDomain of an agent', async () => {
    const { service, api } = setUpApi({ cache: { enabled: false } })
    service.on(`GET ${DETAILS}`, { webSocketDomain: 'ws://chat.test' })
    expect(await failure(api.getAgentDetails({ agentId: '7' }))).toMatchObject({
      reason: 'body',
      message: expect.stringContaining('webSocketDomain'),
    })
  })
})

describe('the language of cached responses', () => {
  it('[REST-06] is compared as sent to the service, not as spelled', async () => {
    const { service, api } = setUpApi()
    service.on('GET /knowledge/portalmgr/v3/portals', { portal: [{ id: 1 }] })
    for (const [code, requests] of [
      ['en-US', 1],
      ['en_us', 1],
      ['', 1],
      ['fr-CA', 2],
      ['FR_ca', 2],
      ['en-GB', 3],
    ] as const) {
      api.setLanguage(code)
      await api.getPortals()
      expect([code, service.seen.length]).toEqual([code, requests])
    }
  })
})
