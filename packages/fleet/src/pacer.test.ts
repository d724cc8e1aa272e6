import { ManualClock } from '@aiagent/test-support'
import { expect, it } from 'vitest'
import { Pacer } from './pacer.ts'

/** Takes permits one after the other, and notes when each was given. */
function takeMany(perSecond: number, count: number) {
  const clock = new ManualClock()
  clock.jump(10_000)
  const start = clock.monotonic()
  const pacer = new Pacer(perSecond, clock)
  const times: number[] = []
  const take = async () => {
    for (let left = count; left > 0; left--) {
      await pacer.take()
      times.push(clock.monotonic() - start)
    }
  }
  void take()
  return { clock, pacer, times }
}

it('gives the unused permits of the last second at once, and the others at its rate', async () => {
  const { clock, times } = takeMany(2, 6)
  await clock.advance(499)
  expect(times).toEqual([0, 0, 0])
  for (const ms of [1, 500, 500]) await clock.advance(ms)
  expect(times).toEqual([0, 0, 0, 500, 1_000, 1_500])
})

it('uses a changed rate for those that come later', async () => {
  const { clock, pacer, times } = takeMany(1, 5)
  await clock.advance(0)
  pacer.setRate(10)
  for (const ms of [1_000, 1_000, 100]) await clock.advance(ms)
  expect(times).toEqual([0, 0, 1_000, 2_000, 2_100])
})

it('never waits without a rate', async () => {
  const { clock, times } = takeMany(Number.POSITIVE_INFINITY, 50)
  await clock.advance(0)
  expect(times).toEqual(Array.from({ length: 50 }, () => 0))
})
