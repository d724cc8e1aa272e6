import { ROLE } from '@aiagent/protocol'
import { FakeWebSocket, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { contentsOf, deferred, setUpChat, setUpOpenChat as setUpOpen, watch } from '../../test/chat-harness.ts'

const last = () => FakeWebSocket.last
const GOODBYE = expect.objectContaining({ persona: 'system', role: ROLE.GRACEFUL_DISCONNECT })

describe('Chat', () => {
  describe('disconnect()', () => {
    it('resolves without a connection', async () => {
      const { chat, connection } = setUpChat()
      await chat.disconnect()
      expect(connection.state).toBe('IDLE')
    })

    it('says goodbye, closes with 1000 at once when that has left, and leaves no timer', async () => {
      const { chat, clock, told } = await setUpOpen()
      await chat.disconnect()
      expect(last().frames).toEqual([GOODBYE])
      expect(last().closedWith).toEqual({ code: 1000, reason: 'Client disconnect' })
      expect(told.slice(-2)).toEqual(['CLOSED', 'closed 1000'])
      expect(clock.pendingTimers).toBe(0)
    })

    it('waits for the goodbye to leave', async () => {
      const { chat, clock } = await setUpOpen()
      last().bufferedAmount = 40
      const leaving = watch(chat.disconnect())
      await clock.advance(50)
      expect([leaving.outcome, last().closedWith]).toEqual(['pending', undefined])
      last().bufferedAmount = 0
      await clock.advance(5)
      expect([leaving.outcome, last().closedWith?.code, clock.pendingTimers]).toEqual(['done', 1000, 0])
    })

    it('waits 100 ms for it at most', async () => {
      const { chat, clock } = await setUpOpen()
      last().bufferedAmount = 40
      const leaving = watch(chat.disconnect())
      await clock.advance(99)
      expect(leaving.outcome).toBe('pending')
      await clock.advance(1)
      expect([leaving.outcome, last().closedWith?.code, clock.pendingTimers]).toEqual(['done', 1000, 0])
    })

    it('does not wait on when its signal is aborted', async () => {
      const { chat, clock } = await setUpOpen()
      last().bufferedAmount = 40
      const controller = new AbortController()
      const leaving = watch(chat.disconnect({ signal: controller.signal }))
      controller.abort()
      await turnEventLoop()
      expect([leaving.outcome, last().closedWith?.code, clock.pendingTimers]).toEqual(['done', 1000, 0])
    })

    it('closes without a word when asked to, also in the middle of a goodbye', async () => {
      const { chat } = await setUpOpen()
      await chat.disconnect({ skipGracefulDisconnect: true })
      expect([last().sent, last().closedWith?.code]).toEqual([[], 1000])

      const second = await setUpOpen()
      last().bufferedAmount = 40
      watch(second.chat.disconnect())
      watch(second.chat.disconnect({ skipGracefulDisconnect: true }))
      expect([last().closedWith?.code, second.connection.state]).toEqual([1000, 'CLOSED'])
      await second.clock.advance(100)
      expect(second.clock.pendingTimers).toBe(0)
    })

    it('twice says goodbye once', async () => {
      const { chat, clock } = await setUpOpen()
      last().bufferedAmount = 1
      const both = [watch(chat.disconnect()), watch(chat.disconnect())]
      await clock.advance(100)
      expect(both.map(each => each.outcome)).toEqual(['done', 'done'])
      expect(last().frames).toEqual([GOODBYE])
    })

    it('keeps what is sent meanwhile for a later connect', async () => {
      const { chat, outbox, clock } = await setUpOpen()
      last().bufferedAmount = 1
      watch(chat.disconnect())
      outbox.send('one')
      await clock.advance(100)
      expect([last().frames, outbox.size]).toEqual([[GOODBYE], 1])
      watch(chat.connect())
      await turnEventLoop()
      last().accept()
      expect(contentsOf(last())).toEqual(['one'])
    })

    it.each([1000, 1006])('stays left when the service ends the socket with %i during the goodbye', async code => {
      const { chat, clock, told } = await setUpOpen()
      told.length = 0
      last().bufferedAmount = 1
      const leaving = watch(chat.disconnect())
      last().end(code)
      expect(told).toEqual(['CLOSED', `closed ${code}`])
      await clock.advance(5)
      expect(leaving.outcome).toBe('done')
      await clock.advance(60_000)
      expect([leaving.outcome, told.length, clock.pendingTimers, FakeWebSocket.made.length]).toEqual(['done', 2, 0, 1])
    })

    it('ends an attempt, the wait for one, and the call for a session', async () => {
      let asked: AbortSignal | undefined
      const { chat, connection, clock } = setUpChat({
        createSession: signal => {
          asked = signal
          return new Promise(() => {})
        },
      })
      const connecting = watch(chat.connect())
      await turnEventLoop()
      await chat.disconnect()
      await turnEventLoop()
      expect([connecting.outcome, asked?.aborted, connection.state, clock.pendingTimers]).toEqual([
        'ABORTED',
        true,
        'CLOSED',
        0,
      ])

      const second = await setUpOpen()
      last().end(1006)
      await second.chat.disconnect()
      expect([second.connection.state, second.clock.pendingTimers]).toEqual(['CLOSED', 0])
    })

    it.each([0, 1])('then connect() at once ends connected on one socket, with %i bytes unsent', async buffered => {
      const { chat, connection, outbox, clock, liveSockets } = await setUpOpen()
      last().bufferedAmount = buffered
      const leaving = watch(chat.disconnect())
      const connecting = watch(chat.connect())
      await clock.advance(100)
      last().accept()
      await turnEventLoop()
      expect([leaving.outcome, connecting.outcome, connection.state]).toEqual(['done', 'done', 'CONNECTED'])
      expect([FakeWebSocket.made.length, liveSockets()]).toEqual([2, 1])
      outbox.send('one')
      expect(contentsOf(last())).toEqual(['one'])
    })

    it.each([0, 1])('has the last word over a connect() that came before it, with %i bytes unsent', async buffered => {
      const { chat, connection, clock, liveSockets } = await setUpOpen()
      last().bufferedAmount = buffered
      watch(chat.disconnect())
      const connecting = watch(chat.connect())
      const leaving = watch(chat.disconnect())
      await clock.advance(60_000)
      expect([leaving.outcome, connecting.outcome, connection.state]).toEqual(['done', 'ABORTED', 'CLOSED'])
      expect([liveSockets(), clock.pendingTimers]).toEqual([0, 0])
    })

    it('makes no connect() wait whose signal is aborted', async () => {
      const { chat, connection, clock } = await setUpOpen()
      last().bufferedAmount = 1
      watch(chat.disconnect())
      const controller = new AbortController()
      const connecting = watch(chat.connect(controller.signal))
      controller.abort('enough')
      await turnEventLoop()
      expect(connecting.error).toMatchObject({ code: 'ABORTED', cause: 'enough' })
      await clock.advance(100)
      expect(connection.state).toBe('CLOSED')
    })

    it.each([
      ['CONNECTED', 0],
      ['CONNECTED', 1],
      ['connected', 0],
      ['connected', 1],
    ])('in a listener of %s keeps what waits and rejects connect(), with %i bytes unsent', async (label, buffered) => {
      const { chat, connection, outbox, clock, told, when } = setUpChat({
        sessionId: 'mine',
        context: { plan: 'gold' },
      })
      outbox.send('waiting')
      when(label, () => {
        last().bufferedAmount = buffered
        watch(chat.disconnect())
      })
      const connecting = watch(chat.connect())
      await turnEventLoop()
      last().accept()
      await clock.advance(100)
      expect([last().frames, outbox.size, connection.state]).toEqual([[GOODBYE], 1, 'CLOSED'])
      expect(connecting.outcome).toMatch(/^(ABORTED|CONNECTION_ERROR)$/)
      expect(told.includes('connected')).toBe(label === 'connected')
    })

    it('lets messages through again when a listener of the end connects at once', async () => {
      for (const label of ['CLOSED', 'closed 1000']) {
        const { chat, connection, outbox, when } = await setUpOpen()
        when(label, () => watch(chat.connect()))
        watch(chat.disconnect())
        await turnEventLoop()
        last().accept()
        outbox.send('one')
        expect([label, connection.state, contentsOf(last())]).toEqual([label, 'CONNECTED', ['one']])
      }
    })
  })

  describe('restart()', () => {
    const restart = (chat: Awaited<ReturnType<typeof setUpOpen>>['chat'], sessionId?: string, signal?: AbortSignal) => {
      const seen = { resets: 0 }
      const reset = () => void seen.resets++
      return Object.assign(watch(chat.restart({ sessionId, signal, reset })), seen, { resets: () => seen.resets })
    }

    it('asks for a session, leaves with a goodbye, clears, and connects to the new one', async () => {
      const { chat, liveSockets } = await setUpOpen()
      const old = last()
      const restarting = restart(chat)
      await turnEventLoop()
      expect([old.frames, restarting.resets()]).toEqual([[GOODBYE], 1])
      last().accept()
      await turnEventLoop()
      expect([restarting.outcome, liveSockets()]).toEqual(['done', 1])
      expect(last().url).toContain('session-2')
    })

    it('changes nothing when no session can be created', async () => {
      let asked = 0
      const { chat, outbox, told } = await setUpOpen({
        createSession: async () => {
          if (++asked > 1) throw new Error('no session')
          return 'session-1'
        },
      })
      told.length = 0
      const restarting = restart(chat)
      await turnEventLoop()
      expect([restarting.outcome, restarting.resets(), told, last().sent]).toEqual(['Error: no session', 0, [], []])
      outbox.send('one')
      expect(contentsOf(last())).toEqual(['one'])
    })

    it('changes nothing when it is aborted before the session is there', async () => {
      let asked = 0
      const answer = deferred<string>()
      const { chat, connection, session } = await setUpOpen({
        createSession: async () => (++asked > 1 ? answer.promise : 'session-1'),
      })
      const controller = new AbortController()
      const restarting = restart(chat, undefined, controller.signal)
      controller.abort()
      answer.resolve('session-2')
      await turnEventLoop()
      expect([restarting.outcome, restarting.resets(), connection.state]).toEqual(['ABORTED', 0, 'CONNECTED'])
      expect(session.id).toBe('session-1')
    })

    it('uses the session of the host without creating one, and sends it the context', async () => {
      const { chat } = await setUpOpen({ context: { plan: 'gold' } })
      const restarting = restart(chat, 'mine')
      await turnEventLoop()
      last().accept()
      await turnEventLoop()
      expect([restarting.outcome, last().frames]).toMatchObject(['done', [{ role: 'context' }]])
      expect(last().url).toContain('sessionId=mine')
    })

    it('twice at once is one restart', async () => {
      const { chat } = await setUpOpen()
      const both = [restart(chat), restart(chat)]
      await turnEventLoop()
      last().accept()
      await turnEventLoop()
      expect(both.map(each => each.outcome)).toEqual(['done', 'done'])
      expect(FakeWebSocket.made).toHaveLength(2)
    })

    it('is given up when the host leaves meanwhile', async () => {
      let asked = 0
      const answer = deferred<string>()
      const { chat, connection, clock, liveSockets } = await setUpOpen({
        createSession: async () => (++asked > 1 ? answer.promise : 'session-1'),
      })
      const restarting = restart(chat)
      await chat.disconnect()
      answer.resolve('session-2')
      await clock.advance(60_000)
      expect([restarting.outcome, restarting.resets(), connection.state]).toEqual(['ABORTED', 0, 'CLOSED'])
      expect([liveSockets(), clock.pendingTimers]).toEqual([0, 0])
    })

    it('is given up when the host leaves during its goodbye: what belonged to the old conversation stays', async () => {
      const { chat, connection, clock, session } = await setUpOpen()
      last().bufferedAmount = 1
      const restarting = restart(chat, 'mine')
      const leaving = watch(chat.disconnect())
      await clock.advance(60_000)
      expect([restarting.outcome, leaving.outcome, restarting.resets()]).toEqual(['ABORTED', 'done', 0])
      expect([session.id, connection.state]).toEqual(['session-1', 'CLOSED'])
    })

    it('ends on its own session although a connect() waits for the goodbye before it', async () => {
      const { chat, clock, liveSockets } = await setUpOpen()
      last().bufferedAmount = 1
      watch(chat.disconnect())
      const connecting = watch(chat.connect())
      const restarting = restart(chat, 'mine')
      await clock.advance(100)
      last().accept()
      await turnEventLoop()
      expect([restarting.outcome, liveSockets()]).toEqual(['done', 1])
      expect(connecting.outcome).not.toBe('pending')
      expect(last().url).toContain('sessionId=mine')
    })
  })
})
