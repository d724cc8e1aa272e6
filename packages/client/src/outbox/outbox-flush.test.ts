import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakePage } from '../../test/fake-page.ts'
import { FakeTransport, setUpOutbox } from '../../test/outbox-harness.ts'
import { resolveConfig } from '../check-config.ts'
import { BURST_PAUSE_MS, BURST_SIZE } from './burst-writer.ts'

function setUp(maxQueueSize = 1_000, page?: FakePage) {
  const parts = setUpOutbox({ maxQueueSize, ...(page && { page }) })
  const send = (from: number, to: number) => {
    for (const text of texts(from, to)) parts.outbox.send(text, { id: text })
  }
  return { ...parts, send }
}

const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `text ${from + index}`)

describe('Outbox, flushing', () => {
  it('[FLOW-05] flushes in a hidden tab without a timer that the browser would delay', async () => {
    const page = new FakePage()
    page.hidden = true
    const { outbox, clock, flushed, send } = setUp(1_000, page)
    const transport = new FakeTransport()
    send(0, 40)
    outbox.handleReady(transport)
    for (const sent of [16, 32, 40]) {
      expect([transport.sent.length, clock.pendingTimers]).toEqual([sent, 0])
      clock.jump(BURST_PAUSE_MS)
      await turnEventLoop()
    }
    expect(flushed).toEqual([40])
  })

  it('[SEC-50] uses a timer and no tasks in a hidden tab while the socket takes nothing', async () => {
    const page = new FakePage()
    page.hidden = true
    const { outbox, clock, send } = setUp(1_000, page)
    const transport = new FakeTransport()
    transport.bufferedAmount = 300_000
    send(0, 40)
    outbox.handleReady(transport)
    clock.jump(BURST_PAUSE_MS)
    await turnEventLoop()
    const { tasks } = page
    await clock.advance(1_000)
    expect([page.tasks, transport.sent.length]).toEqual([tasks, 16])
    transport.bufferedAmount = 0
    await clock.advance(BURST_PAUSE_MS)
    expect(transport.sent.length).toBeGreaterThan(16)
  })

  it('[SEC-50] flushes in a hidden tab although the wall clock is set back', async () => {
    const page = new FakePage()
    page.hidden = true
    const { outbox, clock, send } = setUp(1_000, page)
    const transport = new FakeTransport()
    send(0, 20)
    outbox.handleReady(transport)
    clock.shiftWallClock(-3_600_000)
    clock.jump(BURST_PAUSE_MS)
    await turnEventLoop()
    expect(transport.sent).toHaveLength(20)
  })

  it('writes at once when connected and nothing waits, and reports no flush', () => {
    const { outbox, flushed, send } = setUp()
    const transport = new FakeTransport()
    outbox.handleReady(transport)
    send(0, 3)
    expect(transport.contents).toEqual(texts(0, 3))
    expect([outbox.size, flushed]).toEqual([0, []])
  })

  it('[FLOW-05] [LIM-01] flushes in bursts of 16 with 5 ms between them, then reports the count once', async () => {
    const { outbox, clock, flushed, send } = setUp()
    const transport = new FakeTransport()
    send(0, 40)
    outbox.handleReady(transport)
    expect(transport.contents).toEqual(texts(0, 16))
    await clock.advance(4)
    expect(transport.sent).toHaveLength(16)
    await clock.advance(1)
    expect(transport.contents).toEqual(texts(0, 32))
    expect(flushed).toEqual([])
    await clock.advance(5)
    expect(transport.contents).toEqual(texts(0, 40))
    expect([flushed, clock.pendingTimers]).toEqual([[40], 0])
  })

  it('[FLOW-05] flushes 1,000 messages in about a third of a second', async () => {
    const { outbox, clock, flushed, send } = setUp()
    send(0, 1_000)
    const start = clock.now()
    outbox.handleReady(new FakeTransport())
    while (clock.pendingTimers > 0) await clock.advance(1)
    expect(flushed).toEqual([1_000])
    expect(clock.now() - start).toBe((Math.ceil(1_000 / BURST_SIZE) - 1) * BURST_PAUSE_MS)
  })

  it('reports the flush of exactly one burst without a pause', () => {
    const { outbox, clock, flushed, send } = setUp()
    send(0, 16)
    outbox.handleReady(new FakeTransport())
    expect([flushed, clock.pendingTimers]).toEqual([[16], 0])
  })

  it('[FLOW-05] sends after a late wake-up what the elapsed time allows', async () => {
    const { outbox, clock, send } = setUp()
    const transport = new FakeTransport()
    send(0, 400)
    outbox.handleReady(transport)
    clock.jump(52)
    await clock.advance(0)
    expect(transport.contents).toEqual(texts(0, 16 + 10 * 16))
  })

  it('sends one at a time while the last burst is still buffered, and none when much is unsent', async () => {
    const { outbox, clock, send } = setUp()
    const transport = new FakeTransport()
    send(0, 40)
    outbox.handleReady(transport)
    transport.bufferedAmount = 1
    await clock.advance(10)
    expect(transport.sent).toHaveLength(18)
    transport.bufferedAmount = 256 * 1024
    await clock.advance(500)
    expect(transport.sent).toHaveLength(18)
    transport.bufferedAmount = 0
    await clock.advance(5)
    expect(transport.contents).toEqual(texts(0, 34))
  })

  it('puts a new message behind the waiting ones, also during a flush', async () => {
    const { outbox, clock, flushed, send } = setUp()
    const transport = new FakeTransport()
    send(0, 20)
    outbox.handleReady(transport)
    send(20, 25)
    expect(transport.sent).toHaveLength(16)
    await clock.advance(5)
    send(25, 26)
    expect(transport.contents).toEqual(texts(0, 26))
    expect(flushed).toEqual([25])
  })

  it('writes a message that a listener of the flush sends right after it', async () => {
    const { outbox, flushed, on, send } = setUp()
    const transport = new FakeTransport()
    on.flushed = () => {
      delete on.flushed
      send(3, 4)
    }
    send(0, 3)
    outbox.handleReady(transport)
    expect(transport.contents).toEqual(texts(0, 4))
    expect(flushed).toEqual([3])
  })

  it('[FLOW-05] resumes after a drop, and reports the count of the whole outage once', async () => {
    const { outbox, clock, flushed, send } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    send(0, 20)
    outbox.handleReady(first)
    outbox.handleInterrupted()
    expect(clock.pendingTimers).toBe(0)
    await clock.advance(100)
    expect([first.sent.length, flushed, clock.pendingTimers]).toEqual([16, [], 0])
    outbox.handleReady(second)
    expect(second.contents).toEqual(texts(16, 20))
    expect(flushed).toEqual([20])
    outbox.handleInterrupted()
    outbox.handleReady(new FakeTransport())
    expect(flushed).toEqual([20])
  })

  it('keeps a message whose write failed as the first, and counts nothing', () => {
    const { outbox, flushed, send } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    send(0, 2)
    first.isBroken = true
    outbox.handleReady(first)
    expect([outbox.size, flushed]).toEqual([2, []])
    outbox.handleReady(second)
    expect(second.contents).toEqual(texts(0, 2))
    expect(flushed).toEqual([2])
  })

  it('queues a message whose direct write failed, and everything after it', () => {
    const { outbox, flushed, send } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    outbox.handleReady(first)
    send(0, 1)
    first.isBroken = true
    send(1, 2)
    first.isBroken = false
    send(2, 3)
    expect(first.contents).toEqual(texts(0, 1))
    outbox.handleReady(second)
    expect(second.contents).toEqual(texts(1, 3))
    expect(flushed).toEqual([2])
  })

  it('changes nothing when the same transport is opened again', async () => {
    const { outbox, clock, send } = setUp()
    const transport = new FakeTransport()
    send(0, 40)
    outbox.handleReady(transport)
    outbox.handleReady(transport)
    expect([transport.sent.length, clock.pendingTimers]).toEqual([16, 1])
  })

  it('writes only to the newer of two transports', async () => {
    const { outbox, clock, send } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    send(0, 40)
    outbox.handleReady(first)
    outbox.handleReady(second)
    await clock.advance(100)
    send(40, 41)
    expect(first.contents).toEqual(texts(0, 16))
    expect(second.contents).toEqual(texts(16, 41))
  })

  it('[CFG-04] [LIM-01] refuses the 1,001st by default, with its id, and keeps the rest', () => {
    const { maxQueueSize } = resolveConfig({ id: 'help', endpoint: 'https://agents.example' })
    const { outbox, send, failures } = setUp(maxQueueSize)
    send(0, 1_000)
    expect(() => outbox.send('one more', { id: 'one more' })).toThrow(
      expect.objectContaining({ code: 'MESSAGE_ERROR', reason: 'queue_full', messageId: 'one more' }),
    )
    outbox.clear()
    expect(failures).toMatchObject(texts(0, 1_000).map(messageId => ({ reason: 'cleared', messageId })))
  })

  it('writes no more to a transport that goes down in the middle of a burst', () => {
    const { clock, outbox, flushed, send } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    send(0, 5)
    first.afterSend = () => first.sent.length === 3 && outbox.handleInterrupted()
    outbox.handleReady(first)
    expect([first.sent.length, outbox.size, flushed, clock.pendingTimers]).toEqual([3, 2, [], 0])
    outbox.handleReady(second)
    expect(second.contents).toEqual(texts(3, 5))
    expect(flushed).toEqual([5])
  })

  it('does not report a flush, nor writes anything, when the transport goes down with the last message', () => {
    const { outbox, flushed, send } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    send(0, 3)
    first.afterSend = () => first.sent.length === 3 && outbox.handleInterrupted()
    outbox.handleReady(first)
    send(3, 4)
    expect([first.sent.length, outbox.size, flushed]).toEqual([3, 1, []])
    outbox.handleReady(second)
    expect(second.contents).toEqual(texts(3, 4))
    expect(flushed).toEqual([4])
  })

  it('accepts a message without space in the queue when it can be written at once', () => {
    const { outbox, send } = setUp(0)
    const transport = new FakeTransport()
    outbox.handleReady(transport)
    send(0, 2)
    expect(transport.contents).toEqual(texts(0, 2))
    transport.isBroken = true
    expect(() => send(2, 3)).toThrow(expect.objectContaining({ reason: 'queue_full' }))
  })

  it('cancels a waiting message and sends the others in order', () => {
    const { outbox, flushed, send } = setUp()
    const transport = new FakeTransport()
    send(0, 3)
    const cancel = (id: string) => outbox.delivery(id)?.cancel()
    expect([cancel('text 1'), cancel('text 1'), cancel('unknown')]).toEqual([true, false, undefined])
    outbox.handleReady(transport)
    expect(transport.contents).toEqual(['text 0', 'text 2'])
    expect(flushed).toEqual([2])
    expect(cancel('text 0')).toBe(false)
  })

  it('reports the waiting messages when it is cleared in the middle of a flush, and sends new ones', async () => {
    const { clock, outbox, flushed, failures, send } = setUp()
    const transport = new FakeTransport()
    send(0, 20)
    outbox.handleReady(transport)
    outbox.clear()
    expect(failures).toMatchObject(texts(16, 20).map(messageId => ({ reason: 'cleared', messageId })))
    send(20, 21)
    await clock.advance(5)
    expect(transport.contents).toEqual([...texts(0, 16), 'text 20'])
    // The count starts afresh: what was cleared may have belonged to another conversation.
    expect(flushed).toEqual([1])
  })
})
