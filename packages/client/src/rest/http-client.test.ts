import { inspect } from 'node:util'
import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { DETAILS, failure, SESSION, setUpApi, TOKEN } from '../../test/api-set-up.ts'
import { ApiError } from '../errors.ts'
import { ApiHelper } from './api-helper.ts'

describe('a response', () => {
  it.each([
    ['json()', { json: async () => ({ name: 'Seven' }) }],
    ['text()', { text: async () => '{"name":"Seven"}' }],
    ['headers and a body of other kinds', { headers: {}, body: '{}', json: async () => ({ name: 'Seven' }) }],
  ])('of a replaced fetch is read where it has nothing but %s', async (_case, members) => {
    const fetch = async () => ({ ok: true, status: 200, ...members }) as unknown as Response
    const api = new ApiHelper({ apiDomain: 'api.example.test', cache: { enabled: false } }, { fetch })
    expect(await api.getAgentDetails({ agentId: '7', authToken: TOKEN })).toEqual({ name: 'Seven', agentId: '7' })
  })
})

describe('a failing call', () => {
  const text =
    (body: string, status = 200) =>
    () =>
      new Response(body, { status, headers: { 'Content-Type': 'text/html' } })

  it.each([
    ['JSON', 500, '{"code":"500-001","message":"down for repairs"}', { code: '500-001', message: 'down for repairs' }],
    ['text', 502, '<h1>Bad gateway</h1>', '<h1>Bad gateway</h1>'],
    ['long text', 502, 'x'.repeat(2_000), 'x'.repeat(1_000)],
    ['nothing', 404, '', ''],
  ])('[REST-09] reports the call, the status and the body: %s', async (_case, status, body, kept) => {
    const { service, api } = setUpApi()
    service.on(`GET ${DETAILS}`, text(body, status))
    const error = await failure(api.getAgentDetails({ agentId: '7' }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      code: 'API_ERROR',
      reason: 'status',
      status,
      body: kept,
      method: 'GET',
      path: DETAILS,
    })
    expect(String(error)).toContain('getAgentDetails')
    expect(String(error)).toContain(String(status))
    if (typeof kept === 'object') expect(String(error)).toContain(kept.message)
  })

  it.each([
    ['HTML', '<!doctype html><p>Sign in'],
    ['nothing', ''],
    ['truncated JSON', '{"agentId":"7","na'],
    ['a list', '[]'],
    ['wrong members', '{"isAuthenticated":"yes"}'],
  ])('[REST-09] is reported for an unreadable 2xx body: %s', async (_case, body) => {
    const { service, api } = setUpApi()
    service.on(`GET ${DETAILS}`, text(body))
    const error = await failure(api.getAgentDetails({ agentId: '7' }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ reason: 'body', status: 200 })
    expect(String(error)).toContain('getAgentDetails')
  })

  it('[REST-09] is reported for a body that breaks off', async () => {
    const { service, api } = setUpApi()
    const stream = () =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"agentId"'))
          controller.error(new TypeError('terminated'))
        },
      })
    service.on(`GET ${DETAILS}`, () => new Response(stream()))
    expect(await failure(api.getAgentDetails({ agentId: '7' }))).toMatchObject({ reason: 'body', status: 200 })
  })

  it.each([
    ['no response at all', () => new Promise(() => {})],
    ['a body that never ends', () => new Response(new ReadableStream({ start() {} }))],
  ])('[REST-09] is reported for %s within thirty seconds', async (_case, answer) => {
    const { service, api } = setUpApi()
    service.on(`GET ${DETAILS}`, answer)
    const outcome = failure(api.getAgentDetails({ agentId: '7' }))
    await service.clock.advance(29_999)
    expect(service.clock.pendingTimers).toBe(1)
    await service.clock.advance(1)
    expect(await outcome).toMatchObject({ name: 'ApiError', reason: 'timeout', path: DETAILS })
    expect(service.clock.pendingTimers).toBe(0)
  })

  it('[REST-09] is reported for a network error', async () => {
    const { service, api } = setUpApi()
    const cause = new TypeError('fetch failed')
    service.on(`GET ${DETAILS}`, () => Promise.reject(cause))
    expect(await failure(api.getAgentDetails({ agentId: '7' }))).toMatchObject({
      reason: 'network',
      status: undefined,
      cause,
    })
  })

  it('[REST-09] quotes the service without control characters', async () => {
    const { service, api } = setUpApi()
    service.on(
      `GET ${DETAILS}`,
      text(JSON.stringify({ message: 'down\u001b]52;c;eA==\u0007\u0085 for\nrepairs' }), 503),
    )
    const error = (await failure(api.getAgentDetails({ agentId: '7' }))) as ApiError
    expect(error.message).toBe('getAgentDetails failed for agent "7": status 503 (down ]52;c;eA== for repairs).')
  })

  it.each([
    ['a body of another shape', () => Response.json([]), 'The answer is not an object. Check that `endpoint` is'],
    ['a path that is not there', text('', 404), 'status 404. Check that `endpoint` is'],
    ['a rate limit', text('', 429), 'status 429.'],
    ['a service that is down', text('', 503), 'status 503.'],
  ])(
    '[REST-09] is one sentence, and doubts the endpoint only where it may be wrong: %s',
    async (_what, answer, end) => {
      const { service } = setUpApi()
      const environment = service.environment()
      service.on('GET /system/deploymentInfo', answer)
      const asked = ApiHelper.getDeploymentInfo('https://api.example.test', { enabled: false }, { environment })
      const outcome = failure(asked)
      await service.clock.advance(60_000)
      const { message } = (await outcome) as ApiError
      expect(message).toContain(end)
      if (end.endsWith('.')) expect(message.endsWith(end)).toBe(true)
    },
  )

  it.each(['one\ntwo', 'one\u0000two', 'one…two'])(
    '[REL-25] names a token that no header can hold, which reaches neither the network nor the error: %j',
    async token => {
      const { service, api } = setUpApi()
      service.on(`GET ${DETAILS}`, DETAILS)
      const error = await failure(api.getAgentDetails({ agentId: '7', authToken: token }))
      expect(error).toMatchObject({ name: 'AuthError', reason: 'invalid_input' })
      expect(inspect(error, { depth: 5 })).not.toMatch(/one.*two/s)
      expect(service.seen).toEqual([])
    },
  )

  it('is not cached: the next call sends a new request', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${DETAILS}`, text('', 500))
    await failure(api.getAgentDetails({ agentId: '7' }))
    service.on(`GET ${DETAILS}`, { name: 'Seven' })
    expect((await api.getAgentDetails({ agentId: '7' })).name).toBe('Seven')
  })

  it('rejects when its caller’s signal is aborted, while another caller still receives the response', async () => {
    const { service, api } = setUpApi()
    let answer: (body: unknown) => void = () => {}
    service.on(`GET ${DETAILS}`, () => new Promise(resolve => (answer = resolve)))
    const controller = new AbortController()
    const first = failure(api.getAgentDetails({ agentId: '7', signal: controller.signal }))
    const second = api.getAgentDetails({ agentId: '7' })
    await turnEventLoop()
    controller.abort()
    expect(await first).toMatchObject({ name: 'ApiError', reason: 'aborted', path: DETAILS })
    answer({ name: 'Seven' })
    expect((await second).name).toBe('Seven')
  })

  it('rejects when its caller’s signal is aborted while it waits for a token', async () => {
    const waiting = () => new Promise<string>(() => {})
    const { service, api } = setUpApi({ getToken: waiting })
    const controller = new AbortController()
    const calls = [
      api.getAgentDetails({ agentId: '7', signal: controller.signal }),
      api.getAiAgentSession({ agentId: '7', signal: controller.signal }),
    ].map(failure)
    const renewing = new ApiHelper(
      { apiDomain: 'api.example.test', getToken: () => TOKEN, refreshToken: waiting },
      service.environment(),
    )
    service.on(`POST ${SESSION}`, () => new Response('', { status: 401 }))
    const renewed = failure(renewing.getAiAgentSession({ agentId: '7', signal: controller.signal }))
    while (service.seen.length < 1) await turnEventLoop()
    controller.abort()
    for (const error of await Promise.all([...calls, renewed])) {
      expect(error).toMatchObject({ name: 'ApiError', reason: 'aborted' })
    }
  })

  it('does not contain the token, even if the service repeats it', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${DETAILS}`, text(JSON.stringify({ message: `bad token ${TOKEN}` }), 403))
    const error = (await failure(api.getAgentDetails({ agentId: '7' }))) as ApiError
    expect(`${error.message} ${JSON.stringify(error.body)} ${error.stack}`).not.toContain(TOKEN)
  })
})
