import { describe, expect, it } from 'vitest'
import { type OutboxSetUp, setUpOutbox, thrownBy } from '../../test/outbox-harness.ts'
import { MessageError } from '../errors.ts'

function setUp({ mask = text => text.replace('secret', '***'), ...given }: OutboxSetUp = {}) {
  const parts = setUpOutbox({ maxQueueSize: 3, mask, ...given })
  /** The frames that are written once the chat opens. */
  const writtenFrames = (): unknown[] => parts.connect().sent.map(frame => JSON.parse(frame))
  return { ...parts, writtenFrames }
}

describe('argument of send()', () => {
  it.each<[unknown, object]>([
    ['Hello', { persona: 'customer', role: 'human', content: 'Hello' }],
    ['', { persona: 'customer', role: 'human' }],
    [{ content: 'Hello' }, { persona: 'customer', role: 'human', content: 'Hello' }],
    [
      { persona: 'robot', role: 'x', messageData: { a: 1 } },
      { persona: 'robot', role: 'x', messageData: { a: 1 } },
    ],
  ])('%j is sent as the frame %j', (given, frame) => {
    const { outbox, writtenFrames } = setUp()
    outbox.send(given as never)
    expect(writtenFrames()).toEqual([frame])
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['a list', ['Hello']],
    ['an empty persona', { persona: '', content: 'x' }],
    ['an empty role', { role: '', content: 'x' }],
    ['content that is not text', { content: 7 }],
    ['data that is a list', { messageData: [] }],
    ['[REL-15] an object without content and data', { text: 'Hello' }],
    [
      '[REL-15] feedback without the id of an answer',
      { persona: 'system', role: 'feedback', messageData: { feedback: { rating: 'up', answerMessageId: '' } } },
    ],
    ['[REL-15] feedback of the user without the id of an answer', { role: 'feedback', messageData: {} }],
  ])('rejects %s as invalid and changes nothing', (_case, given) => {
    for (const isReady of [true, false]) {
      const { outbox, accepted } = setUp({ isReady })
      expect(thrownBy(() => outbox.send(given as never))).toMatchObject({ code: 'MESSAGE_ERROR', reason: 'invalid' })
      expect([accepted, outbox.size]).toEqual([[], 0])
    }
  })

  it('[REL-15] is refused with its id, so that the host can tell which one it was', () => {
    const { outbox } = setUp()
    const error = thrownBy(() => outbox.send({ messageId: 'm-1' } as never))
    expect(error).toMatchObject({ reason: 'invalid', messageId: 'm-1', message: expect.stringMatching(/content/) })
  })

  it('[REL-15] may be a goodbye, which has neither content nor data', () => {
    const { outbox, writtenFrames } = setUp()
    outbox.send({ persona: 'system', role: 'graceful disconnect' })
    expect(writtenFrames()).toEqual([{ persona: 'system', role: 'graceful disconnect' }])
  })

  it('is completed with sender, recipient, agent, session and time', () => {
    const { outbox, accepted, clock } = setUp()
    outbox.send('Hello')
    expect(accepted[0]).toMatchObject({
      from: 'customer',
      to: 'Help Centre',
      agentId: 'help',
      sessionId: 's1',
      timestamp: clock.now(),
    })
    outbox.send({ content: 'x', from: 'a', to: 'b' })
    expect(accepted[1]).toMatchObject({ from: 'a', to: 'b' })
    outbox.send({ content: 'x', from: 'a', to: 'b' }, { from: 'c', to: 'd' })
    expect(accepted[2]).toMatchObject({ from: 'c', to: 'd' })
  })

  it.each([
    [{ content: 'x' }, {}, 'id-0'],
    [{ content: 'x', messageId: 'mine' }, {}, 'mine'],
    [{ content: 'x', messageId: 'mine' }, { id: 'other' }, 'other'],
    [{ content: 'x', messageId: '' }, { id: '' }, 'id-0'],
  ])('%j with %j has the id %s', (data, options, id) => {
    const { outbox, accepted } = setUp()
    expect(outbox.send(data, options)).toBe(id)
    expect(accepted[0]?.messageId).toBe(id)
    expect(outbox.delivery(id)?.cancel()).toBe(true)
  })

  it('is refused when it cannot be encoded, whether or not the agent is ready', () => {
    for (const isReady of [true, false]) {
      const { outbox, accepted } = setUp({ isReady })
      const error = thrownBy(() => outbox.send({ messageData: { n: 1n } }, { id: 'm-1' }))
      expect(error).toMatchObject({ reason: 'encoding_failed', messageId: 'm-1' })
      expect([accepted, outbox.size]).toEqual([[], 0])
    }
  })

  it('may be changed by the caller later without effect', () => {
    for (const isReady of [true, false]) {
      const { outbox, becomeReady, writtenFrames, accepted } = setUp({ isReady })
      const messageData = { further: { x: 1 } }
      outbox.send({ content: 'x', messageData })
      messageData.further.x = 2
      becomeReady()
      expect(writtenFrames()).toMatchObject([{ messageData: { further: { x: 1 } } }])
      expect(accepted[0]?.messageData).toEqual({ further: { x: 1 } })
    }
  })

  it('is not reported as accepted when the queue is full', () => {
    const { outbox, accepted } = setUp({ maxQueueSize: 1 })
    outbox.send('one')
    expect(thrownBy(() => outbox.send('two', { id: 'm-2' }))).toMatchObject({
      reason: 'queue_full',
      messageId: 'm-2',
    })
    expect(accepted.map(({ content }) => content)).toEqual(['one'])
  })
})

describe('text of the user', () => {
  const USER_TEXTS = [
    ['text', 'my secret'],
    ['an object', { content: 'my secret' }],
    ['an object with its defaults', { persona: 'customer', role: 'human', content: 'my secret' }],
  ] as const

  it.each(USER_TEXTS)('[FLOW-19] is masked before anything else sees it, given as %s', (_case, given) => {
    for (const isReady of [true, false]) {
      const { outbox, becomeReady, masked, accepted, writtenFrames } = setUp({ isReady })
      const id = outbox.send(given)
      becomeReady()
      expect(masked).toEqual([['my secret', id]])
      expect(accepted[0]).toMatchObject({ messageId: id, content: 'my ***', to: 'Help Centre' })
      expect(writtenFrames()).toEqual([{ persona: 'customer', role: 'human', content: 'my ***' }])
    }
  })

  it.each([
    ['another persona', { persona: 'system', content: 'my secret' }],
    ['another role', { role: 'context', content: 'my secret' }],
    ['another persona and role', { persona: 'system', role: 'context', content: 'my secret' }],
    ['no content', { messageData: { note: 'my secret' } }],
  ])('[FLOW-19] is the only text that is masked: a message with %s is sent as given', (_case, given) => {
    const { outbox, masked, writtenFrames } = setUp()
    outbox.send(given)
    expect(masked).toEqual([])
    expect(JSON.stringify(writtenFrames())).toContain('my secret')
  })

  it('[FLOW-19] is not sent when it cannot be masked', () => {
    const { outbox, accepted } = setUp({
      mask: () => {
        throw new MessageError('No rules.', 'masking_unavailable')
      },
    })
    expect(thrownBy(() => outbox.send('my secret'))).toMatchObject({ reason: 'masking_unavailable' })
    expect([outbox.size, accepted]).toEqual([0, []])
  })
})

describe('a message above 64 KiB', () => {
  const content = 'x'.repeat(65_536)
  const bytes = JSON.stringify({ persona: 'customer', role: 'human', content }).length

  it('is accepted with one warning that gives its size', () => {
    const { outbox, warnings, accepted } = setUp()
    outbox.send('short')
    expect(warnings).toEqual([])
    outbox.send(content, { id: 'long' })
    expect(warnings).toEqual([[expect.any(String), { messageId: 'long', bytes }]])
    expect(accepted).toHaveLength(2)
  })

  it('causes the warning when it is queued, not while it is held, and none when it is refused', () => {
    const { outbox, warnings, becomeReady } = setUp({ isReady: false, maxQueueSize: 1 })
    outbox.send(content, { id: 'long' })
    expect(warnings).toEqual([])
    becomeReady()
    expect(warnings).toHaveLength(1)
    expect(thrownBy(() => outbox.send(content))).toMatchObject({ reason: 'queue_full' })
    expect(warnings).toHaveLength(1)
  })
})

describe('before the agent is ready', () => {
  it('holds messages, and queues them once, in order and completed, when it is ready', () => {
    const { outbox, accepted, becomeReady, connect, clock } = setUp({ isReady: false })
    const ids = ['one', 'two', 'three'].map(text => outbox.send(text))
    expect(connect().sent).toEqual([])
    expect(accepted).toEqual([])
    expect(outbox.size).toBe(3)
    becomeReady()
    outbox.release()
    expect(accepted.map(({ messageId }) => messageId)).toEqual(ids)
    expect(accepted[0]).toMatchObject({
      to: 'Help Centre',
      sessionId: 's1',
      agentId: 'help',
      timestamp: clock.now(),
    })
    expect(outbox.size).toBe(0)
  })

  it('queues a message that a listener sends during the release behind all held ones', () => {
    const { outbox, accepted, becomeReady, on } = setUp({ isReady: false, maxQueueSize: 10 })
    for (const text of ['one', 'two', 'three']) outbox.send(text)
    on.accepted = ({ content }) => void (content === 'one' && outbox.send('from a listener'))
    becomeReady()
    expect(accepted.map(({ content }) => content)).toEqual(['one', 'two', 'three', 'from a listener'])
  })

  it('reports a held message that cannot be masked, and goes on with the others', () => {
    const { outbox, becomeReady, failures, accepted } = setUp({
      isReady: false,
      mask: text => {
        if (text === 'one') throw new MessageError('No rules.', 'masking_unavailable', { messageId: 'm-1' })
        return text
      },
    })
    outbox.send('one', { id: 'm-1' })
    outbox.send('two')
    becomeReady()
    expect(failures).toMatchObject([{ reason: 'masking_unavailable', messageId: 'm-1' }])
    expect(accepted.map(({ content }) => content)).toEqual(['two'])
  })

  it('does not swallow an error of another kind', () => {
    const broken = new TypeError('broken')
    const { outbox, becomeReady, failures } = setUp({
      isReady: false,
      mask: () => {
        throw broken
      },
    })
    outbox.send('one')
    expect(thrownBy(becomeReady)).toBe(broken)
    expect(failures).toEqual([])
  })

  it.each([
    ['first', 'one', true, ['two', 'three']],
    ['second', 'two', true, ['one', 'three']],
    ['last', 'three', true, ['one', 'two']],
    ['unknown', 'four', undefined, ['one', 'two', 'three']],
  ])('cancels the %s message and keeps the others', (_case, id, found, left) => {
    const { outbox, becomeReady, accepted } = setUp({ isReady: false })
    for (const text of ['one', 'two', 'three']) outbox.send(text, { id: text })
    expect(outbox.delivery(id)?.cancel()).toBe(found)
    becomeReady()
    expect(accepted.map(({ messageId }) => messageId)).toEqual(left)
  })

  it('clears held messages and reports each', () => {
    const { outbox, becomeReady, accepted, failures } = setUp({ isReady: false })
    const ids = [outbox.send('one'), outbox.send('two')]
    outbox.clear()
    expect(failures).toMatchObject(ids.map(messageId => ({ reason: 'cleared', messageId })))
    becomeReady()
    expect(accepted).toEqual([])
  })
})

describe('maxQueueSize', () => {
  it('[REL-10] is one limit over send(), ask() and messages held for initialize()', async () => {
    for (const isReady of [true, false]) {
      const { outbox, close } = setUp({ isReady, maxQueueSize: 2 })
      const questions = ['one', 'two'].map(text => outbox.ask(text).catch(error => error))
      expect(outbox.size).toBe(2)
      expect(thrownBy(() => outbox.send('three'))).toMatchObject({ reason: 'queue_full' })
      await expect(outbox.ask('four')).rejects.toMatchObject({ reason: 'queue_full' })
      expect(outbox.size).toBe(2)
      close()
      expect(await Promise.all(questions)).toMatchObject([{ reason: 'closed' }, { reason: 'closed' }])
      expect(outbox.size).toBe(0)
    }
  })

  it('[REL-10] counts held and queued messages together', () => {
    const { outbox, state } = setUp({ maxQueueSize: 3 })
    outbox.send('queued')
    state.isReady = false
    outbox.send('held')
    outbox.send('held, too')
    expect(thrownBy(() => outbox.send('one more'))).toMatchObject({ reason: 'queue_full' })
    expect(outbox.size).toBe(3)
  })
})
