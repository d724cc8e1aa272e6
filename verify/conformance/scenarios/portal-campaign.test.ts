import { type AiAgent, InitializationPipelineError, SDKError } from '@aiagent/client'
import { turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { expect } from 'vitest'
import { openDesk } from '../desk.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

const ROUTES = [
  'GET */myportals',
  'GET */internal/portals/*',
  'GET */userprofiles',
  'GET */department/*',
  'PUT *',
  'POST */session',
] as const

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('choose' as const), which: fc.nat(2) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('select' as const),
      what: fc.constantFrom('portal', 'agent', 'profile'),
      id: fc.constantFrom(1001, 1002, 1101, 11, 31, 9999),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('update' as const), id: fc.constantFrom(10, 12, 30, 31) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('initialize' as const, 'restart' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('connect' as const, 'disconnect' as const, 'drop' as const) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fail' as const), route: fc.constantFrom(...ROUTES) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('hang' as const), route: fc.constantFrom(...ROUTES) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('destroy' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('turn' as const), turns: fc.nat(3) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const OTHER_CODES = ['ABORTED', 'NOT_INITIALIZED', 'API_ERROR', 'CONNECTION_ERROR']

/** Runs calls and failures against one agent and checks the invariants of any order. */
async function play(service: Service, steps: readonly Step[], isDefaultAgent: boolean): Promise<number> {
  const { agent, journal } = openDesk(service, {
    cache: { enabled: false },
    baseReconnectDelay: 1,
    maxReconnectDelay: 1,
    ...(isDefaultAgent && { initParams: { isDefaultAgent: 'true' } }),
  })
  const waiting: { promise: Promise<unknown>; settled: boolean; call: string }[] = []
  const codes = new Set<string>()
  // Each of these calls starts at most one run; a completed run supersedes the earlier ones.
  let runs = 0
  let isDestroyed = false
  // An expectation in a listener would fail unnoticed: the agent logs what a listener throws.
  let unexpected = 0
  agent.on('initialized', () => {
    if (runs > 0) runs--
    else unexpected++
  })
  const track = (call: string, promise: Promise<unknown>) => {
    const entry = { promise, settled: false, call }
    waiting.push(entry)
    promise.then(
      () => (entry.settled = true),
      (error: unknown) => {
        entry.settled = true
        expect(error).toBeInstanceOf(SDKError)
        if (!(error instanceof InitializationPipelineError)) codes.add((error as SDKError).code)
      },
    )
  }
  const begin = (call: string, make: (of: AiAgent) => Promise<unknown>) => {
    runs++
    track(call, make(agent))
  }
  const settle = async () => {
    service.faults.lift({ kind: 'hang-request' })
    await service.until(() => waiting.every(({ settled }) => settled), `${openCalls()} settled`)
  }
  const openCalls = () => waiting.flatMap(({ settled, call }) => (settled ? [] : [call])).join(', ')
  const choose = (which: number) => {
    const type = journal.types.findLast(name => name.endsWith('Available') || name === 'initialized')
    const pick = <T>(list: readonly T[] = []): T | undefined => list[which % Math.max(1, list.length)]
    const portal = pick(journal.of('portalsAvailable').at(-1)?.portals)
    const picked = pick(journal.of('agentsAvailable').at(-1)?.agents)
    const profile = pick(journal.of('profilesAvailable').at(-1)?.profiles)
    if (type === 'agentsAvailable' && picked) track('selectAgent()', agent.selectAgent(picked))
    else if (type === 'profilesAvailable' && profile) track('selectUserProfile()', agent.selectUserProfile(profile))
    else if (portal) begin('selectPortal()', of => of.selectPortal(portal))
  }

  for (const action of steps) {
    switch (action.kind) {
      case 'choose':
        choose(action.which)
        break
      case 'select':
        if (action.what === 'agent') track('selectAgent()', agent.selectAgent({ agentId: 'desk' }))
        else if (action.what === 'profile') track('selectUserProfile()', agent.selectUserProfile({ id: action.id }))
        else begin('selectPortal()', of => of.selectPortal({ id: action.id }))
        break
      case 'update':
        begin('updateUserProfile()', of => of.updateUserProfile({ id: action.id, name: 'Other' }))
        break
      case 'initialize':
        begin('initialize()', of => of.initialize())
        break
      case 'restart':
        begin('restartPortalInitializer()', of => of.restartPortalInitializer())
        break
      case 'connect':
        track('connect()', agent.connect())
        break
      case 'disconnect':
        track('disconnect()', agent.disconnect())
        break
      case 'drop':
        service.control.dropSockets()
        break
      case 'fail':
        service.faults.add({ kind: 'answer', route: action.route, status: 500, times: 1 })
        break
      case 'hang':
        service.faults.add({ kind: 'hang-request', route: action.route, times: 1 })
        break
      case 'destroy':
        isDestroyed = true
        track('destroy()', agent.destroy())
        break
      case 'turn':
        await turnEventLoop(action.turns)
        break
      case 'settle':
        await settle()
        break
      default:
        action satisfies never
    }
  }
  await settle()
  service.faults.lift({})
  // From every end the pipeline can be restarted and completes: nothing is stuck.
  if (!isDestroyed) {
    if (agent.getIsInitialized()) begin('restartPortalInitializer()', of => of.restartPortalInitializer())
    else begin('initialize()', of => of.initialize())
    for (let gates = 0; gates < 3; gates++) {
      await settle()
      if (!agent.getIsInitialized()) choose(0)
    }
    await settle()
    expect(agent.getIsInitialized()).toBe(true)
  }
  await service.through(agent.destroy())
  const told = journal.types.length
  await turnEventLoop(3)
  expect(journal.types).toHaveLength(told)
  expect(unexpected).toBe(0)
  expect([...codes].filter(code => !OTHER_CODES.includes(code))).toEqual([])
  return journal.of('initialized').length
}

verifies(
  ['FLOW-10', 'FLOW-25', 'FLOW-26'],
  'no order of calls and failures completes a run twice, leaves a call pending, or leaves a rejection unhandled',
  async service => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    let completed = 0
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 5, maxLength: 30, size: 'max' }),
          fc.boolean(),
          async (steps, isDefaultAgent) => {
            completed += await play(service, [{ kind: 'initialize' }, ...steps], isDefaultAgent)
            expect(unhandled).toEqual([])
          },
        ),
        { numRuns: 60, endOnFailure: true },
      )
    } finally {
      process.off('unhandledRejection', note)
    }
    // Otherwise the sequences would have proven nothing.
    expect(completed).toBeGreaterThan(20)
  },
)
