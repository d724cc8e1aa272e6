import { ManualClock } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutboundLane } from './outbound-lane.ts'
import type { Transport } from './transport.ts'

const LIMIT = 50

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('accept' as const), count: fc.integer({ min: 1, max: 30 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('open' as const), breaksAfter: fc.option(fc.nat(40), { freq: 1 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'shut' as const }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('jump' as const), ms: fc.integer({ min: -50, max: 50 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('buffer' as const), bytes: fc.constantFrom(0, 1, 300_000) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
)

describe('OutboundLane', () => {
  it('[FLOW-05] keeps order, loses nothing and repeats nothing, whatever happens to its transports', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async steps => {
        const clock = new ManualClock()
        const written: string[] = []
        const cleared: string[] = []
        const accepted: string[] = []
        let buffered = 0
        /** Written from the queue since it was last empty or cleared. */
        let sinceEmpty = 0
        let directly = false
        const lane = new OutboundLane({
          clock,
          maxQueueSize: LIMIT,
          onFlushed: count => {
            expect(count).toBe(sinceEmpty)
            expect(lane.size).toBe(0)
            sinceEmpty = 0
          },
        })
        const makeTransport = (breaksAfter: number | null): Transport => {
          let left = breaksAfter ?? Number.POSITIVE_INFINITY
          return {
            get bufferedAmount() {
              return buffered
            },
            send(text) {
              if (left-- <= 0) throw new Error('The socket is not open.')
              written.push(text)
              if (!directly) sinceEmpty++
            },
            close() {},
          }
        }
        let made = 0
        for (const each of steps) {
          switch (each.kind) {
            case 'accept':
              for (let i = 0; i < each.count; i++) {
                const id = String(made++)
                const full = lane.size >= LIMIT
                const waiting = lane.size
                directly = true
                try {
                  lane.accept(id, id)
                  accepted.push(id)
                  // Only with nothing waiting is a message written at once.
                  if (waiting > 0) expect(written.at(-1)).not.toBe(id)
                } catch (error) {
                  expect(error).toMatchObject({ reason: 'queue_full', messageId: id })
                  expect(full).toBe(true)
                }
                directly = false
              }
              break
            case 'open':
              lane.open(makeTransport(each.breaksAfter))
              break
            case 'shut':
              lane.shut()
              break
            case 'advance':
              await clock.advance(each.ms)
              break
            case 'jump':
              clock.jump(each.ms)
              break
            case 'buffer':
              buffered = each.bytes
              break
            case 'clear':
              cleared.push(...lane.clear().map(({ id }) => id))
              sinceEmpty = 0
              break
            default:
              each satisfies never
          }
          expect(lane.size).toBeLessThanOrEqual(LIMIT)
          expect(lane.size).toBe(accepted.length - written.length - cleared.length)
          expect(clock.pendingTimers).toBeLessThanOrEqual(1)
        }
        buffered = 0
        lane.open(makeTransport(null))
        await clock.advance(200)
        expect(lane.size).toBe(0)
        expect(sinceEmpty).toBe(0)
        expect(clock.pendingTimers).toBe(0)
        // What was written and what was taken out is together what was accepted, and each in its order.
        const isCleared = new Set(cleared)
        expect(written).toEqual(accepted.filter(id => !isCleared.has(id)))
        expect(cleared).toEqual(accepted.filter(id => isCleared.has(id)))
      }),
      { numRuns: 150 },
    )
  })
})
