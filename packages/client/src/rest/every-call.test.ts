import { turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failure } from '../../test/api-set-up.ts'
import { FakeService, type SeenRequest } from '../../test/fake-service.ts'
import type { CacheEntry } from '../storage/cache-adapter.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { ApiHelper } from './api-helper.ts'
import type { ApiHelperConfig } from './api-options.ts'

type Options = { authToken?: string; signal?: AbortSignal }

interface Call {
  readonly name: string
  readonly route: string
  readonly make: (api: ApiHelper, options: Options) => Promise<unknown>
  /** The response of the service, and the result of the call. */
  readonly answer: unknown
  readonly value: unknown
  /** How the token is sent. */
  readonly authorization?: 'bare' | 'none'
  readonly kept?: boolean
}

const AI = '/core/aiservices/v4/aiagent'
const PORTALS = '/knowledge/portalmgr/v3'
const portal = { id: 5, name: 'Support', further: { x: 1 } }
const profile = { id: 10, name: 'Member' }
const person = { id: 'u', name: 'Somebody' }
const pattern = { javascriptRegularExpression: 'x+' }

/** Every call of a helper, by the section of the protocol's facts. */
const CALLS: readonly Call[] = [
  {
    name: 'getAgentDetails',
    route: `GET ${AI}/details/agent/7`,
    make: (api, options) => api.getAgentDetails({ agentId: '7', ...options }),
    answer: { agentId: '7', name: 'Seven' },
    value: { agentId: '7', name: 'Seven' },
    kept: true,
  },
  {
    name: 'getAiAgentSession',
    route: `POST ${AI}/chat/agent/7/session`,
    make: (api, options) => api.getAiAgentSession({ agentId: '7', ...options }),
    answer: { sessionId: 's-1' },
    value: 's-1',
  },
  {
    name: 'getPortals',
    route: `GET ${PORTALS}/portals`,
    make: (api, options) => api.getPortals(options),
    answer: { portal: [portal] },
    value: [portal],
    kept: true,
  },
  {
    name: 'getMyPortals',
    route: `GET ${PORTALS}/myportals`,
    make: (api, options) => api.getMyPortals(options),
    answer: { portal: [portal] },
    value: [portal],
    kept: true,
  },
  {
    name: 'getPortalDetails',
    route: `GET ${PORTALS}/internal/portals/5`,
    make: (api, options) => api.getPortalDetails({ portalId: 5, ...options }),
    answer: { portal: [{ name: 'Support', departmentId: 3 }] },
    value: { name: 'Support', departmentId: 3 },
    authorization: 'bare',
    kept: true,
  },
  {
    name: 'getAgentsByPortal',
    route: `GET ${AI}/details/department/3/portal/5`,
    make: (api, options) => api.getAgentsByPortal({ departmentId: 3, portalId: 5, ...options }),
    answer: [{ agentId: '7', name: 'Seven' }],
    value: [{ agentId: '7', name: 'Seven' }],
    kept: true,
  },
  {
    name: 'getUserProfiles',
    route: `GET ${PORTALS}/portals/5/userprofiles`,
    make: (api, options) => api.getUserProfiles({ portalId: 5, ...options }),
    answer: { profile: [profile] },
    value: [profile],
    kept: true,
  },
  {
    name: 'selectUserProfile',
    route: `PUT ${PORTALS}/portals/5/userprofiles/10/select`,
    make: (api, options) => api.selectUserProfile({ portalId: 5, profileId: 10, ...options }),
    answer: {},
    value: undefined,
  },
  {
    name: 'getUserDetails',
    route: `GET ${PORTALS}/portals/user`,
    make: (api, options) => api.getUserDetails(options),
    answer: { user: [person] },
    value: person,
  },
  {
    name: 'getCustomerDetails',
    route: 'GET /core/customermgr/v3/internal/customer',
    make: (api, options) => api.getCustomerDetails(options),
    answer: { customer: [person] },
    value: person,
  },
  {
    name: 'getMaskingPatterns',
    route: 'GET /core/securitymgr/v4/departments/3/maskingpatterns/chat',
    make: (api, options) => api.getMaskingPatterns({ departmentId: 3, ...options }),
    answer: { patterns: [pattern] },
    value: { patterns: [pattern] },
    kept: true,
  },
  {
    name: 'getConnectedApps',
    route: 'GET /ai-agent-cc-connector/v1/tenants/t/agents/7/apps',
    make: (api, { signal }) => api.getConnectedApps({ tenantId: 't', agentId: '7', ...(signal && { signal }) }),
    answer: [{ app: 'crm' }],
    value: [{ app: 'crm' }],
    authorization: 'none',
    kept: true,
  },
  {
    name: 'getPreviousTranscript',
    route: `GET ${AI}/details/department/1000/agent/7/conversations/sessions/s-1`,
    make: (api, options) => api.getPreviousTranscript({ agentId: '7', sessionId: 's-1', ...options }),
    answer: { messages: [{ content: 'hello' }] },
    value: [{ content: 'hello' }],
  },
]

const WITH_TOKEN = CALLS.filter(({ authorization }) => authorization !== 'none')

function setUp({ route, answer }: Call, config: Partial<ApiHelperConfig> = {}) {
  const service = new FakeService().on(route, answer)
  const adapter = new MemoryCacheAdapter()
  const make = (more: Partial<ApiHelperConfig> = {}) =>
    new ApiHelper(
      { apiDomain: 'api.example.test', getToken: () => 'own', cache: { adapter }, ...config, ...more },
      service.environment(),
    )
  return { service, adapter, api: make(), make }
}

const authorizations = (seen: readonly SeenRequest[]) => seen.map(({ headers }) => headers.get('authorization'))

describe.each(CALLS)('$name', call => {
  it('returns the response, from the path of the protocol', async () => {
    const { service, api } = setUp(call)
    expect(await call.make(api, {})).toEqual(call.value)
    expect(service.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([call.route])
  })

  it(
    call.kept ? 'is requested once for all who share a store, until it is removed' : 'is requested each time',
    async () => {
      const { service, api, make } = setUp(call)
      await call.make(api, {})
      expect(await call.make(make(), {})).toEqual(call.value)
      expect(service.seen).toHaveLength(call.kept ? 1 : 2)
      await api.invalidateCache('getNothing')
      await call.make(api, {})
      expect(service.seen).toHaveLength(call.kept ? 1 : 3)
      await api.invalidateCache(call.name)
      await call.make(api, {})
      expect(service.seen).toHaveLength(call.kept ? 2 : 4)
      await api.clearCache()
      await call.make(api, {})
      expect(service.seen).toHaveLength(call.kept ? 3 : 5)
    },
  )

  it('rejects when its signal is aborted, and is not sent if that was before', async () => {
    const { service, api } = setUp({ ...call, answer: new Promise(() => {}) })
    const controller = new AbortController()
    const reason = new Error('enough')
    const pending = failure(call.make(api, { signal: controller.signal }))
    await turnEventLoop()
    expect(service.seen).toHaveLength(1)
    controller.abort(reason)
    const late = failure(call.make(api, { signal: controller.signal }))
    const aborted = { name: 'ApiError', reason: 'aborted', method: call.route.split(' ')[0], cause: reason }
    for (const error of [await pending, await late])
      expect(error).toMatchObject({ ...aborted, message: expect.stringContaining(call.name) })
    expect(service.seen).toHaveLength(1)
  })
})

describe.each(WITH_TOKEN)('$name', call => {
  const shown = (token: string) => (call.authorization === 'bare' ? token : `Bearer ${token}`)

  it('[REST-08] sends the given token, otherwise the one of getToken', async () => {
    const { service, api } = setUp(call, { cache: { enabled: false } })
    await call.make(api, { authToken: ' of-the-call ' })
    await call.make(api, { authToken: ' ' })
    await call.make(api, {})
    expect(authorizations(service.seen)).toEqual([shown('of-the-call'), shown('own'), shown('own')])
  })

  it('[SEC-63] follows no redirect', async () => {
    const modes: unknown[] = []
    const { service } = setUp(call)
    const fetch: typeof service.fetch = (input, init) => {
      modes.push(init?.redirect)
      return service.fetch(input, init)
    }
    const api = new ApiHelper({ apiDomain: 'api.example.test', getToken: () => 'own' }, service.environment({ fetch }))
    await call.make(api, {})
    expect(modes).toEqual(['manual'])
  })

  it('[REST-08] is not sent without a token; the error names the call', async () => {
    const { service, make } = setUp(call)
    for (const getToken of [undefined, () => null, async () => '']) {
      const error = await failure(call.make(make({ getToken }), {}))
      expect(error).toMatchObject({ name: 'AuthError', reason: 'token_missing' })
      expect(String(error)).toContain(call.name)
    }
    expect(service.seen).toEqual([])
  })

  it('[ADOPT-12] names a promise that is passed in place of a token', async () => {
    const { service, make } = setUp(call)
    const authToken = Promise.resolve('token') as unknown as string
    const error = await failure(call.make(make({ getToken: () => 'another token' }), { authToken }))
    expect(error).toMatchObject({ reason: 'token_missing', message: expect.stringContaining('await it') })
    expect(service.seen).toEqual([])
  })
})

it('getConnectedApps sends no token', async () => {
  const call = CALLS.find(({ name }) => name === 'getConnectedApps') as Call
  const { service, api } = setUp(call)
  await call.make(api, {})
  expect([...(service.seen[0]?.headers.keys() ?? [])]).toEqual([])
})

describe.each(CALLS.filter(({ kept }) => kept))('a cached response of $name', call => {
  /** The result when the store contains the given value. */
  async function answerOver(poison: (stored: unknown) => unknown) {
    const { service, adapter, api } = setUp(call)
    await call.make(api, {})
    for (const key of adapter.keys()) {
      const entry = adapter.get(key) as CacheEntry
      adapter.set(key, { ...entry, value: poison(entry.value) })
    }
    const answer = await call.make(api, {})
    return { answer, requests: service.seen.length }
  }

  if (call.name !== 'getConnectedApps') {
    it.each([[7], ['text'], [true], [{ portal: 7, profile: 7, patterns: 7, agentId: {} }], [() => 'code']])(
      'is requested again when the store contains %j',
      async poison => {
        expect(await answerOver(() => poison)).toEqual({ answer: call.value, requests: 2 })
      },
    )
  }

  it('is requested again when the store contains a value that JSON cannot represent', async () => {
    expect(await answerOver(() => ({ further: 1n }))).toEqual({ answer: call.value, requests: 2 })
  })

  // Connected apps have no known shape.
  if (call.name !== 'getConnectedApps') {
    it('has the shape of a response, whatever the store contains', async () => {
      const { adapter, api } = setUp(call)
      await call.make(api, {})
      const [key = ''] = adapter.keys()
      const entry = adapter.get(key) as CacheEntry
      await fc.assert(
        fc.asyncProperty(fc.anything({ withNullPrototype: true }), async value => {
          adapter.set(key, { ...entry, value })
          const answer = await call.make(api, {})
          if (Array.isArray(call.value)) {
            expect(Array.isArray(answer)).toBe(true)
            const id = call.name === 'getAgentsByPortal' ? 'agentId' : 'id'
            for (const record of answer as Record<string, unknown>[]) expect(typeof record[id]).toMatch(/string|number/)
          } else expect(answer).toBeTypeOf('object')
        }),
      )
    })
  }
})
