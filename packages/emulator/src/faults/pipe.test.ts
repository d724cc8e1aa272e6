import { ManualClock } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../random.ts'
import { Pipe } from './pipe.ts'

describe('a pipe', () => {
  it('delivers frames within the call while it is clear, and without a timer', () => {
    const clock = new ManualClock()
    const pipe = new Pipe(clock)
    const passed: number[] = []
    expect(pipe.isClear).toBe(true)
    pipe.frame('x', () => passed.push(1))
    expect(passed).toEqual([1])
    expect(clock.pendingTimers).toBe(0)
  })

  it('keeps the order, and delivers everything in the end, whatever happens', async () => {
    const event = fc.oneof(
      { weight: 5, arbitrary: fc.constant('frame' as const) },
      fc.constant('hold' as const),
      fc.constant('release' as const),
      fc.record({ delayMs: fc.integer({ min: 0, max: 500 }), jitterMs: fc.integer({ min: 0, max: 500 }) }),
      fc.record({ bytesPerSecond: fc.integer({ min: 1, max: 5000 }) }),
      fc.constant('calm' as const),
      fc.record({ advanceMs: fc.integer({ min: 0, max: 400 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), async events => {
        const clock = new ManualClock()
        const random = createRandom(1)
        const pipe = new Pipe(clock)
        const passed: number[] = []
        let sent = 0
        for (const each of events) {
          if (each === 'frame') {
            const number = sent++
            pipe.frame('some text', () => passed.push(number))
          } else if (each === 'hold') pipe.hold('h', false)
          else if (each === 'release') pipe.release('h')
          else if (each === 'calm') pipe.setConditions(undefined)
          else if ('advanceMs' in each) await clock.advance(each.advanceMs)
          else if ('delayMs' in each)
            pipe.setConditions({ delayMs: () => each.delayMs + random.next() * each.jitterMs, isLost: () => false })
          else pipe.setConditions({ delayMs: () => 0, isLost: () => false, bytesPerSecond: each.bytesPerSecond })
          expect(passed).toEqual(Array.from({ length: passed.length }, (_, index) => index))
        }
        pipe.release('h')
        await clock.advance(1_000_000)
        expect(passed).toHaveLength(sent)
        expect(clock.pendingTimers).toBe(0)
        pipe.setConditions(undefined)
        expect(pipe.isClear).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  it('runs pending steps when it ends, and drops pending frames', () => {
    const pipe = new Pipe(new ManualClock())
    const passed: string[] = []
    pipe.hold('h', false)
    pipe.frame('x', () => passed.push('frame'))
    pipe.step(() => passed.push('close'))
    pipe.flush()
    expect(passed).toEqual(['close'])
    expect(pipe.isClear).toBe(true)
  })
})
