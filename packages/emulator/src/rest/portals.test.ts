import { parseAgentList, parsePortalDetailsList, parsePortalList, paths } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { DeskCaller } from '../../test/desk-caller.ts'

const ALL = paths.portals()
const MINE = paths.myPortals()

describe('the list of all portals', () => {
  it('contains every portal of the tenant, with its department, on one page', async () => {
    const desk = new DeskCaller()
    const { status, body } = await desk.get(`${ALL}?%24lang=en-us&%24pagesize=75&%24pagenum=1`)
    expect(status).toBe(200)
    expect(parsePortalList(body)).toEqual(body)
    expect(body).toMatchObject({
      portal: [
        {
          id: 1001,
          name: 'Support',
          description: 'Questions about devices at home',
          department: { id: 999, name: 'Service' },
        },
        { id: 1002 },
        { id: 1003 },
        { id: 1004 },
        { id: 1101, department: { id: 1010, name: 'Billing' } },
        { id: 1102 },
      ],
      paginationInfo: { count: 6, pagesize: 75, pagenum: 1 },
    })
  })

  it('accepts every token, also an anonymous one', async () => {
    const desk = await new DeskCaller().becomeAnybody()
    expect((await desk.portals(ALL)).ids).toHaveLength(6)
  })

  it('can be limited to a department', async () => {
    const desk = new DeskCaller()
    expect((await desk.portals(`${ALL}?departmentId=1010`)).ids).toEqual([1101, 1102])
    expect((await desk.portals(`${ALL}?departmentId=`)).ids).toHaveLength(6)
  })

  it('does not contain the portals of another tenant', async () => {
    const desk = new DeskCaller({}, 'field-agent')
    expect((await desk.portals(ALL)).ids).toEqual([2001, 2002])
    expect((await desk.portals(MINE)).ids).toEqual([2001, 2002])
  })

  it('has no content if it is empty, or an empty list, as configured', async () => {
    const desk = new DeskCaller()
    expect(await desk.get(`${ALL}?departmentId=7`)).toEqual({ status: 204, body: undefined })
    desk.emulator.settings.emptyListStatus = 200
    expect(await desk.get(`${ALL}?departmentId=7`)).toEqual({
      status: 200,
      body: { portal: [], paginationInfo: { count: 0, pagesize: 75, pagenum: 1 } },
    })
  })
})

describe('pages', () => {
  it('have the requested size, and contain the number of entries', async () => {
    const desk = new DeskCaller()
    expect(await desk.portals(`${ALL}?$pagesize=4&$pagenum=1`)).toEqual({
      status: 200,
      ids: [1001, 1002, 1003, 1004],
      pages: { count: 6, pagesize: 4, pagenum: 1 },
    })
    expect((await desk.portals(`${ALL}?$pagesize=4&$pagenum=2`)).ids).toEqual([1101, 1102])
  })

  it('are never larger than the service allows, and together contain everything once', async () => {
    const desk = new DeskCaller({ settings: { portalPageSize: 2 } })
    const first = await desk.portals(`${MINE}?$pagesize=75&$pagenum=1`)
    expect(first.pages).toEqual({ count: 5, pagesize: 2, pagenum: 1 })
    const second = await desk.portals(`${MINE}?$pagesize=2&$pagenum=2`)
    const third = await desk.portals(`${MINE}?$pagesize=2&$pagenum=3`)
    expect([...first.ids, ...second.ids, ...third.ids]).toEqual([1001, 1002, 1003, 1101, 1102])
    expect(await desk.get(`${MINE}?$pagesize=2&$pagenum=4`)).toEqual({ status: 204, body: undefined })
  })

  it('do not exist if the service returns everything at once', async () => {
    const desk = new DeskCaller({ settings: { portalPageSize: 0 } })
    expect(await desk.portals(`${ALL}?$pagesize=1&$pagenum=1`)).toMatchObject({
      ids: [1001, 1002, 1003, 1004, 1101, 1102],
      pages: undefined,
    })
  })

  it.each(['$pagesize=0', '$pagesize=x', '$pagenum=-1', '$pagenum=1.5', '$pagenum='])(
    'are rejected for %s',
    async query => {
      expect(await new DeskCaller().get(`${ALL}?${query}`)).toMatchObject({ status: 400, body: { code: '400-004' } })
    },
  )
})

describe('the list of my portals', () => {
  it('excludes portals of other users', async () => {
    const desk = new DeskCaller()
    expect((await desk.portals(MINE)).ids).toEqual([1001, 1002, 1003, 1101, 1102])
    expect((await desk.become('desk-supervisor').portals(MINE)).ids).toEqual([1001, 1002, 1003, 1004, 1101, 1102])
  })

  it('can be limited to a department, too', async () => {
    const desk = new DeskCaller({}, 'desk-supervisor')
    expect((await desk.portals(`${MINE}?departmentId=999`)).ids).toEqual([1001, 1002, 1003, 1004])
  })
})

describe('portal details', () => {
  it('are returned in a list of one, with the department and the default profile', async () => {
    const desk = new DeskCaller()
    const { status, body } = await desk.get(`${paths.portalDetails(1001)}?$lang=en-us`, desk.bareAuthorization)
    expect(status).toBe(200)
    expect(parsePortalDetailsList(body)).toEqual(body)
    expect(body).toEqual({
      portal: [
        {
          id: 1001,
          name: 'Support',
          description: 'Questions about devices at home',
          departmentId: 999,
          portalSettings: { defaultUserProfile: { id: 11, name: 'Premium member' } },
        },
      ],
    })
  })

  it('contain no default profile if there is none', async () => {
    expect(await new DeskCaller().get(paths.portalDetails(1101))).toMatchObject({
      body: { portal: [{ departmentId: 1010, portalSettings: {} }] },
    })
  })

  it('require the token alone if the service is strict', async () => {
    const desk = new DeskCaller({ settings: { strictAuthHeader: true } })
    expect((await desk.get(paths.portalDetails(1001), desk.bareAuthorization)).status).toBe(200)
    expect(await desk.get(paths.portalDetails(1001))).toMatchObject({ status: 401, body: { code: '401-003' } })
    expect(await desk.get(MINE, desk.bareAuthorization)).toMatchObject({ status: 401, body: { code: '401-003' } })
  })

  it.each([
    ['does not exist', 'desk-agent', 4711, 404],
    ['belongs to another tenant', 'desk-agent', 2001, 404],
    ['is for other users', 'desk-agent', 1004, 403],
    ['is for this user', 'desk-supervisor', 1004, 200],
  ])('are answered for a portal that %s', async (_case, subject, portalId, status) => {
    expect((await new DeskCaller({}, subject).get(paths.portalDetails(portalId))).status).toBe(status)
  })
})

describe('the agents of a portal', () => {
  const agents = (departmentId: number, portalId: number, query = '?agentType=contact-center') =>
    new DeskCaller().get(paths.agentsByPortal(departmentId, portalId) + query)

  it('are a plain list', async () => {
    const { status, body } = await agents(999, 1001)
    expect(status).toBe(200)
    expect(parseAgentList(body)).toEqual(body)
    expect(body).toEqual([
      { agentId: 'desk', name: 'Desk Assistant', description: 'Listens in and looks things up' },
      { agentId: 'desk-orders', name: 'Order Assistant', description: 'Knows every parcel' },
    ])
  })

  it('have the requested type', async () => {
    expect((await agents(1010, 1101)).body).toMatchObject([{ agentId: 'desk-billing' }])
    expect((await agents(1010, 1101, '')).body).toMatchObject([{ agentId: 'desk-billing' }, { agentId: 'billing' }])
  })

  it('are empty for a portal without agents, and for one of another department', async () => {
    expect(await agents(1010, 1102)).toEqual({ status: 200, body: [] })
    expect(await agents(1010, 1001)).toEqual({ status: 200, body: [] })
  })

  it('contain only those of the world', async () => {
    const desk = new DeskCaller()
    desk.emulator.world.agents.delete('desk')
    expect((await desk.get(paths.agentsByPortal(999, 1001))).body).toMatchObject([{ agentId: 'desk-orders' }])
  })

  it('are not returned for an unknown portal', async () => {
    expect((await agents(999, 4711)).status).toBe(404)
  })
})

describe('language', () => {
  it.each(['$lang=fr-ca', '%24lang=fr-ca'])('is recorded unchanged, in the query %s and in the header', async query => {
    const desk = new DeskCaller()
    await desk.get(`${MINE}?${query}&shortUrlTemplate=default`, { ...desk.authorization, 'accept-language': 'fr-ca' })
    expect(desk.emulator.control.requests().at(-1)).toMatchObject({
      path: MINE,
      query: { $lang: 'fr-ca', shortUrlTemplate: 'default' },
      headers: { 'accept-language': 'fr-ca' },
      status: 200,
    })
  })
})
