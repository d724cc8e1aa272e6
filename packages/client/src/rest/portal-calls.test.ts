import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { failure, setUpApi, TOKEN } from '../../test/api-set-up.ts'
import { FakeService, FakeStorage, fakeToken, type SeenRequest } from '../../test/fake-service.ts'
import { Logger } from '../logger.ts'
import { ApiHelper } from './api-helper.ts'

const PORTALS = '/knowledge/portalmgr/v3/portals'
const MY_PORTALS = '/knowledge/portalmgr/v3/myportals'
const DETAILS = '/knowledge/portalmgr/v3/internal/portals/5'
const AGENTS = '/core/aiservices/v4/aiagent/details/department/9/portal/5'
const PROFILES = '/knowledge/portalmgr/v3/portals/5/userprofiles'
const SELECT = '/knowledge/portalmgr/v3/portals/5/userprofiles/10/select'
const noContent = () => new Response(null, { status: 204 })

const query = ({ url }: SeenRequest) => [...new URL(url).searchParams]

describe.each([
  ['getPortals', PORTALS],
  ['getMyPortals', MY_PORTALS],
] as const)('%s', (name, path) => {
  it('[REST-03] [REST-05] requests the first page in the language that is set', async () => {
    const { service, api } = setUpApi()
    const portal = [{ id: 1, name: 'Support', department: { id: 9, name: 'Service' }, further: true }]
    service.on(`GET ${path}`, { portal, paginationInfo: { count: 1, pagesize: 75, pagenum: 1 } })
    api.setLanguage('en-GB')
    expect(await api[name]({ departmentId: 9, shortUrlTemplate: ' shop ' })).toEqual(portal)
    const [request] = service.seen
    expect(request && query(request)).toEqual([
      ['$lang', 'en-gb'],
      ['$pagesize', '75'],
      ['$pagenum', '1'],
      ['departmentId', '9'],
      ['shortUrlTemplate', 'shop'],
    ])
    expect(request?.url).toContain('%24lang=en-gb')
    expect(Object.fromEntries(request?.headers ?? [])).toEqual({
      accept: 'application/json',
      'accept-language': 'en-us',
      authorization: `Bearer ${TOKEN}`,
    })
  })

  it('sends neither a department nor a template if there is none', async () => {
    const { service, api } = setUpApi({ shortUrlTemplate: '  ' })
    service.on(`GET ${path}`, {})
    expect(await api[name]({ departmentId: ' ', shortUrlTemplate: '' })).toEqual([])
    expect(service.seen.map(request => query(request).map(([key]) => key))).toEqual([
      ['$lang', '$pagesize', '$pagenum'],
    ])
  })

  it('[REST-03] combines pages, regardless of the page size of the service', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${path}`, ({ url }: SeenRequest) => {
      const page = Number(new URL(url).searchParams.get('$pagenum'))
      const portal = [1, 2].map(place => ({ id: (page - 1) * 2 + place })).filter(({ id }) => id <= 5)
      return { portal, paginationInfo: { count: 5, pagesize: 2, pagenum: page } }
    })
    expect((await api[name]()).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
    expect(service.seen.map(request => query(request).slice(1))).toEqual([
      [
        ['$pagesize', '75'],
        ['$pagenum', '1'],
      ],
      [
        ['$pagesize', '2'],
        ['$pagenum', '2'],
      ],
      [
        ['$pagesize', '2'],
        ['$pagenum', '3'],
      ],
    ])
  })

  it('fails when a later page does, and caches nothing then', async () => {
    const { service, api } = setUpApi()
    const page = { portal: [{ id: 1 }], paginationInfo: { count: 3, pagesize: 1 } }
    let broken = true
    service.on(`GET ${path}`, ({ url }: SeenRequest) =>
      broken && url.includes('pagenum=2') ? new Response('{}', { status: 500 }) : page,
    )
    expect(await failure(api[name]())).toMatchObject({ name: 'ApiError', status: 500, path })
    broken = false
    expect(await api[name]()).toHaveLength(3)
  })

  it.each([
    ['no content', noContent, []],
    ['no list', {}, []],
    ['a page size of nothing', { portal: [{ id: 1 }], paginationInfo: { count: 9, pagesize: 0 } }, [{ id: 1 }]],
  ])('uses %s as the only page', async (_case, answer, portals) => {
    const { service, api } = setUpApi()
    service.on(`GET ${path}`, answer)
    expect(await api[name]()).toEqual(portals)
    expect(service.seen).toHaveLength(1)
  })

  it('[REL-29] goes on after a page of odd entries only', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${path}`, ({ url }: SeenRequest) => ({
      portal: url.includes('pagenum=2') ? [null, { id: null }] : [{ id: url.slice(-1) }],
      paginationInfo: { count: 3, pagesize: 1 },
    }))
    expect(await api[name]()).toHaveLength(2)
    expect(service.seen).toHaveLength(3)
  })

  it('[REL-248] names the entry that it leaves out in one warning', async () => {
    const warnings: string[] = []
    const logger = new Logger()
    logger.on('log', ({ message }) => void warnings.push(message))
    const { service, api } = setUpApi({ logger })
    service.on(
      `GET ${path}`,
      () => new Response('{"portal":[{"id":1},{"id":9007199254740993},{"id":1e21},{"id":2.5}]}'),
    )
    const reasons: string[] = []
    expect(await api[name]({ onLeftOut: reason => reasons.push(reason) })).toEqual([{ id: 1 }])
    expect(warnings).toEqual([expect.stringMatching(/portal\[1\]\.id is not a safe integer/)])
    expect(reasons).toHaveLength(1)
  })

  it('ends with an empty page, regardless of the announced total', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${path}`, ({ url }: SeenRequest) => ({
      portal: url.includes('pagenum=1') ? [{ id: 1 }] : [],
      paginationInfo: { count: 1e12, pagesize: 1 },
    }))
    expect(await api[name]()).toEqual([{ id: 1 }])
    expect(service.seen).toHaveLength(2)
  })

  it('[REST-06] [INIT-07] caches a response per language, department, template and user', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${path}`, { portal: [{ id: 1 }] })
    const asks = [
      {},
      { departmentId: 9 },
      { departmentId: '9' },
      { shortUrlTemplate: 'shop' },
      { userId: 'ada' },
      { userId: ' ' },
      { authToken: 'of-somebody-else' },
    ]
    for (const ask of [...asks, ...asks]) await api[name](ask)
    expect(service.seen).toHaveLength(5)
    api.setLanguage('fr-FR')
    await api[name]()
    expect(service.seen).toHaveLength(6)
  })
})

describe('kept answers', () => {
  it('[REST-06] are not cached when the cache is off', async () => {
    const { service, api } = setUpApi({ cache: { enabled: false } })
    service.on(`GET ${MY_PORTALS}`, {})
    await api.getMyPortals()
    await api.getMyPortals()
    expect(service.seen).toHaveLength(2)
  })

  it('of one user are not returned to the next, and stay cached for a new token of the same user', async () => {
    const service = new FakeService()
    const sessionStorage = new FakeStorage()
    const environment = service.environment({ sessionStorage })
    const routes = [MY_PORTALS, PORTALS, DETAILS, AGENTS, PROFILES].map(path => `GET ${path}`)
    for (const route of routes) service.on(route, route.endsWith(AGENTS) ? [] : {})
    const askAll = async (claims: object) => {
      const api = new ApiHelper(
        { apiDomain: 'api.example.test', getToken: () => fakeToken({ ...claims }) },
        environment,
      )
      await Promise.all([
        api.getMyPortals(),
        api.getPortals(),
        api.getPortalDetails({ portalId: 5 }),
        api.getAgentsByPortal({ departmentId: 9, portalId: 5 }),
        api.getUserProfiles({ portalId: 5 }),
      ])
    }
    await askAll({ sub: 'ada', exp: 1 })
    await askAll({ sub: 'ada', exp: 2 })
    expect(service.seen).toHaveLength(routes.length)
    await askAll({ sub: 'bob', exp: 1 })
    expect(service.seen).toHaveLength(2 * routes.length)
    expect([...sessionStorage.items.keys()].filter(key => /ada|bob/.test(key))).toEqual([])
  })
})

describe('getPortalDetails', () => {
  it('[REST-12] [REST-05] [INIT-04] sends the token alone and a plain dollar sign, and returns the first portal', async () => {
    const { service, api } = setUpApi({ shortUrlTemplate: 'shop & more', language: 'fr-CA' })
    const portal = { name: 'Support', departmentId: 9, portalSettings: { defaultUserProfile: { id: 10 } } }
    service.on(`GET ${DETAILS}`, { portal: [portal, { name: 'other' }] })
    expect(await api.getPortalDetails({ portalId: 5 })).toEqual(portal)
    const [request] = service.seen
    expect(request?.url).toMatch(/[?][$]lang=fr-ca&shortUrlTemplate=shop%20%26%20more$/)
    expect(request?.headers.get('authorization')).toBe(TOKEN)
    expect(request?.headers.get('accept-language')).toBe('fr-ca')
  })

  it.each([[{}], [{ portal: [] }]])('is null for a response without a portal: %j', async answer => {
    const { service, api } = setUpApi()
    service.on(`GET ${DETAILS}`, answer)
    expect(await api.getPortalDetails({ portalId: 5 })).toBeNull()
  })

  it('rejects any other status than a success', async () => {
    const { api } = setUpApi()
    expect(await failure(api.getPortalDetails({ portalId: 5 }))).toMatchObject({ status: 404, path: DETAILS })
  })
})

describe('getAgentsByPortal', () => {
  it('[REST-07] lists the agents of the contact center, in the language of the header only', async () => {
    const { service, api } = setUpApi({ language: 'de-DE' })
    const agents = [{ agentId: 'a', name: 'Orders', description: 'knows' }]
    service.on(`GET ${AGENTS}`, agents)
    expect(await api.getAgentsByPortal({ departmentId: 9, portalId: 5 })).toEqual(agents)
    const [request] = service.seen
    expect(request && query(request)).toEqual([['agentType', 'contact-center']])
    expect(request?.headers.get('accept-language')).toBe('de-de')
    expect(request?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`)
    await api.getAgentsByPortal({ departmentId: 9, portalId: 5, agentType: 'other' })
    expect(service.seen).toHaveLength(2)
  })

  it.each([
    ['an object', { agents: [{ agentId: 'a' }] }],
    ['null', () => Response.json(null)],
    ['no content', noContent],
  ])('reads %s as an empty list', async (_case, answer) => {
    const { service, api } = setUpApi()
    service.on(`GET ${AGENTS}`, answer)
    expect(await api.getAgentsByPortal({ departmentId: 9, portalId: 5 })).toEqual([])
  })

  it.each([
    ['no JSON', () => new Response('<p>')],
    ['nothing', () => new Response('')],
  ])('rejects %s', async (_case, answer) => {
    const { service, api } = setUpApi()
    service.on(`GET ${AGENTS}`, answer)
    expect(await failure(api.getAgentsByPortal({ departmentId: 9, portalId: 5 }))).toMatchObject({ reason: 'body' })
  })
})

describe('an element without a usable id', () => {
  it('is omitted from the agents, and the others stay', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${AGENTS}`, [{ name: 'nobody' }, { agentId: 'a' }])
    expect(await api.getAgentsByPortal({ departmentId: 9, portalId: 5 })).toEqual([{ agentId: 'a' }])
  })

  it('is omitted from the portals', async () => {
    const { service, api } = setUpApi()
    service.on('GET /knowledge/portalmgr/v3/portals', { portal: [{ name: 'Nowhere' }, { id: 5 }] })
    expect(await api.getPortals()).toEqual([{ id: 5 }])
  })

  it('is omitted from the profiles', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${PROFILES}`, { profile: [{ name: 'Nobody' }, { id: 10 }] })
    expect(await api.getUserProfiles({ portalId: 5 })).toEqual([{ id: 10 }])
  })
})

describe('profiles', () => {
  it('[REST-05] [REST-07] [INIT-04] are requested in the language that is set', async () => {
    const { service, api } = setUpApi({ language: 'pt_BR', shortUrlTemplate: 'shop' })
    const profile = [{ id: 10, name: 'Member', isLastUsedInPortal: false }]
    service.on(`GET ${PROFILES}`, { profile })
    expect(await api.getUserProfiles({ portalId: 5 })).toEqual(profile)
    const [request] = service.seen
    expect(request && query(request)).toEqual([
      ['$lang', 'pt-br'],
      ['shortUrlTemplate', 'shop'],
    ])
    expect(request?.headers.get('accept-language')).toBe('pt-br')
  })

  it.each([
    ['no content', noContent],
    ['no list', {}],
  ])('are empty if the response has %s, which is cached too', async (_case, answer) => {
    const { service, api } = setUpApi()
    service.on(`GET ${PROFILES}`, answer)
    expect(await api.getUserProfiles({ portalId: 5 })).toEqual([])
    expect(await api.getUserProfiles({ portalId: 5 })).toEqual([])
    expect(service.seen).toHaveLength(1)
  })

  it('[REST-04] [INIT-04] are selected by a PUT without a body', async () => {
    const { service, api } = setUpApi({ language: 'ja-JA', shortUrlTemplate: 'shop' })
    service.on(`PUT ${SELECT}`, {})
    await api.selectUserProfile({ portalId: 5, profileId: 10 })
    const [request] = service.seen
    expect(request).toMatchObject({ method: 'PUT', path: SELECT, body: '' })
    expect(request && query(request)).toEqual([
      ['$lang', 'ja-jp'],
      ['shortUrlTemplate', 'shop'],
    ])
    expect(request?.headers.get('accept-language')).toBe('ja-jp')
    expect(request?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`)
    expect(request?.headers.get('content-type')).toBeNull()
  })

  it.each([
    ['204', noContent],
    ['201 with text', () => new Response('<p>fine</p>', { status: 201 })],
    ['200 with a body that never ends', () => new Response(new ReadableStream({ start() {} }))],
  ])('[REST-04] [REST-09] are selected by any success, whose body is not read: %s', async (_case, answer) => {
    const { service, api } = setUpApi()
    service.on(`PUT ${SELECT}`, answer)
    await expect(api.selectUserProfile({ portalId: 5, profileId: 10 })).resolves.toBeUndefined()
    expect(service.clock.pendingTimers).toBe(0)
  })

  it('[REST-04] are not selected if the service rejects it, and the error contains its message', async () => {
    const { service, api } = setUpApi()
    service.on(`PUT ${SELECT}`, () => Response.json({ message: 'not yours' }, { status: 403 }))
    expect(await failure(api.selectUserProfile({ portalId: 5, profileId: 10 }))).toMatchObject({
      reason: 'status',
      status: 403,
      message: expect.stringMatching(/selectUserProfile.*not yours/),
    })
  })

  it('[FLOW-14] are removed from the cache for every portal once one is selected, and nothing else is', async () => {
    const { service, api } = setUpApi()
    service
      .on(`GET ${PROFILES}`, {})
      .on(`GET ${PROFILES.replace('/5/', '/6/')}`, {})
      .on(`GET ${MY_PORTALS}`, {})
    const askAll = async () => {
      await api.getUserProfiles({ portalId: 5 })
      await api.getUserProfiles({ portalId: 6 })
      await api.getMyPortals()
      return service.seen.length
    }
    expect(await askAll()).toBe(3)
    await failure(api.selectUserProfile({ portalId: 5, profileId: 10 }))
    expect(await askAll()).toBe(4)
    service.on(`PUT ${SELECT}`, noContent)
    await api.selectUserProfile({ portalId: 5, profileId: 10 })
    expect(await askAll()).toBe(7)
  })

  it('are selected without a wait for a response cache that hangs', async () => {
    const hangs = () => new Promise<never>(() => {})
    const adapter = { get: hangs, set: hangs, delete: hangs, clear: hangs, keys: hangs }
    const { service, api } = setUpApi({ cache: { adapter } })
    service.on(`PUT ${SELECT}`, noContent)
    await expect(api.selectUserProfile({ portalId: 5, profileId: 10 })).resolves.toBeUndefined()
  })

  it('are selected even if the response cache fails, which is logged', async () => {
    const broken = () => Promise.reject(new Error('store down'))
    const logger = new Logger({ enableConsole: false })
    const told: string[] = []
    logger.on('log', ({ message }) => told.push(message))
    const adapter = { get: broken, set: broken, delete: broken, clear: broken, keys: broken }
    const { service, api } = setUpApi({ cache: { adapter }, logger })
    service.on(`PUT ${SELECT}`, noContent)
    await api.selectUserProfile({ portalId: 5, profileId: 10 })
    await turnEventLoop()
    expect(told).toEqual([expect.stringContaining('Could not remove cached responses')])
  })
})
