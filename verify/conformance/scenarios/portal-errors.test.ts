import { InitializationPipelineError, SDKError } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { expect } from 'vitest'
import { chosen, openDesk, rejection } from '../desk.ts'
import { Journal } from '../journal.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

const FLOW_B = { isDefaultAgent: 'true' }

/** Makes the next requests to a path fail. */
const fail = (service: Service, route: string, times?: number) =>
  service.faults.add({ kind: 'answer', route, status: 500, ...(times !== undefined && { times }) })

verifies(
  ['ERR-01', 'ERR-02', 'FLOW-23'],
  'AUTH_TOKEN_REQUIRED: no token when the portals are loaded',
  async service => {
    let tokens = [service.control.issueToken({ subject: 'desk-agent' })]
    const auth = { getToken: async () => tokens.at(-1) ?? '' }
    const agent = service.newAgent({ id: 'desk', auth })
    const journal = new Journal(agent)
    await agent.initialize()
    tokens = []
    const error = await rejection(agent.restartPortalInitializer())
    expect(error).toBeInstanceOf(InitializationPipelineError)
    expect(error).toBeInstanceOf(SDKError)
    expect(error).toMatchObject({ code: 'AUTH_TOKEN_REQUIRED', pipelineCode: 'AUTH_TOKEN_REQUIRED', stage: 'start' })
    expect([error['portal'], error['agent'], journal.types]).toEqual([
      undefined,
      undefined,
      ['portalsAvailable', 'transcriptCleared'],
    ])
  },
)

verifies(
  ['ERR-02', 'FLOW-22', 'FLOW-23'],
  'PORTAL_FETCH_FAILED: any page of either list cannot be loaded',
  async service => {
    const open = {
      people: () => openDesk(service).agent,
      customers: () => service.newAgent({ id: 'selfservice' }),
    }
    const expected = {
      code: 'PORTAL_FETCH_FAILED',
      pipelineCode: 'PORTAL_FETCH_FAILED',
      stage: 'portal',
      cause: { code: 'API_ERROR', status: 500 },
    }
    for (const [make, route] of [
      [open.people, 'GET */myportals'],
      [open.customers, 'GET */portals'],
    ] as const) {
      const { id = '' } = fail(service, route)
      const agent = make()
      expect(await rejection(agent.initialize())).toMatchObject(expected)
      expect(agent.getIsInitialized()).toBe(false)
      service.faults.lift({ id })
      await agent.initialize()
      await agent.selectPortal({ id: 1001 })
      expect(agent.getIsInitialized()).toBe(true)
    }
    service.control.change({ portalPageSize: 1 })
    service.faults.add({ kind: 'answer', route: 'GET */myportals', status: 503, after: 1, times: 1 })
    expect(await rejection(open.people().initialize())).toMatchObject({ ...expected, cause: { status: 503 } })
  },
)

verifies(
  ['ERR-02', 'FLOW-23'],
  'NO_PORTALS: user and agent have no common portal, or the list is empty',
  async service => {
    const code = async (config: Parameters<typeof openDesk>[1], subject = 'desk-agent') =>
      rejection(openDesk(service, config, { subject }).agent.initialize())
    const expected = { pipelineCode: 'NO_PORTALS', stage: 'portal' }
    expect(await code({ id: 'desk-elsewhere' })).toMatchObject(expected)
    expect(await code({ id: 'desk-nowhere', initParams: { ...FLOW_B, departmentId: '5' } })).toMatchObject(expected)
    service.faults.add({ kind: 'answer', route: 'GET */myportals', status: 204 })
    expect(await code({})).toMatchObject(expected)
  },
)

verifies(
  'ERR-02',
  'DEPARTMENT_ID_REQUIRED: neither agent nor host names a department, or the portal has none',
  async service => {
    const { agent: lost } = openDesk(service, { id: 'desk-nowhere', initParams: FLOW_B })
    expect(await rejection(lost.initialize())).toMatchObject({
      pipelineCode: 'DEPARTMENT_ID_REQUIRED',
      stage: 'portal',
    })

    const { agent, journal } = openDesk(service, { initParams: FLOW_B })
    await agent.initialize()
    service.faults.add({
      kind: 'answer',
      route: `GET ${paths.portalDetails(1001)}`,
      status: 200,
      body: { portal: [{ id: 1001, name: 'Support' }] },
    })
    const error = await rejection(agent.selectPortal({ id: 1001 }))
    expect(error).toMatchObject({ pipelineCode: 'DEPARTMENT_ID_REQUIRED', stage: 'agent', portal: { id: 1001 } })
    // Another portal can still be selected.
    await agent.selectPortal({ id: 1003 })
    expect(journal.of('initialized')).toMatchObject([{ portal: { id: 1003 } }])
  },
)

verifies(
  ['ERR-02', 'FLOW-10', 'FLOW-26'],
  'PORTAL_DETAILS_FAILED is reported before profile errors and leaves the gate open',
  async service => {
    const { agent, journal } = openDesk(service)
    await agent.initialize()
    fail(service, `GET ${paths.portalDetails(1001)}`, 1)
    fail(service, `GET ${paths.userProfiles(1001)}`, 1)
    const error = await rejection(agent.selectPortal({ id: 1001 }))
    expect(error).toBeInstanceOf(InitializationPipelineError)
    expect(error).toMatchObject({
      code: 'PORTAL_DETAILS_FAILED',
      stage: 'portal',
      portal: { id: 1001, name: 'Support' },
      cause: { code: 'API_ERROR', status: 500 },
    })
    expect([agent.getIsInitialized(), journal.types]).toEqual([false, ['portalsAvailable']])
    await agent.initialize()
    await agent.selectPortal({ id: 1001 })
    expect(chosen(journal)).toEqual([[1001, 11]])
  },
)

verifies(['ERR-02', 'FLOW-10'], 'PROFILE_FETCH_FAILED: the profiles cannot be loaded', async service => {
  const { agent, journal } = openDesk(service, { id: 'desk-members' })
  await agent.initialize()
  // The portal is auto-selected as the only one that the user may enter.
  expect(chosen(journal)).toEqual([[1001, 11]])
  const { agent: other } = openDesk(service)
  await other.initialize()
  fail(service, `GET ${paths.userProfiles(1001)}`, 1)
  const error = await rejection(other.selectPortal({ id: 1001 }))
  expect(error).toMatchObject({ pipelineCode: 'PROFILE_FETCH_FAILED', stage: 'profile', portal: { id: 1001 } })
  await other.selectPortal({ id: 1001 })
  expect(other.getIsInitialized()).toBe(true)
})

verifies('ERR-02', 'a portal that the user may not enter fails with the error of the service', async service => {
  const { agent } = openDesk(service, { initParams: { portalIds: '1004,1001' } })
  await agent.initialize()
  const error = await rejection(agent.selectPortal({ id: 1004 }))
  expect(error).toMatchObject({ pipelineCode: 'PORTAL_DETAILS_FAILED', cause: { status: 403 } })
  expect(error.message).toContain('not for this user')
})

verifies(['ERR-02', 'FLOW-10'], 'NO_AGENTS_FOR_PORTAL: the list is empty or cannot be loaded', async service => {
  const { agent, journal } = openDesk(service, { id: 'desk-nowhere', initParams: { ...FLOW_B, departmentId: '1010' } })
  await agent.initialize()
  const none = await rejection(agent.selectPortal({ id: 1102 }))
  expect(none).toMatchObject({ pipelineCode: 'NO_AGENTS_FOR_PORTAL', stage: 'agent', portal: { id: 1102 } })
  expect(none.cause).toBeUndefined()
  fail(service, `GET ${paths.agentsByPortal(1010, 1101)}`, 1)
  const failed = await rejection(agent.selectPortal({ id: 1101 }))
  expect(failed).toMatchObject({ pipelineCode: 'NO_AGENTS_FOR_PORTAL', stage: 'agent', cause: { status: 500 } })
  await agent.selectPortal({ id: 1101 })
  expect(journal.types).toEqual(['portalsAvailable', 'profilesAvailable'])
})

verifies(['ERR-01', 'ERR-02', 'FLOW-10'], 'PROFILE_PERSIST_FAILED: the service rejects the profile', async service => {
  const { agent, journal } = openDesk(service, { initParams: { ...FLOW_B, portalIds: '1001' } })
  await agent.initialize()
  fail(service, 'PUT *', 1)
  const error = await rejection(agent.selectAgent({ agentId: 'desk-orders' }))
  expect(error).toMatchObject({
    pipelineCode: 'PROFILE_PERSIST_FAILED',
    stage: 'profile',
    portal: { id: '1001' },
    agent: { agentId: 'desk-orders' },
    cause: { status: 500, method: 'PUT' },
  })
  expect(agent.getIsInitialized()).toBe(false)
  await agent.selectAgent({ agentId: 'desk' })
  expect(journal.of('initialized')).toMatchObject([{ agent: { agentId: 'desk' }, profile: { id: 11 } }])
})

verifies(['FLOW-10', 'FLOW-26'], 'a rejected profile can be selected again', async service => {
  const { agent, journal } = openDesk(service, { initParams: { portalIds: '1101' } })
  await agent.initialize()
  fail(service, 'PUT *', 1)
  const error = await rejection(agent.selectUserProfile({ id: 30 }))
  expect(error).toMatchObject({
    pipelineCode: 'PROFILE_PERSIST_FAILED',
    stage: 'profile',
    portal: { name: 'Invoices' },
  })
  expect(journal.types).toEqual(['profilesAvailable'])
  await agent.selectUserProfile({ id: 31 })
  expect(chosen(journal)).toEqual([['1101', 31]])
})

verifies(
  'FLOW-23',
  'a failing automatic step before the first gate rejects initialize(), and the next run starts clean',
  async service => {
    const failing = async (route: string, code: string, config: Parameters<typeof openDesk>[1]) => {
      const { agent, journal } = openDesk(service, config)
      fail(service, route, 1)
      const error = await rejection(agent.initialize())
      expect(error).toBeInstanceOf(InitializationPipelineError)
      expect([error['pipelineCode'], journal.types, agent.getIsInitialized()]).toEqual([code, [], false])
      await agent.initialize()
      expect(agent.getIsInitialized()).toBe(true)
    }
    const context = { vendor_portal_id: '1002' }
    await failing('GET */internal/portals/*', 'PORTAL_DETAILS_FAILED', { context })
    await failing('GET */userprofiles', 'PROFILE_FETCH_FAILED', { context })
    await failing('PUT *', 'PROFILE_PERSIST_FAILED', { context })
    await failing('GET */department/*', 'NO_AGENTS_FOR_PORTAL', { context, initParams: FLOW_B })
  },
)
