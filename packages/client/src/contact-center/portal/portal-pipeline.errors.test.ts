import { describe, expect, it } from 'vitest'
import { failure } from '../../../test/api-set-up.ts'
import {
  FLOW_B,
  GUEST,
  MEMBER,
  ORDERS,
  type PortalAnswers,
  params,
  REPAIRS,
  type RunInput,
  SALES,
  SUPPORT,
  setUpPortals,
} from '../../../test/portal-harness.ts'
import { InitializationPipelineError, SDKError } from '../../errors.ts'

const down = new Error('service down')
const customer = { agent: { userType: 'customer', portals: [1] } }
const thrower = () => {
  throw down
}

describe('[ERR-02] a run that fails before the first gate', () => {
  it.each<[string, string, Partial<RunInput>, Partial<PortalAnswers>, object]>([
    ['AUTH_TOKEN_REQUIRED', 'there is no token', { getToken: () => null }, {}, { stage: 'start' }],
    ['AUTH_TOKEN_REQUIRED', 'the token is blank', { getToken: async () => ' ' }, {}, { stage: 'start' }],
    ['AUTH_TOKEN_REQUIRED', 'no token can be obtained', { getToken: thrower }, {}, { stage: 'start', cause: down }],
    [
      'PORTAL_FETCH_FAILED',
      'the user’s own portals fail',
      {},
      { getMyPortals: down },
      { stage: 'portal', cause: down },
    ],
    [
      'PORTAL_FETCH_FAILED',
      '[FLOW-22] the portals for customers fail',
      customer,
      { getPortals: down },
      { stage: 'portal', cause: down },
    ],
    ['NO_PORTALS', 'there are none', {}, { getMyPortals: [] }, { stage: 'portal' }],
    ['NO_PORTALS', 'the agent has others', { agent: { portals: ['x'] } }, {}, { stage: 'portal' }],
    ['NO_PORTALS', 'the department has none', { ...FLOW_B, agent: { departmentId: 1 } }, {}, { stage: 'portal' }],
    ['NO_PORTALS', 'the connector removes all', { hooks: { getPortalList: () => 'none' } }, {}, { stage: 'portal' }],
    [
      'NO_PORTALS',
      'the connector fails',
      { hooks: { getPortalList: thrower, address: 'https://desk.example.test/c.js' } },
      {},
      { stage: 'portal', cause: down, message: expect.stringContaining('https://desk.example.test/c.js') },
    ],
    [
      'NO_PORTALS',
      'the connector fails to name a portal',
      { hooks: { getDefaultPortal: async () => thrower() } },
      {},
      { stage: 'portal', cause: down },
    ],
    [
      'DEPARTMENT_ID_REQUIRED',
      'there is no department',
      { ...FLOW_B, agent: {} },
      {},
      { stage: 'portal', message: expect.stringContaining('Set initParams.departmentId.') },
    ],
    [
      'DEPARTMENT_ID_REQUIRED',
      'the portal has none',
      { ...FLOW_B, context: { vendor_portal_id: 1 } },
      { getPortalDetails: { departmentId: ' ' } },
      { stage: 'agent', portal: SUPPORT },
    ],
    [
      'DEPARTMENT_ID_REQUIRED',
      'the portal details are null',
      { ...FLOW_B, context: { vendor_portal_id: 1 } },
      { getPortalDetails: null },
      { stage: 'agent', portal: SUPPORT },
    ],
    [
      'PORTAL_DETAILS_FAILED',
      '[FLOW-23] the details fail',
      { agent: { portals: [1] } },
      { getPortalDetails: down },
      { stage: 'portal', portal: SUPPORT, cause: down },
    ],
    [
      'PORTAL_DETAILS_FAILED',
      'the details fail after the profiles',
      { agent: { portals: [1] } },
      {
        getPortalDetails: () => new Promise((_, reject) => setImmediate(() => reject(down))),
        getUserProfiles: new Error('other'),
      },
      { stage: 'portal', portal: SUPPORT, cause: down },
    ],
    [
      'PORTAL_DETAILS_FAILED',
      'the details fail, which a customer’s profile also needs',
      customer,
      { getPortalDetails: down },
      { stage: 'portal', portal: SUPPORT, cause: down },
    ],
    [
      'PROFILE_FETCH_FAILED',
      'the profiles fail',
      { agent: { portals: [1] } },
      { getUserProfiles: down },
      { stage: 'profile', portal: SUPPORT, cause: down },
    ],
    [
      'NO_AGENTS_FOR_PORTAL',
      'there are none',
      { ...FLOW_B, context: { vendor_portal_id: 1 } },
      { getAgentsByPortal: [] },
      { stage: 'agent', portal: SUPPORT },
    ],
    [
      'NO_AGENTS_FOR_PORTAL',
      'the agents fail',
      { ...FLOW_B, context: { vendor_portal_id: 1 } },
      { getAgentsByPortal: down },
      { stage: 'agent', portal: SUPPORT, cause: down, message: expect.stringContaining('service down') },
    ],
    [
      'PROFILE_PERSIST_FAILED',
      '[FLOW-23] the service refuses the profile',
      { ...FLOW_B, context: { vendor_portal_id: 1 } },
      { getAgentsByPortal: [ORDERS], getUserProfiles: [MEMBER], selectUserProfile: down },
      { stage: 'profile', portal: SUPPORT, agent: ORDERS, cause: down },
    ],
  ])('rejects with %s when %s', async (pipelineCode, _case, more, answers, facts) => {
    const { pipeline, input, told, storage } = setUpPortals(answers)
    const error = await failure(pipeline.start(input(more)))
    expect(error).toBeInstanceOf(InitializationPipelineError)
    expect(error).toMatchObject({ pipelineCode, code: pipelineCode, portal: undefined, agent: undefined, ...facts })
    expect(told).toEqual([])
    expect(pipeline.stage.at).toBe('failed')
    expect(storage.items.size).toBe(0)
    expect(await failure(pipeline.selectPortal(SUPPORT))).toMatchObject({ pipelineCode: 'INVALID_SELECTION' })
  })

  it('[FLOW-22] has no side effects: the next one starts clean', async () => {
    const { pipeline, input, answers, names } = setUpPortals({ getMyPortals: down })
    await failure(pipeline.start(input()))
    answers.getMyPortals = [SUPPORT, SALES]
    await pipeline.start(input())
    expect(names()).toEqual(['portals'])
  })
})

describe('[FLOW-10] a step behind a gate that fails', () => {
  it('rejects the selection of a portal and keeps the gate open', async () => {
    const { pipeline, input, answers, names } = setUpPortals({ getPortalDetails: down })
    await pipeline.start(input())
    expect(await failure(pipeline.selectPortal(SUPPORT))).toMatchObject({
      pipelineCode: 'PORTAL_DETAILS_FAILED',
      portal: SUPPORT,
    })
    expect(pipeline.stage.at).toBe('portal')
    expect(pipeline.selectedPortal).toBeUndefined()
    answers.getPortalDetails = {}
    await pipeline.selectPortal(SALES)
    expect(names()).toEqual(['portals', 'profiles'])
  })

  it('rejects the selection of an agent and keeps the gate open', async () => {
    const { pipeline, input, answers, told } = setUpPortals({ getUserProfiles: [MEMBER], selectUserProfile: down })
    await pipeline.start(input({ ...FLOW_B, context: { vendor_portal_id: 1 } }))
    expect(await failure(pipeline.selectAgent(ORDERS))).toMatchObject({
      pipelineCode: 'PROFILE_PERSIST_FAILED',
      stage: 'profile',
      portal: SUPPORT,
      agent: ORDERS,
    })
    expect(pipeline.stage.at).toBe('agent')
    answers.selectUserProfile = undefined
    await pipeline.selectAgent(REPAIRS)
    expect(told.at(-1)).toEqual(['complete', expect.objectContaining({ agent: REPAIRS, profile: MEMBER })])
  })

  it('[FLOW-13] rejects the selection of a profile, stores nothing, and keeps the gate open', async () => {
    const { pipeline, input, answers, storage, told } = setUpPortals({ selectUserProfile: down })
    await pipeline.start(input({ agent: { portals: [1] } }))
    expect(await failure(pipeline.selectUserProfile(MEMBER))).toMatchObject({
      pipelineCode: 'PROFILE_PERSIST_FAILED',
      cause: down,
    })
    expect(storage.items.size).toBe(0)
    answers.selectUserProfile = undefined
    await pipeline.selectUserProfile(GUEST)
    expect(told.at(-1)).toEqual(['complete', expect.objectContaining({ profile: GUEST })])
  })

  it('[FLOW-26] [ERR-02] is reported nowhere else', async () => {
    const { pipeline, input, names } = setUpPortals({ getPortalDetails: down })
    await pipeline.start(input({ params: params({ portalIds: ['1', '2'] }) }))
    await failure(pipeline.selectPortal({ id: 1 }))
    expect(names()).toEqual(['portals'])
  })
})

describe('[ERR-02] INVALID_SELECTION', () => {
  it.each<[string, 'selectPortal' | 'selectAgent' | 'selectUserProfile', object, object]>([
    ['a portal that is not in the list', 'selectPortal', { id: 99 }, { stage: 'portal' }],
    ['a portal without an id', 'selectPortal', {}, { stage: 'portal' }],
    ['an agent at the portal gate', 'selectAgent', ORDERS, { stage: 'agent' }],
    ['a profile at the portal gate', 'selectUserProfile', MEMBER, { stage: 'profile' }],
  ])('rejects %s, and changes nothing', async (_case, method, choice, facts) => {
    const { pipeline, input, calls } = setUpPortals()
    await pipeline.start(input(FLOW_B))
    const error = await failure(pipeline[method](choice as never))
    expect(error).toBeInstanceOf(InitializationPipelineError)
    expect(error).toMatchObject({ pipelineCode: 'INVALID_SELECTION', ...facts, portal: undefined })
    expect(calls).toEqual(['getMyPortals'])
    await pipeline.selectPortal(SUPPORT)
    expect(pipeline.stage.at).toBe('agent')
  })

  it('contains the earlier selections', async () => {
    const { pipeline, input } = setUpPortals()
    await pipeline.start(input(FLOW_B))
    await pipeline.selectPortal(SUPPORT)
    const wrong = { pipelineCode: 'INVALID_SELECTION', portal: SUPPORT, agent: undefined }
    expect(await failure(pipeline.selectPortal(SALES))).toMatchObject({ ...wrong, stage: 'portal' })
    expect(await failure(pipeline.selectAgent({ agentId: 'x' }))).toMatchObject({ ...wrong, stage: 'agent' })
    await pipeline.selectAgent(REPAIRS)
    expect(await failure(pipeline.selectAgent(ORDERS))).toMatchObject({ ...wrong, stage: 'agent', agent: REPAIRS })
    expect(await failure(pipeline.selectUserProfile({ id: 99 }))).toMatchObject({
      ...wrong,
      stage: 'profile',
      agent: REPAIRS,
    })
    await pipeline.selectUserProfile(MEMBER)
    expect(await failure(pipeline.selectUserProfile(GUEST))).toMatchObject({
      ...wrong,
      stage: 'profile',
      agent: REPAIRS,
    })
  })

  it('rejects the second of two concurrent selections; the first continues', async () => {
    const { pipeline, input, names } = setUpPortals({ getUserProfiles: [] })
    await pipeline.start(input())
    const first = pipeline.selectPortal(SUPPORT)
    expect(await failure(pipeline.selectPortal(SALES))).toMatchObject({
      pipelineCode: 'INVALID_SELECTION',
      stage: 'portal',
    })
    await first
    expect(names()).toEqual(['portals', 'complete'])
  })

  it('[ADOPT-10] is not used before start(): that is NOT_INITIALIZED', async () => {
    const { pipeline } = setUpPortals()
    for (const refused of [
      pipeline.selectPortal(SUPPORT),
      pipeline.selectAgent(ORDERS),
      pipeline.selectUserProfile(MEMBER),
      pipeline.updateProfile(MEMBER),
    ]) {
      const error = await failure(refused)
      expect(error).toBeInstanceOf(SDKError)
      expect(error).toMatchObject({ code: 'NOT_INITIALIZED', message: expect.stringContaining('not initialized') })
    }
  })
})
