import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { rejection } from '../../test/agent-harness.ts'
import { answered, messagesOf, type OutboxSetUp, said, setUpOutbox } from '../../test/outbox-harness.ts'
import type { ConnectionState } from '../chat/connection-state.ts'
import { SDKError } from '../errors.ts'
import { Message } from '../log/message.ts'
import { MAX_PAUSE_MS, MIN_PAUSE_MS } from './turn-taking.ts'

/** How long a question waits for the history after a reconnect, in milliseconds. */
const HISTORY_LIMIT_MS = 5_000

/** An outbox that is connected. */
function setUp(given: OutboxSetUp = {}) {
  const parts = setUpOutbox(given)
  const transport = parts.connect()
  const answer = (content: string, messageId?: string) =>
    parts.outbox.handleMessage(new Message('agent', 'customer support agent', content, { messageId }))
  const showHistory = (...history: object[]) => parts.outbox.handleHistory(messagesOf(history))
  /** Loses the connection and gets a new one. */
  const reconnect = () => {
    parts.lose()
    return parts.connect()
  }
  return { ...parts, transport, answer, showHistory, reconnect }
}

/** The first outcome of a question, or `open`. */
const outcomeOf = (asked: Promise<Message>) =>
  Promise.race([
    asked.then(
      ({ content }) => content,
      (error: Error & { reason?: string }) => error.reason,
    ),
    new Promise<string>(resolve => setImmediate(resolve, 'open')),
  ])

describe('the pause before the next question', () => {
  it('[REL-11] is derived from the last eight gaps', async () => {
    const { outbox, transport, answer, clock } = setUp()
    answer('first')
    await clock.advance(600)
    answer('after a long gap')
    for (let count = 0; count < 7; count++) {
      await clock.advance(10)
      answer('after a short gap')
    }
    const one = outbox.ask('one')
    await clock.advance(899)
    expect(transport.contents).toEqual([])
    await clock.advance(1)
    expect(transport.contents).toEqual(['one'])
    answer('1')
    await one
    await clock.advance(10)
    answer('1, continued')
    outbox.ask('two').catch(() => {})
    await clock.advance(MIN_PAUSE_MS - 1)
    expect(transport.contents).toEqual(['one'])
    await clock.advance(1)
    expect(transport.contents).toEqual(['one', 'two'])
  })

  it('[REL-11] is at most 2 s, and a gap of 2 s is the end of an answer', async () => {
    for (const [gapMs, pauseMs] of [
      [MAX_PAUSE_MS - 1, MAX_PAUSE_MS],
      [MAX_PAUSE_MS, MIN_PAUSE_MS],
    ] as const) {
      const { outbox, transport, answer, clock } = setUp()
      answer('first')
      await clock.advance(gapMs)
      answer('second')
      outbox.ask('one').catch(() => {})
      await clock.advance(pauseMs - 1)
      expect(transport.contents).toEqual([])
      await clock.advance(1)
      expect(transport.contents).toEqual(['one'])
    }
  })

  it('[REL-11] has one timer however many questions wait for it, and none after destroy()', async () => {
    const { outbox, transport, answer, clock } = setUp()
    answer('unasked')
    const asked = ['one', 'two', 'three'].map(text => rejection(outbox.ask(text, { timeoutMs: Infinity })))
    expect(clock.pendingTimers).toBe(1)
    outbox.destroy(new SDKError('Destroyed.', 'ABORTED'))
    expect(clock.pendingTimers).toBe(0)
    expect(await Promise.all(asked)).toMatchObject(Array(3).fill({ code: 'ABORTED' }))
    await clock.advance(MIN_PAUSE_MS)
    expect(transport.contents).toEqual([])
  })

  it('[SEC-15] does not delay the first question of the next user', () => {
    const { outbox, transport, answer } = setUp()
    answer('to the previous user')
    outbox.forgetUser()
    outbox.ask('one').catch(() => {})
    expect(transport.contents).toEqual(['one'])
  })
})

describe('a question that has ended', () => {
  it.each<[string, (parts: ReturnType<typeof setUp>) => unknown]>([
    ['an answer', ({ answer }) => answer('1')],
    ['the end of the chat', ({ close }) => close()],
    ['its time limit', ({ clock }) => clock.advance(1_000)],
  ])('by %s leaves no timer, and no listener on the signal of its caller', async (_how, end) => {
    const parts = setUp()
    const { signal } = new AbortController()
    const asked = parts.outbox.ask('one', { signal, timeoutMs: 1_000 })
    asked.catch(() => {})
    expect([getEventListeners(signal, 'abort').length, parts.clock.pendingTimers]).toEqual([1, 1])
    await end(parts)
    expect(await outcomeOf(asked)).not.toBe('open')
    expect([getEventListeners(signal, 'abort').length, parts.clock.pendingTimers]).toEqual([0, 0])
  })
})

describe('a question and the limit of the queue', () => {
  it('[REL-10] is accepted without space in the queue when it can be written at once, and refused behind another one', async () => {
    const { outbox, transport, answer, clock } = setUp({ maxQueueSize: 0 })
    const asked = outbox.ask('one')
    expect(await rejection(outbox.ask('two'))).toMatchObject({ reason: 'queue_full' })
    answer('Fine')
    await clock.advance(MAX_PAUSE_MS)
    const next = outbox.ask('three')
    answer('Well')
    expect([(await asked).content, (await next).content]).toEqual(['Fine', 'Well'])
    expect(transport.contents).toEqual(['one', 'three'])
  })
})

describe('the time of a question', () => {
  it('is that of its turn', async () => {
    const { outbox, answer, clock, accepted } = setUp()
    const since = clock.now()
    const asked = [outbox.ask('one'), outbox.ask('two')]
    await clock.advance(10_000)
    answer('Fine')
    await clock.advance(MAX_PAUSE_MS)
    expect(accepted.map(({ timestamp }) => Number(timestamp) - since)).toEqual([0, 10_000 + MIN_PAUSE_MS])
    answer('Well')
    await Promise.all(asked)
  })
})

describe('a question whose caller gives up', () => {
  it('[REL-83] [REL-86] stays sent once it was written, and is acknowledged by a later history', async () => {
    const { outbox, showHistory, updates } = setUp()
    const controller = new AbortController()
    const asked = rejection(outbox.ask('one', { signal: controller.signal }))
    const { id } = updates[0] ?? { id: '' }
    controller.abort()
    expect(await asked).toMatchObject({ code: 'ABORTED' })
    expect(outbox.delivery(id)?.state).toBe('sent')
    showHistory(said('one'))
    expect(outbox.delivery(id)?.state).toBe('acknowledged')
  })
})

describe('a question whose connection was lost', () => {
  it('[REL-13] is not taken for the same words that were written before it', async () => {
    const { outbox, reconnect, showHistory } = setUp()
    outbox.send('How?')
    const asked = rejection(outbox.ask('How?'))
    reconnect()
    showHistory(said('How?'), answered('To the first.'))
    expect(await asked).toMatchObject({ reason: 'closed', messageId: 'id-1' })
  })

  it('[REL-13] resolves when the history shows the same words as often as they were written', async () => {
    const { outbox, reconnect, showHistory } = setUp()
    outbox.send('How?')
    outbox.send('Hurry!')
    const asked = outbox.ask('How?')
    reconnect()
    showHistory(said('How?'), answered('To the first.'), said('Hurry!'), said('How?'), answered('To the second.'))
    expect((await asked).content).toBe('To the second.')
  })

  it('[REL-13] does not resolve with an answer that an earlier history has shown', async () => {
    const { outbox, reconnect, showHistory } = setUp()
    const earlier = [said('How?'), answered('Long ago.', { messageId: 'm-1' })]
    showHistory(...earlier)
    const asked = rejection(outbox.ask('How?'))
    reconnect()
    showHistory(...earlier)
    expect(await asked).toMatchObject({ reason: 'closed' })
  })

  it('[REL-13] is not taken for that of an earlier page, of which no history was read', async () => {
    const { outbox, connect, lose, state } = setUpOutbox()
    state.isOwnSession = false
    connect()
    const asked = outbox.ask('How?')
    lose()
    connect()
    outbox.handleHistory(messagesOf([said('How?'), answered('Long ago.')]))
    expect(await outcomeOf(asked)).toBe('open')
    outbox.handleMessage(new Message('agent', 'customer support agent', 'Like this.'))
    expect((await asked).content).toBe('Like this.')
  })

  it('[REL-13] is found after the last message of the agent, with or without ids', async () => {
    for (const id of [undefined, 'm-1']) {
      const { outbox, reconnect, showHistory, answer, clock } = setUp()
      answer('Good day.', id)
      await clock.advance(MIN_PAUSE_MS)
      const asked = outbox.ask('How?')
      reconnect()
      const seen = answered('Good day.', id === undefined ? {} : { messageId: id })
      showHistory(said('How?'), answered('Before.'), seen, said('How?'), answered('Like this.'))
      expect((await asked).content).toBe('Like this.')
    }
  })

  it('[REL-13] waits on, and for no longer than the last reconnect allows, when the connection is lost twice', async () => {
    const { outbox, reconnect, clock } = setUp()
    const asked = outbox.ask('one')
    reconnect()
    await clock.advance(HISTORY_LIMIT_MS - 1_000)
    reconnect()
    outbox.ask('two').catch(() => {})
    await clock.advance(HISTORY_LIMIT_MS - 1)
    expect(await outcomeOf(asked)).toBe('open')
    await clock.advance(1)
    expect(await outcomeOf(asked)).toBe('closed')
  })

  it('[REL-13] stays open over a reconnect where the service repeats what was missed', async () => {
    const { outbox, reconnect, answer, clock } = setUp({ hasResume: true, hasReceipts: true })
    const asked = outbox.ask('one')
    reconnect()
    outbox.ask('two').catch(() => {})
    await clock.advance(HISTORY_LIMIT_MS * 2)
    expect(await outcomeOf(asked)).toBe('open')
    outbox.send('another message')
    answer('1')
    expect((await asked).content).toBe('1')
  })

  it('[REL-84] [REL-13] keeps its turn when it is sent again after a long wait for a history', async () => {
    const { outbox, reconnect, answer, clock } = setUp({ delivery: 'at-least-once' })
    const asked = outbox.ask('one')
    const transport = reconnect()
    await clock.advance(15_000)
    const next = outbox.ask('two')
    expect([transport.contents, await outcomeOf(asked), await outcomeOf(next)]).toEqual([['one'], 'open', 'open'])
    answer('1')
    await clock.advance(MAX_PAUSE_MS)
    answer('2')
    expect([(await asked).content, (await next).content]).toEqual(['1', '2'])
  })

  it('[REL-85] [REL-13] resolves from the history after it was sent again with receipts, since it is not answered twice', async () => {
    const { outbox, reconnect, showHistory } = setUp({ hasReceipts: true })
    const asked = outbox.ask('one')
    const transport = reconnect()
    expect(transport.contents).toEqual(['one'])
    showHistory(said('one'), answered('1'))
    expect((await asked).content).toBe('1')
  })

  it('[REL-13] resolves with the next answer although a context was sent since', async () => {
    const { outbox, reconnect, answer } = setUp()
    const asked = outbox.ask('one')
    reconnect()
    outbox.send({ persona: 'system', role: 'context', messageData: { context: { page: 'cart' } } })
    answer('1')
    expect((await asked).content).toBe('1')
  })

  it('[REL-13] resolves with an answer that only a history has shown, before and after the loss', async () => {
    const { outbox, reconnect, showHistory } = setUp()
    const asked = outbox.ask('one')
    const history = [said('one'), answered('1', { messageId: 'm-1', timestamp: 1 })]
    showHistory(...history)
    expect(await outcomeOf(asked)).toBe('open')
    reconnect()
    showHistory(...history)
    expect((await asked).content).toBe('1')
  })

  it('[REL-84] [REL-13] is sent again with at-least-once, and resolves with the next answer', async () => {
    const { outbox, reconnect, showHistory, answer, clock } = setUp({ delivery: 'at-least-once' })
    const asked = outbox.ask('one')
    const transport = reconnect()
    showHistory(said('something else'))
    await clock.advance(0)
    await await clock.advance(0)
    expect([transport.contents, await outcomeOf(asked)]).toEqual([['one'], 'open'])
    answer('1')
    expect((await asked).content).toBe('1')
  })

  it.each<[string, (parts: ReturnType<typeof setUp>) => unknown]>([
    ['a sign-out', ({ outbox }) => outbox.forgetUser()],
    ['destroy()', ({ outbox }) => outbox.destroy(Object.assign(new Error('x'), { reason: 'closed' }) as never)],
    ['the end of the chat', ({ close }) => close()],
  ])('[REL-12] [REL-13] is rejected by %s', async (_what, end) => {
    const parts = setUp()
    const asked = parts.outbox.ask('one')
    parts.reconnect()
    end(parts)
    expect(await outcomeOf(asked)).toBe('closed')
  })
})

describe('a question whose time is over', () => {
  const initialize = 'the agent is not initialized: await initialize() and make the selection that it asks for'
  const connect = 'the chat is not connected: call connect()'

  it.each<[string, Partial<{ isReady: boolean; connection: ConnectionState }>, boolean, string]>([
    ['before initialize()', { isReady: false }, false, initialize],
    ['before connect()', {}, false, connect],
    ['after the chat was closed', { connection: 'CLOSED' }, false, connect],
    ['during a reconnect', { connection: 'RECONNECTING' }, false, 'the chat is RECONNECTING'],
    ['without a token', { connection: 'CONNECTED' }, false, 'the chat waits for an access token'],
    ['behind another one', {}, true, 'an earlier question has no answer yet'],
    ['that was sent', { isReady: true }, true, 'the agent has not answered'],
  ])('names what it waits for: %s', async (which, given, isConnected, reason) => {
    const { outbox, state, clock, connect: open } = setUpOutbox()
    if (isConnected) open()
    Object.assign(state, given)
    if (which === 'behind another one') outbox.ask('first', { timeoutMs: 60_000 }).catch(() => {})
    const asked = outbox.ask('one', { timeoutMs: 2_000 }).catch(error => error)
    await clock.advance(2_000)
    expect(await asked).toMatchObject({ reason: 'timeout', message: `No answer came within 2 s: ${reason}.` })
  })

  it('is one with a text and a limit', async () => {
    const { outbox } = setUpOutbox()
    const failed = (text: unknown, timeoutMs?: number) =>
      outbox.ask(text as string, timeoutMs === undefined ? {} : { timeoutMs }).catch(error => error.message)
    expect(await failed({})).toBe('ask() takes text.')
    for (const timeoutMs of [0, -1, Number.NaN])
      expect(await failed('one', timeoutMs)).toBe('timeoutMs must be a number of milliseconds above zero.')
  })
})
