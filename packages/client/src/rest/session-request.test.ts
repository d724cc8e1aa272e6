import { describe, expect, it } from 'vitest'
import { failure, SESSION, setUpApi, TOKEN } from '../../test/api-set-up.ts'
import { ApiError, AuthError, SDKError } from '../errors.ts'
import { Logger } from '../logger.ts'
import type { ApiHelperConfig } from './api-options.ts'

describe('getAiAgentSession', () => {
  const opened = { sessionId: 's-1' }

  it('[REST-02] posts the context and returns the session id', async () => {
    const { service, api } = setUpApi()
    service.on(`POST ${SESSION}`, opened)
    expect(await api.getAiAgentSession({ agentId: '7', context: { page: 'cart' } })).toBe('s-1')
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('s-1')
    expect(service.seen.map(request => JSON.parse(request.body))).toEqual([{ context: { page: 'cart' } }, {}])
    expect(service.seen[0]?.headers.get('content-type')).toBe('application/json')
  })

  it.each([403, 404, 405])(
    '[REST-02] falls back to GET after a %i, and warns that the context is lost',
    async status => {
      const logger = new Logger({ enableConsole: false })
      const warnings: string[] = []
      logger.on('log', entry => warnings.push(entry.message))
      const { service, api } = setUpApi({ logger })
      service.on(`POST ${SESSION}`, () => new Response('', { status })).on(`GET ${SESSION}`, opened)
      expect(await api.getAiAgentSession({ agentId: '7' })).toBe('s-1')
      expect(warnings).toEqual([])
      expect(await api.getAiAgentSession({ agentId: '7', context: { page: 'cart' } })).toBe('s-1')
      expect(warnings).toEqual([expect.stringContaining('without the context')])
      const fallback = service.seen.at(-1)
      expect([...(fallback?.headers.keys() ?? [])]).toEqual(['authorization'])
      expect(fallback?.body).toBe('')
    },
  )

  it('[REST-02] uses the response of the GET alone', async () => {
    const { service, api } = setUpApi()
    service.on(`POST ${SESSION}`, () => new Response('', { status: 405 }))
    service.on(`GET ${SESSION}`, () => new Response('', { status: 403 }))
    expect(await failure(api.getAiAgentSession({ agentId: '7' }))).toMatchObject({ reason: 'status', status: 403 })
    expect(service.seen.map(request => request.method)).toEqual(['POST', 'GET'])
  })

  it.each([400, 409, 500])('does not fall back after a %i', async status => {
    const { service, api } = setUpApi()
    service.on(`POST ${SESSION}`, () => new Response('', { status })).on(`GET ${SESSION}`, opened)
    expect(await failure(api.getAiAgentSession({ agentId: '7' }))).toMatchObject({ status })
    expect(service.seen).toHaveLength(1)
  })

  it.each(['', '  ', 'undefined', 'null', 'NULL', 'NaN', ' Undefined ', null, undefined, true, {}])(
    '[REST-10] rejects the session id %j of a response',
    async sessionId => {
      const { service, api } = setUpApi()
      service.on(`POST ${SESSION}`, { sessionId })
      const error = await failure(api.getAiAgentSession({ agentId: '7' }))
      expect(error).toBeInstanceOf(SDKError)
      expect(error).toMatchObject({ code: 'SESSION_ID_INVALID' })
    },
  )

  it('converts a finite number to a string', async () => {
    const { service, api } = setUpApi()
    service.on(`POST ${SESSION}`, { sessionId: 42 })
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('42')
  })

  it('renews the token once after a 401 and repeats the call', async () => {
    const { service, api } = setUpApi({ refreshToken: async () => 'renewed' })
    service.on(`POST ${SESSION}`, ({ headers }: { headers: Headers }) =>
      headers.get('authorization') === 'Bearer renewed' ? opened : new Response('{}', { status: 401 }),
    )
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('s-1')
    expect(service.seen).toHaveLength(2)
  })

  it.each<[string, ApiHelperConfig['refreshToken'], number]>([
    ['no way to renew', undefined, 1],
    ['a renewal that returns the same token', async () => TOKEN, 1],
    ['a renewal that fails', () => Promise.reject(new AuthError('no', 'token_request_failed')), 1],
    ['a renewed token that is rejected too', async () => 'renewed', 2],
  ])('[ERR-04] reports a rejected token by its code: %s', async (_case, refreshToken, requests) => {
    const { service, api } = setUpApi({ refreshToken })
    service.on(`POST ${SESSION}`, () => Response.json({ message: 'Token will expire soon' }, { status: 401 }))
    const error = await failure(api.getAiAgentSession({ agentId: '7' }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      code: 'SESSION_UNAUTHORIZED',
      status: 401,
      message: expect.stringContaining('Token will expire soon'),
    })
    expect(service.seen).toHaveLength(requests)
  })

  it('is never cached', async () => {
    const { service, api } = setUpApi()
    let count = 0
    service.on(`POST ${SESSION}`, () => ({ sessionId: `s-${++count}` }))
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('s-1')
    expect(await api.getAiAgentSession({ agentId: '7' })).toBe('s-2')
  })
})
