import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { chosen, idsOf, openDesk, persisted, rejection, sessionAgents } from '../desk.ts'
import { newTab } from '../tab.ts'
import { verifies } from '../verifies.ts'

const AT = (id: string) => ({ context: { vendor_portal_id: id } })

verifies(
  'FLOW-25',
  'a portal switch leaves the chat, opens the gates of the new portal, and connects again',
  async service => {
    const { agent, journal } = openDesk(service, AT('1002'))
    await agent.initialize()
    await agent.connect()
    await agent.send('before')
    await eventually(() => journal.answers.length)
    const first = service.session
    await service.through(agent.selectPortal({ id: 1101 }))
    // Neither the context nor the connector decides again.
    expect([agent.getIsInitialized(), agent.isConnected(), agent.getTranscriptSize()]).toEqual([false, false, 0])
    expect(service.frames(first).at(-1)?.role).toBe('graceful disconnect')
    expect(idsOf(journal.of('profilesAvailable')[0]?.profiles)).toEqual([30, 31])
    await expect(agent.connect()).rejects.toMatchObject({ code: 'NOT_INITIALIZED' })
    await agent.selectUserProfile({ id: 31 })
    await service.until(() => agent.isConnected())
    expect(chosen(journal)).toEqual([
      [1002, 20],
      [1101, 31],
    ])
    expect(service.session).not.toBe(first)
    const contexts = service.requestsTo(paths.session('desk'), 'POST').map(({ body }) => JSON.parse(body ?? '').context)
    expect(contexts.map(({ vendor_portal_id: portal }) => portal.value)).toEqual(['1002', '1101'])
  },
)

verifies('FLOW-25', 'a switch without a connection does not connect', async service => {
  const { agent, journal } = openDesk(service, AT('1002'))
  await agent.initialize()
  await agent.selectPortal({ id: 1001 })
  expect(chosen(journal)).toEqual([
    [1002, 20],
    [1001, 11],
  ])
  expect([agent.getState(), sessionAgents(service)]).toEqual(['IDLE', []])
})

verifies('FLOW-25', 'a portal outside the list leaves the running chat untouched', async service => {
  const { agent, journal } = openDesk(service, AT('1002'))
  await agent.initialize()
  await agent.connect()
  const before = service.control.requests().length
  const error = await rejection(agent.selectPortal({ id: 1003 }))
  expect(error).toMatchObject({ pipelineCode: 'INVALID_SELECTION', stage: 'portal', portal: { id: 1002 } })
  expect([agent.isConnected(), agent.getIsInitialized(), service.control.requests().length]).toEqual([
    true,
    true,
    before,
  ])
  await agent.send('still there')
  await eventually(() => journal.answers.length)
  expect(chosen(journal)).toEqual([[1002, 20]])
})

verifies('FLOW-25', 'a failed switch opens the portal gate, and any portal can be selected', async service => {
  const { agent, journal } = openDesk(service, AT('1002'))
  await agent.initialize()
  await agent.connect()
  service.faults.add({ kind: 'answer', route: `GET ${paths.portalDetails(1001)}`, status: 500, times: 1 })
  const error = await rejection(service.through(agent.selectPortal({ id: 1001 })))
  expect(error).toMatchObject({ pipelineCode: 'PORTAL_DETAILS_FAILED' })
  expect([agent.getIsInitialized(), agent.isConnected()]).toEqual([false, false])
  await service.through(agent.selectPortal({ id: 1002 }))
  await service.until(() => agent.isConnected())
  expect(chosen(journal)).toEqual([
    [1002, 20],
    [1002, 20],
  ])
})

verifies('FLOW-21', 'a restart runs the whole pipeline again and leaves the chat', async service => {
  const { agent, journal } = openDesk(service)
  await agent.initialize()
  await agent.selectPortal({ id: 1002 })
  await agent.connect()
  await agent.send('before')
  await eventually(() => journal.answers.length)
  const first = service.session
  await service.through(agent.restartPortalInitializer())
  expect([agent.getIsInitialized(), agent.isConnected(), agent.getTranscriptSize()]).toEqual([false, false, 0])
  expect(journal.of('portalsAvailable')).toHaveLength(2)
  // Also at a gate.
  await agent.restartPortalInitializer()
  expect(journal.of('portalsAvailable')).toHaveLength(3)
  await agent.selectPortal({ id: 1001 })
  await agent.connect()
  expect(chosen(journal)).toEqual([
    [1002, 20],
    [1001, 11],
  ])
  expect(service.session).not.toBe(first)
})

verifies(
  'FLOW-21',
  'a restart returns to the configured agent, and its deprecated name does the same',
  async service => {
    const { agent, journal } = openDesk(service, { ...AT('1001'), initParams: { isDefaultAgent: 'true' } })
    await agent.initialize()
    await agent.selectAgent({ agentId: 'desk-orders' })
    await agent.connect()
    await service.through(agent.restartCcHostInitializer())
    await agent.selectAgent({ agentId: 'desk' })
    await agent.connect()
    expect(sessionAgents(service)).toEqual(['desk-orders', 'desk'])
    expect(journal.of('initialized').map(({ agent: picked }) => picked?.agentId)).toEqual(['desk-orders', 'desk'])
    await service.through(agent.restartCcHostInitializer())
    expect(service.printed.filter(line => line.includes('restartCcHostInitializer'))).toHaveLength(1)
  },
)

verifies('FLOW-21', 'a restart of an agent without portals creates a new session', async service => {
  const agent = await service.connectedAgent()
  const first = service.session
  await service.through(agent.restartPortalInitializer())
  expect([agent.isConnected(), service.openings.length]).toEqual([true, 2])
  expect(service.session).not.toBe(first)
})

verifies('FLOW-21', 'a restart that fails at the portal list can be repeated', async service => {
  const { agent, journal } = openDesk(service, { ...AT('1002'), cache: { enabled: false } })
  await agent.initialize()
  service.faults.add({ kind: 'answer', route: 'GET */myportals', status: 500, times: 1 })
  const error = await rejection(service.through(agent.restartPortalInitializer()))
  expect([error['pipelineCode'], agent.getIsInitialized()]).toEqual(['PORTAL_FETCH_FAILED', false])
  await service.through(agent.restartPortalInitializer())
  expect(chosen(journal)).toEqual([
    [1002, 20],
    [1002, 20],
  ])
  // initialize() can be repeated too, and continues where it failed.
  service.faults.add({ kind: 'answer', route: 'GET */myportals', status: 500, times: 1 })
  await rejection(service.through(agent.restartPortalInitializer()))
  await agent.initialize()
  expect(chosen(journal)).toHaveLength(3)
})

verifies('FLOW-15', 'another profile is persisted at the service, and the chat restarts with it', async service => {
  const context = { vendor_portal_id: '1001', vendor_personalization_profile_id: { value: '10', type: 'string' } }
  const { agent, journal } = openDesk(service, { context })
  await expect(agent.updateUserProfile({ id: 12, name: 'Business' })).rejects.toMatchObject({ code: 'NOT_INITIALIZED' })
  await agent.initialize()
  await agent.connect()
  const first = service.session
  await service.through(agent.updateUserProfile({ id: 12, name: 'Business' }))
  expect(persisted(service)).toEqual(['1001/10', '1001/12'])
  expect([agent.isConnected(), service.openings.length]).toEqual([true, 2])
  expect(service.session).not.toBe(first)
  const [, second] = journal.of('initialized')
  expect(second).toMatchObject({ portal: { id: 1001 }, profile: { id: 12 }, portalDetails: { departmentId: 999 } })
  expect([idsOf(second?.availableProfiles), idsOf(second?.availablePortals)]).toEqual([
    [10, 11, 12],
    [1001, 1002, 1101],
  ])
  const [, post] = service.requestsTo(paths.session('desk'), 'POST')
  expect(JSON.parse(post?.body ?? '').context).toMatchObject({
    vendor_personalization_profile_id: { value: '12', type: 'string' },
  })
})

verifies(
  'FLOW-15',
  'a profile that the service rejects leaves the chat unchanged and clears the cached lists',
  async service => {
    const place = newTab()
    const { agent, journal } = openDesk(service, AT('1001'), { environment: service.environment(place) })
    await agent.initialize()
    await agent.connect()
    const keys = () =>
      Array.from({ length: place.sessionStorage?.length ?? 0 }, (_, at) => place.sessionStorage?.key(at) ?? '')
    const kept = () => keys().filter(key => key.startsWith('vendor_profiles_'))
    expect(kept()).toHaveLength(1)
    service.faults.add({ kind: 'answer', route: 'PUT *', status: 500, times: 1 })
    const error = await rejection(agent.updateUserProfile({ id: 10, name: 'Member' }))
    expect(error).toMatchObject({ pipelineCode: 'PROFILE_PERSIST_FAILED', stage: 'profile', portal: { id: 1001 } })
    expect([kept(), agent.isConnected(), agent.getIsInitialized(), service.openings.length]).toEqual([
      [],
      true,
      true,
      1,
    ])
    expect(chosen(journal)).toEqual([[1001, 11]])
    expect(place.sessionStorage?.getItem('v2_acmeselectedProfile-1001')).toContain('"id":11')
    await service.through(agent.updateUserProfile({ id: 10, name: 'Member' }))
    expect(chosen(journal)).toEqual([
      [1001, 11],
      [1001, 10],
    ])
  },
)

verifies('FLOW-15', 'customers, and the profile none, switch without a call to the service', async service => {
  const orders = openDesk(service, { id: 'orders', ...AT('1001') }, { subject: 'customer' })
  await orders.agent.initialize()
  await service.through(orders.agent.updateUserProfile({ id: 10, name: 'Member' }))
  const desk = openDesk(service, AT('1001'))
  await desk.agent.initialize()
  await service.through(desk.agent.updateUserProfile({ id: 'none', name: 'None' }))
  expect([chosen(orders.journal), chosen(desk.journal)]).toEqual([
    [
      [1001, 11],
      [1001, 10],
    ],
    [
      [1001, 11],
      [1001, 'none'],
    ],
  ])
  expect(persisted(service)).toEqual(['1001/11'])
})

verifies('CFG-03', 'autoConnect connects after the last choice, once for each completion', async service => {
  const { agent, journal } = openDesk(service, { autoConnect: true, initParams: { portalIds: '1001,1101' } })
  await agent.initialize()
  expect(agent.getState()).toBe('IDLE')
  await agent.selectPortal({ id: 1101 })
  expect([agent.getState(), sessionAgents(service)]).toEqual(['IDLE', []])
  await agent.selectUserProfile({ id: 30 })
  await service.until(() => agent.isConnected())
  await service.through(agent.restartPortalInitializer())
  expect(agent.isConnected()).toBe(false)
  await agent.selectPortal({ id: 1001 })
  await service.until(() => agent.isConnected())
  expect(journal.types.filter(type => type === 'initialized' || type === 'connected')).toEqual([
    'initialized',
    'connected',
    'initialized',
    'connected',
  ])
  expect(service.openings).toHaveLength(2)
})

verifies('CFG-03', 'autoConnect connects an agent without portals; without it no agent connects', async service => {
  const agent = service.newAgent({ autoConnect: true })
  await agent.initialize()
  await service.until(() => agent.isConnected())
  const other = service.newAgent()
  await other.initialize()
  expect(other.getState()).toBe('IDLE')
})

verifies('CFG-03', 'a failed first connection emits an error event and rejects nothing', async service => {
  const { agent, journal } = openDesk(service, { autoConnect: true, ...AT('1002') })
  service.faults.add({ kind: 'answer', route: 'POST */session', status: 500 })
  await agent.initialize()
  await eventually(() => journal.of('error').length)
  expect(agent.getIsInitialized()).toBe(true)
})

verifies('FLOW-21', 'stale results of an older run are discarded', async service => {
  const { agent, journal } = openDesk(service, { cache: { enabled: false } })
  await agent.initialize()
  const hung = service.faults.add({ kind: 'hang-request', route: `GET ${paths.portalDetails(1001)}`, times: 1 })
  const older = rejection(agent.selectPortal({ id: 1001 }))
  await eventually(() => service.faults.inForce()[0]?.hits === 1 || service.faults.inForce().length === 0)
  await service.through(agent.restartPortalInitializer())
  expect(await older).toMatchObject({ code: 'ABORTED' })
  await agent.selectPortal({ id: 1002 })
  service.faults.lift(hung.id === undefined ? {} : { id: hung.id })
  await agent.connect()
  await agent.send('hello')
  await eventually(() => journal.answers.length)
  expect(chosen(journal)).toEqual([[1002, 20]])
  expect(persisted(service)).toEqual(['1002/20'])
})

verifies('FLOW-01', 'destroy() at a gate or within a step ends everything and emits nothing more', async service => {
  const { agent, journal } = openDesk(service)
  await agent.initialize()
  service.faults.add({ kind: 'hang-request', route: 'GET */userprofiles' })
  const choosing = rejection(agent.selectPortal({ id: 1001 }))
  await agent.destroy()
  expect(await choosing).toMatchObject({ code: 'ABORTED' })
  service.faults.lift({})
  for (const call of [
    () => agent.selectPortal({ id: 1002 }),
    () => agent.restartPortalInitializer(),
    () => agent.initialize(),
  ])
    expect(await rejection(call())).toMatchObject({ code: 'ABORTED' })
  expect(journal.types).toEqual(['portalsAvailable'])
})

verifies('FLOW-01', 'two agents on a page share token and deployment, but no choices', async service => {
  const environment = service.environment(newTab())
  const [first, second] = [0, 1].map(() => {
    const agent = service.newAgent({ id: 'selfservice', context: { plan: 'gold' } }, environment)
    return agent
  })
  if (!first || !second) throw new Error('Expected two agents.')
  await first.initialize()
  const before = service.control.requests().length
  await second.initialize()
  const asked = service.control.requests().slice(before)
  expect(asked.map(({ path }) => path)).toEqual([])
  await Promise.all([first.selectPortal({ id: 1001 }), second.selectPortal({ id: 1003 })])
  await Promise.all([first.connect(), second.connect()])
  const posts = service.requestsTo(paths.session('selfservice'), 'POST')
  const portals = posts.map(({ body }) => JSON.parse(body ?? '').context.vendor_portal_id.value)
  expect([...portals].sort()).toEqual(['1001', '1003'])
  expect(new Set(service.openings).size).toBe(2)
  expect(await first.getAccessToken()).toBe(await second.getAccessToken())
  expect([await first.getDeploymentInfo(), await second.getDeploymentInfo()].map(({ apiDomain }) => apiDomain)).toEqual(
    [service.endpoint, service.endpoint],
  )
  await service.through(first.disconnect())
  expect([first.getState(), second.isConnected()]).toEqual(['CLOSED', true])
})
