import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeTransport, setUpOutbox, thrownBy } from '../../test/outbox-harness.ts'
import type { MessageError } from '../errors.ts'

const LIMIT = 50

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('send' as const), count: fc.integer({ min: 1, max: 30 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('connect' as const), breaksAfter: fc.option(fc.nat(40), { freq: 1 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'lose' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ready' as const), isReady: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(12) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('set clock' as const), ms: fc.integer({ min: -50, max: 50 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('buffer' as const), bytes: fc.constantFrom(0, 1, 300_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
)

/** A transport that breaks after some frames, and reports each to `written`. */
class BreakingTransport extends FakeTransport {
  readonly #written: string[]
  #left: number

  constructor(written: string[], breaksAfter: number | null) {
    super()
    this.#written = written
    this.#left = breaksAfter ?? Number.POSITIVE_INFINITY
  }

  override send(text: string): void {
    if (this.#left-- <= 0) throw new Error('The socket is not open.')
    this.#written.push(String((JSON.parse(text) as { content: string }).content))
  }
}

describe('Outbox', () => {
  it('[FLOW-05] [REL-10] keeps order and limit, loses nothing and repeats nothing, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async steps => {
        const { outbox, clock, state, failures, flushed, connect, lose, endWait, becomeReady } = setUpOutbox({
          maxQueueSize: LIMIT,
        })
        const written: string[] = []
        const accepted: string[] = []
        const removed = new Set<string>()
        let made = 0
        let transport = new BreakingTransport(written, null)
        for (const each of steps) {
          switch (each.kind) {
            case 'send':
              for (let i = 0; i < each.count; i++) {
                const id = String(made++)
                const waiting = outbox.size
                if (waiting >= LIMIT && waiting > 0) {
                  expect(thrownBy(() => outbox.send(id, { id }))).toMatchObject({ reason: 'queue_full', messageId: id })
                  continue
                }
                outbox.send(id, { id })
                accepted.push(id)
                // Only with nothing waiting is a message written at once.
                if (waiting > 0) expect(written.at(-1)).not.toBe(id)
              }
              break
            case 'connect':
              lose()
              transport = new BreakingTransport(written, each.breaksAfter)
              connect(transport)
              break
            case 'lose':
              lose()
              break
            case 'ready':
              if (each.isReady) becomeReady()
              else state.isReady = false
              break
            case 'advance':
              await clock.advance(each.ms)
              break
            case 'set clock':
              clock.shiftWallClock(each.ms)
              break
            case 'buffer':
              transport.bufferedAmount = each.bytes
              break
            case 'cancel': {
              const id = accepted.at(-1 - each.which)
              if (id !== undefined && outbox.delivery(id)?.cancel()) removed.add(id)
              break
            }
            case 'clear':
              outbox.clear()
              break
            default:
              each satisfies never
          }
          for (const error of failures) removed.add((error as MessageError).messageId as string)
          expect(outbox.size).toBeLessThanOrEqual(LIMIT)
          expect(outbox.size).toBe(accepted.length - written.length - removed.size)
          // The pause between bursts, and the two deadlines of the recovery.
          expect(clock.pendingTimers).toBeLessThanOrEqual(3)
        }
        lose()
        becomeReady()
        connect(new BreakingTransport(written, null))
        outbox.ledger.handleNoHistory()
        endWait()
        await clock.advance(200)
        expect([outbox.size, clock.pendingTimers]).toEqual([0, 0])
        expect(failures.every(error => (error as MessageError).reason === 'cleared')).toBe(true)
        expect(flushed.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(written.length)
        // Written and removed messages are together the accepted ones, each in their order.
        expect(written).toEqual(accepted.filter(id => !removed.has(id)))
      }),
      { numRuns: 150 },
    )
  })
})
