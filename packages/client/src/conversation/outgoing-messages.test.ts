import { describe, expect, it } from 'vitest'
import { MessageError } from '../errors.ts'
import type { Message } from './message.ts'
import { OutgoingMessages } from './outgoing-messages.ts'

interface SetUp {
  limit?: number
  settled?: boolean
  mask?: (content: string) => string
}

function setUp({ limit = 3, settled = true, mask = text => text.replace('secret', '***') }: SetUp = {}) {
  const state = { settled, ids: 0 }
  const lane: Array<{ id: string; frame: string }> = []
  const accepted: Message[] = []
  const failures: MessageError[] = []
  const masked: Array<[content: string, messageId: string]> = []
  const large: [string, number][] = []
  const hooks: { onAccepted?: (message: Message) => void } = {}
  const full = (id: string) => new MessageError('full', 'queue_full', { messageId: id })
  const outgoing = new OutgoingMessages({
    isSettled: () => state.settled,
    limit,
    waitingInLane: () => lane.length,
    newId: () => `id-${++state.ids}`,
    now: () => 5,
    mask: (content, messageId) => {
      masked.push([content, messageId])
      return mask(content)
    },
    place: () => ({ to: 'Help Centre', agentId: 'help', sessionId: 's' }),
    accept: (id, frame) => {
      if (lane.length >= limit) throw full(id)
      lane.push({ id, frame })
    },
    large: (id, bytes) => void large.push([id, bytes]),
    accepted: message => {
      accepted.push(message)
      hooks.onAccepted?.(message)
    },
    failed: error => failures.push(error),
    full,
  })
  return { state, lane, accepted, failures, masked, large, hooks, outgoing }
}

const settle = ({ state, outgoing }: ReturnType<typeof setUp>) => {
  state.settled = true
  outgoing.release()
}

const thrownBy = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('It should have thrown.')
}

describe('what send() takes', () => {
  it.each<[unknown, object]>([
    ['Hello', { persona: 'customer', role: 'human', content: 'Hello' }],
    ['', { persona: 'customer', role: 'human' }],
    [{}, { persona: 'customer', role: 'human' }],
    [{ content: 'Hello' }, { persona: 'customer', role: 'human', content: 'Hello' }],
    [
      { persona: 'robot', role: 'x', messageData: { a: 1 } },
      { persona: 'robot', role: 'x', messageData: { a: 1 } },
    ],
  ])('%j becomes the frame %j', (given, frame) => {
    const { outgoing, lane } = setUp()
    outgoing.submit(given as never)
    expect(JSON.parse(lane[0]?.frame ?? '')).toEqual(frame)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['a list', ['Hello']],
    ['an empty persona', { persona: '', content: 'x' }],
    ['an empty role', { role: '' }],
    ['content that is no text', { content: 7 }],
    ['data that is a list', { messageData: [] }],
  ])('%s is a MessageError, and nothing was taken', (_case, given) => {
    for (const settled of [true, false]) {
      const { outgoing, lane, accepted } = setUp({ settled })
      expect(thrownBy(() => outgoing.submit(given as never))).toMatchObject({
        code: 'MESSAGE_ERROR',
        reason: 'invalid',
        message: expect.stringMatching(
          /^send\(\) takes text, a Message, or an object|^The message cannot be sent: its /,
        ),
      })
      expect([lane, accepted, outgoing.heldCount]).toEqual([[], [], 0])
    }
  })

  it('fills in who, whom, where and when', () => {
    const { outgoing, accepted } = setUp()
    outgoing.submit('Hello')
    expect(accepted[0]).toMatchObject({
      from: 'customer',
      to: 'Help Centre',
      agentId: 'help',
      sessionId: 's',
      timestamp: 5,
    })
    outgoing.submit({ content: 'x', from: 'a', to: 'b' })
    expect(accepted[1]).toMatchObject({ from: 'a', to: 'b' })
    outgoing.submit({ content: 'x', from: 'a', to: 'b' }, { from: 'c', to: 'd' })
    expect(accepted[2]).toMatchObject({ from: 'c', to: 'd' })
  })

  it.each([
    [{ content: 'x' }, {}, 'id-1'],
    [{ content: 'x', messageId: 'mine' }, {}, 'mine'],
    [{ content: 'x', messageId: 'mine' }, { id: 'other' }, 'other'],
    [{ content: 'x', messageId: '' }, { id: '' }, 'id-1'],
  ])('%j with %j has the id %s', (data, options, id) => {
    const { outgoing, lane, accepted } = setUp()
    expect(outgoing.submit(data, options)).toBe(id)
    expect(lane[0]?.id).toBe(id)
    expect(accepted[0]?.messageId).toBe(id)
  })

  it('what cannot be written is refused, held or not', () => {
    for (const settled of [true, false]) {
      const { outgoing, lane, accepted } = setUp({ settled })
      const error = thrownBy(() => outgoing.submit({ messageData: { n: 1n } }, { id: 'm-1' }))
      expect(error).toMatchObject({ reason: 'encoding_failed', messageId: 'm-1' })
      expect([lane, accepted, outgoing.heldCount]).toEqual([[], [], 0])
    }
  })

  it("later changes of the host's objects change nothing", () => {
    for (const settled of [true, false]) {
      const all = setUp({ settled })
      const messageData = { further: { x: 1 } }
      all.outgoing.submit({ content: 'x', messageData })
      messageData.further.x = 2
      settle(all)
      expect(JSON.parse(all.lane[0]?.frame ?? '')).toMatchObject({ messageData: { further: { x: 1 } } })
      expect(all.accepted[0]?.messageData).toEqual({ further: { x: 1 } })
    }
  })

  it('a full lane refuses, and nothing is told as accepted', () => {
    const { outgoing, accepted } = setUp({ limit: 1 })
    outgoing.submit('one')
    expect(thrownBy(() => outgoing.submit('two', { id: 'm-2' }))).toMatchObject({
      reason: 'queue_full',
      messageId: 'm-2',
    })
    expect(accepted.map(message => message.content)).toEqual(['one'])
  })
})

describe('what a person says', () => {
  const FROM_THE_PERSON = [
    ['text', 'my secret'],
    ['an object', { content: 'my secret' }],
    ['an object with its defaults', { persona: 'customer', role: 'human', content: 'my secret' }],
  ] as const

  it.each(FROM_THE_PERSON)('[FLOW-19] is masked before anybody sees it, given as %s', (_case, given) => {
    for (const settled of [true, false]) {
      const all = setUp({ settled })
      const id = all.outgoing.submit(given)
      settle(all)
      expect(all.masked).toEqual([['my secret', id]])
      expect(JSON.parse(all.lane[0]?.frame ?? '')).toEqual({ persona: 'customer', role: 'human', content: 'my ***' })
      expect(all.accepted[0]).toMatchObject({ messageId: id, content: 'my ***', to: 'Help Centre', timestamp: 5 })
    }
  })

  it.each([
    ['another persona', { persona: 'system', content: 'my secret' }],
    ['another role', { role: 'context', content: 'my secret' }],
    ['another persona and role', { persona: 'system', role: 'context', content: 'my secret' }],
    ['no content', { messageData: { note: 'my secret' } }],
  ])('[FLOW-19] is all that is masked: a message with %s goes out as it is', (_case, given) => {
    const { outgoing, lane, masked } = setUp()
    outgoing.submit(given)
    expect(masked).toEqual([])
    expect(lane[0]?.frame).toContain('my secret')
  })

  it('[FLOW-19] does not leave when it cannot be masked', () => {
    const { outgoing, lane, accepted } = setUp({
      mask: () => {
        throw new MessageError('No rules.', 'masking_unavailable')
      },
    })
    expect(thrownBy(() => outgoing.submit('my secret'))).toMatchObject({ reason: 'masking_unavailable' })
    expect([lane, accepted]).toEqual([[], []])
  })
})

describe('a message above 64 KiB', () => {
  const content = 'x'.repeat(65_536)
  const bytes = JSON.stringify({ persona: 'customer', role: 'human', content }).length

  it('is taken, and told once with its size', () => {
    const { outgoing, large, accepted } = setUp()
    outgoing.submit('short')
    expect(large).toEqual([])
    outgoing.submit(content, { id: 'long' })
    expect(large).toEqual([['long', bytes]])
    expect(accepted).toHaveLength(2)
  })

  it('is told when it goes on where it was held, and not at all when it was refused', () => {
    const all = setUp({ settled: false, limit: 1 })
    all.outgoing.submit(content, { id: 'long' })
    expect(all.large).toEqual([])
    settle(all)
    expect(all.large).toEqual([['long', bytes]])
    expect(thrownBy(() => all.outgoing.submit(content))).toMatchObject({ reason: 'queue_full' })
    expect(all.large).toHaveLength(1)
  })
})

describe('before the agent is known', () => {
  it('messages are held, and go on once, in order, with their place filled in', () => {
    const all = setUp({ settled: false })
    const ids = ['one', 'two', 'three'].map(text => all.outgoing.submit(text))
    expect(all.lane).toEqual([])
    expect(all.accepted).toEqual([])
    expect(all.outgoing.heldCount).toBe(3)
    settle(all)
    all.outgoing.release()
    expect(all.lane.map(({ id }) => id)).toEqual(ids)
    expect(all.accepted.map(message => message.content)).toEqual(['one', 'two', 'three'])
    expect(all.accepted[0]).toMatchObject({ to: 'Help Centre', sessionId: 's', agentId: 'help', timestamp: 5 })
    expect(all.outgoing.heldCount).toBe(0)
  })

  it('they count against the limit together with what waits in the lane', () => {
    const all = setUp({ settled: false, limit: 3 })
    all.lane.push({ id: 'x', frame: '' })
    all.outgoing.submit('one')
    all.outgoing.submit('two')
    expect(thrownBy(() => all.outgoing.submit('three'))).toMatchObject({ reason: 'queue_full' })
    expect(all.outgoing.heldCount).toBe(2)
  })

  it('what a listener sends during the release goes behind all that was held', () => {
    const all = setUp({ settled: false, limit: 10 })
    for (const text of ['one', 'two', 'three']) all.outgoing.submit(text)
    all.hooks.onAccepted = ({ content }) => void (content === 'one' && all.outgoing.submit('from a listener'))
    settle(all)
    expect(all.accepted.map(message => message.content)).toEqual(['one', 'two', 'three', 'from a listener'])
    expect(all.outgoing.heldCount).toBe(0)
  })

  it('one that finds no place any more is told, and the others go on', () => {
    const all = setUp({ settled: false, limit: 2 })
    all.outgoing.submit('one', { id: 'm-1' })
    all.outgoing.submit('two', { id: 'm-2' })
    all.lane.push({ id: 'x', frame: '' })
    settle(all)
    expect(all.lane.map(({ id }) => id)).toEqual(['x', 'm-1'])
    expect(all.failures).toMatchObject([{ reason: 'queue_full', messageId: 'm-2' }])
  })

  it('a failure of another kind is not swallowed', () => {
    const broken = new TypeError('broken')
    const all = setUp({
      settled: false,
      mask: () => {
        throw broken
      },
    })
    all.outgoing.submit('one')
    expect(thrownBy(() => settle(all))).toBe(broken)
    expect(all.failures).toEqual([])
  })

  it.each([
    ['first', 'one', true, ['two', 'three']],
    ['second', 'two', true, ['one', 'three']],
    ['last', 'three', true, ['one', 'two']],
    ['unknown', 'four', false, ['one', 'two', 'three']],
  ])('withdraw() takes back the %s one, and the others go on', (_case, id, found, left) => {
    const all = setUp({ settled: false })
    for (const text of ['one', 'two', 'three']) all.outgoing.submit(text, { id: text })
    expect(all.outgoing.withdraw(id)).toBe(found)
    settle(all)
    expect(all.lane.map(each => each.id)).toEqual(left)
  })

  it('clear() takes them out and returns their ids', () => {
    const all = setUp({ settled: false })
    const ids = [all.outgoing.submit('one'), all.outgoing.submit('two')]
    expect(all.outgoing.clear()).toEqual(ids)
    settle(all)
    expect(all.lane).toEqual([])
  })
})
