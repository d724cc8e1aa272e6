import { ApiHelper, AuthError } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { expect } from 'vitest'
import { newTab } from '../tab.ts'
import { verifiesOnEachWire } from '../verifies.ts'
import type { Service } from '../wire.ts'
import { FULL_DETAILS } from '../world.ts'

/** A helper for REST calls, with a user token. */
function helperOf(service: Service, environment = service.environment()): ApiHelper {
  return service.patient(
    new ApiHelper({ apiDomain: service.endpoint, getToken: () => service.control.issueToken() }, environment),
  )
}

verifiesOnEachWire('REST-01', 'agent details are loaded from their path with all fields', async service => {
  const agent = service.newAgent({ id: 'full' })
  const details = await agent.getAgentDetails()
  expect(details).toMatchObject(FULL_DETAILS)
  expect(Object.keys(FULL_DETAILS)).toEqual(
    expect.arrayContaining(['webSocketDomain', 'extraScopes', 'clientAppId', 'languageCode', 'enableDataMasking']),
  )
  const [call, ...others] = service.requestsTo('/core/aiservices/v4/aiagent/details/agent/full')
  expect(call).toMatchObject({
    method: 'GET',
    status: 200,
    headers: { authorization: expect.stringMatching(/^Bearer .+/) },
  })
  expect(others).toEqual([])
})

verifiesOnEachWire('REST-02', 'a session is created by POST, with the context if there is one', async service => {
  const api = helperOf(service)
  const path = paths.session('help')
  expect(path).toMatch(/\/session$/)
  const ids = [
    await api.getAiAgentSession({ agentId: 'help' }),
    await api.getAiAgentSession({ agentId: 'help', context: { plan: 'gold' } }),
  ]
  expect(ids).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)])
  expect(service.requestsTo(path).map(({ method, body }) => [method, JSON.parse(body ?? '')])).toEqual([
    ['POST', {}],
    ['POST', { context: { plan: 'gold' } }],
  ])
  expect(service.requestsTo(path)[0]?.headers).toMatchObject({ 'content-type': 'application/json' })
})

for (const status of [403, 404, 405]) {
  verifiesOnEachWire('REST-02', `a POST answered with ${status} falls back to GET`, async service => {
    const raw = await service.rawService(({ method }) =>
      method === 'POST' ? { status, body: { message: 'no' } } : { body: { sessionId: 's-by-get' } },
    )
    const api = new ApiHelper({ apiDomain: raw.endpoint, getToken: () => 'a.b.c' }, raw.environment)
    expect(await api.getAiAgentSession({ agentId: 'help', context: { plan: 'gold' } })).toBe('s-by-get')
    expect(raw.requests.map(({ method, path, headers }) => [method, path, headers['authorization']])).toEqual([
      ['POST', paths.session('help'), 'Bearer a.b.c'],
      ['GET', paths.session('help'), 'Bearer a.b.c'],
    ])
  })
}

verifiesOnEachWire('REST-02', 'any other status of the POST is an error, without a GET', async service => {
  for (const status of [400, 401, 409, 500, 503]) {
    const raw = await service.rawService(() => ({ status, body: { message: 'no' } }))
    const api = new ApiHelper({ apiDomain: raw.endpoint, getToken: () => 'a.b.c' }, raw.environment)
    await expect(api.getAiAgentSession({ agentId: 'help' })).rejects.toMatchObject({ status })
    expect(raw.requests.map(({ method }) => method)).toEqual(['POST'])
  }
})

verifiesOnEachWire('REST-02', 'an agent connects with a session that only GET creates', async service => {
  service.control.change({ postSession: false })
  const agent = await service.connectedAgent({ context: { plan: 'gold' } })
  expect(agent.isConnected()).toBe(true)
  expect(service.requestsTo(paths.session('help')).map(({ method, status }) => [method, status])).toEqual([
    ['POST', 405],
    ['GET', 200],
  ])
})

verifiesOnEachWire(
  'REST-08',
  'the token of a call may be omitted when getToken is set, and is preferred when given',
  async service => {
    const seen: (string | undefined)[] = []
    const raw = await service.rawService(({ headers }) => {
      seen.push(headers['authorization'])
      return { body: { sessionId: 's-1', agentId: 'help' } }
    })
    const api = new ApiHelper({ apiDomain: raw.endpoint, getToken: async () => 'from.get.token' }, raw.environment)
    await api.getAiAgentSession({ agentId: 'help' })
    await api.getAgentDetails({ agentId: 'help' })
    await api.getAiAgentSession({ agentId: 'help', authToken: 'of.the.call' })
    expect(seen).toEqual(['Bearer from.get.token', 'Bearer from.get.token', 'Bearer of.the.call'])
    const without = new ApiHelper({ apiDomain: raw.endpoint }, raw.environment)
    await without.getAiAgentSession({ agentId: 'help', authToken: 'of.the.call' })
    expect(seen).toHaveLength(4)
  },
)

verifiesOnEachWire('REST-08', 'without a token there is a clear error and no request', async service => {
  for (const getToken of [undefined, () => null, async () => '  ']) {
    const api = service.patient(
      new ApiHelper({ apiDomain: service.endpoint, ...(getToken && { getToken }) }, service.environment()),
    )
    for (const call of [api.getAgentDetails({ agentId: 'help' }), api.getAiAgentSession({ agentId: 'help' })]) {
      await expect(call).rejects.toBeInstanceOf(AuthError)
      await expect(call).rejects.toMatchObject({
        reason: 'token_missing',
        message: expect.stringMatching(/authToken.*getToken/),
      })
    }
  }
  expect(service.control.requests()).toEqual([])
})

verifiesOnEachWire(
  'REST-10',
  'a session call that returns an unusable id is rejected, and no address is built',
  async service => {
    for (const sessionId of ['', '  ', 'undefined', 'null', 'NULL', null, undefined, {}, []]) {
      const raw = await service.rawService(() => ({ body: { sessionId } }))
      const api = new ApiHelper({ apiDomain: raw.endpoint, getToken: () => 'a.b.c' }, raw.environment)
      await expect(api.getAiAgentSession({ agentId: 'help' }), String(sessionId)).rejects.toMatchObject({
        code: 'SESSION_ID_INVALID',
      })
    }
    const raw = await service.rawService(({ path }) => {
      if (path === paths.deploymentInfo())
        return { body: { apiDomain: raw.endpoint, aiAgentDomain: 'agent.example.test' } }
      return { body: path === paths.session('help') ? { sessionId: 'undefined' } : { agentId: 'help' } }
    })
    const auth = { type: 'pre-auth', accessToken: service.control.issueToken() } as const
    const agent = service.newAgent({ endpoint: raw.endpoint, auth }, raw.environment)
    await expect(agent.initialize()).rejects.toMatchObject({ code: 'SESSION_ID_INVALID' })
    expect(agent.getIsInitialized()).toBe(false)
    await expect(agent.connect()).rejects.toMatchObject({ code: 'NOT_INITIALIZED' })
  },
)

verifiesOnEachWire('REST-11', 'deployment info needs no token and contains all addresses', async service => {
  const info = await service
    .patient(ApiHelper)
    .getDeploymentInfo(service.endpoint, undefined, { environment: service.environment() })
  expect(info).toMatchObject({
    aiAgentDomain: expect.stringMatching(/\w/),
    tenant_identifier: expect.stringMatching(/\w/),
    intClientId: expect.stringMatching(/\w/),
    extClientId: expect.stringMatching(/\w/),
    clientId: expect.stringMatching(/\w/),
  })
  const [call] = service.requestsTo(paths.deploymentInfo())
  expect(call?.method).toBe('GET')
  expect(call?.headers).not.toHaveProperty('authorization')
})

verifiesOnEachWire('REST-11', 'deployment info uses a static cache that agents and helpers share', async service => {
  const asked = () => service.requestsTo(paths.deploymentInfo()).length
  const tab = service.environment(newTab())
  const info = await service.patient(ApiHelper).getDeploymentInfo(service.endpoint, undefined, { environment: tab })
  expect(await service.patient(ApiHelper).getDeploymentInfo(service.endpoint, undefined, { environment: tab })).toEqual(
    info,
  )
  expect(await service.newAgent({}, tab).getDeploymentInfo()).toEqual(info)
  await service.newAgent({ id: 'strict' }, tab).initialize()
  expect(asked()).toBe(1)
  await ApiHelper.clearDeploymentInfoCache()
  await service.patient(ApiHelper).getDeploymentInfo(service.endpoint, undefined, { environment: tab })
  expect(asked()).toBe(2)
  await service.patient(ApiHelper).getDeploymentInfo(service.endpoint, { enabled: false }, { environment: tab })
  expect(asked()).toBe(3)
})

verifiesOnEachWire(
  'OPS-08',
  'getAgentDetails() and getDeploymentInfo() work before initialize(), which requests neither again',
  async service => {
    const agent = service.newAgent({ cache: { enabled: false } })
    const [deployment, details] = await Promise.all([agent.getDeploymentInfo(), agent.getAgentDetails()])
    expect(deployment.aiAgentDomain).toBe('agent.local.test')
    expect(details).toMatchObject({ agentId: 'help', name: 'Help Desk' })
    expect(agent.getIsInitialized()).toBe(false)
    expect(service.requestsTo(paths.session('help'))).toEqual([])
    await agent.initialize()
    expect(await agent.getAgentDetails()).toEqual(details)
    expect(await agent.getDeploymentInfo()).toEqual(deployment)
    expect(service.requestsTo(paths.deploymentInfo())).toHaveLength(1)
    expect(service.requestsTo(paths.agentDetails('help'))).toHaveLength(1)
  },
)
