import type { Portal } from '@aiagent/protocol'
import { turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deferred } from '../../../test/chat-harness.ts'
import {
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
import { InitializationPipelineError, SDKError } from '../../errors.ts'
import { PortalPipeline } from './portal-pipeline.ts'
import type { PortalParts } from './portal-run.ts'

const step = fc.oneof(
  // The service answers all pending requests, repeatedly, until a gate is reached.
  { weight: 10, arbitrary: fc.constant({ kind: 'reach' as const }) },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('choose' as const), id: fc.constantFrom(1, 2), abortable: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('start' as const), flowB: fc.boolean(), abortable: fc.boolean() }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('select' as const),
      what: fc.constantFrom('portal', 'agent', 'profile', 'update'),
      id: fc.constantFrom(1, 2, 3, 99),
      abortable: fc.boolean(),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('answer' as const), which: fc.nat(3), fails: fc.nat(7) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reset' as const }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('turn' as const), turns: fc.constantFrom(0, 0, 1) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('react' as const), how: fc.constantFrom('select', 'start', 'reset') }),
  },
)

describe('PortalPipeline', () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  beforeEach(() => void process.on('unhandledRejection', note))
  afterEach(() => void process.off('unhandledRejection', note))

  it('[FLOW-10] [FLOW-25] completes a run at most once, settles every promise and leaves none unhandled', async () => {
    let completed = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async steps => {
        /** Pending requests of the service, oldest first. */
        const owed: Array<ReturnType<typeof deferred<unknown>> & { value: unknown }> = []
        const owe = (value: unknown) => () => {
          const answer = { ...deferred<unknown>(), value }
          owed.push(answer)
          return answer.promise as Promise<never>
        }
        const { input, adapter, scope, authentication } = setUpPortals({
          getMyPortals: owe([SUPPORT, SALES, STAFF]),
          getPortalDetails: owe({ departmentId: 9 }),
          getAgentsByPortal: owe([ORDERS, REPAIRS]),
          getUserProfiles: owe([MEMBER, GUEST]),
          selectUserProfile: owe(undefined),
        })
        const waiting: Array<{ promise: Promise<unknown>; settled: boolean; controller: AbortController | undefined }> =
          []
        let reaction: string | undefined
        /** Completions that are still allowed: one for each run that begins, and none for those that were left. */
        let allowed = 0
        const told = (name: string) => {
          expect(pipeline.stage.at).toBe(name)
          const how = reaction
          reaction = undefined
          if (how === 'select') select('next', 2, false)
          else if (how === 'start') start(false, false)
          else if (how === 'reset') track(pipeline.reset(), undefined)
        }
        const handlers: Pick<PortalParts, 'onComplete' | 'onSwitch'> = {
          onComplete: ({ portal, availablePortals }) => {
            expect(allowed).toBe(1)
            allowed = 0
            completed++
            expect(availablePortals.map(({ id }: Portal) => id)).toContain(portal.id)
            told('complete')
          },
          onSwitch: async () => {
            expect(allowed).toBe(0)
            allowed = 1
            // Leaving a chat rejects with an error of the library, if at all.
            await owe(undefined)().catch(cause => {
              throw new SDKError('The chat could not be left.', 'ABORTED', { cause })
            })
          },
        }
        const pipeline: PortalPipeline = new PortalPipeline({
          ...handlers,
          scope: Object.assign(scope, { emit: (type: string) => told(type.replace('sAvailable', '')) }),
          authentication,
          profileCache: {
            claim: async () => {},
            get: async () => undefined,
            keep: async () => void adapter.set('kept', { value: true, timestamp: 1 }),
            forget: async () => {},
          },
          selectedProfiles: { claim: async () => {}, load: async () => undefined, remember: async () => {} },
        } as unknown as PortalParts)
        const track = (promise: Promise<unknown>, controller: AbortController | undefined) => {
          const entry = { promise, settled: false, controller }
          waiting.push(entry)
          promise.then(
            () => (entry.settled = true),
            error => {
              entry.settled = true
              expect(error).toBeInstanceOf(SDKError)
              if (!(error instanceof InitializationPipelineError))
                expect(['ABORTED', 'NOT_INITIALIZED']).toContain((error as SDKError).code)
            },
          )
        }
        const begin = (abortable: boolean, make: (signal: AbortSignal | undefined) => Promise<unknown>) => {
          const controller = abortable ? new AbortController() : undefined
          track(make(controller?.signal), controller)
        }
        const start = (flowB: boolean, abortable: boolean) => {
          allowed = 1
          begin(abortable, signal =>
            pipeline.start(
              input({
                agent: { departmentId: flowB ? 9 : null, portals: flowB ? [] : [1, 2] },
                params: params({ isDefaultAgent: flowB }),
                getToken: owe('token'),
              }),
              { signal },
            ),
          )
        }
        const select = (what: string, id: number, abortable: boolean) => {
          const { at } = pipeline.stage
          const gate = what === 'next' ? (at === 'agent' || at === 'profile' ? at : 'portal') : what
          begin(abortable, signal => {
            const options = { signal }
            if (gate === 'agent') return pipeline.selectAgent({ agentId: id === 2 ? 'b' : 'a' }, options)
            if (gate === 'profile') return pipeline.selectUserProfile({ id: id + 9 }, options)
            if (gate === 'update') return pipeline.updateProfile({ id: id + 9 }, options)
            return pipeline.selectPortal({ id }, options)
          })
        }

        const serve = async () => {
          for (let rounds = 0; rounds < 20 && waiting.some(({ settled }) => !settled); rounds++) {
            for (const answer of owed.splice(0)) answer.resolve(answer.value)
            await turnEventLoop(1)
          }
        }

        start(false, false)
        for (const action of steps) {
          switch (action.kind) {
            case 'reach':
              await serve()
              break
            case 'choose':
              select('next', action.id, action.abortable)
              break
            case 'start':
              start(action.flowB, action.abortable)
              break
            case 'select':
              select(action.what, action.id, action.abortable)
              break
            case 'answer': {
              const [answer] = owed.splice(Math.min(action.which, owed.length - 1), 1)
              if (action.fails === 0) answer?.reject(new Error('down'))
              else answer?.resolve(answer.value)
              break
            }
            case 'abort':
              waiting.at(-1 - action.which)?.controller?.abort()
              break
            case 'reset':
              allowed = 0
              track(pipeline.reset(), undefined)
              break
            case 'react':
              reaction = action.how
              break
            case 'turn':
              await turnEventLoop(action.turns)
              break
            default:
              action satisfies never
          }
        }
        // Answer every pending request at the end; then no caller waits.
        reaction = undefined
        await serve()
        expect(waiting.filter(({ settled }) => !settled)).toEqual([])
        expect(pipeline.stage.at).not.toBe('working')
        pipeline.destroy()
        for (const answer of owed.splice(0)) answer.reject(new Error('too late'))
        await turnEventLoop(1)
        expect(unhandled).toEqual([])
      }),
      { numRuns: 300 },
    )
    // Otherwise the sequences would have covered too little.
    expect(completed).toBeGreaterThan(30)
  }, 60_000)
})
