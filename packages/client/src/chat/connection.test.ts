import { FakeWebSocket, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { watch } from '../../test/chat-harness.ts'
import { setUpConnection as setUp } from '../../test/connection-harness.ts'
import { SDKError } from '../errors.ts'
import { CONNECT_TIMEOUT_MS, type Connection } from './connection.ts'

/** As docs/guide/connection-and-queue.md promises, in milliseconds. */
const STABLE_AFTER_MS = 5_000

const refuseUpgrade = (httpStatus: number) =>
  FakeWebSocket.last.onclose?.(Object.assign({ code: 1006, reason: '', wasClean: false }, { httpStatus }))

describe('Connection', () => {
  it('goes from IDLE over CONNECTING to CONNECTED, and then resolves', async () => {
    const { connection, told, clock } = setUp()
    expect(connection.state).toBe('IDLE')
    const opening = watch(connection.open())
    await turnEventLoop()
    expect([connection.state, opening.outcome, connection.transport]).toEqual(['CONNECTING', 'pending', undefined])
    FakeWebSocket.last.accept()
    await turnEventLoop()
    expect(opening.outcome).toBe('done')
    expect(told).toEqual(['IDLE to CONNECTING', 'CONNECTING to CONNECTED', 'opened'])
    expect(clock.pendingTimers).toBe(0)
  })

  it('lets a second open() join the attempt, and returns at once when open', async () => {
    const { connection, open } = setUp()
    const first = watch(connection.open())
    const second = watch(connection.open())
    await turnEventLoop()
    FakeWebSocket.last.accept()
    await turnEventLoop()
    expect([first.outcome, second.outcome]).toEqual(['done', 'done'])
    expect((await open()).outcome).toBe('done')
    expect(FakeWebSocket.made).toHaveLength(1)
  })

  it.each([1000, 1005])('[FLOW-02] stays closed after close code %i', async code => {
    const { connection, told, open, clock } = setUp()
    await open()
    told.length = 0
    FakeWebSocket.last.end(code)
    expect(told).toEqual(['CONNECTED to CLOSED', `closed ${code}`])
    await clock.advance(3_600_000)
    expect([connection.state, clock.pendingTimers, FakeWebSocket.made.length]).toEqual(['CLOSED', 0, 1])
  })

  it.each([
    ['the service closes with 1000', 1, () => FakeWebSocket.last.end(1000)],
    ['the service closes with another code', 0, () => FakeWebSocket.last.end(1001)],
    ['the service closes without a code', 0, () => FakeWebSocket.last.end(1005)],
    ['this side closes', 0, (connection: Connection) => connection.close(1000)],
    [
      'the service answers a goodbye',
      0,
      (connection: Connection) => {
        connection.expectEnd()
        FakeWebSocket.last.end(1000)
      },
    ],
  ])('counts the conversation as over where it is: %s', async (_how, times, end) => {
    const { connection, ends, open } = setUp()
    await open()
    end(connection)
    expect(ends.count).toBe(times)
  })

  it.each([1000, 1005])('[FLOW-02] rejects and stays closed when code %i comes before the opening', async code => {
    const { connection, clock } = setUp()
    const opening = watch(connection.open())
    await turnEventLoop()
    FakeWebSocket.last.end(code)
    await turnEventLoop()
    expect([opening.outcome, connection.state, clock.pendingTimers]).toEqual(['CONNECTION_ERROR', 'CLOSED', 0])
  })

  it.each([1001, 1006, 1008, 1009, 1011, 1012, 3000, 4000, 4404])(
    '[FLOW-03] comes back after close code %i',
    async code => {
      const { connection, told, open, clock } = setUp()
      await open()
      told.length = 0
      FakeWebSocket.last.end(code)
      expect(told.slice(0, 2)).toEqual(['CONNECTED to RECONNECTING', `closed ${code}, reconnecting`])
      expect(clock.pendingDelays).toEqual([1_000])
      await clock.advance(999)
      expect(FakeWebSocket.made).toHaveLength(1)
      await clock.advance(1)
      FakeWebSocket.last.accept()
      expect(connection.state).toBe('CONNECTED')
      expect(FakeWebSocket.made.map(({ url }) => new URL(url).searchParams.get('sessionId'))).toEqual(['1', '2'])
    },
  )

  it('[FLOW-03] waits longer after each failed attempt', async () => {
    const { open, clock } = setUp()
    await open()
    const waits: Array<number | undefined> = []
    for (let i = 0; i < 7; i++) {
      FakeWebSocket.last.end(1006)
      await turnEventLoop()
      waits.push(clock.pendingDelays[0])
      await clock.advance(waits[i] ?? 0)
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
  })

  it('rejects with the reason of the first failed attempt, and retries', async () => {
    const { connection, told, errors, clock } = setUp()
    const opening = watch(connection.open())
    await turnEventLoop()
    FakeWebSocket.last.end(1006)
    await turnEventLoop()
    expect(opening.error).toBe(errors[0])
    expect(opening.error).toMatchObject({ reason: 'refused', closeCode: 1006 })
    expect(told.slice(1)).toEqual(['CONNECTING to RECONNECTING', 'failed refused'])
    await clock.advance(1_000)
    FakeWebSocket.last.accept()
    expect(connection.state).toBe('CONNECTED')
  })

  it('gives up on a service that never answers after 10 s, and ignores it when it does', async () => {
    const { connection, told, clock } = setUp()
    const opening = watch(connection.open())
    await clock.advance(CONNECT_TIMEOUT_MS - 1)
    expect(opening.outcome).toBe('pending')
    await clock.advance(1)
    expect(opening.error).toMatchObject({ reason: 'timeout' })
    const late = FakeWebSocket.last
    expect(late.closedWith).toBeDefined()
    const before = told.length
    late.accept()
    late.receive('late')
    late.end(1000)
    expect([told.length, connection.state, clock.pendingTimers]).toEqual([before, 'RECONNECTING', 1])
  })

  it('rejects with the reason when the runtime refuses the address', async () => {
    class RefusingWebSocket extends FakeWebSocket {
      constructor(url: string) {
        super(url)
        throw new SyntaxError('bad address')
      }
    }
    const { connection } = setUp({ maxReconnectAttempts: 0, WebSocket: RefusingWebSocket })
    await expect(connection.open()).rejects.toMatchObject({ reason: 'refused', cause: expect.any(SyntaxError) })
    expect(connection.state).toBe('CLOSED')
  })

  describe('attempts', () => {
    it('[CFG-05] closes with one error when they are used up, leaves no timer, and can be opened again later', async () => {
      const { connection, told, open, clock } = setUp({ maxReconnectAttempts: 2 })
      await open()
      for (const wait of [1_000, 2_000]) {
        FakeWebSocket.last.end(1006)
        await clock.advance(wait)
      }
      told.length = 0
      FakeWebSocket.last.end(1006)
      expect(told).toEqual(['CONNECTING to CLOSED', 'failed refused', 'failed attempts_used_up'])
      expect(clock.pendingTimers).toBe(0)
      await clock.advance(3_600_000)
      expect([connection.state, FakeWebSocket.made.length]).toEqual(['CLOSED', 3])
      await open()
      expect(connection.state).toBe('CONNECTED')
      FakeWebSocket.last.end(1006)
      expect(clock.pendingDelays).toEqual([1_000])
    })

    it('[CFG-05] closes at the first loss when none are allowed', async () => {
      const { told, open, clock } = setUp({ maxReconnectAttempts: 0 })
      await open()
      told.length = 0
      FakeWebSocket.last.end(1006)
      expect(told).toEqual(['CONNECTED to CLOSED', 'closed 1006', 'failed attempts_used_up'])
      expect(clock.pendingTimers).toBe(0)
    })

    it('does not hammer a service that accepts and closes at once', async () => {
      const { open, clock } = setUp()
      await open()
      const start = clock.now()
      FakeWebSocket.last.end(1011)
      while (clock.now() - start < 600_000) {
        await clock.advance(clock.pendingDelays[0] ?? 0)
        FakeWebSocket.last.accept()
        FakeWebSocket.last.end(1011)
      }
      expect(FakeWebSocket.made.length).toBeLessThan(46)
    })

    it('starts with the shortest wait again after 5 s of being open, not before', async () => {
      for (const [openFor, wait] of [
        [STABLE_AFTER_MS - 1, 4_000],
        [STABLE_AFTER_MS, 1_000],
      ] as const) {
        const { open, clock } = setUp()
        await open()
        FakeWebSocket.last.end(1006)
        await clock.advance(1_000)
        FakeWebSocket.last.end(1006)
        await clock.advance(2_000)
        FakeWebSocket.last.accept()
        await clock.advance(openFor)
        FakeWebSocket.last.end(1006)
        expect(clock.pendingDelays).toEqual([wait])
      }
    })

    it('starts with the shortest wait again after confirm()', async () => {
      const { connection, open, clock } = setUp()
      await open()
      FakeWebSocket.last.end(1006)
      await clock.advance(1_000)
      FakeWebSocket.last.accept()
      connection.retry.attempts = 0
      FakeWebSocket.last.end(1006)
      expect(clock.pendingDelays).toEqual([1_000])
    })

    it('counts from the start when the connection is confirmed while the next attempt waits', async () => {
      const { connection, open, clock } = setUp()
      await open()
      FakeWebSocket.last.end(1006)
      connection.retry.attempts = 0
      watch(connection.open())
      for (const wait of [1_000, 2_000]) {
        await turnEventLoop()
        FakeWebSocket.last.end(1006)
        expect(clock.pendingDelays).toEqual([wait])
        await clock.advance(wait)
      }
    })

    it('leaves attempts that the host makes outside the schedule', async () => {
      const { connection, open, clock } = setUp({ maxReconnectAttempts: 2 })
      await open()
      FakeWebSocket.last.end(1006)
      for (let i = 0; i < 5; i++) {
        const impatient = watch(connection.open())
        await turnEventLoop()
        FakeWebSocket.last.end(1006)
        await turnEventLoop()
        expect(impatient.outcome).toBe('CONNECTION_ERROR')
        expect(clock.pendingDelays).toEqual([1_000])
      }
    })
  })

  describe('an unknown session', () => {
    it.each([404, 410])('is reported after an error when the upgrade is refused with %i', async status => {
      const { connection, told, errors, clock } = setUp()
      const opening = watch(connection.open())
      await turnEventLoop()
      refuseUpgrade(status)
      await turnEventLoop()
      expect(told.slice(1)).toEqual(['CONNECTING to RECONNECTING', 'failed refused', 'session refused'])
      expect(errors[0]).toMatchObject({ httpStatus: status })
      expect([opening.outcome, clock.pendingTimers]).toEqual(['CONNECTION_ERROR', 1])
    })

    it('is reported after an error when the socket is closed with 4404 before it opens', async () => {
      const { connection, told } = setUp()
      watch(connection.open())
      await turnEventLoop()
      FakeWebSocket.last.end(4404)
      expect(told.slice(1)).toEqual(['CONNECTING to RECONNECTING', 'failed closed', 'session refused'])
    })

    it('is reported after an error when the open chat is closed with 4404', async () => {
      const { told, open } = setUp()
      await open()
      told.length = 0
      FakeWebSocket.last.end(4404)
      expect(told).toEqual([
        'CONNECTED to RECONNECTING',
        'closed 4404, reconnecting',
        'failed closed',
        'session refused',
      ])
    })

    it.each([401, 403, 429, 500, 503])('is not what a refusal with %i means', async status => {
      const { connection, told } = setUp()
      watch(connection.open())
      await turnEventLoop()
      refuseUpgrade(status)
      expect(told.slice(1)).toEqual(['CONNECTING to RECONNECTING', 'failed refused'])
    })

    it('is reported before the address is requested again, also when an error listener reopens at once', async () => {
      const order: string[] = []
      const { connection, when, told } = setUp({
        begin: async () => {
          order.push(told.includes('session refused') ? 'asked after' : 'asked before')
          return 's'
        },
      })
      when('failed refused', () => watch(connection.open()))
      watch(connection.open())
      await turnEventLoop()
      refuseUpgrade(404)
      await turnEventLoop()
      expect(order).toEqual(['asked before', 'asked after'])
    })
  })

  describe('an address that cannot be built', () => {
    it('ends the loop when another attempt cannot mend it', async () => {
      const { connection, told, clock } = setUp({
        begin: async () => {
          throw new SDKError('blank', 'SESSION_ID_INVALID')
        },
      })
      const opening = watch(connection.open())
      await turnEventLoop()
      expect([opening.outcome, connection.state, clock.pendingTimers]).toEqual(['SESSION_ID_INVALID', 'CLOSED', 0])
      expect(told.slice(1)).toEqual(['CONNECTING to CLOSED', 'failed SESSION_ID_INVALID'])
    })

    it('is tried again when the next attempt may mend it', async () => {
      let asked = 0
      const { connection, clock } = setUp({
        begin: async () => {
          if (++asked === 1) throw new SDKError('down', 'API_ERROR')
          return 's'
        },
      })
      watch(connection.open())
      await clock.advance(1_000)
      FakeWebSocket.last.accept()
      expect(connection.state).toBe('CONNECTED')
    })
  })
})
