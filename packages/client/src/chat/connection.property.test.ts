import { turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deferred, watch } from '../../test/chat-harness.ts'
import { setUpConnection } from '../../test/connection-harness.ts'
import { listen } from '../../test/fake-scope.ts'
import { SDKError } from '../errors.ts'
import type { SharedConversation } from '../scope.ts'
import type { ConnectionState } from './connection-state.ts'
import type { Transport, TransportListener } from './transport.ts'

const DRAWING: Record<ConnectionState, ConnectionState[]> = {
  IDLE: ['CONNECTING'],
  CONNECTING: ['CONNECTED', 'RECONNECTING', 'CLOSED'],
  CONNECTED: ['RECONNECTING', 'CLOSED'],
  RECONNECTING: ['CONNECTING', 'CLOSED'],
  CLOSED: ['CONNECTING'],
}

/** A socket that keeps talking after it was closed, as no real one should. */
interface TalkativeSocket {
  readonly listener: TransportListener
  readonly transport: Transport
  /** Until either side has closed it. */
  live: boolean
  open: boolean
}

const code = fc.constantFrom(1000, 1005, 1006, 1001, 1011, 4404)
const socket = fc.nat(5)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('open' as const), abortable: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'close' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'expectEnd' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'confirm' as const }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('address' as const),
      fails: fc.constantFrom('', '', '', '', 'API_ERROR', 'SESSION_ID_INVALID'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('accept' as const), back: fc.constantFrom(0, 0, 0, 1, 2) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('end' as const), back: fc.constantFrom(0, 0, 0, 1, 2), code }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('receive' as const), back: socket }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 900, 5_000, 12_000, 31_000) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('react' as const), how: fc.constantFrom('open', 'close') }) },
)

describe('Connection', () => {
  it('[FLOW-02] [FLOW-03] keeps to its drawing with one socket and one timer, and settles every open(), whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40, size: 'max' }),
        fc.constantFrom(0, 1, 3, Number.POSITIVE_INFINITY),
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        async (steps, maxReconnectAttempts, random) => {
          const sockets: TalkativeSocket[] = []
          const begins: Array<ReturnType<typeof deferred<string>>> = []
          const opens: Array<{ seen: ReturnType<typeof watch>; controller: AbortController | undefined }> = []
          let reaction: string | undefined
          /** Set by close(): from then on there is nothing to tell until the next open(). */
          let silence = false
          let known: ConnectionState = 'IDLE'
          const heard = () => {
            expect(silence).toBe(false)
            const how = reaction
            reaction = undefined
            if (how === 'open') open(false)
            else if (how === 'close') connection.close()
          }
          const { scope, session, connection, clock } = setUpConnection({
            maxReconnectAttempts,
            random: () => random.next().value,
            begin: () => {
              const answer = deferred<string>()
              begins.push(answer)
              return answer.promise
            },
          })
          const shared: Pick<SharedConversation, 'open'> = {
            open: (_address, listener) => {
              expect(sockets.filter(({ live }) => live)).toEqual([])
              const transport = {
                bufferedAmount: 0,
                send() {},
                close() {
                  made.live = false
                },
              }
              const made: TalkativeSocket = { listener, transport, live: true, open: false }
              sockets.push(made)
              return transport
            },
          }
          scope.shared = shared as SharedConversation
          listen(scope, 'stateChanged', ({ state, previousState }) => {
            expect(previousState).toBe(known)
            expect(DRAWING[previousState]).toContain(state)
            expect(connection.state).toBe(state)
            known = state
            heard()
          })
          listen(scope, 'closed', heard)
          listen(scope, 'error', heard)
          connection.observe({ handleOpened: heard, handleFrame: heard })
          session.handleRefused = session.handleEnded = heard
          const open = (abortable: boolean) => {
            silence = false
            const controller = abortable ? new AbortController() : undefined
            opens.push({ seen: watch(connection.open(controller?.signal)), controller })
          }
          for (const each of steps) {
            const target = 'back' in each ? sockets.at(-1 - each.back) : undefined
            switch (each.kind) {
              case 'open':
                open(each.abortable)
                break
              case 'close': {
                const hadReaction = reaction !== undefined
                connection.close()
                if (!hadReaction) silence = true
                break
              }
              case 'expectEnd':
                connection.expectEnd()
                break
              case 'confirm':
                connection.retry.attempts = 0
                break
              case 'address':
                if (each.fails === '') begins.at(-1)?.resolve('s')
                else begins.at(-1)?.reject(new SDKError('none', each.fails as 'API_ERROR'))
                break
              case 'accept':
                if (target) target.open = true
                target?.listener.opened(target.transport)
                break
              case 'end':
                if (target) target.live = false
                target?.listener.closed(target.transport, { code: each.code, reason: '' })
                break
              case 'receive':
                target?.listener.received(target.transport, 'frame')
                break
              case 'advance':
                await clock.advance(each.ms)
                break
              case 'abort':
                opens.at(-1 - each.which)?.controller?.abort()
                break
              case 'react':
                reaction = each.how
                break
              default:
                each satisfies never
            }
            await turnEventLoop(1)
            expect(connection.state).toBe(known)
            expect(sockets.filter(({ live }) => live).length).toBeLessThanOrEqual(1)
            expect(clock.pendingTimers).toBeLessThanOrEqual(1)
            expect(connection.transport !== undefined).toBe(connection.state === 'CONNECTED')
            if (connection.state === 'RECONNECTING') expect(clock.pendingTimers).toBe(1)
            if (connection.state === 'IDLE' || connection.state === 'CLOSED' || connection.state === 'CONNECTED')
              expect(clock.pendingTimers).toBe(0)
            if (connection.state !== 'CONNECTING')
              expect(opens.map(({ seen }) => seen.outcome)).not.toContain('pending')
          }
          reaction = undefined
          connection.close()
          silence = true
          for (const { listener, transport } of sockets) {
            listener.opened(transport)
            listener.received(transport, 'late')
            listener.closed(transport, { code: 1006, reason: '' })
          }
          for (const begin of begins) begin.resolve('late')
          await clock.advance(120_000)
          expect(opens.map(({ seen }) => seen.outcome)).not.toContain('pending')
          expect(sockets.filter(({ live }) => live)).toEqual([])
          expect(clock.pendingTimers).toBe(0)
        },
      ),
      { numRuns: 300 },
    )
  })
})
