import { ROLE } from '@aiagent/protocol'
import { FakeWebSocket, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { type ChatSetUp, deferred, setUpChat, watch } from '../../test/chat-harness.ts'

const last = () => FakeWebSocket.last
const GOODBYE = expect.objectContaining({ persona: 'system', role: ROLE.GRACEFUL_DISCONNECT })
const tokenFrame = (token: string) => expect.objectContaining({ role: 'token', messageData: { token } })

/** A chat that is open. */
async function setUpOpen(given: ChatSetUp = {}) {
  const setUp = setUpChat(given)
  const connecting = watch(setUp.chat.connect())
  await turnEventLoop()
  last().accept()
  await turnEventLoop()
  return { ...setUp, connecting }
}

describe('Chat', () => {
  it('connects, lets waiting messages go, and tells of it in this order', async () => {
    const { chat, told } = setUpChat()
    chat.send('1', 'one')
    const connecting = watch(chat.connect())
    await turnEventLoop()
    last().accept()
    await turnEventLoop()
    expect(connecting.outcome).toBe('done')
    expect(told).toEqual(['CONNECTING', 'CONNECTED', 'connected', 'flushed 1'])
    expect([last().sent, chat.queueSize, chat.isOpen]).toEqual([['one'], 0, true])
    expect(last().url).toBe('wss://chat.example/?sessionId=session-1')
  })

  it('joins a second connect() and needs one socket and one session', async () => {
    const { chat } = setUpChat()
    const both = [watch(chat.connect()), watch(chat.connect())]
    await turnEventLoop()
    last().accept()
    await turnEventLoop()
    expect(both.map(each => each.outcome)).toEqual(['done', 'done'])
    expect(FakeWebSocket.made).toHaveLength(1)
    expect(last().url).toContain('session-1')
  })

  it('sends what a listener of `connected` says behind what waits', async () => {
    const { chat, when, told } = setUpChat()
    chat.send('1', 'one')
    when('connected', () => chat.send('2', 'two'))
    when('flushed 2', () => chat.send('3', 'three'))
    watch(chat.connect())
    await turnEventLoop()
    last().accept()
    expect(last().sent).toEqual(['one', 'two', 'three'])
    expect(told.at(-1)).toBe('flushed 2')
  })

  it('keeps the messages of an outage for the next socket, with one `flushed`', async () => {
    const { chat, clock, told } = await setUpOpen()
    last().end(1006)
    for (let i = 0; i < 20; i++) chat.send(String(i), `m${i}`)
    await clock.advance(1_000)
    last().accept()
    const cutShort = last()
    cutShort.end(1006)
    await clock.advance(2_000)
    last().accept()
    chat.send('20', 'm20')
    await clock.advance(5)
    expect([...cutShort.sent, ...last().sent]).toEqual(Array.from({ length: 21 }, (_, i) => `m${i}`))
    expect(told.filter(each => each.startsWith('flushed'))).toEqual(['flushed 20'])
  })

  it('keeps what a listener sends as soon as the loss is known', async () => {
    const { chat, clock, when } = await setUpOpen()
    when('RECONNECTING', () => chat.send('1', 'one'))
    when('closed 1006, back soon', () => chat.send('2', 'two'))
    last().end(1006)
    expect(chat.queueSize).toBe(2)
    await clock.advance(1_000)
    last().accept()
    expect(last().sent).toEqual(['one', 'two'])
  })

  it('keeps what is sent while the socket is closing and its close event is on the way', async () => {
    const { chat, clock } = await setUpOpen()
    last().readyState = 2
    chat.send('1', 'one')
    expect(chat.queueSize).toBe(1)
    last().end(1006)
    await clock.advance(1_000)
    last().accept()
    expect(last().sent).toEqual(['one'])
  })

  describe('token step', () => {
    it('comes first; `connected`, what waits and connect() come after it', async () => {
      const token = deferred<string>()
      const { chat, told, connecting } = await setUpOpen({ token: { getToken: () => token.promise } })
      chat.send('1', '{"n":1}')
      expect([connecting.outcome, last().sent, told.includes('connected')]).toEqual(['pending', [], false])
      token.resolve('t1')
      await turnEventLoop()
      expect(last().frames).toEqual([tokenFrame('t1'), { n: 1 }])
      expect([connecting.outcome, told.slice(-2)]).toEqual(['done', ['connected', 'flushed 1']])
    })

    it('is repeated on every socket, before what waits', async () => {
      let asked = 0
      const { chat, clock } = await setUpOpen({ token: { getToken: async () => `t${++asked}` } })
      last().end(1006)
      chat.send('1', '{"n":1}')
      await clock.advance(1_000)
      last().accept()
      await turnEventLoop()
      expect(last().frames).toEqual([tokenFrame('t2'), { n: 1 }])
    })

    it('without a token tells error, connected and the need, resolves, and holds messages until one is offered', async () => {
      const { chat, told, connecting } = await setUpOpen({ token: { getToken: () => Promise.reject(new Error('no')) } })
      chat.send('1', '{"n":1}')
      expect(connecting.outcome).toBe('done')
      expect(told.slice(2)).toEqual(['failed AUTH_ERROR', 'connected', 'token needed'])
      expect([last().sent, chat.queueSize]).toEqual([[], 1])
      chat.offerToken('t1')
      expect(last().frames).toEqual([tokenFrame('t1'), { n: 1 }])
      expect(told.filter(each => each === 'connected')).toHaveLength(1)
    })

    it('is over for connect() when the host offers a token before the request for one is answered', async () => {
      const { chat, connecting } = await setUpOpen({ token: { getToken: () => new Promise(() => {}) } })
      chat.offerToken('t1')
      await turnEventLoop()
      expect([connecting.outcome, last().frames]).toEqual(['done', [tokenFrame('t1')]])
    })

    it('does not keep connect() from settling when the socket goes, the host leaves, or the signal is aborted', async () => {
      const never = { getToken: () => new Promise<string>(() => {}) }
      const lost = await setUpOpen({ token: never })
      last().end(1006)
      await turnEventLoop()
      expect(lost.connecting.outcome).toBe('CONNECTION_ERROR')

      const left = await setUpOpen({ token: never })
      await left.chat.disconnect()
      await turnEventLoop()
      expect(left.connecting.outcome).toBe('CONNECTION_ERROR')

      const given = setUpChat({ token: never })
      const controller = new AbortController()
      const connecting = watch(given.chat.connect(controller.signal))
      await turnEventLoop()
      last().accept()
      await turnEventLoop()
      controller.abort('enough')
      await turnEventLoop()
      expect(connecting.error).toMatchObject({ code: 'ABORTED', cause: 'enough' })
    })

    it('lets nothing else out: a chat that is left before it closes without a goodbye', async () => {
      const { chat, told } = await setUpOpen({ token: { getToken: () => new Promise(() => {}) } })
      await chat.disconnect()
      expect([last().sent, last().closedWith?.code, told.includes('connected')]).toEqual([[], 1000, false])
    })

    it('writes no late token on a socket that is being left', async () => {
      const token = deferred<string>()
      const { chat } = await setUpOpen({ token: { getToken: () => token.promise } })
      watch(chat.disconnect())
      token.resolve('late')
      await turnEventLoop()
      expect(last().sent).toEqual([])
    })

    it('is not begun on a socket that a listener leaves as soon as it is open', async () => {
      let asked = 0
      const { chat, clock, when } = setUpChat({ token: { getToken: async () => `t${++asked}` } })
      when('CONNECTED', () => {
        last().bufferedAmount = 1
        watch(chat.disconnect())
      })
      const connecting = watch(chat.connect())
      await turnEventLoop()
      last().accept()
      await clock.advance(200)
      expect([asked, chat.state, last().sent]).toEqual([0, 'CLOSED', []])
      expect(connecting.outcome).not.toBe('pending')
      expect(connecting.outcome).not.toBe('done')
    })

    it('repeats itself on request of the service, and holds messages when no other token can be had', async () => {
      const { chat, told } = await setUpOpen({ token: { getToken: async () => 't1', refresh: async () => 't1' } })
      told.length = 0
      chat.renewToken()
      await turnEventLoop()
      expect(told).toEqual(['failed AUTH_ERROR', 'token needed'])
      chat.send('1', '{"n":1}')
      expect(chat.queueSize).toBe(1)
      chat.offerToken('t2')
      expect(last().frames).toEqual([tokenFrame('t1'), tokenFrame('t2'), { n: 1 }])
    })
  })

  describe('context of a session that the host brought', () => {
    const context = '{"role":"context"}'

    it('goes out once, after the token and before what waits', async () => {
      const { chat, clock } = setUpChat({ sessionId: 'mine', context, token: { getToken: async () => 't1' } })
      chat.send('1', '{"n":1}')
      watch(chat.connect())
      await turnEventLoop()
      last().accept()
      await turnEventLoop()
      expect(last().frames).toEqual([tokenFrame('t1'), { role: 'context' }, { n: 1 }])
      last().end(1006)
      await clock.advance(1_000)
      last().accept()
      await turnEventLoop()
      expect(last().frames).toEqual([tokenFrame('t1')])
    })

    it('goes to the session it is meant for: one that is set while the chat is open gets it at the next opening', async () => {
      const { chat, session, clock } = await setUpOpen({ context, token: { getToken: async () => 't1' } })
      session.supply('mine')
      chat.offerToken('t2')
      expect(last().frames).toEqual([tokenFrame('t1'), tokenFrame('t2')])
      watch(chat.disconnect())
      watch(chat.connect())
      await clock.advance(0)
      last().accept()
      await turnEventLoop()
      expect(last().url).toContain('mine')
      expect(last().frames[1]).toEqual({ role: 'context' })
    })
  })

  describe('disconnect()', () => {
    it('resolves without a connection', async () => {
      const { chat } = setUpChat()
      await chat.disconnect()
      expect(chat.state).toBe('IDLE')
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
      expect([last().closedWith?.code, second.chat.state]).toEqual([1000, 'CLOSED'])
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
      const { chat, clock } = await setUpOpen()
      last().bufferedAmount = 1
      watch(chat.disconnect())
      chat.send('1', 'one')
      await clock.advance(100)
      expect([last().frames, chat.queueSize]).toEqual([[GOODBYE], 1])
      watch(chat.connect())
      await turnEventLoop()
      last().accept()
      expect(last().sent).toEqual(['one'])
    })

    it.each([1000, 1006])('stays left when the service ends the socket with %i during the goodbye', async code => {
      const { chat, clock, told } = await setUpOpen()
      told.length = 0
      last().bufferedAmount = 1
      const leaving = watch(chat.disconnect())
      last().end(code)
      expect(told).toEqual(['CLOSED', `closed ${code}`])
      await clock.advance(60_000)
      expect([leaving.outcome, told.length, clock.pendingTimers, FakeWebSocket.made.length]).toEqual(['done', 2, 0, 1])
    })

    it('ends an attempt, the wait for one, and the call for a session', async () => {
      let asked: AbortSignal | undefined
      const { chat, clock } = setUpChat({
        createSession: signal => {
          asked = signal
          return new Promise(() => {})
        },
      })
      const connecting = watch(chat.connect())
      await turnEventLoop()
      await chat.disconnect()
      await turnEventLoop()
      expect([connecting.outcome, asked?.aborted, chat.state, clock.pendingTimers]).toEqual(['ABORTED', true, 'CLOSED', 0])

      const second = await setUpOpen()
      last().end(1006)
      await second.chat.disconnect()
      expect([second.chat.state, second.clock.pendingTimers]).toEqual(['CLOSED', 0])
    })

    it.each([0, 1])('then connect() at once ends connected on one socket, with %i bytes unsent', async buffered => {
      const { chat, clock, liveSockets } = await setUpOpen()
      last().bufferedAmount = buffered
      const leaving = watch(chat.disconnect())
      const connecting = watch(chat.connect())
      await clock.advance(100)
      last().accept()
      await turnEventLoop()
      expect([leaving.outcome, connecting.outcome, chat.state]).toEqual(['done', 'done', 'CONNECTED'])
      expect([FakeWebSocket.made.length, liveSockets()]).toEqual([2, 1])
      chat.send('1', 'one')
      expect(last().sent).toEqual(['one'])
    })

    it.each([0, 1])('has the last word over a connect() that came before it, with %i bytes unsent', async buffered => {
      const { chat, clock, liveSockets } = await setUpOpen()
      last().bufferedAmount = buffered
      watch(chat.disconnect())
      const connecting = watch(chat.connect())
      const leaving = watch(chat.disconnect())
      await clock.advance(60_000)
      expect([leaving.outcome, connecting.outcome, chat.state]).toEqual(['done', 'ABORTED', 'CLOSED'])
      expect([liveSockets(), clock.pendingTimers]).toEqual([0, 0])
    })

    it('makes no connect() wait whose signal is aborted', async () => {
      const { chat, clock } = await setUpOpen()
      last().bufferedAmount = 1
      watch(chat.disconnect())
      const controller = new AbortController()
      const connecting = watch(chat.connect(controller.signal))
      controller.abort('enough')
      await turnEventLoop()
      expect(connecting.error).toMatchObject({ code: 'ABORTED', cause: 'enough' })
      await clock.advance(100)
      expect(chat.state).toBe('CLOSED')
    })

    it('lets messages through again when a listener of the end connects at once', async () => {
      for (const label of ['CLOSED', 'closed 1000']) {
        const { chat, when } = await setUpOpen()
        when(label, () => watch(chat.connect()))
        watch(chat.disconnect())
        await turnEventLoop()
        last().accept()
        chat.send('1', 'one')
        expect([label, chat.state, last().sent]).toEqual([label, 'CONNECTED', ['one']])
      }
    })
  })

  describe('a refused session', () => {
    it('is replaced for the next attempt, after an error', async () => {
      const { clock, told } = await setUpOpen()
      last().end(4404)
      expect(told.slice(-2)).toEqual(['closed 4404, back soon', 'failed closed'])
      await clock.advance(1_000)
      expect(last().url).toContain('session-2')
    })

    it('is kept after any other close', async () => {
      const { clock } = await setUpOpen()
      last().end(1011)
      await clock.advance(1_000)
      expect(last().url).toContain('session-1')
    })

    it('is not used again when a listener of the error connects at once', async () => {
      const { chat, when } = await setUpOpen()
      when('failed closed', () => watch(chat.connect()))
      last().end(4404)
      await turnEventLoop()
      expect(last().url).toContain('session-2')
    })

    it('costs the host nothing when it has set another meanwhile', async () => {
      const { session, clock } = await setUpOpen()
      session.supply('mine')
      last().end(4404)
      await clock.advance(1_000)
      expect(last().url).toContain('sessionId=mine')
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

    it('changes nothing when no session can be had', async () => {
      let asked = 0
      const { chat, told } = await setUpOpen({
        createSession: async () => {
          if (++asked > 1) throw new Error('no session')
          return 'session-1'
        },
      })
      told.length = 0
      const restarting = restart(chat)
      await turnEventLoop()
      expect([restarting.outcome, restarting.resets(), told, last().sent]).toEqual(['Error: no session', 0, [], []])
      chat.send('1', 'one')
      expect(last().sent).toEqual(['one'])
    })

    it('changes nothing when it is aborted before the session is there', async () => {
      let asked = 0
      const answer = deferred<string>()
      const { chat, session } = await setUpOpen({
        createSession: async () => (++asked > 1 ? answer.promise : 'session-1'),
      })
      const controller = new AbortController()
      const restarting = restart(chat, undefined, controller.signal)
      controller.abort()
      answer.resolve('session-2')
      await turnEventLoop()
      expect([restarting.outcome, restarting.resets(), chat.state]).toEqual(['ABORTED', 0, 'CONNECTED'])
      expect(session.id).toBe('session-1')
    })

    it('takes the host’s session without asking for one, and tells it the context', async () => {
      const { chat } = await setUpOpen({ context: '{"role":"context"}' })
      const restarting = restart(chat, 'mine')
      await turnEventLoop()
      last().accept()
      await turnEventLoop()
      expect([restarting.outcome, last().frames]).toEqual(['done', [{ role: 'context' }]])
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
      const { chat, clock, liveSockets } = await setUpOpen({
        createSession: async () => (++asked > 1 ? answer.promise : 'session-1'),
      })
      const restarting = restart(chat)
      await chat.disconnect()
      answer.resolve('session-2')
      await clock.advance(60_000)
      expect([restarting.outcome, restarting.resets(), chat.state]).toEqual(['ABORTED', 0, 'CLOSED'])
      expect([liveSockets(), clock.pendingTimers]).toEqual([0, 0])
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
