import { ApiHelper } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { expect } from 'vitest'
import { chosen, countRequests, idsOf, LISTS, openDesk, persisted, portalRequests } from '../desk.ts'
import { newProcess, newTab, type Place, reloaded } from '../tab.ts'
import { verifies } from '../verifies.ts'
import type { SeenRequest, Service } from '../wire.ts'

const ENTER_SUPPORT = { context: { vendor_portal_id: '1001' } }

/** The calls of entering a portal: list, details, profiles, PUT and user details. */
const portalCalls = (service: Service, portal = 1001, profile = 11): Record<string, SeenRequest[]> => ({
  list: service.requestsTo(LISTS.my),
  details: service.requestsTo(paths.portalDetails(portal)),
  profiles: service.requestsTo(paths.userProfiles(portal)),
  put: service.requestsTo(paths.selectUserProfile(portal, profile)),
  user: service.requestsTo(paths.userDetails()),
})

const countsOf = (calls: Record<string, SeenRequest[]>) =>
  Object.fromEntries(Object.entries(calls).map(([name, requests]) => [name, requests.length]))

verifies(
  'REST-04',
  'the selected profile is persisted by a PUT without a body, and any 2xx is success',
  async service => {
    const { agent } = openDesk(service, ENTER_SUPPORT)
    await agent.initialize()
    const [put] = service.requestsTo(paths.selectUserProfile(1001, 11))
    expect(put).toMatchObject({
      method: 'PUT',
      query: { $lang: 'en-us' },
      headers: { authorization: expect.stringMatching(/^Bearer \S+$/), 'accept-language': 'en-us' },
    })
    expect(put?.body ?? '').toBe('')
    for (const status of [200, 202, 204]) {
      service.faults.add({ kind: 'answer', route: 'PUT *', status, times: 1, ...(status === 200 && { body: '<ok' }) })
      const next = openDesk(service, ENTER_SUPPORT)
      await next.agent.initialize()
      expect(chosen(next.journal)).toEqual([[1001, 11]])
    }
  },
)

verifies(
  ['REST-05', 'FLOW-01'],
  'each call carries the agent’s mapped language, and the token in its form',
  async service => {
    for (const [id, lang, header] of [
      ['desk', 'en-us', 'en-us'],
      ['desk-british', 'en-gb', 'en-us'],
      ['desk-danish', 'da-dk', 'da-dk'],
    ] as const) {
      const seen = service.control.requests().length
      const { agent } = openDesk(service, { id, initParams: { isDefaultAgent: 'true' }, ...ENTER_SUPPORT })
      await agent.initialize()
      await agent.selectAgent({ agentId: 'desk' })
      const told = portalRequests(service).slice(-6)
      expect(service.control.requests().length).toBeGreaterThan(seen)
      const languages = told.map(({ path, query, headers, method }) => [
        `${method} ${path}`,
        query['$lang'],
        headers['accept-language'],
        headers['authorization']?.startsWith('Bearer '),
      ])
      const line = (call: string, param: string | undefined, bearer = true) => [call, param, header, bearer]
      expect(languages).toEqual(
        expect.arrayContaining([
          line(`GET ${paths.userDetails()}`, undefined),
          line(`GET ${LISTS.my}`, lang),
          line(`GET ${paths.portalDetails(1001)}`, lang, false),
          line(`GET ${paths.userProfiles(1001)}`, lang),
          line(`GET ${paths.agentsByPortal(999, 1001)}`, undefined),
          line(`PUT ${paths.selectUserProfile(1001, 11)}`, lang),
        ]),
      )
    }
  },
)

verifies(
  'INIT-04',
  'the template is sent with every portal manager call, from the first name that is not blank',
  async service => {
    const templateOf = async (initParams: Record<string, string>) => {
      const seen = portalRequests(service).length
      const { agent } = openDesk(service, { ...ENTER_SUPPORT, initParams })
      await agent.initialize()
      const asked = portalRequests(service).slice(seen)
      expect(asked).toHaveLength(5)
      return [...new Set(asked.map(({ query }) => query['shortUrlTemplate']))]
    }
    const vendortemplate = 'c'
    expect(await templateOf({ templateName: ' a ', shortUrlTemplate: 'b', vendortemplate })).toEqual(['a'])
    expect(await templateOf({ templateName: '  ', shortUrlTemplate: 'b', vendortemplate })).toEqual(['b'])
    expect(await templateOf({ vendortemplate })).toEqual(['c'])
    expect(await templateOf({ vendortemplate: ' ' })).toEqual([undefined])
  },
)

verifies('INIT-04', 'the customer list call carries the template too', async service => {
  await service.newAgent({ id: 'selfservice', initParams: { templateName: 'short' } }).initialize()
  expect(service.requestsTo(LISTS.all).map(({ query }) => query['shortUrlTemplate'])).toEqual(['short'])
})

verifies('REST-06', 'lists are cached for the tab, by language, department and user', async service => {
  const tab = newTab()
  const enter = async (config: Parameters<typeof openDesk>[1], subject = 'desk-agent') => {
    const person = { subject, environment: service.environment(reloaded(tab)) }
    const { agent, journal } = openDesk(service, config, person)
    await agent.initialize()
    return idsOf(journal.of('portalsAvailable')[0]?.portals)
  }
  const asked = () => countRequests(service, LISTS.my)
  expect(await enter({})).toEqual([1001, 1002, 1101])
  expect(await enter({})).toEqual([1001, 1002, 1101])
  expect(asked()).toBe(1)
  expect(await enter({ id: 'desk-british' })).toEqual([1001, 1002, 1101])
  expect(asked()).toBe(2)
  // Another user has other portals.
  expect(await enter({ id: 'desk-members' }, 'desk-supervisor')).toEqual([1001, 1004])
  expect(asked()).toBe(3)
})

verifies('REST-06', 'the customer list is cached by department', async service => {
  const environment = service.environment(newTab())
  for (let time = 0; time < 2; time++) await service.newAgent({ id: 'selfservice' }, environment).initialize()
  expect(service.requestsTo(LISTS.all).map(({ query }) => query['departmentId'])).toEqual(['999'])
})

verifies('INIT-07', '`userid` separates cached lists, in either spelling', async service => {
  const environment = service.environment(newTab())
  const enter = async (initParams: Record<string, string>) => {
    await openDesk(service, { initParams }, { environment }).agent.initialize()
    return countRequests(service, LISTS.my)
  }
  expect(await enter({})).toBe(1)
  expect(await enter({ userid: 'first' })).toBe(2)
  expect(await enter({ userId: 'first' })).toBe(2)
  expect(await enter({ userid: 'second' })).toBe(3)
  expect(await enter({})).toBe(3)
  expect(service.requestsTo(LISTS.my).flatMap(({ query }) => Object.keys(query))).not.toContain('userid')
})

verifies('FLOW-14', 'the PUT invalidates the cached profiles; a failed PUT keeps them', async service => {
  const tab = newTab()
  const cached = () => entriesOf(tab).filter(key => key.includes('getUserProfiles'))
  const { agent } = openDesk(service, { initParams: { portalIds: '1101' } }, { environment: service.environment(tab) })
  await agent.initialize()
  expect(cached()).toHaveLength(1)
  service.faults.add({ kind: 'answer', route: 'PUT *', status: 500, times: 1 })
  await expect(agent.selectUserProfile({ id: 30 })).rejects.toMatchObject({ pipelineCode: 'PROFILE_PERSIST_FAILED' })
  expect(cached()).toHaveLength(1)
  await agent.selectUserProfile({ id: 30 })
  expect(cached()).toEqual([])
})

verifies('FLOW-18', 'with the cache on, cached responses are not requested again', async service => {
  const tab = newTab()
  for (let time = 0; time < 2; time++) {
    const { agent, journal } = openDesk(service, ENTER_SUPPORT, { environment: service.environment(reloaded(tab)) })
    await agent.initialize()
    expect(chosen(journal)).toEqual([[1001, 11]])
  }
  expect(countsOf(portalCalls(service))).toEqual({ list: 1, details: 1, profiles: 1, put: 2, user: 2 })
  expect(countRequests(service, paths.deploymentInfo())).toBe(1)
  expect(countRequests(service, paths.agentDetails('desk'))).toBe(1)
})

for (const [where, newPlace] of [
  ['a tab', newTab],
  ['a process', newProcess],
] as const)
  verifies('FLOW-18', `with the cache off nothing is cached in ${where}`, async service => {
    const place = newPlace()
    const environment = service.environment(place)
    const cache = { enabled: false }
    const { agent } = openDesk(service, { ...ENTER_SUPPORT, cache }, { environment })
    await agent.initialize()
    // Not even within one agent: another run requests everything again.
    await service.through(agent.restartPortalInitializer())
    expect(countsOf(portalCalls(service))).toEqual({ list: 2, details: 2, profiles: 2, put: 2, user: 2 })
    await agent.setContext({ plan: 'gold' })
    const second = openDesk(service, { ...ENTER_SUPPORT, cache }, { environment })
    await second.agent.initialize()
    expect(countsOf(portalCalls(service))).toEqual({ list: 3, details: 3, profiles: 3, put: 3, user: 3 })
    expect(countRequests(service, paths.deploymentInfo())).toBe(2)
    expect(countRequests(service, paths.agentDetails('desk'))).toBe(2)
    expect(second.agent.getContext()).toEqual({ vendor_portal_id: '1001' })
    expect(agent.getContext()).toEqual({ vendor_portal_id: '1001', plan: 'gold' })
    // The selected profile is shared with the host's pages and is not a cache.
    expect(entriesOf(place)).toEqual(
      where === 'a tab' ? ['aiagent_owner_v2_acmeselectedProfile-1001', 'v2_acmeselectedProfile-1001'] : [],
    )
  })

verifies('FLOW-18', 'the anonymous token has its own cache switch', async service => {
  const tab = newTab()
  const tokensFor = async (tokenCache: boolean) => {
    const tokens = () => service.control.requests().filter(({ path }) => path.endsWith('/token')).length
    const before = tokens()
    const auth = { type: 'anonymous', config: { cache: { enabled: tokenCache } } } as const
    await service.newAgent({ auth, cache: { enabled: false } }, service.environment(reloaded(tab))).initialize()
    return tokens() - before
  }
  expect(await tokensFor(true)).toBeGreaterThan(0)
  expect(await tokensFor(true)).toBe(0)
  expect(await tokensFor(false)).toBeGreaterThan(0)
  expect(countRequests(service, paths.deploymentInfo())).toBe(3)
})

verifies(
  'FLOW-15',
  'profiles of a completed run are cached for each portal and user, and a profile change clears them all',
  async service => {
    const tab = newTab()
    const kept = () => entriesOf(tab).filter(key => key.startsWith('vendor_profiles_'))
    const { agent, journal } = openDesk(
      service,
      { initParams: { portalIds: '1001,1101' } },
      { environment: service.environment(tab) },
    )
    await agent.initialize()
    await agent.selectPortal({ id: 1001 })
    await agent.selectPortal({ id: 1101 })
    expect(kept()).toEqual([expect.stringMatching(/^vendor_profiles_desk_1001_/)])
    await agent.selectUserProfile({ id: 30 })
    expect(kept()).toHaveLength(2)
    const asked = countRequests(service, paths.userProfiles(1001))
    await agent.selectPortal({ id: 1001 })
    expect(countRequests(service, paths.userProfiles(1001))).toBe(asked)
    await service.through(agent.updateUserProfile({ id: 12, name: 'Business' }))
    expect([kept(), entriesOf(tab).filter(key => key.includes('getUserProfiles'))]).toEqual([[], []])
    expect(persisted(service)).toEqual(['1001/11', '1101/30', '1001/11', '1001/12'])
    await service.through(agent.selectPortal({ id: 1001 }))
    expect(countRequests(service, paths.userProfiles(1001))).toBe(asked + 1)
    expect(chosen(journal).at(-1)).toEqual(['1001', 12])
  },
)

/** All keys of a tab's or process's store. */
function entriesOf({ sessionStorage: store }: Place): string[] {
  return Array.from({ length: store?.length ?? 0 }, (_, index) => store?.key(index) ?? '')
}

verifies(
  'REST-05',
  'setLanguage() applies to every later call, and there is no language option for a single call',
  async service => {
    const getToken = () => service.control.issueToken({ subject: 'desk-agent' })
    const api = service.patient(new ApiHelper({ apiDomain: service.endpoint, getToken }, service.environment()))
    // The types reject it; JavaScript may still pass it.
    const other: object = { language: 'fr-fr' }
    const languages = async (code: string) => {
      const before = service.control.requests().length
      api.setLanguage(code)
      await api.getMyPortals(other)
      await api.getPortals(other)
      await api.getPortalDetails({ portalId: 1001, ...other })
      await api.getUserProfiles({ portalId: 1001, ...other })
      await api.selectUserProfile({ portalId: 1001, profileId: 11, ...other })
      await api.getMaskingPatterns({ departmentId: 1010, ...other })
      const asked = service.control.requests().slice(before)
      expect(asked).toHaveLength(6)
      return [...new Set(asked.map(({ query, headers }) => `${query['$lang']} ${headers['accept-language']}`))]
    }
    expect(await languages('en-GB')).toEqual(['en-gb en-us'])
    expect(await languages('ja-JA')).toEqual(['ja-jp ja-jp'])
    expect(await languages('zh_Hans_CN')).toEqual(['zh-hans en-us'])
    expect(await languages('')).toEqual(['en-us en-us'])
  },
)

verifies(
  ['OWN-23', 'REST-05', 'REST-06'],
  'the host’s language overrides the agent’s, and lists are cached for each language',
  async service => {
    const { agent } = openDesk(service, { id: 'desk-british', ...ENTER_SUPPORT })
    /** Languages of the calls, list call first. */
    const languages = async (act: () => Promise<unknown>) => {
      const before = service.control.requests().length
      await service.through(act())
      const asked = service.control.requests().slice(before)
      return [LISTS.my, paths.portalDetails(1001), paths.userProfiles(1001)].map(path => {
        const { query, headers } = asked.find(request => request.path === path) ?? {}
        return query && `${query['$lang']} ${headers?.['accept-language']}`
      })
    }
    agent.setLanguage(' fr-CA ')
    expect(await languages(() => agent.initialize())).toEqual(Array(3).fill('fr-ca fr-ca'))
    agent.setLanguage(null)
    expect(await languages(() => agent.restartPortalInitializer())).toEqual(Array(3).fill('en-gb en-us'))
    agent.setLanguage('fr-CA')
    // The profile selection invalidated the profile lists in every language.
    expect(await languages(() => agent.restartPortalInitializer())).toEqual([undefined, undefined, 'fr-ca fr-ca'])
    agent.setLanguage('de-DE')
    expect(await languages(() => agent.restartPortalInitializer())).toEqual(Array(3).fill('de-de de-de'))
  },
)
