import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { browserPage } from './page.ts'

class FakeDocument extends EventTarget {
  visibilityState: DocumentVisibilityState = 'visible'
}

function setUp() {
  const window = new EventTarget()
  const document = new FakeDocument()
  const page = browserPage({ window, document, MessageChannel } as unknown as Parameters<typeof browserPage>[0])
  return { window, document, page }
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
