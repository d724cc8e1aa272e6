import { describe, expect, it } from 'vitest'
import { rejection } from '../../test/agent-harness.ts'
import { messagesOf, setUpOutbox } from '../../test/outbox-harness.ts'
import { SDKError } from '../errors.ts'
import { Message } from '../log/message.ts'
import { WARN_AFTER_MS } from './outbox.ts'
import { MAX_PAUSE_MS, MIN_PAUSE_MS } from './turn-taking.ts'

/** How long a question waits for the history after a reconnect, in milliseconds. */
const HISTORY_LIMIT_MS = 5_000

const agentMessage = (content: string, messageId?: string) =>
  new Message('agent', 'customer support agent', content, { messageId })

/** An outbox that is connected. */
function setUp(maxQueueSize = 10) {
  const parts = setUpOutbox({ maxQueueSize })
  const transport = parts.connect()
  const answer = (content: string, messageId?: string) => {
    const message = agentMessage(content, messageId)
    parts.outbox.handleMessage(message)
    return message
  }
  return { ...parts, transport, answer }
}

const contents = async (answers: readonly Promise<Message>[]) =>
  (await Promise.all(answers)).map(({ content }) => content)

describe('ask()', () => {
  it('resolves with the first message of the agent after the question was written', async () => {
    const { outbox, connect, clock } = setUpOutbox()
    const first = agentMessage('the answer')
    const asked = outbox.ask('How?')
    outbox.handleMessage(agentMessage('too early'))
    connect()
    outbox.handleMessage(new Message('system', 'heartbeat'))
    outbox.handleMessage(first)
    outbox.handleMessage(agentMessage('too late'))
    expect(await asked).toBe(first)
    expect(clock.pendingTimers).toBe(0)
  })

  it('sends one question at a time, in the order of asking', async () => {
    const { outbox, transport, answer, clock } = setUp()
    const asked = ['one', 'two', 'three'].map(text => outbox.ask(text))
    expect([transport.contents, outbox.size]).toEqual([['one'], 2])
    answer('1')
    await clock.advance(MIN_PAUSE_MS)
    expect([transport.contents, outbox.size]).toEqual([['one', 'two'], 1])
    answer('2')
    await clock.advance(MIN_PAUSE_MS)
    answer('3')
    expect(await contents(asked)).toEqual(['1', '2', '3'])
  })

  it('lets plain messages pass while a question waits for its turn', () => {
    const { outbox, transport } = setUp()
    for (const text of ['one', 'two']) outbox.ask(text).catch(() => {})
    outbox.send('plain')
    expect(transport.contents).toEqual(['one', 'plain'])
  })

  it('waits 50 ms after the last message of an answer before the next question', async () => {
    const { outbox, transport, answer, clock } = setUp()
    const asked = ['one', 'two'].map(text => outbox.ask(text))
    answer('1')
    await clock.advance(30)
    answer('1, continued')
    await clock.advance(MIN_PAUSE_MS - 1)
    outbox.handleMessage(new Message('system', 'heartbeat'))
    expect(transport.contents).toEqual(['one'])
    await clock.advance(1)
    expect(transport.contents).toEqual(['one', 'two'])
    answer('2')
    expect(await contents(asked)).toEqual(['1', '2'])
    await clock.advance(MAX_PAUSE_MS)
    expect(clock.pendingTimers).toBe(0)
  })

  it('[REL-11] adapts the pause to the gaps between messages of one answer', async () => {
    const { outbox, transport, answer, clock } = setUp()
    outbox.ask('one').catch(() => {})
    answer('1')
    await clock.advance(600)
    answer('1, continued')
    const second = outbox.ask('two')
    await clock.advance(899)
    expect(transport.contents).toEqual(['one'])
    await clock.advance(1)
    expect(transport.contents).toEqual(['one', 'two'])
    answer('2')
    expect((await second).content).toBe('2')
  })

  it('[REL-11] takes the latency of an answer for no gap, and waits at most 2 s', async () => {
    const { outbox, transport, answer, clock } = setUp()
    for (const text of ['one', 'two', 'three', 'four']) outbox.ask(text).catch(() => {})
    await clock.advance(1_500)
    answer('1')
    await clock.advance(MIN_PAUSE_MS)
    await clock.advance(1_500)
    answer('2')
    await clock.advance(MIN_PAUSE_MS)
    expect(transport.contents).toEqual(['one', 'two', 'three'])
    answer('3')
    await clock.advance(49)
    answer('3, continued')
    await clock.advance(73)
    expect(transport.contents).toHaveLength(3)
    await clock.advance(1)
    expect(transport.contents).toHaveLength(4)
  })

  it('[SEC-50] is not delayed by a wall clock that is set back', async () => {
    const { outbox, transport, answer, clock } = setUp()
    answer('unasked')
    clock.shiftWallClock(-3_600_000)
    outbox.ask('one').catch(() => {})
    await clock.advance(MIN_PAUSE_MS)
    expect(transport.contents).toEqual(['one'])
  })

  it('rejects after two minutes or after timeoutMs, and gives the turn to the next question', async () => {
    const { outbox, transport, clock } = setUp()
    const patient = rejection(outbox.ask('patient'))
    const hasty = rejection(outbox.ask('hasty', { timeoutMs: 1_500 }))
    outbox.ask('last', { timeoutMs: Infinity }).catch(() => {})
    await clock.advance(1_500)
    expect(await hasty).toMatchObject({ name: 'MessageError', reason: 'timeout', messageId: 'id-1' })
    await clock.advance(118_499)
    expect(transport.contents).toEqual(['patient'])
    await clock.advance(1)
    expect(await patient).toMatchObject({ reason: 'timeout', messageId: 'id-0' })
    expect(transport.contents).toEqual(['patient', 'last'])
  })

  it('sets no timer for an infinite timeoutMs', async () => {
    const { outbox, answer, clock } = setUp()
    const asked = outbox.ask('How?', { timeoutMs: Infinity })
    expect(clock.pendingTimers).toBe(0)
    await clock.advance(130_000)
    answer('at last')
    expect((await asked).content).toBe('at last')
  })

  it.each([0, -1, Number.NaN])('rejects a timeoutMs of %s as invalid', async timeoutMs => {
    const { outbox, transport } = setUp()
    expect(await rejection(outbox.ask('How?', { timeoutMs }))).toMatchObject({ reason: 'invalid' })
    expect(transport.sent).toEqual([])
  })

  it('rejects a question that is not text as invalid', async () => {
    expect(await rejection(setUp().outbox.ask(7 as unknown as string))).toMatchObject({ reason: 'invalid' })
  })

  it('withdraws a question that is aborted before it was written', async () => {
    const { outbox, connect } = setUpOutbox()
    const controller = new AbortController()
    const asked = outbox.ask('How?', { signal: controller.signal })
    outbox.ask('next').catch(() => {})
    controller.abort('enough')
    expect(await rejection(asked)).toMatchObject({ code: 'ABORTED', cause: 'enough' })
    expect(connect().contents).toEqual(['next'])
  })

  it('sends nothing when the signal is already aborted', async () => {
    const { outbox, transport } = setUp()
    expect(await rejection(outbox.ask('How?', { signal: AbortSignal.abort() }))).toMatchObject({ code: 'ABORTED' })
    expect(transport.sent).toEqual([])
  })

  it('gives the turn to the next question when one cannot be masked', async () => {
    const { outbox, connect, becomeReady } = setUpOutbox({
      isReady: false,
      mask: text => {
        if (text === 'bad') throw new SDKError('No rules.', 'ABORTED')
        return text
      },
    })
    becomeReady()
    const bad = rejection(outbox.ask('bad'))
    outbox.ask('good').catch(() => {})
    expect(await bad).toMatchObject({ message: 'No rules.' })
    expect(connect().contents).toEqual(['good'])
  })
})

describe('end of a question', () => {
  it.each<[string, Message]>([
    ['with its text', new Message('metadata', 'error', 'Too many messages.')],
    ['without a text', new Message('metadata', 'error', '')],
  ])('comes with an error of the service %s, once it was written', async (_what, error) => {
    const { outbox, connect, clock } = setUpOutbox()
    const asked = outbox.ask('How?')
    let isOver = false
    asked.catch(() => {
      isOver = true
    })
    outbox.handleMessage(error)
    await clock.advance(0)
    expect(isOver).toBe(false)
    const transport = connect()
    const next = outbox.ask('next')
    outbox.handleMessage(error)
    expect(await rejection(asked)).toMatchObject({
      name: 'MessageError',
      reason: 'refused',
      messageId: 'id-0',
      message: expect.stringContaining(error.content || 'no reason'),
    })
    await clock.advance(MIN_PAUSE_MS)
    expect(transport.contents).toEqual(['How?', 'next'])
    outbox.handleMessage(agentMessage('2'))
    expect((await next).content).toBe('2')
  })

  it('comes with another session', async () => {
    const { outbox, state, lose, connect } = setUp()
    const asked = rejection(outbox.ask('How?'))
    lose()
    state.sessionId = 's2'
    connect()
    expect(await asked).toMatchObject({ reason: 'closed', messageId: 'id-0' })
  })

  it.each<[string, (parts: ReturnType<typeof setUp>) => void]>([
    ['another kind of metadata', ({ outbox }) => outbox.handleMessage(new Message('metadata', 'stale_token'))],
    ['an error role of the system', ({ outbox }) => outbox.handleMessage(new Message('system', 'error', 'x'))],
    ['a cleared outbox', ({ outbox }) => outbox.clear()],
    [
      'a reconnect to the same session',
      ({ lose, connect }) => {
        lose()
        connect()
      },
    ],
  ])('does not come with %s once it was written', async (_what, happen) => {
    const all = setUp()
    const asked = all.outbox.ask('How?')
    happen(all)
    all.answer('yes')
    expect((await asked).content).toBe('yes')
  })

  it('[REL-12] comes with the end of the chat for every question, written or not', async () => {
    const { outbox, close, failures } = setUp()
    const asked = ['one', 'two', 'three'].map(text => rejection(outbox.ask(text)))
    close()
    expect(await Promise.all(asked)).toMatchObject(
      ['id-0', 'id-1', 'id-2'].map(messageId => ({ reason: 'closed', messageId })),
    )
    expect([outbox.size, failures]).toEqual([0, []])
  })

  it('comes with a cleared outbox for each question that was not written, and by the promise only', async () => {
    const { outbox, failures } = setUpOutbox()
    const asked = ['one', 'two'].map(text => rejection(outbox.ask(text)))
    outbox.clear()
    expect(await Promise.all(asked)).toMatchObject(
      ['id-0', 'id-1'].map(messageId => ({ reason: 'cleared', messageId })),
    )
    expect([outbox.size, failures]).toEqual([0, []])
  })

  it('comes with the end of the agent in every state', async () => {
    const { outbox, answer, clock, transport } = setUp()
    answer('unasked')
    await clock.advance(MIN_PAUSE_MS)
    const asked = [outbox.ask('one'), outbox.ask('two')]
    const error = new SDKError('Destroyed.', 'ABORTED')
    outbox.destroy(error)
    expect(await Promise.all(asked.map(rejection))).toEqual([error, error])
    expect([transport.contents, outbox.size, clock.pendingTimers]).toEqual([['one'], 0, 0])
  })
})

describe('a question that waits', () => {
  it.each([
    ['an agent that is not ready', { isReady: false }, 'not initialized'],
    ['a chat that is not connected', {}, 'not connected'],
  ])('[REL-12] warns within 3 s and names the state in its timeout: %s', async (_what, given, text) => {
    const { outbox, clock, warnings } = setUpOutbox(given)
    const asked = rejection(outbox.ask('one', { timeoutMs: 10_000 }))
    await clock.advance(WARN_AFTER_MS - 1)
    expect(warnings).toEqual([])
    await clock.advance(1)
    expect(warnings).toEqual([[expect.stringContaining(text), { messageId: 'id-0' }]])
    await clock.advance(10_000)
    expect(await asked).toMatchObject({ reason: 'timeout', message: expect.stringContaining(text) })
    expect(warnings).toHaveLength(1)
  })

  it('[REL-12] warns of nothing when the question is written in time', async () => {
    const { outbox, clock, warnings, connect } = setUpOutbox()
    const asked = rejection(outbox.ask('one', { timeoutMs: 10_000 }))
    await clock.advance(1_000)
    connect()
    await clock.advance(10_000)
    expect(await asked).toMatchObject({ message: expect.stringContaining('has not answered') })
    expect(warnings).toEqual([])
  })
})

describe('a question that was open when the connection was lost', () => {
  const asked = { persona: 'customer', role: 'human', content: 'How?' }
  const earlier = { persona: 'agent', role: 'any', content: 'Good day.', messageId: 'm-1' }
  const own = { persona: 'agent', role: 'any', content: 'Like this.', messageId: 'm-2' }
  const foreign = { persona: 'agent', role: 'any', content: 'Something else.', messageId: 'm-9' }

  /** Asks, loses the connection and gets a new one. */
  function askAndReconnect() {
    const parts = setUp()
    parts.answer('Good day.', 'm-1')
    return parts.clock.advance(MIN_PAUSE_MS).then(() => {
      const answer = parts.outbox.ask('How?')
      answer.catch(() => {})
      parts.lose()
      return { ...parts, asked: answer, transport: parts.connect() }
    })
  }

  it('[REL-13] resolves with its own answer from the history', async () => {
    const { outbox, asked: answer } = await askAndReconnect()
    outbox.handleHistory(messagesOf([asked, foreign, earlier, asked, own, foreign]))
    expect(await answer).toMatchObject({ content: 'Like this.', messageId: 'm-2', sessionId: 's1' })
  })

  it('[REL-13] waits for its answer when the history ends with the question', async () => {
    const { outbox, asked: question, answer, clock } = await askAndReconnect()
    outbox.send('another message')
    outbox.handleHistory(messagesOf([earlier, asked]))
    outbox.ask('next').catch(() => {})
    await clock.advance(HISTORY_LIMIT_MS * 2)
    answer('Like this.')
    expect((await question).content).toBe('Like this.')
  })

  it.each<[string, (parts: ReturnType<typeof setUp>) => unknown]>([
    ['a message without an answer', ({ outbox }) => outbox.send('How?')],
    ['a message of the agent', ({ answer }) => answer('Like this.')],
  ])(
    '[REL-13] resolves from the history of another session than that of %s with the same words',
    async (_what, happen) => {
      const all = setUp()
      await happen(all)
      await all.clock.advance(MIN_PAUSE_MS)
      all.close()
      all.state.sessionId = 's2'
      all.connect()
      const answer = all.outbox.ask('How?')
      all.lose()
      all.connect()
      all.outbox.handleHistory(messagesOf([asked, own]))
      expect((await answer).content).toBe('Like this.')
    },
  )

  it('[REL-13] rejects when the history does not contain the question', async () => {
    const { outbox, asked: answer } = await askAndReconnect()
    outbox.handleHistory(messagesOf([asked, earlier]))
    expect(await rejection(answer)).toMatchObject({ reason: 'closed', messageId: 'id-0' })
  })

  it('[REL-13] does not resolve with an answer that may belong to a message written since', async () => {
    const { outbox, asked: question, answer } = await askAndReconnect()
    outbox.send('another message')
    answer('An answer to either.')
    expect(await rejection(question)).toMatchObject({ reason: 'closed' })
  })

  it('[REL-13] gives way to the next question when the service sends no history', async () => {
    const { outbox, asked: question, transport, answer, clock } = await askAndReconnect()
    const next = outbox.ask('next')
    outbox.handleHistory(messagesOf([earlier]))
    await clock.advance(HISTORY_LIMIT_MS - 1)
    expect(transport.contents).toEqual([])
    await clock.advance(1)
    expect(await rejection(question)).toMatchObject({ reason: 'closed' })
    expect(transport.contents).toEqual(['next'])
    answer('2')
    expect((await next).content).toBe('2')
  })

  it('[REL-13] still waits when no other question does, until one is asked', async () => {
    const { outbox, asked: question, transport, clock } = await askAndReconnect()
    await clock.advance(HISTORY_LIMIT_MS)
    outbox.ask('next').catch(() => {})
    expect(await rejection(question)).toMatchObject({ reason: 'closed' })
    expect(transport.contents).toEqual(['next'])
  })
})
