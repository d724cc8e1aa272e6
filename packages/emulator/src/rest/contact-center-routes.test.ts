import { paths } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { DeskCaller } from '../../test/desk-caller.ts'

describe('masking patterns', () => {
  it('are those of the department and the channel', async () => {
    const desk = new DeskCaller()
    const { status, body } = await desk.get(`${paths.maskingPatterns(1010, 'chat')}?$lang=en-us`)
    expect(status).toBe(200)
    expect((body as { patterns: unknown[] }).patterns).toHaveLength(21)
    expect(body).toMatchObject({ configuration: { htmlTagMatcherRegEx: expect.any(String) } })
    expect((await desk.get(paths.maskingPatterns(1010, 'mail'))).body).toEqual({ patterns: [] })
    expect((await desk.get(paths.maskingPatterns(999, 'chat'))).body).toEqual({ patterns: [] })
  })

  it('are not returned for an unknown department, or that of another tenant', async () => {
    const desk = new DeskCaller()
    expect((await desk.get(paths.maskingPatterns(4711, 'chat'))).status).toBe(404)
    expect((await desk.get(paths.maskingPatterns(2020, 'chat'))).status).toBe(404)
    expect((await desk.become('field-agent').get(paths.maskingPatterns(2020, 'chat'))).status).toBe(200)
  })
})

describe('connected apps', () => {
  it('are returned without a token', async () => {
    const desk = new DeskCaller()
    const { status, body } = await desk.get(paths.connectedApps('TEN0001', 'desk'), {})
    expect(status).toBe(200)
    expect(body).toMatchObject([
      { id: 'orders', isConnected: true },
      { id: 'calendar', isConnected: false },
    ])
    expect((await desk.get(paths.connectedApps('TEN0001', 'help'), {})).body).toEqual([])
  })

  it.each([
    ['the tenant', 'TEN4711', 'desk'],
    ['the agent', 'TEN0001', 'nobody'],
    ['the agent in this tenant', 'TEN0002', 'desk'],
  ])('are not returned if %s does not exist', async (_case, tenantId, agentId) => {
    expect((await new DeskCaller().get(paths.connectedApps(tenantId, agentId), {})).status).toBe(404)
  })
})

describe('previous transcript', () => {
  it('contains the messages of a session', async () => {
    const desk = new DeskCaller()
    const id = await desk.service.session('selfservice')
    const chat = await desk.service.chat(id)
    await chat.say('Good day')
    expect(await desk.get(paths.previousTranscript('selfservice', id))).toMatchObject({
      status: 200,
      body: { messages: [{ persona: 'customer', content: 'Good day' }, { persona: 'agent' }] },
    })
  })
})

describe('tenants', () => {
  it('have an endpoint each, below the origin', async () => {
    const desk = new DeskCaller()
    expect(await desk.get(`/northwind${paths.deploymentInfo()}`, {})).toMatchObject({
      status: 200,
      body: {
        tenantId: 'TEN0002',
        tenant_identifier: 'northwind',
        apiDomain: desk.emulator.origin,
        version: '21.22.1',
      },
    })
    expect((await desk.get(`/acme${paths.deploymentInfo()}`, {})).body).toEqual(
      (await desk.get(paths.deploymentInfo(), {})).body,
    )
    expect((await desk.get(`/nobody${paths.deploymentInfo()}`, {})).status).toBe(404)
  })
})

/** Every step of a contact center's start, as a fault names it, and a call that takes it. */
const STEPS: [step: string, route: string, method: string, path: string, status: number][] = [
  ['deployment info', 'GET */deploymentInfo', 'GET', paths.deploymentInfo(), 200],
  ['agent details', 'GET */details/agent/*', 'GET', paths.agentDetails('desk'), 200],
  ['my portals', 'GET */myportals', 'GET', paths.myPortals(), 200],
  ['all portals', 'GET */v3/portals', 'GET', paths.portals(), 200],
  ['portal details', 'GET */internal/portals/*', 'GET', paths.portalDetails(1001), 200],
  ['agents by portal', 'GET */details/department/*/portal/*', 'GET', paths.agentsByPortal(999, 1001), 200],
  ['profiles', 'GET */userprofiles', 'GET', paths.userProfiles(1001), 200],
  ['profile selection', 'PUT */select', 'PUT', paths.selectUserProfile(1001, 10), 204],
  ['user details', 'GET */portals/user', 'GET', paths.userDetails(), 200],
  ['customer details', 'GET */customer', 'GET', paths.customerDetails(), 200],
  ['masking patterns', 'GET */maskingpatterns/*', 'GET', paths.maskingPatterns(1010, 'chat'), 200],
  ['session', 'POST */session', 'POST', paths.session('desk'), 200],
]

describe('a step that fails on request', () => {
  it.each(STEPS)('%s fails a number of times, and nothing else does', async (_step, route, method, path, status) => {
    const desk = new DeskCaller()
    desk.emulator.faults.add({ kind: 'answer', route, status: 503, times: 2 })
    for (const [, , otherMethod, otherPath, otherStatus] of STEPS)
      if (otherPath !== path) expect((await desk.call(otherMethod, otherPath)).status).toBe(otherStatus)
    expect((await desk.call(method, path)).status).toBe(503)
    expect((await desk.call(method, path)).status).toBe(503)
    expect((await desk.call(method, path)).status).toBe(status)
  })

  it('can be a later page of a list', async () => {
    const desk = new DeskCaller({ settings: { portalPageSize: 2 } })
    desk.emulator.faults.add({ kind: 'answer', route: 'GET */myportals', status: 500, after: 1, times: 1 })
    const statuses: number[] = []
    for (const page of [1, 2, 2, 3]) statuses.push((await desk.portals(`${paths.myPortals()}?$pagenum=${page}`)).status)
    expect(statuses).toEqual([200, 500, 200, 200])
    expect(desk.emulator.faults.inForce()).toEqual([])
  })
})

describe('every call of a contact center', () => {
  const withToken = STEPS.filter(([step]) => step !== 'deployment info')

  it.each(withToken)('%s is rejected without a token', async (_step, _route, method, path) => {
    expect((await new DeskCaller().call(method, path, {})).status).toBe(401)
  })

  it.each(withToken)(
    '%s accepts a token with and without the word Bearer',
    async (_step, _route, method, path, status) => {
      const desk = new DeskCaller()
      expect((await desk.call(method, path, desk.bareAuthorization)).status).toBe(status)
      expect((await desk.call(method, path)).status).toBe(status)
    },
  )

  it.each(withToken)('%s is rejected with an expired token', async (_step, _route, method, path) => {
    const desk = new DeskCaller()
    desk.emulator.control.expireTokens()
    expect((await desk.call(method, path)).status).toBe(401)
  })
})
