import { type AiAgent, ApiError, ApiHelper } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import type { RawAnswer } from '../raw-service.ts'
import { verifiesOnEachWire } from '../verifies.ts'
import type { Service } from '../wire.ts'

/** Time limit of a REST call. */
const TIME_LIMIT_MS = 30_000
const BY_HAND = { time: 'by hand' } as const

const CALLS = {
  getDeploymentInfo: { method: 'GET', path: paths.deploymentInfo() },
  getAgentDetails: { method: 'GET', path: paths.agentDetails('help') },
  getAiAgentSession: { method: 'POST', path: paths.session('help') },
} as const

/** Makes every call against a service with one response; returns each failure with the name of its call. */
async function failures(
  service: Service,
  answer: RawAnswer,
  check: (error: ApiError, call: keyof typeof CALLS) => void,
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  for (const name of Object.keys(CALLS) as (keyof typeof CALLS)[]) {
    const raw = await service.rawService(() => answer)
    const { environment, endpoint } = raw
    const api = new ApiHelper({ apiDomain: endpoint, getToken: () => 'secret.access.token' }, environment)
    const calling: Promise<unknown> =
      name === 'getDeploymentInfo'
        ? ApiHelper.getDeploymentInfo(endpoint, undefined, { environment })
        : api[name]({ agentId: 'help' })
    const failing = calling.then(
      value => expect.unreachable(`${name} gave ${JSON.stringify(value)}`),
      (error: unknown) => error,
    )
    await eventually(() => raw.requests.length)
    await meanwhile()
    const error = await failing
    if (!(error instanceof ApiError)) throw error
    expect(error).toMatchObject({ code: 'API_ERROR', ...CALLS[name] })
    expect(error.message).toContain(name)
    expect(`${error.message} ${JSON.stringify(error.body)}`).not.toContain('secret.access.token')
    check(error, name)
  }
}

for (const status of [400, 409, 500, 502, 503]) {
  verifiesOnEachWire(
    'REST-09',
    `a response with status ${status} is an error with the status and the body`,
    async service => {
      await failures(service, { status, body: { code: 'X-1', message: 'The cupboard is bare.' } }, error => {
        expect(error).toMatchObject({
          reason: 'status',
          status,
          body: { code: 'X-1', message: 'The cupboard is bare.' },
        })
        expect(error.message).toContain(String(status))
        expect(error.message).toContain('The cupboard is bare.')
      })
      await failures(service, { status, body: '<h1>Bad gateway</h1>' }, error => {
        expect(error).toMatchObject({ reason: 'status', status, body: '<h1>Bad gateway</h1>' })
        expect(error.message).toContain('Bad gateway')
      })
    },
  )
}

for (const [title, answer] of [
  ['HTML', { body: '<!doctype html><title>Login</title>' }],
  ['empty', { body: '' }],
  ['blank', { body: ' \n' }],
  ['cut off', { body: '{"sessionId":"s-' }],
  ['a list', { body: [] }],
  ['null', { body: 'null' }],
  ['text', { body: '"fine"' }],
] as const) {
  verifiesOnEachWire('REST-09', `a body that is ${title} is an error, for any status`, async service => {
    for (const status of [200, 201]) {
      const raw = await service.rawService(() => ({ status, ...answer }))
      const { environment, endpoint } = raw
      const api = new ApiHelper({ apiDomain: endpoint, getToken: () => 'a.b.c' }, environment)
      await expect(ApiHelper.getDeploymentInfo(endpoint, undefined, { environment })).rejects.toMatchObject({
        code: 'API_ERROR',
        reason: 'body',
        status,
        message: expect.stringContaining('getDeploymentInfo'),
      })
      await expect(api.getAgentDetails({ agentId: 'help' })).rejects.toMatchObject({
        code: 'API_ERROR',
        reason: 'body',
        status,
        message: expect.stringContaining('getAgentDetails'),
      })
      const session = api.getAiAgentSession({ agentId: 'help' })
      await expect(session).rejects.toMatchObject({ code: expect.stringMatching(/^(API_ERROR|SESSION_ID_INVALID)$/) })
    }
  })
}

verifiesOnEachWire('REST-09', 'a body that breaks off is an error', async service => {
  await failures(service, { body: '{"apiDomain":', ending: 'broken' }, error => {
    expect(error).toMatchObject({ reason: 'body', status: 200 })
    expect(error.cause).toBeDefined()
  })
})

for (const [title, answer] of [
  ['a body that never ends', { body: '{"apiDomain":', ending: 'stalled' }],
  ['an error body that never ends', { status: 500, body: '{"message":', ending: 'stalled' }],
  ['a service that never responds', { ending: 'silent' }],
] as const) {
  verifiesOnEachWire(
    'REST-09',
    `${title} is an error within the time limit`,
    async service => {
      const patience = () => service.elapse(TIME_LIMIT_MS)
      await failures(service, answer, error => expect(error.reason).toBe('timeout'), patience)
      expect(service.clock.pending).toEqual([])
    },
    BY_HAND,
  )
}

verifiesOnEachWire('REST-09', 'an unreachable service is an error that names the call and the cause', async service => {
  const environment = service.environment()
  const fetch = environment.fetch ?? globalThis.fetch
  const closedPort = 'http://127.0.0.1:1'
  const api = new ApiHelper(
    { apiDomain: closedPort, getToken: () => 'a.b.c' },
    { ...environment, fetch: (address, init) => fetch(address, init) },
  )
  for (const call of ['getAgentDetails', 'getAiAgentSession'] as const) {
    const calling = api[call]({ agentId: 'help' })
    await expect(calling).rejects.toMatchObject({ reason: 'network', ...CALLS[call], cause: expect.any(Error) })
    await expect(calling).rejects.toThrow(call)
  }
})

verifiesOnEachWire(
  'REST-09',
  'a failing call fails initialize() with the same error, and the next run starts clean',
  async service => {
    let answer: RawAnswer | undefined = { body: '<html>' }
    const raw = await service.rawService(({ path }) => {
      if (path === paths.deploymentInfo())
        return { body: { apiDomain: raw.endpoint, aiAgentDomain: 'agent.example.test' } }
      if (path === paths.agentDetails('help')) return answer ?? { body: { agentId: 'help' } }
      return { body: { sessionId: 's-1' } }
    })
    const accessToken = service.control.issueToken()
    const agent: AiAgent = service.newAgent(
      { endpoint: raw.endpoint, auth: { type: 'pre-auth', accessToken } },
      raw.environment,
    )
    await expect(agent.initialize()).rejects.toMatchObject({ reason: 'body', path: paths.agentDetails('help') })
    answer = { status: 503, body: { message: 'later' } }
    await expect(agent.initialize()).rejects.toMatchObject({ reason: 'status', status: 503 })
    expect(agent.getIsInitialized()).toBe(false)
    answer = undefined
    await agent.initialize()
    expect(agent.getIsInitialized()).toBe(true)
  },
)
