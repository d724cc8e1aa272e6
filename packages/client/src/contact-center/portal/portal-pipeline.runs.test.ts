import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { failure } from '../../../test/api-set-up.ts'
import { deferred } from '../../../test/chat-harness.ts'
import {
  FLOW_B,
  GUEST,
  MEMBER,
  ORDERS,
  params,
  REPAIRS,
  SALES,
  STAFF,
  SUPPORT,
  setUpPortals,
} from '../../../test/portal-harness.ts'

const entered = { agent: { portals: [1] } }

describe('[FLOW-25] switching to another portal after completion', () => {
  it('leaves the chat, and passes the following gates to a second completion', async () => {
    const { pipeline, input, calls, told, names } = setUpPortals()
    const context = { vendor_portal_id: 1, vendor_personalization_profile_id: 10 }
    const hooks = { getDefaultPortal: () => SUPPORT }
    await pipeline.start(input({ ...FLOW_B, context, hooks }))
    await pipeline.selectAgent(ORDERS)
    expect(names()).toEqual(['agents', 'complete'])
    calls.length = told.length = 0
    await pipeline.selectPortal({ id: '2' })
    expect(told).toEqual([
      ['switch', SALES],
      ['agents', [ORDERS, REPAIRS]],
    ])
    expect(pipeline.outcome).toBeUndefined()
    await pipeline.selectAgent(REPAIRS)
    expect(told.at(-1)).toEqual([
      'complete',
      expect.objectContaining({ portal: SALES, agent: REPAIRS, profile: MEMBER, availablePortals: [SUPPORT, SALES] }),
    ])
    expect(calls).toEqual(['getPortalDetails 2', 'getUserProfiles 2', 'getAgentsByPortal 2', 'selectUserProfile 2 10'])
  })

  it.each([[{ id: 99 }], [{}]])('keeps the running chat for a portal outside the list: %j', async choice => {
    const { pipeline, input, names } = setUpPortals({ getUserProfiles: [] })
    await pipeline.start(input({ context: { vendor_portal_id: 1 } }))
    const { outcome } = pipeline
    expect(await failure(pipeline.selectPortal(choice as never))).toMatchObject({
      pipelineCode: 'INVALID_SELECTION',
      stage: 'portal',
      portal: SUPPORT,
    })
    expect(names()).toEqual(['complete'])
    expect(pipeline.outcome).toBe(outcome)
  })

  it('keeps the running chat without a token too', async () => {
    const { pipeline, input, names } = setUpPortals({ getUserProfiles: [] })
    let token = 'token'
    await pipeline.start(input({ context: { vendor_portal_id: 1 }, getToken: () => token }))
    token = ''
    expect(await failure(pipeline.selectPortal(SALES))).toMatchObject({ pipelineCode: 'AUTH_TOKEN_REQUIRED' })
    expect(names()).toEqual(['complete'])
    expect(pipeline.outcome?.portal).toEqual(SUPPORT)
    token = 'token'
    await pipeline.selectPortal(SALES)
    expect(pipeline.outcome?.portal).toEqual(SALES)
  })

  it('returns to the portal gate when it fails after the chat was left', async () => {
    const { pipeline, input, answers, names } = setUpPortals({ getUserProfiles: [] })
    await pipeline.start(input({ context: { vendor_portal_id: 1 } }))
    answers.getPortalDetails = new Error('down')
    expect(await failure(pipeline.selectPortal(SALES))).toMatchObject({ pipelineCode: 'PORTAL_DETAILS_FAILED' })
    expect(pipeline.stage.at).toBe('portal')
    answers.getPortalDetails = {}
    await pipeline.selectPortal(STAFF)
    expect(names()).toEqual(['complete', 'switch', 'complete'])
    expect(pipeline.outcome?.portal).toEqual(STAFF)
  })

  it('may be requested in the completion event itself', async () => {
    const { pipeline, input, told, names } = setUpPortals({ getUserProfiles: [] })
    let switched: Promise<unknown> | undefined
    const push = told.push.bind(told)
    told.push = (...entries) => {
      if (entries[0]?.[0] === 'complete') switched ??= pipeline.selectPortal(SALES)
      return push(...entries)
    }
    await pipeline.start(input({ context: { vendor_portal_id: 1 } }))
    await switched
    expect(names()).toEqual(['complete', 'switch', 'complete'])
  })
})

describe('[FLOW-21] a new run', () => {
  it('replaces a run in flight, whose late results have no effect', async () => {
    const late = deferred<never[]>()
    const { pipeline, input, answers, names, requests } = setUpPortals({ getMyPortals: late.promise })
    const first = failure(pipeline.start(input()))
    await turnEventLoop()
    answers.getMyPortals = [SUPPORT, SALES]
    await pipeline.start(input())
    expect(await first).toMatchObject({ code: 'ABORTED' })
    expect(requests[0]?.options['signal']).toMatchObject({ aborted: true })
    late.resolve([])
    await turnEventLoop()
    expect(names()).toEqual(['portals'])
    expect(pipeline.stage.at).toBe('portal')
  })

  it('wins, even if the token of the previous one arrives later', async () => {
    const token = deferred<string>()
    const { pipeline, input, names, adapter } = setUpPortals({ getUserProfiles: [MEMBER] })
    const first = failure(pipeline.start(input({ getToken: () => token.promise })))
    await pipeline.start(input())
    token.resolve('of somebody else')
    expect(await first).toMatchObject({ code: 'ABORTED' })
    await pipeline.selectPortal(SUPPORT)
    await pipeline.start(input(entered))
    expect(adapter.keys()).toHaveLength(1)
    expect(names()).toEqual(['portals', 'complete', 'complete'])
  })

  it('reports nothing after it was left, at any time', async () => {
    const outcomes = new Set<string>()
    for (let moment = 0; moment < 60; moment++) {
      const { pipeline, input, told } = setUpPortals()
      const outcome = pipeline.start(input()).then(
        () => 'gate',
        error => String(error.code),
      )
      for (let tick = 0; tick < moment; tick++) await undefined
      const before = told.length
      await pipeline.reset()
      outcomes.add(await outcome)
      expect(told).toHaveLength(before)
      expect(await outcome).toBe(before ? 'gate' : 'ABORTED')
      expect(pipeline.stage.at).toBe('idle')
    }
    expect([...outcomes]).toEqual(['ABORTED', 'gate'])
  })

  it('rejects the pending selection, and starts from any stage, also a failed one', async () => {
    const { pipeline, input, answers, names } = setUpPortals({ getUserProfiles: () => new Promise(() => {}) })
    await pipeline.start(input())
    const waiting = failure(pipeline.selectPortal(SUPPORT))
    await pipeline.reset()
    expect(await waiting).toMatchObject({ name: 'SDKError', code: 'ABORTED' })
    expect(pipeline.stage.at).toBe('idle')
    answers.getUserProfiles = new Error('down')
    await failure(pipeline.start(input(entered)))
    answers.getUserProfiles = []
    await pipeline.start(input(entered))
    expect(names()).toEqual(['portals', 'complete'])
  })

  it('fetches the profiles of the portal again, and keeps those of other portals', async () => {
    const { pipeline, input, calls, adapter } = setUpPortals({ getUserProfiles: [MEMBER] })
    await pipeline.start(input({ agent: { portals: [2] } }))
    await pipeline.start(input(entered))
    expect(adapter.keys()).toHaveLength(2)
    calls.length = 0
    await pipeline.reset()
    expect(adapter.keys()).toEqual([expect.stringMatching(/^vendor_profiles_7_2_/)])
    await pipeline.start(input(entered))
    expect(calls).toContain('getUserProfiles 1')
  })
})

describe('a signal', () => {
  it('aborts the start of a run, and the request in flight with it', async () => {
    const { pipeline, input, requests, names } = setUpPortals({ getMyPortals: () => new Promise(() => {}) })
    const controller = new AbortController()
    const started = failure(pipeline.start(input(), { signal: controller.signal }))
    await turnEventLoop()
    controller.abort('not now')
    expect(await started).toMatchObject({ code: 'ABORTED', cause: 'not now' })
    expect(requests[0]?.options['signal']).toMatchObject({ aborted: true })
    expect(names()).toEqual([])
  })

  it('aborts a selection and keeps its gate open', async () => {
    const { pipeline, input, answers, names } = setUpPortals({ getUserProfiles: () => new Promise(() => {}) })
    await pipeline.start(input())
    const controller = new AbortController()
    const choice = failure(pipeline.selectPortal(SUPPORT, { signal: controller.signal }))
    controller.abort()
    expect(await choice).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('selectPortal()') })
    expect(await failure(pipeline.selectPortal(SUPPORT, { signal: controller.signal }))).toMatchObject({
      code: 'ABORTED',
    })
    answers.getUserProfiles = []
    await pipeline.selectPortal(SALES)
    expect(names()).toEqual(['portals', 'complete'])
  })

  it('does not remember the profile of an aborted selection', async () => {
    const stored = deferred<undefined>()
    const { pipeline, input, calls, storage } = setUpPortals({ selectUserProfile: () => stored.promise })
    await pipeline.start(input())
    await pipeline.selectPortal(SUPPORT)
    const controller = new AbortController()
    const choice = failure(pipeline.selectUserProfile(MEMBER, { signal: controller.signal }))
    await eventually(() => calls.includes('selectUserProfile 1 10'))
    controller.abort()
    // The service had received the request, and answers it.
    stored.resolve(undefined)
    expect(await choice).toMatchObject({ code: 'ABORTED' })
    await turnEventLoop()
    expect([...storage.items.keys()].filter(key => key.includes('selectedProfile'))).toEqual([])
    await pipeline.selectUserProfile(GUEST)
    expect([...storage.items.values()].join()).toContain('"id":11')
  })

  it('does not remember the profile of an aborted change', async () => {
    const stored = deferred<undefined>()
    const { pipeline, input, calls, storage, answers } = setUpPortals({})
    await pipeline.start(input())
    await pipeline.selectPortal(SUPPORT)
    await pipeline.selectUserProfile(GUEST)
    answers.selectUserProfile = () => stored.promise
    const controller = new AbortController()
    const change = failure(pipeline.updateProfile(MEMBER, { signal: controller.signal }))
    await eventually(() => calls.includes('selectUserProfile 1 10'))
    controller.abort()
    stored.resolve(undefined)
    expect(await change).toMatchObject({ code: 'ABORTED' })
    await turnEventLoop()
    expect([...storage.items.values()].join()).toContain('"id":11')
    expect([...storage.items.values()].join()).not.toContain('"id":10,')
  })

  it('has no effect once the gate is reached', async () => {
    const { pipeline, input } = setUpPortals({ getUserProfiles: [] })
    const controller = new AbortController()
    await pipeline.start(input(), { signal: controller.signal })
    controller.abort()
    await pipeline.selectPortal(SUPPORT)
    expect(pipeline.stage.at).toBe('complete')
  })
})

describe('destroy()', () => {
  it('ends the run permanently, with all its requests', async () => {
    const details = deferred<null>()
    const { pipeline, input, names } = setUpPortals({ getPortalDetails: details.promise })
    await pipeline.start(input())
    const waiting = failure(pipeline.selectPortal(SUPPORT))
    pipeline.destroy()
    details.resolve(null)
    expect(await waiting).toMatchObject({ code: 'ABORTED' })
    await turnEventLoop()
    for (const refused of [pipeline.start(input()), pipeline.selectPortal(SALES), pipeline.updateProfile(MEMBER)])
      expect(await failure(refused)).toMatchObject({ code: 'ABORTED' })
    await pipeline.reset()
    expect(pipeline.stage.at).toBe('destroyed')
    expect(names()).toEqual(['portals'])
  })
})

describe('[FLOW-15] another profile after completion', () => {
  const last = { ...MEMBER, isLastUsedInPortal: true }
  const set = async (authType?: string) => {
    const parts = setUpPortals({ getUserProfiles: [last, GUEST] })
    await parts.pipeline.start(parts.input({ ...entered, params: params({ authType }) }))
    parts.calls.length = 0
    return parts
  }

  it('is stored at the service and in the tab; cached lists are removed, and only the result is reported', async () => {
    const { pipeline, calls, storage, adapter, names } = await set()
    await adapter.set('vendor_profiles_7_2_https://a.test_x_', { value: [], timestamp: 1 })
    const outcome = await pipeline.updateProfile({ id: '11', name: 'from the host’s own object' })
    expect(outcome).toMatchObject({ profile: GUEST, portal: SUPPORT, availableProfiles: [last, GUEST] })
    expect(pipeline.outcome).toBe(outcome)
    expect(calls).toEqual(['selectUserProfile 1 11', 'invalidateCache getUserProfiles'])
    expect(adapter.keys()).toEqual([])
    expect(JSON.parse(storage.items.get('v2_acmeselectedProfile-1') ?? '')).toMatchObject({ id: 11 })
    expect(names()).toEqual(['complete'])
  })

  it.each([
    ['that is stored at the service already', last],
    ['with the id none', { id: 'none' }],
    ['that was used last, as the host says of one outside the list', { id: 12, isLastUsedInPortal: true }],
  ])('%s is not stored at the service, but cached lists are removed', async (_case, profile) => {
    const { pipeline, calls, adapter } = await set()
    expect((await pipeline.updateProfile(profile)).profile).toEqual(profile)
    expect(calls).toEqual(['invalidateCache getUserProfiles'])
    expect(adapter.keys()).toEqual([])
  })

  it('is compared with the last one stored at the service, not with an older list', async () => {
    const { pipeline, calls } = await set()
    await pipeline.updateProfile(GUEST)
    await pipeline.updateProfile(last)
    await pipeline.updateProfile(last)
    expect(calls.filter(call => call.startsWith('select'))).toEqual([
      'selectUserProfile 1 11',
      'selectUserProfile 1 10',
    ])
  })

  it('of a customer is not stored at the service', async () => {
    const { pipeline, calls } = await set('customer')
    await pipeline.updateProfile(GUEST)
    expect(calls).toEqual(['invalidateCache getUserProfiles'])
  })

  it('is rejected with PROFILE_PERSIST_FAILED, and cached lists are still removed', async () => {
    const { pipeline, calls, answers, adapter, storage } = await set()
    const before = new Map(storage.items)
    const { outcome } = pipeline
    answers.selectUserProfile = new Error('down')
    const error = await failure(pipeline.updateProfile(GUEST))
    expect(error).toMatchObject({ pipelineCode: 'PROFILE_PERSIST_FAILED', stage: 'profile', portal: SUPPORT })
    expect(calls).toEqual(['selectUserProfile 1 11', 'invalidateCache getUserProfiles'])
    expect(adapter.keys()).toEqual([])
    expect(storage.items).toEqual(before)
    expect(pipeline.outcome).toBe(outcome)
  })

  it.each([{}, { id: '' }, { id: null }, null, undefined, 11])(
    'is INVALID_SELECTION without an id: %j',
    async given => {
      const { pipeline, calls } = await set()
      expect(await failure(pipeline.updateProfile(given as typeof GUEST))).toMatchObject({
        code: 'INVALID_SELECTION',
        stage: 'profile',
        portal: SUPPORT,
      })
      expect([calls, pipeline.stage.at]).toEqual([[], 'complete'])
    },
  )

  it('[ADOPT-10] is rejected before completion', async () => {
    const { pipeline, input } = setUpPortals()
    await pipeline.start(input(entered))
    expect(await failure(pipeline.updateProfile(MEMBER))).toMatchObject({
      code: 'NOT_INITIALIZED',
      message: expect.stringContaining('not initialized'),
    })
    expect(pipeline.stage.at).toBe('profile')
  })
})
