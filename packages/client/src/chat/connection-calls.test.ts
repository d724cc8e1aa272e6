import { getEventListeners } from 'node:events'
import { FakeWebSocket, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { deferred, watch } from '../../test/chat-harness.ts'
import { setUpConnection as setUp } from '../../test/connection-harness.ts'

describe('Connection', () => {
  describe('open() while waiting', () => {
    it('cuts the wait short, with one socket and no timer left', async () => {
      const { connection, open, clock } = setUp()
      await open()
      FakeWebSocket.last.end(1006)
      const again = await open()
      expect([again.outcome, connection.state, clock.pendingTimers]).toEqual(['done', 'CONNECTED', 0])
      await clock.advance(60_000)
      expect(FakeWebSocket.made).toHaveLength(2)
    })
  })

  it('[SEC-51] reports a frame above 8 MiB as an error and reconnects', async () => {
    const { connection, open, errors } = setUp()
    await open()
    FakeWebSocket.last.receive('x'.repeat(8 * 1024 * 1024 + 1))
    expect(connection.state).toBe('RECONNECTING')
    expect(errors).toMatchObject([{ name: 'ConnectionError', reason: 'closed', closeCode: 1009 }])
  })

  describe('close()', () => {
    it('does nothing before the first open()', () => {
      const { connection, told } = setUp()
      connection.close()
      expect([connection.state, told]).toEqual(['IDLE', []])
    })

    it('rejects the callers of an attempt, in the step of the address and in that of the socket', async () => {
      let signal: AbortSignal | undefined
      const never = setUp({
        begin: given => {
          signal = given
          return new Promise(() => {})
        },
      })
      const first = watch(never.connection.open())
      await turnEventLoop()
      never.connection.close()
      await turnEventLoop()
      expect([first.outcome, signal?.aborted, never.connection.state]).toEqual(['ABORTED', true, 'CLOSED'])

      const { connection, clock } = setUp()
      const second = watch(connection.open())
      await turnEventLoop()
      connection.close()
      await turnEventLoop()
      expect([second.outcome, clock.pendingTimers, FakeWebSocket.last.readyState]).toEqual(['ABORTED', 0, 2])
    })

    it('cancels the wait for the next attempt', async () => {
      const { connection, told, open, clock } = setUp()
      await open()
      FakeWebSocket.last.end(1006)
      connection.close()
      expect([connection.state, clock.pendingTimers, told.at(-1)]).toEqual(['CLOSED', 0, 'RECONNECTING to CLOSED'])
    })

    it('followed by open() at once ends connected on one socket, and late events of the first change nothing', async () => {
      const { connection, told, open } = setUp()
      await open()
      const first = FakeWebSocket.last
      const { onclose, onmessage } = first
      connection.close(1000, 'Client disconnect')
      await open()
      told.length = 0
      onmessage?.({ data: 'late' })
      onclose?.({ code: 1006, reason: '', wasClean: false })
      expect([told, connection.state, FakeWebSocket.made.length]).toEqual([[], 'CONNECTED', 2])
      expect(first.closedWith).toEqual({ code: 1000, reason: 'Client disconnect' })
    })

    it('drops an address that comes after it', async () => {
      const address = deferred<string>()
      const { connection } = setUp({ begin: () => address.promise })
      watch(connection.open())
      await turnEventLoop()
      connection.close()
      address.resolve('late')
      await turnEventLoop()
      expect([FakeWebSocket.made.length, connection.state]).toEqual([0, 'CLOSED'])
    })
  })

  describe('signal', () => {
    it('rejects at once when it was aborted before', async () => {
      const { connection, told } = setUp()
      await expect(connection.open(AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' })
      expect(told).toEqual([])
    })

    it('ends the attempt when the only caller gives up, at the address and at the socket', async () => {
      for (const begin of [undefined, () => new Promise<string>(() => {})]) {
        const { connection, clock } = setUp(begin ? { begin } : {})
        const controller = new AbortController()
        const opening = watch(connection.open(controller.signal))
        await turnEventLoop()
        controller.abort('enough')
        await turnEventLoop()
        expect(opening.error).toMatchObject({ code: 'ABORTED', cause: 'enough' })
        expect([connection.state, clock.pendingTimers]).toEqual(['CLOSED', 0])
        expect(FakeWebSocket.made.every(socket => socket.readyState >= 2)).toBe(true)
      }
    })

    it('leaves the attempt to the others when one of several gives up', async () => {
      const { connection } = setUp()
      const controller = new AbortController()
      const first = watch(connection.open(controller.signal))
      const second = watch(connection.open())
      await turnEventLoop()
      controller.abort()
      FakeWebSocket.last.accept()
      await turnEventLoop()
      expect([first.outcome, second.outcome, connection.state]).toEqual(['ABORTED', 'done', 'CONNECTED'])
    })

    it('leaves the loop alone when the caller joined an attempt of the loop', async () => {
      const { connection, open, clock } = setUp()
      await open()
      FakeWebSocket.last.end(1006)
      await clock.advance(1_000)
      const controller = new AbortController()
      const joined = watch(connection.open(controller.signal))
      controller.abort()
      await turnEventLoop()
      FakeWebSocket.last.accept()
      expect([joined.outcome, connection.state]).toEqual(['ABORTED', 'CONNECTED'])
    })

    it('is not listened to any more when the call is over', async () => {
      const { connection } = setUp()
      const { signal } = new AbortController()
      watch(connection.open(signal))
      expect(getEventListeners(signal, 'abort')).toHaveLength(1)
      await turnEventLoop()
      FakeWebSocket.last.accept()
      expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    })

    it('does nothing after the promise has settled', async () => {
      const { connection } = setUp()
      const controller = new AbortController()
      watch(connection.open(controller.signal))
      await turnEventLoop()
      FakeWebSocket.last.accept()
      controller.abort()
      await turnEventLoop()
      expect(connection.state).toBe('CONNECTED')
    })
  })

  describe('listeners', () => {
    it('may close in any of them, which takes effect', async () => {
      for (const label of ['IDLE to CONNECTING', 'CONNECTING to CONNECTED', 'opened']) {
        const { connection, clock, when } = setUp()
        when(label, () => connection.close())
        const opening = watch(connection.open())
        await turnEventLoop()
        FakeWebSocket.made[0]?.accept()
        await turnEventLoop()
        expect([label, opening.outcome, connection.state, clock.pendingTimers]).toEqual([label, 'ABORTED', 'CLOSED', 0])
        expect(FakeWebSocket.made.every(socket => socket.readyState >= 2)).toBe(true)
      }
      for (const label of ['CONNECTED to RECONNECTING', 'closed 1006, reconnecting', 'RECONNECTING to CONNECTING']) {
        const { connection, clock, when, open } = setUp()
        await open()
        when(label, () => connection.close())
        FakeWebSocket.last.end(1006)
        await clock.advance(1_000)
        expect([label, connection.state, clock.pendingTimers]).toEqual([label, 'CLOSED', 0])
        expect(FakeWebSocket.made).toHaveLength(1)
      }
    })

    it('may close while it connects before an address has been asked for', async () => {
      let asked = 0
      const { connection, when } = setUp({ begin: async () => String(++asked) })
      when('IDLE to CONNECTING', () => connection.close())
      watch(connection.open())
      await turnEventLoop()
      expect(asked).toBe(0)
    })

    it('may abort the failed call that they are notified of, and the loop continues', async () => {
      const { connection, when } = setUp()
      const controller = new AbortController()
      when('failed refused', () => controller.abort())
      const opening = watch(connection.open(controller.signal))
      await turnEventLoop()
      FakeWebSocket.last.end(1006)
      await turnEventLoop()
      expect([opening.outcome, connection.state]).toEqual(['ABORTED', 'RECONNECTING'])
    })

    it('may open again in any of them, and end connected on one socket', async () => {
      for (const label of ['CONNECTED to CLOSED', 'closed 1000']) {
        const { connection, clock, when, open } = setUp()
        await open()
        when(label, () => watch(connection.open()))
        FakeWebSocket.last.end(1000)
        await turnEventLoop()
        FakeWebSocket.last.accept()
        expect([label, connection.state, clock.pendingTimers]).toEqual([label, 'CONNECTED', 0])
        expect(FakeWebSocket.made).toHaveLength(2)
      }
    })

    it('do not receive `attempts_used_up` when one of them has opened again', async () => {
      const { connection, told, when, open } = setUp({ maxReconnectAttempts: 0 })
      await open()
      when('closed 1006', () => watch(connection.open()))
      FakeWebSocket.last.end(1006)
      expect([connection.state, told.includes('failed attempts_used_up')]).toEqual(['CONNECTING', false])
    })
  })
})
