import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { rejection } from '../../test/agent-harness.ts'
import { MessageError, SDKError } from '../errors.ts'
import { Message } from './message.ts'
import { QuestionLine } from './question-line.ts'

const answer = (content: string) => new Message('agent', 'customer support agent', content)

/** A line over a queue that the test empties by hand. */
function setUp(limit = 3) {
  const clock = new ManualClock()
  const queue: string[] = []
  const withdrawn: string[] = []
  const place = { sessionId: 's1' }
  let ids = 0
  const line = new QuestionLine({
    clock,
    newId: () => `id-${ids++}`,
    sessionId: () => place.sessionId,
    submit: text => void queue.push(text),
    withdraw: id => void withdrawn.push(id),
    limit,
    waiting: () => queue.length,
    full: id => new MessageError('Full.', 'queue_full', { messageId: id }),
  })
  const write = (id: string) => {
    queue.shift()
    line.written(id)
  }
  return { clock, queue, withdrawn, place, line, write }
}

describe('a question', () => {
  it('is answered by the first message of the agent after it was written', async () => {
    const { line, write, clock } = setUp()
    const first = answer('the answer')
    const asked = line.ask('How?')
    line.heard(answer('too early'))
    write('id-0')
    line.heard(new Message('system', 'heartbeat'))
    line.heard(first)
    line.heard(answer('too late'))
    expect(await asked).toBe(first)
    expect(clock.pendingTimers).toBe(0)
  })

  it('waits for its turn: the one before it is answered first', async () => {
    const { line, queue, write, clock } = setUp()
    const asked = ['one', 'two', 'three'].map(text => line.ask(text))
    expect([queue, line.size]).toEqual([['one'], 2])
    write('id-0')
    expect(queue).toEqual([])
    line.heard(answer('1'))
    await clock.advance(50)
    expect([queue, line.size]).toEqual([['two'], 1])
    write('id-1')
    line.heard(answer('2'))
    await clock.advance(50)
    write('id-2')
    line.heard(answer('3'))
    expect((await Promise.all(asked)).map(({ content }) => content)).toEqual(['1', '2', '3'])
  })

  it('waits until the agent has been silent for 50 ms: what belongs to one answer does not answer the next', async () => {
    const { line, queue, write, clock } = setUp(2)
    const first = line.ask('one')
    const second = line.ask('two')
    write('id-0')
    line.heard(answer('1'))
    await clock.advance(30)
    expect(queue).toEqual([])
    line.heard(answer('1, continued'))
    await clock.advance(49)
    line.heard(new Message('system', 'heartbeat'))
    const third = line.ask('three')
    expect((await rejection(line.ask('four'))).reason).toBe('queue_full')
    expect([queue, line.size]).toEqual([[], 2])
    await clock.advance(1)
    expect(queue).toEqual(['two'])
    write('id-1')
    line.heard(answer('2'))
    await clock.advance(50)
    write('id-2')
    line.heard(answer('3'))
    expect((await Promise.all([first, second, third])).map(({ content }) => content)).toEqual(['1', '2', '3'])
    await clock.advance(50)
    expect(clock.pendingTimers).toBe(0)
    line.ask('five').catch(() => {})
    expect(queue).toEqual(['five'])
  })

  it('is not held up by a wall clock that was set back', () => {
    const { line, queue, clock } = setUp()
    line.heard(answer('unasked'))
    clock.jump(-1_000)
    line.ask('one').catch(() => {})
    expect(queue).toEqual(['one'])
  })

  it('fails after two minutes, or after the time it was given, and gives way to the next', async () => {
    const { line, queue, withdrawn, write, clock } = setUp()
    const patient = rejection(line.ask('patient'))
    const hasty = rejection(line.ask('hasty', { timeoutMs: 1_500 }))
    line.ask('last', { timeoutMs: Infinity }).catch(() => {})
    await clock.advance(1_500)
    expect(await hasty).toMatchObject({
      name: 'MessageError',
      reason: 'timeout',
      messageId: 'id-1',
      message: 'No answer came within 1.5 s.',
    })
    write('id-0')
    await clock.advance(118_499)
    expect(queue).toEqual([])
    await clock.advance(1)
    expect(await patient).toMatchObject({ reason: 'timeout', messageId: 'id-0' })
    expect(queue).toEqual(['last'])
    // What was written cannot be taken back, and what never had its turn need not be.
    expect(withdrawn).toEqual([])
  })

  it.each([
    [Infinity, 0],
    [2 ** 40, 1],
  ])('may wait for %d ms', async (timeoutMs, timers) => {
    const { line, write, clock } = setUp()
    const asked = line.ask('How?', { timeoutMs })
    expect(clock.pendingTimers).toBe(timers)
    await clock.advance(130_000)
    write('id-0')
    line.heard(answer('at last'))
    expect((await asked).content).toBe('at last')
  })

  it.each([0, -1, Number.NaN, '5' as unknown as number])('is refused with a time limit of %s', async timeoutMs => {
    const { line, queue } = setUp()
    const given = typeof timeoutMs === 'string' ? Number.NaN : timeoutMs
    expect(await rejection(line.ask('How?', { timeoutMs: given }))).toMatchObject({ reason: 'invalid' })
    expect(queue).toEqual([])
  })

  it('is refused when it is no text', async () => {
    expect(await rejection(setUp().line.ask(7 as unknown as string))).toMatchObject({ reason: 'invalid' })
  })

  it('that is given up before it was written is taken back', async () => {
    const { line, queue, withdrawn } = setUp()
    const controller = new AbortController()
    const asked = line.ask('How?', { signal: controller.signal })
    line.ask('next').catch(() => {})
    controller.abort('enough')
    expect(await rejection(asked)).toMatchObject({ code: 'ABORTED', cause: 'enough' })
    expect(withdrawn).toEqual(['id-0'])
    expect(queue).toEqual(['How?', 'next'])
  })

  it('with a signal that is aborted already is not asked at all', async () => {
    const { line, queue } = setUp()
    expect(await rejection(line.ask('How?', { signal: AbortSignal.abort() }))).toMatchObject({ code: 'ABORTED' })
    expect(queue).toEqual([])
  })

  it('is refused where too many messages wait, and only then', async () => {
    const { line, queue, write, clock } = setUp(2)
    const first = line.ask('one')
    const second = line.ask('two')
    expect(await rejection(line.ask('three'))).toMatchObject({ reason: 'queue_full', messageId: 'id-2' })
    write('id-0')
    line.heard(answer('1'))
    await clock.advance(50)
    write('id-1')
    line.heard(answer('2'))
    expect((await Promise.all([first, second])).map(({ content }) => content)).toEqual(['1', '2'])
    expect(queue).toEqual([])
  })

  it('that is not taken gives way to the next', async () => {
    const clock = new ManualClock()
    const taken: string[] = []
    const line: QuestionLine = new QuestionLine({
      clock,
      newId: () => 'id',
      sessionId: () => undefined,
      submit: text => {
        if (text === 'bad') throw new MessageError('No.', 'encoding_failed')
        taken.push(text)
      },
      withdraw: () => {},
      limit: 9,
      waiting: () => 0,
      full: () => new MessageError('Full.', 'queue_full'),
    })
    const bad = line.ask('bad')
    line.ask('good').catch(() => {})
    expect(await rejection(bad)).toMatchObject({ reason: 'encoding_failed' })
    expect(taken).toEqual(['good'])
  })
})

describe('what ends a question', () => {
  it.each<[string, (all: ReturnType<typeof setUp>) => void, object]>([
    [
      'an error of the service',
      ({ line }) => line.heard(new Message('metadata', 'error', 'Too many messages.')),
      { reason: 'refused', message: 'The service reports an error: Too many messages.' },
    ],
    [
      'an error of the service that says nothing',
      ({ line }) => line.heard(new Message('metadata', 'error', '')),
      { reason: 'refused', message: 'The service reports an error: it does not say which' },
    ],
    ['the end of the chat', ({ line }) => line.ended(), { reason: 'closed' }],
    [
      'another session',
      ({ line, place }) => {
        place.sessionId = 's2'
        line.opened()
      },
      { reason: 'closed' },
    ],
  ])('%s, once it was written', async (_what, happen, failure) => {
    const all = setUp()
    const asked = all.line.ask('How?')
    const next = all.line.ask('next')
    happen(all)
    expect(all.queue).toEqual(['How?'])
    all.place.sessionId = 's1'
    all.write('id-0')
    happen(all)
    expect(await rejection(asked)).toMatchObject({ name: 'MessageError', messageId: 'id-0', ...failure })
    all.write('id-1')
    all.line.heard(answer('2'))
    expect((await next).content).toBe('2')
  })

  it.each<[string, (line: QuestionLine) => void]>([
    ['the same session opened again', line => line.opened()],
    [
      'an error of the service within another kind of frame',
      line => line.heard(new Message('metadata', 'stale_token')),
    ],
    ['an error that does not come from the service', line => line.heard(new Message('system', 'error', 'x'))],
    ['the failure of another message', line => line.failed(new MessageError('x', 'cleared', { messageId: 'other' }))],
    ['another kind of failure', line => line.failed(new SDKError('x', 'ABORTED'))],
    ['the queue being emptied', line => line.clear()],
  ])('not %s', async (_what, happen) => {
    const { line, write } = setUp()
    const asked = line.ask('How?')
    write('id-0')
    happen(line)
    line.heard(answer('yes'))
    expect((await asked).content).toBe('yes')
  })

  it('its being dropped from the queue, which it tells itself', async () => {
    const { line } = setUp()
    const asked = line.ask('How?')
    const error = new MessageError('Dropped.', 'cleared', { messageId: 'id-0' })
    expect(line.failed(error)).toBe(true)
    expect(line.failed(error)).toBe(false)
    expect(await rejection(asked)).toBe(error)
  })

  it('the queue being emptied, while it waits for its turn', async () => {
    const { line, write } = setUp()
    const first = line.ask('one')
    const second = line.ask('two')
    line.clear()
    expect(await rejection(second)).toMatchObject({ reason: 'cleared', messageId: 'id-1' })
    expect(line.size).toBe(0)
    write('id-0')
    line.heard(answer('1'))
    expect((await first).content).toBe('1')
  })

  it('the end of the agent, wherever it stands', async () => {
    const { line, queue, write, clock } = setUp()
    line.heard(answer('unasked'))
    await clock.advance(50)
    const asked = [line.ask('one'), line.ask('two')]
    write('id-0')
    const error = new SDKError('Destroyed.', 'ABORTED')
    line.destroy(error)
    expect(await Promise.all(asked.map(rejection))).toEqual([error, error])
    expect([queue, line.size, clock.pendingTimers]).toEqual([[], 0, 0])
  })
})
