import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakePage } from '../../test/fake-page.ts'
import { resolveConfig } from '../config.ts'
import { BURST_PAUSE_MS, BURST_SIZE, OutboundLane } from './outbound-lane.ts'

function setUp(maxQueueSize = 1_000, page?: FakePage) {
  const clock = new ManualClock()
  const flushed: number[] = []
  const reactions: Array<() => void> = []
  const lane = new OutboundLane({
    clock,
    page,
    maxQueueSize,
    onFlushed: count => {
      flushed.push(count)
      reactions.shift()?.()
    },
  })
  return { clock, lane, flushed, reactions, accept: (from: number, to: number) => acceptAll(lane, from, to) }
}

class FakeTransport {
  readonly sent: string[] = []
  bufferedAmount = 0
  broken = false
  afterSend: () => unknown = () => {}
  send(text: string): void {
    if (this.broken) throw new Error('The socket is not open.')
    this.sent.push(text)
    this.afterSend()
  }
  close(): void {}
}

const frames = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `frame ${from + index}`)

function acceptAll(lane: OutboundLane, from: number, to: number): void {
  for (const frame of frames(from, to)) lane.accept(frame, frame)
}

describe('OutboundLane', () => {
  it('[FLOW-05] goes on flushing in a hidden tab without a timer that the browser would delay', async () => {
    const page = new FakePage()
    page.hidden = true
    const { clock, lane, flushed, accept } = setUp(1_000, page)
    const transport = new FakeTransport()
    accept(0, 40)
    lane.open(transport)
    for (const sent of [16, 32, 40]) {
      expect([transport.sent.length, clock.pendingTimers]).toEqual([sent, 0])
      clock.jump(BURST_PAUSE_MS)
      await turnEventLoop()
    }
    expect(flushed).toEqual([40])
  })

  it('writes at once when open and nothing waits, and tells of no flush', () => {
    const { lane, flushed, accept } = setUp()
    const transport = new FakeTransport()
    lane.open(transport)
    accept(0, 3)
    expect(transport.sent).toEqual(frames(0, 3))
    expect([lane.size, flushed]).toEqual([0, []])
  })

  it('[FLOW-05] [LIM-01] flushes in bursts of 16 with 5 ms between them, then tells the count once', async () => {
    const { clock, lane, flushed, accept } = setUp()
    const transport = new FakeTransport()
    accept(0, 40)
    lane.open(transport)
    expect(transport.sent).toEqual(frames(0, 16))
    await clock.advance(4)
    expect(transport.sent).toHaveLength(16)
    await clock.advance(1)
    expect(transport.sent).toEqual(frames(0, 32))
    expect(flushed).toEqual([])
    await clock.advance(5)
    expect(transport.sent).toEqual(frames(0, 40))
    expect([flushed, clock.pendingTimers]).toEqual([[40], 0])
  })

  it('[FLOW-05] flushes 1,000 messages in about a third of a second', async () => {
    const { clock, lane, flushed, accept } = setUp()
    accept(0, 1_000)
    const start = clock.now()
    lane.open(new FakeTransport())
    while (clock.pendingTimers > 0) await clock.advance(1)
    expect(flushed).toEqual([1_000])
    expect(clock.now() - start).toBe((Math.ceil(1_000 / BURST_SIZE) - 1) * BURST_PAUSE_MS)
  })

  it('tells the flush of exactly one burst without a pause', () => {
    const { clock, lane, flushed, accept } = setUp()
    accept(0, 16)
    lane.open(new FakeTransport())
    expect([flushed, clock.pendingTimers]).toEqual([[16], 0])
  })

  it('[FLOW-05] sends after a late wake-up what the elapsed time allows', async () => {
    const { clock, lane, accept } = setUp()
    const transport = new FakeTransport()
    accept(0, 400)
    lane.open(transport)
    clock.jump(52)
    await clock.advance(0)
    expect(transport.sent).toEqual(frames(0, 16 + 10 * 16))
  })

  it('sends one at a time while the socket has not let go of the last burst, and none when much is unsent', async () => {
    const { clock, lane, accept } = setUp()
    const transport = new FakeTransport()
    accept(0, 40)
    lane.open(transport)
    transport.bufferedAmount = 1
    await clock.advance(10)
    expect(transport.sent).toHaveLength(18)
    transport.bufferedAmount = 256 * 1024
    await clock.advance(500)
    expect(transport.sent).toHaveLength(18)
    transport.bufferedAmount = 0
    await clock.advance(5)
    expect(transport.sent).toEqual(frames(0, 34))
  })

  it('puts what is new behind what waits, also while it flushes', async () => {
    const { clock, lane, flushed, accept } = setUp()
    const transport = new FakeTransport()
    accept(0, 20)
    lane.open(transport)
    accept(20, 25)
    expect(transport.sent).toHaveLength(16)
    await clock.advance(5)
    accept(25, 26)
    expect(transport.sent).toEqual(frames(0, 26))
    expect(flushed).toEqual([25])
  })

  it('writes what a listener of the flush sends directly after it', async () => {
    const { lane, flushed, reactions, accept } = setUp()
    const transport = new FakeTransport()
    reactions.push(() => accept(3, 4))
    accept(0, 3)
    lane.open(transport)
    expect(transport.sent).toEqual(frames(0, 4))
    expect(flushed).toEqual([3])
  })

  it('[FLOW-05] goes on after a drop where it was, and tells the count of the whole outage once', async () => {
    const { clock, lane, flushed, accept } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    accept(0, 20)
    lane.open(first)
    lane.shut()
    expect(clock.pendingTimers).toBe(0)
    await clock.advance(100)
    expect([first.sent.length, flushed, clock.pendingTimers]).toEqual([16, [], 0])
    lane.open(second)
    expect(second.sent).toEqual(frames(16, 20))
    expect(flushed).toEqual([20])
    lane.shut()
    lane.open(new FakeTransport())
    expect(flushed).toEqual([20])
  })

  it('keeps the message whose write failed as the first in line, and counts nothing', () => {
    const { lane, flushed, accept } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    accept(0, 2)
    first.broken = true
    lane.open(first)
    expect([lane.size, flushed]).toEqual([2, []])
    lane.open(second)
    expect(second.sent).toEqual(frames(0, 2))
    expect(flushed).toEqual([2])
  })

  it('counts how often writing a message was tried', () => {
    const { lane, accept } = setUp()
    const transport = new FakeTransport()
    transport.broken = true
    accept(0, 2)
    lane.open(transport)
    lane.open(transport)
    expect(lane.clear().map(({ attempts }) => attempts)).toEqual([2, 0])
  })

  it('lets a message wait whose direct write failed, and everything after it', () => {
    const { lane, flushed, accept } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    lane.open(first)
    accept(0, 1)
    first.broken = true
    accept(1, 2)
    first.broken = false
    accept(2, 3)
    expect(first.sent).toEqual(frames(0, 1))
    lane.open(second)
    expect(second.sent).toEqual(frames(1, 3))
    expect(flushed).toEqual([2])
  })

  it('changes nothing when the same transport is opened again', async () => {
    const { clock, lane, accept } = setUp()
    const transport = new FakeTransport()
    accept(0, 40)
    lane.open(transport)
    lane.open(transport)
    expect([transport.sent.length, clock.pendingTimers]).toEqual([16, 1])
  })

  it('leaves a transport for a newer one without a word to the old', async () => {
    const { clock, lane, accept } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    accept(0, 40)
    lane.open(first)
    lane.open(second)
    await clock.advance(100)
    accept(40, 41)
    expect(first.sent).toEqual(frames(0, 16))
    expect(second.sent).toEqual(frames(16, 41))
  })

  it('[CFG-04] [LIM-01] refuses the 1,001st by default, with its id, and keeps the rest', () => {
    const { maxQueueSize } = resolveConfig({ id: 'help', endpoint: 'https://agents.example' })
    const { lane, accept } = setUp(maxQueueSize)
    accept(0, 1_000)
    expect(() => lane.accept('one more', 'one more')).toThrow(
      expect.objectContaining({ code: 'MESSAGE_ERROR', reason: 'queue_full', messageId: 'one more' }),
    )
    expect(lane.clear().map(({ id }) => id)).toEqual(frames(0, 1_000))
  })

  it('tells its limit, also where it refuses', () => {
    const { lane, accept } = setUp(3)
    accept(0, 3)
    expect(lane.limit).toBe(3)
    expect(() => lane.accept('one more', 'one more')).toThrow('3 messages wait already')
  })

  it('writes no more to a transport that goes down in the middle of a burst', () => {
    const { clock, lane, flushed, accept } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    accept(0, 5)
    first.afterSend = () => first.sent.length === 3 && lane.shut()
    lane.open(first)
    expect([first.sent.length, lane.size, flushed, clock.pendingTimers]).toEqual([3, 2, [], 0])
    lane.open(second)
    expect(second.sent).toEqual(frames(3, 5))
    expect(flushed).toEqual([5])
  })

  it('does not count a flush as done, nor lets anything through, when the transport goes down with the last message', () => {
    const { lane, flushed, accept } = setUp()
    const [first, second] = [new FakeTransport(), new FakeTransport()]
    accept(0, 3)
    first.afterSend = () => first.sent.length === 3 && lane.shut()
    lane.open(first)
    accept(3, 4)
    expect([first.sent.length, lane.size, flushed]).toEqual([3, 1, []])
    lane.open(second)
    expect(second.sent).toEqual(frames(3, 4))
    expect(flushed).toEqual([4])
  })

  it('takes what finds no place in the queue when it can be written at once', () => {
    const { lane, accept } = setUp(0)
    const transport = new FakeTransport()
    lane.open(transport)
    accept(0, 2)
    expect(transport.sent).toEqual(frames(0, 2))
    transport.broken = true
    expect(() => accept(2, 3)).toThrow(expect.objectContaining({ reason: 'queue_full' }))
  })

  it('takes back a message that waits, and the others leave in order', () => {
    const { lane, flushed, accept } = setUp()
    const transport = new FakeTransport()
    accept(0, 3)
    expect([lane.withdraw('frame 1'), lane.withdraw('frame 1'), lane.withdraw('unknown')]).toEqual([true, false, false])
    lane.open(transport)
    expect(transport.sent).toEqual(['frame 0', 'frame 2'])
    expect(flushed).toEqual([2])
    expect(lane.withdraw('frame 0')).toBe(false)
  })

  it('hands out what waited when it is cleared in the middle of a flush, and lets new messages through', async () => {
    const { clock, lane, flushed, accept } = setUp()
    const transport = new FakeTransport()
    accept(0, 20)
    lane.open(transport)
    expect(lane.clear().map(({ data, attempts }) => [data, attempts])).toEqual(frames(16, 20).map(data => [data, 0]))
    accept(20, 21)
    await clock.advance(5)
    expect(transport.sent).toEqual([...frames(0, 16), 'frame 20'])
    // The count starts afresh: what was cleared may have belonged to another conversation.
    expect(flushed).toEqual([1])
  })
})
