import { FakeWebSocket, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { watch } from '../../test/chat-harness.ts'
import { setUpConnection } from '../../test/connection-harness.ts'
import { FakePage } from '../../test/fake-page.ts'

/** An open connection on a page, or one that lost its socket and waits. */
async function setUp({ lost = true, ...config }: { lost?: boolean; maxReconnectAttempts?: number } = {}) {
  const page = new FakePage()
  const parts = setUpConnection({ page, ...config })
  await parts.open()
  if (lost) FakeWebSocket.last.end(1006)
  return { ...parts, page }
}

const refuseUpgrade = (httpStatus: number, headers: object) =>
  FakeWebSocket.last.onclose?.(Object.assign({ code: 1006, reason: '', wasClean: false, httpStatus }, headers))

describe('Connection on a page', () => {
  it('tries at once when the page comes back while it waits', async () => {
    const { connection, page } = await setUp()
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['RECONNECTING', 1])
    page.comeBack()
    await turnEventLoop()
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['CONNECTING', 2])
  })

  it('[REL-241] tries at most once a second however often the page comes back, and waits longer after each failure', async () => {
    const { connection, page, clock } = await setUp({ maxReconnectAttempts: 2, lost: true })
    for (let tenths = 0; tenths < 50; tenths++) {
      page.comeBack()
      await turnEventLoop()
      FakeWebSocket.last.end(1006)
      await turnEventLoop()
      await clock.advance(100)
    }
    FakeWebSocket.last.end(1006)
    expect(connection.state).toBe('RECONNECTING')
    expect(FakeWebSocket.made.length).toBeLessThanOrEqual(7)
    expect(FakeWebSocket.made.length).toBeGreaterThanOrEqual(5)
    // Without a return, the next attempt follows the schedule: after five failures not before 15 s.
    await clock.advance(2_000)
    const before = FakeWebSocket.made.length
    await clock.advance(12_000)
    expect(FakeWebSocket.made).toHaveLength(before)
    await clock.advance(30_000)
    expect(FakeWebSocket.made.length).toBeGreaterThan(before)
  })

  it('[REL-242] lets no return of the page, but connect(), shorten a wait that the service has asked for', async () => {
    const { connection, page, clock } = await setUp()
    page.comeBack()
    await turnEventLoop()
    refuseUpgrade(503, { retryAfter: '7.5' })
    await turnEventLoop()
    page.comeBack()
    await clock.advance(6_900)
    page.comeBack()
    await clock.advance(900)
    expect(FakeWebSocket.made).toHaveLength(2)
    watch(connection.open())
    await turnEventLoop()
    expect(FakeWebSocket.made).toHaveLength(3)
    refuseUpgrade(503, { retryAfter: '3600' })
    await turnEventLoop()
    await clock.advance(29_000)
    expect(FakeWebSocket.made).toHaveLength(3)
    await clock.advance(1_500)
    expect(FakeWebSocket.made).toHaveLength(4)
  })

  it('does not wait when the loss is noticed right after the return', async () => {
    const { connection, page, clock } = await setUp({ lost: false })
    page.comeBack()
    await clock.advance(200)
    FakeWebSocket.last.end(1006)
    await clock.advance(0)
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['CONNECTING', 2])
  })

  it('hurries once for a return: a service that keeps closing is not hammered', async () => {
    const { connection, page, clock } = await setUp({ lost: false })
    page.comeBack()
    FakeWebSocket.last.end(1006)
    await clock.advance(0)
    FakeWebSocket.last.end(1006)
    await clock.advance(900)
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['RECONNECTING', 2])
  })

  it('waits as usual when the loss comes long after the return', async () => {
    const { connection, page, clock } = await setUp({ lost: false })
    page.comeBack()
    await clock.advance(3_000)
    FakeWebSocket.last.end(1006)
    await clock.advance(900)
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['RECONNECTING', 1])
  })

  it('notices within 300 ms of waking that the machine has slept', async () => {
    const { connection, clock } = await setUp()
    clock.jump(600_000)
    await clock.advance(300)
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['CONNECTING', 2])
  })

  it('notices it too where the monotonic clock stands still meanwhile', async () => {
    const { connection, clock } = await setUp()
    clock.shiftWallClock(600_000)
    await clock.advance(300)
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['CONNECTING', 2])
  })

  it('does not look at the wall clock where there is no page', async () => {
    const { connection, open, clock } = setUpConnection()
    await open()
    FakeWebSocket.last.end(1006)
    clock.shiftWallClock(600_000)
    await clock.advance(900)
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['RECONNECTING', 1])
  })

  it('[SEC-50] waits no longer when the wall clock is set back', async () => {
    const { connection, clock } = await setUp()
    clock.shiftWallClock(-3_600_000)
    await clock.advance(1_000)
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['CONNECTING', 2])
  })

  it('takes no slow timer for a sleep', async () => {
    const { connection, clock } = await setUp()
    // As in a hidden tab: a second from one look to the next.
    clock.jump(600)
    await clock.advance(250)
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['RECONNECTING', 1])
  })

  it('listens to the page from connect() to the end, and no longer', async () => {
    const { connection, page, clock } = await setUp()
    expect(page.listeners).toBe(1)
    connection.close()
    expect([page.listeners, clock.pendingTimers]).toEqual([0, 0])
    page.comeBack()
    await turnEventLoop()
    expect(connection.state).toBe('CLOSED')
  })

  it('sets one timer for the whole wait where there is no page', async () => {
    const { open, clock } = setUpConnection()
    await open()
    FakeWebSocket.last.end(1006)
    expect(clock.pendingDelays).toEqual([1_000])
  })
})
