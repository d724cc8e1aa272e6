import { paths } from '@aiagent/protocol'
import { expect } from 'vitest'
import { chosen, countRequests, idsOf, LISTS, openDesk, persisted, portalRequests, sessionAgents } from '../desk.ts'
import { Journal } from '../journal.ts'
import { verifies } from '../verifies.ts'

verifies(
  ['FLOW-01', 'FLOW-26', 'EVT-02'],
  'no session or chat is opened before portal and profile are chosen',
  async service => {
    const { agent, journal } = openDesk(service, { initParams: { portalIds: '1101,1002' } })
    await agent.initialize()
    expect(journal.types).toEqual(['portalsAvailable'])
    expect(agent.getIsInitialized()).toBe(false)
    await agent.selectPortal({ id: '1101' })
    expect(journal.types).toEqual(['portalsAvailable', 'profilesAvailable'])
    expect(journal.of('profilesAvailable')).toMatchObject([
      { selectedPortal: { id: '1101', name: 'Invoices' }, profiles: [{ id: 30 }, { id: 31 }] },
    ])
    expect(agent.getIsInitialized()).toBe(false)
    await expect(agent.connect()).rejects.toMatchObject({ code: 'NOT_INITIALIZED' })
    await agent.selectUserProfile({ id: 31 })
    expect(agent.getIsInitialized()).toBe(true)
    expect([sessionAgents(service), service.openings]).toEqual([[], []])
    await agent.connect()
    expect([sessionAgents(service), service.openings.length]).toEqual([['desk'], 1])
    // All pipeline requests come first.
    const lines = service.control.requests().map(({ path }) => path)
    expect(lines.findLastIndex(path => path.includes('/portalmgr/'))).toBeLessThan(lines.indexOf(paths.session('desk')))
  },
)

verifies('FLOW-26', 'a second initialize() at a gate makes no request and emits nothing', async service => {
  const { agent, journal } = openDesk(service)
  await Promise.all([agent.initialize(), agent.initialize()])
  const before = service.control.requests().length
  await agent.initialize({ context: { vendor_portal_id: '1002' } })
  expect(service.control.requests()).toHaveLength(before)
  expect(journal.types).toEqual(['portalsAvailable'])
  await agent.selectPortal({ id: 1002 })
  await agent.initialize()
  expect(chosen(journal)).toEqual([[1002, 20]])
})

verifies('EVT-01', 'initialized carries the choices and the alternatives', async service => {
  const { agent, journal } = openDesk(service, { context: { vendor_portal_id: 1001 } }, { subject: 'desk-supervisor' })
  await agent.initialize()
  expect(journal.of('initialized')).toEqual([
    {
      agent: expect.objectContaining({ agentId: 'desk', userType: 'agent' }),
      portal: expect.objectContaining({ id: 1001, name: 'Support', department: { id: 999, name: 'Service' } }),
      portalDetails: expect.objectContaining({ departmentId: 999 }),
      profile: { id: 12, name: 'Business', isLastUsedInPortal: true },
      availableProfiles: [
        expect.objectContaining({ id: 10 }),
        expect.objectContaining({ id: 11 }),
        expect.objectContaining({ id: 12 }),
      ],
      availablePortals: [
        expect.objectContaining({ id: 1001 }),
        expect.objectContaining({ id: 1002 }),
        expect.objectContaining({ id: 1101 }),
      ],
    },
  ])
})

verifies('INIT-01', 'portals are the user’s portals that the agent serves, in the order of the list', async service => {
  const { agent, journal } = openDesk(service)
  await agent.initialize()
  const [offer] = journal.of('portalsAvailable')
  expect(idsOf(offer?.portals)).toEqual([1001, 1002, 1101])
  expect([countRequests(service, LISTS.my), countRequests(service, LISTS.all)]).toEqual([1, 0])
})

verifies('INIT-01', '`agentid` changes neither the loaded details nor the offered portals', async service => {
  for (const initParams of [{ agentid: 'desk-elsewhere' }, { agentId: 'desk-elsewhere' }]) {
    const { agent, journal } = openDesk(service, { initParams })
    await agent.initialize()
    expect(idsOf(journal.of('portalsAvailable')[0]?.portals)).toEqual([1001, 1002, 1101])
  }
  expect(service.requestsTo(paths.agentDetails('desk'))).toHaveLength(2)
  expect(service.requestsTo(paths.agentDetails('desk-elsewhere'))).toEqual([])
})

verifies('INIT-01', 'a list of several pages is offered as one', async service => {
  service.control.change({ portalPageSize: 2 })
  const { agent, journal } = openDesk(service)
  await agent.initialize()
  expect(idsOf(journal.of('portalsAvailable')[0]?.portals)).toEqual([1001, 1002, 1101])
  expect(service.requestsTo(LISTS.my).map(({ query }) => [query['$pagesize'], query['$pagenum']])).toEqual([
    ['75', '1'],
    ['2', '2'],
    ['2', '3'],
  ])
})

verifies(
  ['INIT-08', 'EVT-02', 'FLOW-26'],
  'the agent selected in a portal is used for session and events',
  async service => {
    const { agent, journal } = openDesk(service, { initParams: { isDefaultAgent: ' TRUE ' } })
    await agent.initialize()
    // The portals of the agent's department, regardless of the agent's portal list.
    expect(idsOf(journal.of('portalsAvailable')[0]?.portals)).toEqual([1001, 1002, 1003])
    await agent.selectPortal({ id: 1001 })
    expect(journal.of('agentsAvailable')).toEqual([
      {
        agents: [
          expect.objectContaining({ agentId: 'desk', name: 'Desk Assistant' }),
          expect.objectContaining({ agentId: 'desk-orders', name: 'Order Assistant' }),
        ],
      },
    ])
    expect(service.requestsTo(paths.agentsByPortal(999, 1001)).map(({ query }) => query)).toEqual([
      { agentType: 'contact-center' },
    ])
    await agent.selectAgent({ agentId: 'desk-orders' })
    expect(journal.of('initialized')).toMatchObject([{ agent: { agentId: 'desk-orders' }, profile: { id: 11 } }])
    await agent.connect()
    expect(sessionAgents(service)).toEqual(['desk-orders'])
    expect(journal.events('connected').map(({ agentId }) => agentId)).toEqual(['desk-orders'])
  },
)

verifies('INIT-08', 'the only agent of a portal is auto-selected', async service => {
  const { agent, journal } = openDesk(service, { initParams: { isDefaultAgent: 'true' } })
  await agent.initialize()
  await agent.selectPortal({ id: 1003 })
  expect(journal.of('agentsAvailable')).toEqual([])
  expect(journal.of('initialized')).toMatchObject([{ agent: { agentId: 'desk-orders' }, availableProfiles: [] }])
})

verifies('INIT-02', '`departmentId` replaces only a missing department of the agent', async service => {
  const offered = async (id: string, initParams: Record<string, string>) => {
    const { agent, journal } = openDesk(service, { id, initParams: { isDefaultAgent: 'true', ...initParams } })
    await agent.initialize()
    return idsOf(journal.of('portalsAvailable')[0]?.portals)
  }
  expect(await offered('desk-nowhere', { departmentId: ' 1010 ' })).toEqual([1101, 1102])
  expect(await offered('desk-nowhere', { departmentid: '999' })).toEqual([1001, 1002, 1003])
  expect(await offered('desk', { departmentId: '1010' })).toEqual([1001, 1002, 1003])
})

verifies(
  'INIT-03',
  '`portalIds` need no list call: minimal portals are offered, and the details of the chosen one are loaded',
  async service => {
    // Including portals that the agent does not serve.
    const { agent, journal } = openDesk(service, { initParams: { portalids: ' 1002, ,1003 ' } })
    await agent.initialize()
    expect(journal.of('portalsAvailable')).toEqual([{ portals: [{ id: '1002' }, { id: '1003' }] }])
    await agent.selectPortal({ id: 1002 })
    expect(portalRequests(service).flatMap(({ path }) => (path === paths.userDetails() ? [] : path))).toEqual(
      expect.arrayContaining([paths.portalDetails(1002), paths.userProfiles(1002), paths.selectUserProfile(1002, 20)]),
    )
    expect([countRequests(service, LISTS.my), countRequests(service, LISTS.all)]).toEqual([0, 0])
    expect(journal.of('initialized')).toMatchObject([
      {
        portal: { id: '1002', name: 'Installation' },
        availablePortals: [{ id: '1002', name: 'Installation' }, { id: '1003' }],
      },
    ])
  },
)

verifies('INIT-03', '`portalIds` start the pipeline for an agent without portals', async service => {
  const { agent, journal } = openDesk(service, { id: 'desk-nowhere', initParams: { portalIds: '1002' } })
  await agent.initialize()
  expect(chosen(journal)).toEqual([['1002', 20]])
})

verifies(
  ['REST-03', 'INIT-05', 'FLOW-06'],
  'customers get the customer list and the portal’s profile, which is not persisted',
  async service => {
    const agent = service.newAgent({ id: 'selfservice' })
    const journal = new Journal(agent)
    await agent.initialize()
    expect(idsOf(journal.of('portalsAvailable')[0]?.portals)).toEqual([1001, 1003])
    expect(service.requestsTo(LISTS.all).map(({ query }) => query['departmentId'])).toEqual(['999'])
    expect(countRequests(service, LISTS.my)).toBe(0)
    await agent.selectPortal({ id: 1001 })
    expect(journal.of('initialized')).toMatchObject([{ profile: { id: 11 }, availableProfiles: [{ id: 11 }] }])
    expect(service.requestsTo(paths.userProfiles(1001))).toEqual([])
    expect(persisted(service)).toEqual([])
    // Without a signed-in user no user details are requested.
    expect(service.requestsTo(paths.customerDetails())).toEqual([])
    expect(service.requestsTo(paths.userDetails())).toEqual([])
    expect(agent.getUserDetails()).toBeNull()
  },
)

verifies(
  ['INIT-05', 'FLOW-06'],
  'customer details are loaded for a signed-in customer, and user details for a user',
  async service => {
    const orders = openDesk(service, { id: 'orders', initParams: { portalIds: '1003' } }, { subject: 'customer' })
    await orders.agent.initialize()
    expect(orders.agent.getUserDetails()).toMatchObject({ id: 'customer' })
    expect(service.requestsTo(paths.customerDetails()).map(({ query }) => query)).toEqual([{ $attribute: 'all' }])
    expect(service.requestsTo(paths.userDetails())).toEqual([])

    const desk = openDesk(service, { initParams: { portalIds: '1002' } })
    await desk.agent.initialize()
    expect(desk.agent.getUserDetails()).toMatchObject({ id: 'desk-agent' })
    expect([countRequests(service, paths.customerDetails()), countRequests(service, paths.userDetails())]).toEqual([
      1, 1,
    ])
  },
)

verifies('INIT-05', '`authType` selects the profile mode if the agent has no user type', async service => {
  const entered = async (authType: string | undefined, id = 'desk-anyone') => {
    const before = service.control.requests().length
    const initParams = { portalIds: '1002', ...(authType !== undefined && { authType }) }
    const { agent, journal } = openDesk(service, { id, initParams })
    await agent.initialize()
    const asked = service.control.requests().slice(before)
    return {
      profiles: idsOf(journal.of('initialized')[0]?.availableProfiles),
      puts: asked.filter(({ method }) => method === 'PUT').length,
      person: asked.flatMap(({ path }) =>
        path === paths.customerDetails() ? ['customer'] : path === paths.userDetails() ? ['user'] : [],
      ),
    }
  }
  const asCustomer = { profiles: [], puts: 0, person: ['customer'] }
  const asUser = { profiles: [20], puts: 1, person: ['user'] }
  expect(await entered(' Customer ')).toEqual(asCustomer)
  expect(await entered('USER')).toEqual(asUser)
  expect(await entered(undefined)).toEqual(asUser)
  expect(await entered('anonymous')).toEqual({ ...asUser, puts: 0 })
  expect(await entered('customer', 'desk')).toEqual(asCustomer)
})

verifies('FLOW-06', 'missing user details do not fail initialization', async service => {
  service.faults.add({ kind: 'answer', route: `GET ${paths.userDetails()}`, status: 500 })
  const { agent } = openDesk(service, { context: { vendor_portal_id: '1002' } })
  await agent.initialize()
  expect([agent.getIsInitialized(), agent.getUserDetails()]).toEqual([true, null])
})
