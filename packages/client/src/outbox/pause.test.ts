import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakePage } from '../../test/fake-page.ts'
import { afterPause } from './burst-writer.ts'

function setUp({ hidden = false, page = new FakePage() } = {}) {
  const clock = new ManualClock()
  let called = 0
  page.hidden = hidden
  const undo = afterPause(clock, page, 5, () => {
    called++
  })
  return { clock, page, undo, called: () => called }
}

describe('afterPause()', () => {
  it('sets a timer if the page is visible', async () => {
    const { clock, page, called } = setUp()
    await clock.advance(4)
    expect(called()).toBe(0)
    await clock.advance(1)
    expect([called(), page.tasks]).toEqual([1, 0])
  })

  it('needs no timer if the page is hidden, since those are delayed', async () => {
    const { clock, called } = setUp({ hidden: true })
    await turnEventLoop()
    expect([called(), clock.pendingTimers]).toEqual([0, 0])
    clock.jump(5)
    await turnEventLoop()
    expect(called()).toBe(1)
    await turnEventLoop()
    expect(called()).toBe(1)
  })

  it.each([true, false])('can be cancelled (hidden: %s)', async hidden => {
    const { clock, undo, called } = setUp({ hidden })
    undo()
    await clock.advance(10)
    expect([called(), clock.pendingTimers]).toEqual([0, 0])
  })
})
