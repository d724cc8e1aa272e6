import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../../test/chat-harness.ts'
import {
  FLOW_B,
  GUEST,
  MEMBER,
  ORDERS,
  params,
  REPAIRS,
  type RunInput,
  SALES,
  STAFF,
  SUPPORT,
  setUpPortals,
} from '../../../test/portal-harness.ts'

describe('the portals to choose from', () => {
  it.each<[string, Partial<RunInput>, unknown[], string]>([
    ['the user’s own', {}, [SUPPORT, SALES, STAFF], 'getMyPortals'],
    ['[INIT-01] those of the agent', { agent: { portals: ['3', { id: 1 }, 4] } }, [SUPPORT, STAFF], 'getMyPortals'],
    [
      '[INIT-01] those for customers of the agent',
      { agent: { userType: 'customer', portals: [2, 3] } },
      [SALES, STAFF],
      'getPortals',
    ],
    ['[INIT-08] those of the agent’s department', FLOW_B, [SUPPORT, SALES], 'getMyPortals'],
    [
      '[INIT-02] those of the configured department',
      { ...FLOW_B, agent: {}, params: { ...FLOW_B.params, departmentId: '9' } },
      [SUPPORT, SALES],
      'getMyPortals',
    ],
    [
      '[INIT-08] all for customers, where the customer selects the agent',
      { ...FLOW_B, agent: { userType: 'customer', portals: [2] } },
      [SUPPORT, SALES, STAFF],
      'getPortals',
    ],
    [
      '[INIT-03] those that the host names',
      { params: params({ portalIds: ['5', '6'] }) },
      [{ id: '5' }, { id: '6' }],
      '',
    ],
  ])('[EVT-02] are %s', async (_case, more, portals, call) => {
    const { pipeline, input, calls, told } = setUpPortals()
    await pipeline.start(input(more))
    expect(told).toEqual([['portals', portals]])
    expect(calls).toEqual(call ? [call] : [])
    expect(pipeline.stage.at).toBe('portal')
  })

  it('are loaded with the department of a customer’s agent, and with the user of the host', async () => {
    const { pipeline, input, requests } = setUpPortals()
    await pipeline.start(
      input({ agent: { userType: 'customer', portals: [1, 2], departmentId: 9 }, params: params({ userId: 'ada' }) }),
    )
    await pipeline.start(input({ params: params({ userId: 'ada' }) }))
    await pipeline.start(input({ ...FLOW_B, params: { ...FLOW_B.params, userId: 'ada' } }))
    expect(requests.map(({ options: { signal: _, onLeftOut: _told, ...options } }) => options)).toEqual([
      { departmentId: 9, userId: 'ada' },
      { userId: 'ada' },
      { userId: 'ada' },
    ])
  })

  it('[INIT-08] of a department exclude those without a department', async () => {
    const { pipeline, input, told } = setUpPortals({ getMyPortals: [{ id: 8 }, SUPPORT, SALES, STAFF] })
    await pipeline.start(input(FLOW_B))
    expect(told).toEqual([['portals', [SUPPORT, SALES]]])
  })

  it('are loaded in parallel with other work, and offered after it', async () => {
    const { pipeline, input, calls, told } = setUpPortals()
    const ready = deferred<void>()
    const started = pipeline.start(input({ ready: ready.promise }))
    await turnEventLoop()
    expect(calls).toEqual(['getMyPortals'])
    expect(told).toEqual([])
    ready.resolve()
    await started
    expect(told).toHaveLength(1)
  })

  it('are not offered when that work fails, and the run fails with it', async () => {
    const { pipeline, input, told } = setUpPortals()
    const failure = new Error('masking is required')
    await expect(pipeline.start(input({ ready: Promise.reject(failure) }))).rejects.toBe(failure)
    expect(told).toEqual([])
    expect(pipeline.stage.at).toBe('failed')
  })
})

describe('a portal', () => {
  it.each<[string, Partial<RunInput>]>([
    ['when there is only one', { agent: { portals: [2] } }],
    ['[FLOW-12] when the context names it', { context: { vendor_portal_id: ' 2 ' } }],
    ['[FLOW-12] when an attribute of the context names it', { context: { vendor_portal_id: { value: 2 } } }],
    ['when the host names only it', { params: params({ portalIds: ['2'] }) }],
  ])('is selected automatically %s', async (_case, more) => {
    const { pipeline, input, calls, names } = setUpPortals({ getUserProfiles: [] })
    await pipeline.start(input(more))
    expect(calls).toContain('getPortalDetails 2')
    expect(names()).toEqual(['complete'])
  })

  it('[FLOW-26] [INIT-03] is applied when the user selects it, and gets the name of its details', async () => {
    const { pipeline, input, calls, told } = setUpPortals({
      getPortalDetails: { name: 'Sales and more' },
      getUserProfiles: [MEMBER],
    })
    await pipeline.start(input({ params: params({ portalIds: ['1', '2'] }) }))
    await pipeline.selectPortal({ id: 2 })
    expect(calls).toEqual(['getPortalDetails 2', 'getUserProfiles 2', 'selectUserProfile 2 10'])
    const portal = { id: '2', name: 'Sales and more' }
    expect(told[1]).toEqual([
      'complete',
      {
        portal,
        portalDetails: { name: 'Sales and more' },
        agent: undefined,
        profile: MEMBER,
        availableProfiles: [MEMBER],
        availablePortals: [{ id: '1' }, portal],
      },
    ])
    expect(pipeline.selectedPortal).toEqual(portal)
  })

  it('loads its details and profiles in parallel', async () => {
    const details = deferred<null>()
    const { pipeline, input, calls } = setUpPortals({ getPortalDetails: details.promise })
    const started = pipeline.start(input({ agent: { portals: [1] } }))
    await turnEventLoop()
    expect(calls.slice(1)).toEqual(['getPortalDetails 1', 'getUserProfiles 1'])
    expect(pipeline.selectedPortal).toEqual(SUPPORT)
    details.resolve(null)
    await started
    expect(pipeline.stage.at).toBe('profile')
  })
})

describe('the connector', () => {
  it('[FLOW-16] may filter the list and name the portal to select; all portals remain available for a switch', async () => {
    const { pipeline, input, told } = setUpPortals({ getUserProfiles: [] })
    await pipeline.start(
      input({
        context: { vendor_portal_id: '1' },
        hooks: {
          getPortalList: async portals => portals.reverse().slice(0, 2),
          getDefaultPortal: portals => portals.find(({ id }) => id === 2),
        },
      }),
    )
    expect(told).toEqual([['complete', expect.objectContaining({ portal: SALES, availablePortals: [STAFF, SALES] })]])
  })

  it.each<[string, Partial<RunInput>]>([
    ['[INIT-03] portals that the host names', { params: params({ portalIds: ['1', '2'] }) }],
    ['portals for customers', { agent: { userType: 'customer', portals: [1, 2] } }],
  ])('[INIT-03] is not called for %s, only for the selected one', async (_case, more) => {
    const { pipeline, input, names } = setUpPortals()
    const heard: unknown[] = []
    const unasked = () => expect.unreachable('it should not be called')
    const hooks = {
      getPortalList: unasked,
      getDefaultPortal: unasked,
      onPortalSelected: ({ id }: { id: unknown }) => heard.push(id),
    }
    await pipeline.start(input({ ...more, hooks }))
    expect(names()).toEqual(['portals'])
    await pipeline.selectPortal({ id: 1 })
    expect(heard).toHaveLength(1)
    expect(names()).not.toContain('tags')
  })

  it('cannot add invalid portals to the list', async () => {
    const { pipeline, input, told } = setUpPortals()
    const list = [null, 5, 'x', {}, { id: '' }, { id: null }, { id: {} }, { id: 0 }, { id: 'x', name: 'Extra' }]
    await pipeline.start(input({ hooks: { getPortalList: () => list } }))
    expect(told).toEqual([['portals', [{ id: 0 }, { id: 'x', name: 'Extra' }]]])
  })

  it('is not called for a default if it returns an empty list', async () => {
    const { pipeline, input } = setUpPortals()
    let asked = 0
    const hooks = { getPortalList: () => [], getDefaultPortal: () => void asked++ }
    await expect(pipeline.start(input({ hooks }))).rejects.toMatchObject({ pipelineCode: 'NO_PORTALS' })
    expect(asked).toBe(0)
  })

  it('cannot select a portal outside the list, which is logged', async () => {
    const { pipeline, input, told } = setUpPortals()
    await pipeline.start(input({ ...FLOW_B, hooks: { getDefaultPortal: () => STAFF } }))
    expect(told).toEqual([
      ['warning', expect.stringContaining('default portal'), { id: 3 }],
      ['portals', [SUPPORT, SALES]],
    ])
  })

  it.each([[null], [undefined], ['2'], [{ id: '' }], [{}]])('selects no default with %j', async answer => {
    const { pipeline, input, names } = setUpPortals()
    await pipeline.start(input({ hooks: { getDefaultPortal: async () => answer } }))
    expect(names()).toEqual(['portals'])
  })

  it('supplies filter tags for each selected portal', async () => {
    const { pipeline, input, told } = setUpPortals({ getUserProfiles: [] })
    await pipeline.start(input({ hooks: { onPortalSelected: async ({ id }) => ({ portal: [String(id)] }) } }))
    await pipeline.selectPortal(SALES)
    expect(told.slice(1)).toEqual([
      ['tags', { portal: ['2'] }],
      ['complete', expect.anything()],
    ])
  })

  it('supplies no tags when it fails, and the run continues', async () => {
    const { pipeline, input, told } = setUpPortals({ getUserProfiles: [] })
    const error = new Error('desk is down')
    const hooks = {
      onPortalSelected: () => {
        throw error
      },
    }
    await pipeline.start(input({ agent: { portals: [1] }, hooks }))
    expect(told).toEqual([
      ['warning', expect.any(String), { error }],
      ['tags', {}],
      ['complete', expect.anything()],
    ])
  })
})

describe('the agents of a portal', () => {
  it('[EVT-02] [INIT-08] are offered, then the profiles', async () => {
    const { pipeline, input, calls, told } = setUpPortals()
    await pipeline.start(input(FLOW_B))
    await pipeline.selectPortal(SUPPORT)
    expect(told.at(-1)).toEqual(['agents', [ORDERS, REPAIRS]])
    await pipeline.selectAgent({ agentId: 'b' })
    expect(told.at(-1)).toEqual(['profiles', [MEMBER, GUEST], SUPPORT])
    await pipeline.selectUserProfile({ id: '11' })
    expect(told.at(-1)).toEqual([
      'complete',
      expect.objectContaining({ portal: SUPPORT, agent: REPAIRS, profile: GUEST, availablePortals: [SUPPORT, SALES] }),
    ])
    expect(calls).toEqual([
      'getMyPortals',
      'getPortalDetails 1',
      'getUserProfiles 1',
      'getAgentsByPortal 1',
      'selectUserProfile 1 11',
    ])
  })

  it('are not offered if there is only one', async () => {
    const { pipeline, input, told } = setUpPortals({ getAgentsByPortal: [ORDERS], getUserProfiles: [] })
    await pipeline.start(input({ ...FLOW_B, context: { vendor_portal_id: 1 } }))
    expect(told).toEqual([['complete', expect.objectContaining({ agent: ORDERS, profile: undefined })]])
  })
})

describe('the profile', () => {
  const entered = { agent: { portals: [1] } }
  const key = 'v2_acmeselectedProfile-1'

  it('[FLOW-11] [FLOW-13] is the last selected one, then that of the context, then that of the service', async () => {
    const { pipeline, input, storage, calls, answers } = setUpPortals()
    const put = () => calls.filter(call => call.startsWith('select')).at(-1)
    const context = { vendor_personalization_profile_id: { value: 10 } }
    answers.getUserProfiles = [MEMBER, { ...GUEST, isLastUsedInPortal: true }]
    await pipeline.start(input(entered))
    expect(put()).toBe('selectUserProfile 1 11')
    expect(JSON.parse(storage.items.get(key) ?? '')).toEqual({
      name: 'Guest',
      id: 11,
      isLastUsedInPortal: true,
      portalId: 1,
    })
    await pipeline.start(input({ ...entered, context }))
    expect(put()).toBe('selectUserProfile 1 11')
    storage.items.clear()
    await pipeline.start(input({ ...entered, context }))
    expect(put()).toBe('selectUserProfile 1 10')
  })

  it('[FLOW-11] is the default of the portal if nothing else names one', async () => {
    const getPortalDetails = { portalSettings: { defaultUserProfile: { id: '11' } } }
    const { pipeline, input, told } = setUpPortals({ getPortalDetails })
    await pipeline.start(input(entered))
    expect(told).toEqual([['complete', expect.objectContaining({ profile: GUEST })]])
  })

  it.each<[string, Partial<RunInput>, unknown]>([
    ['a customer has that of the portal', { agent: { userType: 'customer', portals: [1] } }, { id: 11, name: 'Guest' }],
    [
      '[INIT-05] so does a user whom the host calls a customer',
      { ...entered, params: params({ authType: 'customer' }) },
      {
        id: 11,
        name: 'Guest',
      },
    ],
    [
      'the context may name another',
      { agent: { userType: 'customer', portals: [1] }, context: { vendor_personalization_profile_id: '12' } },
      { id: '12', name: '12' },
    ],
  ])('of the portal is not loaded and not stored at the service: %s', async (_case, more, profile) => {
    const getPortalDetails = { portalSettings: { defaultUserProfile: { id: 11, name: 'Guest' } } }
    const { pipeline, input, calls, told, adapter } = setUpPortals({ getPortalDetails })
    await pipeline.start(input(more))
    expect(told).toEqual([['complete', expect.objectContaining({ profile, availableProfiles: [profile] })]])
    expect(calls.slice(1)).toEqual(['getPortalDetails 1'])
    expect(adapter.keys()).toEqual([])
  })

  it.each<[string, Partial<RunInput>, boolean]>([
    ['an employee', { agent: { portals: [1], userType: 'agent' } }, true],
    [
      '[INIT-05] a user whom the host calls an employee',
      { agent: { portals: [1] }, params: params({ authType: 'user' }) },
      true,
    ],
    ['anonymous', { agent: { portals: [1] }, params: params({ authType: 'anonymous' }) }, false],
  ])('is stored at the service for %s: %o', async (_case, more, tells) => {
    const { pipeline, input, calls, storage } = setUpPortals({ getUserProfiles: [MEMBER] })
    await pipeline.start(input(more))
    expect(calls.includes('selectUserProfile 1 10')).toBe(tells)
    expect(storage.items.has(key)).toBe(true)
  })

  it.each([
    ['with the id none', [{ id: 'none', name: 'No profile' }], {}],
    ['that only the context names', [], { vendor_personalization_profile_id: '12' }],
  ])('%s is not stored at the service, but in the tab', async (_case, getUserProfiles, context) => {
    const { pipeline, input, calls, storage } = setUpPortals({ getUserProfiles })
    await pipeline.start(input({ ...entered, context }))
    expect(calls).toHaveLength(3)
    expect(storage.items.has(key)).toBe(true)
  })

  it('is cached for five minutes, for the same user', async () => {
    const { pipeline, input, calls, clock } = setUpPortals({ getUserProfiles: [MEMBER] })
    const asked = () => calls.filter(call => call.startsWith('getUserProfiles')).length
    const run = (token = 'token') => pipeline.start(input({ ...entered, getToken: () => token }))
    await run()
    await run()
    expect(asked()).toBe(1)
    await run('of somebody else')
    expect(asked()).toBe(2)
    await clock.advance(300_000)
    await run()
    expect(asked()).toBe(3)
  })

  it('list is not cached before completion', async () => {
    const { pipeline, input, adapter } = setUpPortals()
    await pipeline.start(input(entered))
    expect(adapter.keys()).toEqual([])
    await pipeline.selectUserProfile(MEMBER)
    expect(adapter.keys()).toEqual([expect.stringMatching(/^vendor_profiles_7_1_https:\/\/a\.test_[^_]+_$/)])
  })
})
