import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { browserPage } from './page.ts'

class FakeDocument extends EventTarget {
  visibilityState: DocumentVisibilityState = 'visible'
}

function setUp() {
  const window = new EventTarget()
  const document = new FakeDocument()
  const globals = { window, document, MessageChannel } as unknown as Parameters<typeof browserPage>[0]
  const clock = new ManualClock()
  return { window, document, clock, page: browserPage(globals, clock.now) }
}

describe('browserPage()', () => {
  it.each([
    ['window', 'online'],
    ['window', 'pageshow'],
    ['document', 'visibilitychange'],
    ['document', 'resume'],
  ] as const)('calls back at %s %s, until it is cancelled', (target, name) => {
    const parts = setUp()
    let returns = 0
    const undo = parts.page.onReturn(() => returns++)
    parts[target].dispatchEvent(new Event(name))
    undo()
    parts[target].dispatchEvent(new Event(name))
    expect(returns).toBe(1)
  })

  it('ignores a page that was just hidden', () => {
    const { document, page } = setUp()
    let returns = 0
    page.onReturn(() => returns++)
    document.visibilityState = 'hidden'
    document.dispatchEvent(new Event('visibilitychange'))
    expect([returns, page.isHidden()]).toEqual([0, true])
  })

  it('reports how long it was hidden, also for the clock that runs while the device sleeps', () => {
    const { document, clock, page } = setUp()
    const away: number[] = []
    page.onReturn(awayMs => away.push(awayMs))
    const show = (state: DocumentVisibilityState) => {
      document.visibilityState = state
      document.dispatchEvent(new Event('visibilitychange'))
    }
    show('hidden')
    clock.shiftWallClock(7_000)
    show('visible')
    show('visible')
    expect(away).toEqual([7_000, 0])
  })

  it.each<[string, Event, 'window' | 'document', number]>([
    ['the return of the network', new Event('online'), 'window', Infinity],
    ['the end of a freeze', new Event('resume'), 'document', Infinity],
    [
      'a page from the back/forward cache',
      Object.assign(new Event('pageshow'), { persisted: true }),
      'window',
      Infinity,
    ],
    ['a page that was just loaded', new Event('pageshow'), 'window', 0],
  ])('reports that connections may be lost, or not: %s', (_case, event, target, expected) => {
    const parts = setUp()
    const away: number[] = []
    parts.page.onReturn(awayMs => away.push(awayMs))
    parts[target].dispatchEvent(event)
    expect(away).toEqual([expected])
  })

  it('runs a callback in a separate task', async () => {
    const { page } = setUp()
    const order: string[] = []
    page.nextTask(() => order.push('task'))
    await Promise.resolve()
    order.push('microtask')
    await turnEventLoop(50)
    expect(order).toEqual(['microtask', 'task'])
  })
})
