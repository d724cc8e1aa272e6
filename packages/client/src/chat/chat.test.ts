import { FakeWebSocket, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import {
  contentsOf,
  deferred,
  setUpChat,
  setUpOpenChat as setUpOpen,
  userFrame,
  watch,
} from '../../test/chat-harness.ts'

const last = () => FakeWebSocket.last
const tokenFrame = (token: string) => expect.objectContaining({ role: 'token', messageData: { token } })

describe('Chat', () => {
  it('connects, sends queued messages, and emits the events in this order', async () => {
    const { chat, connection, outbox, told } = setUpChat()
    outbox.send('one')
    const connecting = watch(chat.connect())
    await turnEventLoop()
    last().accept()
    await turnEventLoop()
    expect(connecting.outcome).toBe('done')
    expect(told).toEqual(['CONNECTING', 'CONNECTED', 'connected', 'flushed 1'])
    expect([contentsOf(last()), outbox.size, connection.state === 'CONNECTED']).toEqual([['one'], 0, true])
    expect(last().url).toBe('wss://chat.a.test/?sessionId=session-1')
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
    const { chat, outbox, when, told } = setUpChat()
    outbox.send('one')
    when('connected', () => outbox.send('two'))
    when('flushed 2', () => outbox.send('three'))
    watch(chat.connect())
    await turnEventLoop()
    last().accept()
    expect(contentsOf(last())).toEqual(['one', 'two', 'three'])
    expect(told.at(-1)).toBe('flushed 2')
  })

  it('keeps the messages of an outage for the next socket, with one `flushed`', async () => {
    const { outbox, clock, told } = await setUpOpen()
    last().end(1006)
    for (let i = 0; i < 20; i++) outbox.send(`m${i}`)
    await clock.advance(1_000)
    last().accept()
    const cutShort = last()
    cutShort.end(1006)
    await clock.advance(2_000)
    last().accept()
    outbox.send('m20')
    await clock.advance(5)
    expect([...contentsOf(cutShort), ...contentsOf(last())]).toEqual(Array.from({ length: 21 }, (_, i) => `m${i}`))
    expect(told.filter(each => each.startsWith('flushed'))).toEqual(['flushed 20'])
  })

  it('keeps what a listener sends as soon as the loss is known', async () => {
    const { outbox, clock, when } = await setUpOpen()
    when('RECONNECTING', () => outbox.send('one'))
    when('closed 1006, reconnecting', () => outbox.send('two'))
    last().end(1006)
    expect(outbox.size).toBe(2)
    await clock.advance(1_000)
    last().accept()
    expect(contentsOf(last())).toEqual(['one', 'two'])
  })

  it('keeps what is sent while the socket is closing and its close event is on the way', async () => {
    const { outbox, clock } = await setUpOpen()
    last().readyState = 2
    outbox.send('one')
    expect(outbox.size).toBe(1)
    last().end(1006)
    await clock.advance(1_000)
    last().accept()
    expect(contentsOf(last())).toEqual(['one'])
  })

  describe('token step', () => {
    it('comes first; `connected`, what waits and connect() come after it', async () => {
      const token = deferred<string>()
      const { outbox, told, connecting } = await setUpOpen({ token: { getToken: () => token.promise } })
      outbox.send('waiting')
      expect([connecting.outcome, last().sent, told.includes('connected')]).toEqual(['pending', [], false])
      token.resolve('t1')
      await turnEventLoop()
      expect(last().frames).toEqual([tokenFrame('t1'), userFrame('waiting')])
      expect([connecting.outcome, told.slice(-2)]).toEqual(['done', ['connected', 'flushed 1']])
    })

    it('is repeated on every socket, before what waits', async () => {
      let asked = 0
      const { outbox, clock } = await setUpOpen({ token: { getToken: async () => `t${++asked}` } })
      last().end(1006)
      outbox.send('waiting')
      await clock.advance(1_000)
      last().accept()
      await turnEventLoop()
      expect(last().frames).toEqual([tokenFrame('t2'), userFrame('waiting')])
    })

    it('without a token reports error, connected and tokenExpiring, resolves, and queues messages until one is supplied', async () => {
      const { chat, outbox, told, connecting } = await setUpOpen({
        token: { getToken: () => Promise.reject(new Error('no')) },
      })
      outbox.send('waiting')
      expect(connecting.outcome).toBe('done')
      expect(told.slice(2)).toEqual(['failed AUTH_ERROR', 'connected', 'token needed: transport_request'])
      expect([last().sent, outbox.size]).toEqual([[], 1])
      chat.offerToken('t1')
      expect(last().frames).toEqual([tokenFrame('t1'), userFrame('waiting')])
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
      const { chat, connection, clock, when } = setUpChat({ token: { getToken: async () => `t${++asked}` } })
      when('CONNECTED', () => {
        last().bufferedAmount = 1
        watch(chat.disconnect())
      })
      const connecting = watch(chat.connect())
      await turnEventLoop()
      last().accept()
      await clock.advance(200)
      expect([asked, connection.state, last().sent]).toEqual([0, 'CLOSED', []])
      expect(connecting.outcome).not.toBe('pending')
      expect(connecting.outcome).not.toBe('done')
    })

    it('repeats the token on request of the service, and holds messages if no other token can be obtained', async () => {
      const { chat, outbox, told } = await setUpOpen({
        token: { getToken: async () => 't1', refresh: async () => 't1' },
      })
      told.length = 0
      chat.onRefreshRequired(true)
      await turnEventLoop()
      expect(told).toEqual(['token needed: transport_request'])
      outbox.send('waiting')
      expect(outbox.size).toBe(1)
      chat.offerToken('t2')
      expect(last().frames).toEqual([tokenFrame('t1'), tokenFrame('t2'), userFrame('waiting')])
    })
  })

  describe('context of a session that the host brought', () => {
    const context = { plan: 'gold' }
    const contextFrame = { persona: 'system', role: 'context', messageData: { context } }

    it('goes out once, after the token and before what waits', async () => {
      const { chat, outbox, clock } = setUpChat({ sessionId: 'mine', context, token: { getToken: async () => 't1' } })
      outbox.send('waiting')
      watch(chat.connect())
      await turnEventLoop()
      last().accept()
      await turnEventLoop()
      expect(last().frames).toEqual([tokenFrame('t1'), contextFrame, userFrame('waiting')])
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
      expect(last().frames[1]).toEqual(contextFrame)
    })
  })

  describe('a refused session', () => {
    it('is replaced for the next attempt, after an error', async () => {
      const { clock, told } = await setUpOpen()
      last().end(4404)
      expect(told.slice(-2)).toEqual(['closed 4404, reconnecting', 'failed closed'])
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
})
