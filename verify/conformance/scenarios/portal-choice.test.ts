import type { AiAgent, AiAgentConfig } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { expect } from 'vitest'
import { chosen, idsOf, openDesk, persisted, rejection } from '../desk.ts'
import { newProcess, newTab, type Place, reloaded } from '../tab.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

const KEY = 'v2_acmeselectedProfile-1001'
const SUPPORT = { portalIds: '1001' }
const PROFILE = 'vendor_personalization_profile_id'

/** Entries of selected profiles in a tab's session storage. */
function remembered({ sessionStorage: store }: Place): Record<string, unknown> {
  const keys = Array.from({ length: store?.length ?? 0 }, (_, index) => store?.key(index) ?? '')
  const own = keys.filter(key => key.startsWith('v2_'))
  return Object.fromEntries(own.map(key => [key, JSON.parse(store?.getItem(key) ?? 'null')]))
}

/** Selects Support, which has three profiles; returns the selected profile, or undefined at the gate. */
async function enterSupport(service: Service, place: Place, config: Partial<AiAgentConfig>, subject: string) {
  const environment = service.environment(place)
  const { agent, journal } = openDesk(service, { initParams: SUPPORT, ...config }, { subject, environment })
  await agent.initialize()
  return journal.of('initialized')[0]?.profile?.id
}

verifies(
  'FLOW-11',
  'a profile is auto-selected by the stored selection, the context, the last use, then the default',
  async service => {
    const place = newTab()
    const store = (portalId: unknown, id: unknown = 10) =>
      place.sessionStorage?.setItem(KEY, JSON.stringify({ name: 'Member', id, isLastUsedInPortal: false, portalId }))
    const enter = (config: Partial<AiAgentConfig> = {}) =>
      enterSupport(service, reloaded(place), { cache: { storageType: 'memory' }, ...config }, 'desk-supervisor')
    store(1001)
    expect(await enter({ context: { [PROFILE]: '11' } })).toBe(10)
    place.sessionStorage?.removeItem(KEY)
    expect(await enter({ context: { [PROFILE]: { value: 11 } } })).toBe(11)
    // The selected profile is now the last used one; ids outside the list are ignored.
    place.sessionStorage?.removeItem(KEY)
    expect(await enter({ context: { [PROFILE]: '99' } })).toBe(11)
    for (const useless of [() => store(1002), () => store(1001, 99), () => place.sessionStorage?.setItem(KEY, '{')]) {
      useless()
      expect(await enter()).toBe(11)
    }
  },
)

verifies(
  'FLOW-11',
  'without a last used profile the portal’s default is selected, else the gate opens',
  async service => {
    expect(await enterSupport(service, newTab(), {}, 'desk-agent')).toBe(11)
    expect(await enterSupport(service, newTab(), {}, 'desk-supervisor')).toBe(12)
    const { agent, journal } = openDesk(service, { initParams: { portalIds: '1101' } })
    await agent.initialize()
    expect(journal.types).toEqual(['profilesAvailable'])
  },
)

verifies(
  'FLOW-11',
  'a single profile is selected, an empty list means none, and a named one replaces none',
  async service => {
    const enter = async (portalIds: string, context: Record<string, unknown> = {}) => {
      const { agent, journal } = openDesk(service, { initParams: { portalIds }, context })
      await agent.initialize()
      return journal.of('initialized').map(({ profile, availableProfiles }) => [profile, idsOf(availableProfiles)])
    }
    expect(await enter('1002', { [PROFILE]: '99' })).toEqual([[expect.objectContaining({ id: 20 }), [20]]])
    expect(await enter('1003')).toEqual([[undefined, []]])
    expect(await enter('1003', { [PROFILE]: '77' })).toEqual([[{ id: '77', name: '77' }, []]])
    // A profile built from the context is not persisted.
    expect(persisted(service)).toEqual(['1002/20'])
  },
)

verifies(['FLOW-12', 'CFG-12'], 'the context selects the portal, in each of its forms', async service => {
  const enter = async (context: Record<string, unknown>, more?: Record<string, unknown>) => {
    const { agent, journal } = openDesk(service, { context })
    await agent.initialize(more && { context: more })
    return [journal.types.includes('portalsAvailable'), ...chosen(journal).flat()]
  }
  const name = 'vendor_portal_id'
  expect(await enter({ [name]: ' 1002 ' })).toEqual([false, 1002, 20])
  expect(await enter({ [name]: 1002 })).toEqual([false, 1002, 20])
  expect(await enter({ [name]: { value: 1002, type: 'string' } })).toEqual([false, 1002, 20])
  for (const value of ['', '  ', null, '9999', { value: null }, ['1002'], true])
    expect(await enter({ [name]: value })).toEqual([true])
  expect(await enter({ [name]: '1001' }, { [name]: '1002' })).toEqual([false, 1002, 20])
  expect(await enter({}, { [name]: '1002' })).toEqual([false, 1002, 20])
})

verifies(['FLOW-12', 'CFG-12'], 'a stored context selects nothing, but is sent with the session', async service => {
  const tab = newTab()
  const first = openDesk(
    service,
    { context: { vendor_portal_id: '1002', plan: 'gold' } },
    { environment: service.environment(tab) },
  )
  await first.agent.initialize()
  const { agent, journal } = openDesk(service, {}, { environment: service.environment(reloaded(tab)) })
  await agent.initialize()
  expect(journal.types).toEqual(['portalsAvailable'])
  await agent.selectPortal({ id: 1001 })
  await agent.connect()
  const [session] = service.requestsTo(paths.session('desk'), 'POST')
  expect(JSON.parse(session?.body ?? '')).toEqual({
    context: {
      plan: 'gold',
      vendor_portal_id: {
        value: '1001',
        type: 'string',
        notInLLM: true,
        description: expect.stringMatching(/./),
      },
    },
  })
})

verifies('FLOW-12', 'the profile named by the context overrides a customer’s portal profile', async service => {
  const initParams = SUPPORT
  const { agent, journal } = openDesk(
    service,
    { id: 'orders', initParams, context: { [PROFILE]: '77' } },
    { subject: 'customer' },
  )
  await agent.initialize()
  expect(journal.of('initialized')).toMatchObject([
    { profile: { id: '77', name: '77' }, availableProfiles: [{ id: '77', name: '77' }] },
  ])
  expect(persisted(service)).toEqual([])
})

verifies('FLOW-13', 'every selected profile is stored in the tab after the service accepted it', async service => {
  const place = newTab()
  const environment = service.environment(place)
  const { agent } = openDesk(service, { initParams: { portalIds: '1001,1101' } }, { environment })
  await agent.initialize()
  await agent.selectPortal({ id: 1001 })
  const support = { name: 'Premium member', id: 11, isLastUsedInPortal: false, portalId: '1001' }
  expect(remembered(place)).toEqual({ [KEY]: support })
  await agent.selectPortal({ id: 1101 })
  service.faults.add({ kind: 'answer', route: 'PUT *', status: 500, times: 1 })
  await expect(agent.selectUserProfile({ id: 30 })).rejects.toMatchObject({ code: 'PROFILE_PERSIST_FAILED' })
  expect(remembered(place)).toEqual({ [KEY]: support })
  await agent.selectUserProfile({ id: 30 })
  expect(remembered(place)).toEqual({
    [KEY]: support,
    'v2_acmeselectedProfile-1101': { name: 'Private', id: 30, isLastUsedInPortal: false, portalId: '1101' },
  })
  // After a reload the same user is not asked again.
  const later = openDesk(
    service,
    { initParams: { portalIds: '1101' } },
    { environment: service.environment(reloaded(place)) },
  )
  await later.agent.initialize()
  expect(chosen(later.journal)).toEqual([['1101', 30]])
})

verifies(
  'FLOW-13',
  'the prefix is the first path segment of the endpoint if the deployment has no identifier',
  async service => {
    const place = newTab()
    service.faults.add({
      kind: 'answer',
      route: 'GET */system/deploymentInfo',
      status: 200,
      body: { apiDomain: service.endpoint, aiAgentDomain: 'agent.example.test', tenant_identifier: ' ' },
    })
    for (const [path, key] of [
      ['/northwind', 'v2_northwindselectedProfile-1002'],
      ['', 'v2_selectedProfile-1002'],
    ] as const) {
      const config = { endpoint: service.endpoint + path, initParams: { portalIds: '1002' } }
      const { agent } = openDesk(service, config, { environment: service.environment(place) })
      await agent.initialize()
      expect(Object.keys(remembered(place))).toContain(key)
    }
    expect(Object.keys(remembered(place))).toHaveLength(2)
  },
)

verifies('FLOW-13', 'outside a page agents do not share selections', async service => {
  const place = newProcess()
  const choose = async (agent: AiAgent, id: number) => {
    await agent.initialize()
    await agent.selectUserProfile({ id })
  }
  const config = { initParams: { portalIds: '1101' }, cache: { enabled: false } }
  const first = openDesk(service, config, { environment: service.environment(place) })
  await choose(first.agent, 30)
  const second = openDesk(service, config, { subject: 'desk-supervisor', environment: service.environment(place) })
  await choose(second.agent, 31)
  expect([chosen(first.journal), chosen(second.journal)]).toEqual([[['1101', 30]], [['1101', 31]]])
})

verifies(
  'ERR-02',
  'a choice at the wrong gate, a second choice, or one outside the list is INVALID_SELECTION',
  async service => {
    const { agent, journal } = openDesk(service, {
      initParams: { isDefaultAgent: 'true', departmentId: '1010', portalIds: '1001,1101' },
    })
    const refused = async (promise: Promise<unknown>) => {
      const { pipelineCode, stage } = await rejection(promise)
      return [pipelineCode, stage]
    }
    expect(await rejection(agent.selectPortal({ id: 1001 }))).toMatchObject({ code: 'NOT_INITIALIZED' })
    await agent.initialize()
    expect(await refused(agent.selectPortal({ id: 9999 }))).toEqual(['INVALID_SELECTION', 'portal'])
    expect(await refused(agent.selectAgent({ agentId: 'desk' }))).toEqual(['INVALID_SELECTION', 'agent'])
    expect(await refused(agent.selectUserProfile({ id: 11 }))).toEqual(['INVALID_SELECTION', 'profile'])
    const first = agent.selectPortal({ id: 1001 })
    expect(await refused(agent.selectPortal({ id: 1001 }))).toEqual(['INVALID_SELECTION', 'portal'])
    await first
    expect(journal.types).toEqual(['portalsAvailable', 'agentsAvailable'])
    expect(await refused(agent.selectPortal({ id: 1101 }))).toEqual(['INVALID_SELECTION', 'portal'])
    expect(await refused(agent.selectAgent({ agentId: 'desk-billing' }))).toEqual(['INVALID_SELECTION', 'agent'])
    await agent.selectAgent({ agentId: 'desk-orders' })
    expect(await refused(agent.selectAgent({ agentId: 'desk' }))).toEqual(['INVALID_SELECTION', 'agent'])
    expect(await refused(agent.selectUserProfile({ id: 10 }))).toEqual(['INVALID_SELECTION', 'profile'])
    // Invoices has one agent, which is selected, and several profiles.
    await agent.selectPortal({ id: 1101 })
    const wrong = await rejection(agent.selectUserProfile({ id: 11 }))
    expect(wrong).toMatchObject({
      pipelineCode: 'INVALID_SELECTION',
      stage: 'profile',
      portal: { id: '1101' },
      agent: { agentId: 'desk-billing' },
    })
    await agent.selectUserProfile({ id: 31 })
    expect(chosen(journal)).toEqual([
      ['1001', 11],
      ['1101', 31],
    ])
  },
)
