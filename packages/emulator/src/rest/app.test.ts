import { paths, SCOPE } from '@aiagent/protocol'
import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { ServiceCaller } from '../../test/chat-client.ts'
import { createEmulator, DEFAULT_WORLD, type EmulatorOptions } from '../index.ts'

const start = (options: EmulatorOptions = {}) => {
  const clock = new ManualClock()
  const service = new ServiceCaller({ clock, ...options })
  return { clock, service, ...service.emulator }
}
const json = async (response: Promise<Response>) => {
  const { status, ...rest } = await response
  void rest
  return { status, body: (await (await response).json()) as unknown }
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('deployment info', () => {
  it('contains the origin as the domain of all other calls, and needs no token', async () => {
    const { service } = start({ origin: 'https://desk.test:8443/' })
    expect(await json(service.get(paths.deploymentInfo()))).toEqual({
      status: 200,
      body: {
        apiDomain: 'desk.test:8443',
        aiAgentDomain: 'agent.local.test',
        tenantId: 'TEN0001',
        tenant_identifier: 'acme',
        clientId: 'app-any',
        intClientId: 'app-int',
        extClientId: 'app-ext',
        domainHint: 'desk.test:8443',
        version: '21.23.0',
      },
    })
  })
})

describe('agent details', () => {
  it('describes the agent, with its own address as the chat host', async () => {
    const { service } = start({ origin: 'https://desk.test:8443' })
    const token = await service.anonymousToken()
    expect(await json(service.get(paths.agentDetails('account'), bearer(token)))).toMatchObject({
      status: 200,
      body: {
        agentId: 'account',
        isAuthenticated: true,
        userType: 'customer',
        webSocketDomain: 'desk.test:8443',
      },
    })
  })

  it('answers 404 for an unknown agent and lists the known ones', async () => {
    const { service } = start()
    const { status, body } = await json(
      service.get(paths.agentDetails('nobody'), bearer(await service.anonymousToken())),
    )
    expect(status).toBe(404)
    expect(body).toEqual({
      code: '404-002',
      message: expect.stringMatching(/^There is no agent "nobody"\. The agents here are: help, account, desk, .+\.$/),
    })
  })

  it('accepts custom agents', async () => {
    const [help] = DEFAULT_WORLD.agents
    const { service } = start({ world: { agents: [{ details: { ...help?.details, agentId: 'a b/c' } }] } })
    const answer = json(service.get(paths.agentDetails('a b/c'), bearer(await service.anonymousToken())))
    expect(await answer).toMatchObject({ status: 200, body: { agentId: 'a b/c' } })
  })
})

describe('authorization', () => {
  const call = (service: ServiceCaller, headers: Record<string, string>) =>
    json(service.get(paths.agentDetails('help'), headers))

  it('accepts the token with and without the word Bearer', async () => {
    const { service } = start()
    const token = await service.anonymousToken()
    for (const authorization of [`Bearer ${token}`, `bearer ${token}`, token])
      expect(await call(service, { authorization })).toMatchObject({ status: 200 })
  })

  it('accepts only the observed form if it is strict', async () => {
    const { service } = start({ settings: { strictAuthHeader: true } })
    const token = await service.anonymousToken()
    expect(await call(service, { authorization: `Bearer ${token}` })).toMatchObject({ status: 200 })
    expect(await call(service, { authorization: token })).toMatchObject({ status: 401, body: { code: '401-003' } })
  })

  it('answers 401 without a token, and to one of another issuer or a changed one', async () => {
    const { service } = start()
    const stranger = createEmulator({ seed: 2 }).control.issueToken()
    const [head, , signature] = (await service.anonymousToken()).split('.')
    const claims = btoa(JSON.stringify({ sub: 'x', aud: 'TEN0001', scope: '', exp: 9e9, jti: '1' }))
    expect(await call(service, {})).toMatchObject({ status: 401, body: { code: '401-001' } })
    for (const token of [stranger, `${head}.${claims}.${signature}`, 'not.a.token', 'x'])
      expect(await call(service, bearer(token))).toMatchObject({ status: 401, body: { code: '401-002' } })
  })

  it('answers 401 once the token has expired by its own clock', async () => {
    const { clock, service } = start()
    const token = await service.anonymousToken()
    clock.jump(3_599_000)
    expect(await call(service, bearer(token))).toMatchObject({ status: 200 })
    clock.jump(1000)
    expect(await call(service, bearer(token))).toMatchObject({ status: 401, body: { code: '401-013' } })
  })

  it('answers 403 to a token without the scope, if scopes are checked', async () => {
    const { service, control } = start({ settings: { checkScopes: true } })
    const lacking = control.issueToken({ scopes: ['other'] })
    const plain = control.issueToken({ scopes: [SCOPE.AI_SERVICES] })
    const prefixed = control.issueToken({ scopes: [`api://acme/${SCOPE.AI_SERVICES}`] })
    expect(await call(service, bearer(lacking))).toMatchObject({ status: 403, body: { code: '403-001' } })
    expect(await call(service, bearer(plain))).toMatchObject({ status: 200 })
    expect(await call(service, bearer(prefixed))).toMatchObject({ status: 200 })
  })
})

describe('sessions', () => {
  it('creates one with POST and one with GET, each with a new id', async () => {
    const { service, world } = start()
    const token = await service.anonymousToken()
    const posted = await json(service.postSession('help', token, { context: { plan: 'gold' } }))
    const got = await json(service.get(paths.session('help'), bearer(token)))
    const [first, second] = [...world.sessions.values()]
    expect([posted, got]).toEqual([
      { status: 200, body: { sessionId: first?.id } },
      { status: 200, body: { sessionId: second?.id } },
    ])
    expect(first?.id).not.toBe(second?.id)
    expect([first?.context, second?.context]).toEqual([{ plan: 'gold' }, {}])
  })

  it('returns the same ids and tokens for the same seed and clock', async () => {
    const run = async (seed: number) => {
      const { service } = start({ seed })
      return [await service.session(), await service.anonymousToken()]
    }
    expect(await run(7)).toEqual(await run(7))
    expect(await run(7)).not.toEqual(await run(8))
  })

  it('answers 405 to POST if that is disabled, and accepts GET', async () => {
    const { service } = start({ settings: { postSession: false } })
    const token = await service.anonymousToken()
    const refused = await service.postSession('help', token)
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET'])
    expect((await service.get(paths.session('help'), bearer(token))).status).toBe(200)
  })

  it('answers 401 to a token with less than 290 seconds left', async () => {
    const { service, control } = start()
    const short = control.issueToken({ lifeSeconds: 289 })
    const enough = control.issueToken({ lifeSeconds: 290 })
    expect(await json(service.postSession('help', short))).toEqual({
      status: 401,
      body: { code: '401-290', message: 'Token will expire soon' },
    })
    expect((await service.postSession('help', enough)).status).toBe(200)
  })

  it('answers 403 to an anonymous token for an agent that requires a signed-in user', async () => {
    const { service } = start()
    expect(await json(service.postSession('account', await service.anonymousToken()))).toMatchObject({
      status: 403,
      body: { code: '403-002' },
    })
  })

  it.each(['nonsense', '[]', 'null', '{"context":[]}', '{"context":"x"}'])('answers 400 to the body %s', async body => {
    const { service, fetch, origin } = start()
    const headers = bearer(await service.anonymousToken())
    expect((await fetch(origin + paths.session('help'), { method: 'POST', headers, body })).status).toBe(400)
  })
})

describe('previous transcript', () => {
  const inDepartment = (department: string, session: string) =>
    paths.previousTranscript('help', session).replace('1000', department)

  it('returns the frames of a session, for any department', async () => {
    const { service } = start({ reply: () => ({ content: 'Hello.' }) })
    const id = await service.session()
    await (await service.chat(id)).say('Hi')
    const headers = bearer(await service.anonymousToken())
    for (const department of ['1000', '7'])
      expect(await json(service.get(inDepartment(department, id), headers))).toMatchObject({
        status: 200,
        body: {
          messages: [
            { persona: 'customer', role: 'human', content: 'Hi' },
            { persona: 'agent', content: 'Hello.', messageId: 'm-1' },
          ],
        },
      })
  })

  it('answers 404 for a session that is unknown or belongs to another agent', async () => {
    const { service } = start()
    const headers = bearer(await service.anonymousToken())
    for (const id of ['nope', await service.session('account')])
      expect((await service.get(inDepartment('1000', id), headers)).status).toBe(404)
  })

  it('answers 410 for an ended session, like the chat', async () => {
    const { service, control } = start()
    const id = await service.session()
    control.endSession(id)
    expect(await json(service.get(inDepartment('1000', id), bearer(await service.anonymousToken())))).toEqual({
      status: 410,
      body: { code: '410-001', message: 'The session has ended.' },
    })
  })
})

describe('an unknown path or method', () => {
  it('is answered with 404 or 405, with a list of what exists', async () => {
    const { service, fetch, origin } = start()
    expect(await json(service.get('/nowhere'))).toEqual({
      status: 404,
      body: {
        code: '404-000',
        message: `There is nothing at GET /nowhere. Start with ${origin}/system/deploymentInfo.`,
      },
    })
    const response = await fetch(origin + paths.deploymentInfo(), { method: 'DELETE' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
    expect(await response.json()).toMatchObject({ code: '405-001' })
  })
})

describe('calls from pages', () => {
  const page = { origin: 'https://shop.test' }

  it('answers a preflight for any path', async () => {
    const { fetch, origin } = start()
    const response = await fetch(origin + paths.session('help'), {
      method: 'OPTIONS',
      headers: { ...page, 'access-control-request-method': 'POST' },
    })
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': 'https://shop.test',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, POST, PUT',
      'access-control-allow-headers': 'authorization, content-type, accept, accept-language',
    })
  })

  it('echoes the origin on responses, including errors, and adds nothing for other callers', async () => {
    const { service } = start()
    for (const path of [paths.deploymentInfo(), paths.agentDetails('help'), '/nowhere']) {
      const headers = (await service.get(path, page)).headers
      expect(headers.get('access-control-allow-origin')).toBe('https://shop.test')
      expect(headers.get('access-control-allow-credentials')).toBe('true')
      expect((await service.get(path)).headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})

describe('fetch', () => {
  it('fails like an unknown host for other origins, and like an unreachable one after the end', async () => {
    const { fetch, origin, close } = start()
    await expect(fetch('http://elsewhere.test/system/deploymentInfo')).rejects.toThrow(TypeError)
    close()
    await expect(fetch(origin + paths.deploymentInfo())).rejects.toThrow(TypeError)
  })

  it('rejects with the reason of a signal', async () => {
    const { fetch, origin } = start()
    const reason = new Error('changed my mind')
    const running = new AbortController()
    const call = fetch(origin + paths.deploymentInfo(), { signal: running.signal })
    running.abort(reason)
    await expect(call).rejects.toBe(reason)
    await expect(fetch(origin, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })
})
