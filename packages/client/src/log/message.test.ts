import { describe, expect, it } from 'vitest'
import { MessageError, type SDKError } from '../errors.ts'
import { Message, type MessageObject, receivedMessage, toMessage } from './message.ts'

const thrownBy = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('It should have thrown.')
}

describe('validate', () => {
  it.each([
    ['a plain sentence', new Message('customer', 'human', 'Hello')],
    ['no content', new Message('customer', 'human')],
    ['empty content', new Message('customer', 'human', '')],
    ['unknown persona and role', new Message('robot', 'beep')],
    ['data', new Message('system', 'context', undefined, { messageData: { context: {} } })],
  ])('accepts %s', (_case, message) => {
    expect(() => message.validate()).not.toThrow()
  })

  it.each([
    ['persona', new Message('', 'human', 'x')],
    ['persona', new Message(undefined as never, 'human', 'x')],
    ['persona', new Message(7 as never, 'human', 'x')],
    ['role', new Message('customer', '', 'x')],
    ['role', new Message('customer', null as never, 'x')],
    ['content', new Message('customer', 'human', 7 as never)],
    ['content', new Message('customer', 'human', {} as never)],
    ['content', new Message('customer', 'human', null as never)],
    ['messageData', new Message('customer', 'human', 'x', { messageData: 'x' as never })],
    ['messageData', new Message('customer', 'human', 'x', { messageData: [] as never })],
    ['messageData', new Message('customer', 'human', 'x', { messageData: null as never })],
  ])('names a wrong %s', (field, message) => {
    const error = thrownBy(() => message.validate())
    expect(error).toBeInstanceOf(MessageError)
    expect(error).toMatchObject({ code: 'MESSAGE_ERROR', reason: 'invalid', message: expect.stringContaining(field) })
  })

  it('names the message it concerns', () => {
    const error = thrownBy(() => new Message('', 'human', 'x', { messageId: 'm-1' }).validate())
    expect(error).toMatchObject({ messageId: 'm-1' })
  })
})

describe('toPayloadString', () => {
  const all = { messageId: 'm-1', timestamp: 5, from: 'a', to: 'b', agentId: 'help', sessionId: 's' }

  it.each<[string, Message, object]>([
    ['text', new Message('customer', 'human', 'Hi', all), { persona: 'customer', role: 'human', content: 'Hi' }],
    ['no content', new Message('customer', 'human'), { persona: 'customer', role: 'human' }],
    ['blank content', new Message('customer', 'human', ' '), { persona: 'customer', role: 'human', content: ' ' }],
    [
      'text with data',
      new Message('customer', 'human', 'Hi', { messageData: { further: 1 } }),
      { persona: 'customer', role: 'human', content: 'Hi', messageData: { further: 1 } },
    ],
    [
      'data alone',
      new Message('system', 'escalation', undefined, { messageData: { escalationEvent: { a: [null] } } }),
      { persona: 'system', role: 'escalation', messageData: { escalationEvent: { a: [null] } } },
    ],
    [
      'empty data',
      new Message('system', 'x', undefined, { messageData: {} }),
      { persona: 'system', role: 'x', messageData: {} },
    ],
  ])('writes %s, and nothing local', (_case, message, frame) => {
    expect(JSON.parse(message.toPayloadString())).toEqual(frame)
  })

  it('[FLOW-20] leaves an empty content out, with data and without', () => {
    expect(new Message('customer', 'human', '').toPayloadString()).toBe('{"persona":"customer","role":"human"}')
    const context = new Message('system', 'context', '', { messageData: { context: { a: 1 } } })
    expect(context.toPayloadString()).toBe('{"persona":"system","role":"context","messageData":{"context":{"a":1}}}')
  })

  it.each([
    [
      'a circle',
      () =>
        Object.assign(
          {},
          {
            get self(): object {
              return this
            },
          },
        ),
    ],
    ['a BigInt', () => ({ n: 1n })],
    ['data that is written as a number', () => ({ toJSON: () => 0 })],
    ['data that is written as a list', () => ({ toJSON: () => [{}] })],
    ['data that is not written', () => ({ toJSON: () => undefined })],
  ])('refuses %s', (_case, make) => {
    const message = new Message('customer', 'human', 'x', { messageData: make() as never, messageId: 'm-2' })
    const error = thrownBy(() => message.toPayloadString())
    const facts = { code: 'MESSAGE_ERROR', reason: 'encoding_failed', messageId: 'm-2' }
    expect(error).toMatchObject({ ...facts, message: expect.stringContaining('cannot be written as JSON') })
    expect((error as SDKError).cause).toBeInstanceOf(Error)
  })
})

describe('fromJSON', () => {
  it('reads what toPayloadString wrote', () => {
    const message = new Message('customer', 'human', 'Hi', { messageData: { further: 1 } })
    expect(Message.fromJSON(message.toPayloadString())).toEqual(message)
  })

  it('takes a parsed frame, its local fields, and what the caller adds', () => {
    const given: MessageObject = { persona: 'agent', role: 'x', content: 'Hi', messageId: 'm-1', from: 'a' }
    expect(Message.fromJSON(given, { from: 'b', sessionId: 's' })).toMatchObject({
      persona: 'agent',
      content: 'Hi',
      messageId: 'm-1',
      from: 'b',
      sessionId: 's',
    })
  })

  it('reads null as left out, as the service may send it', () => {
    const message = Message.fromJSON('{"persona":"agent","role":"x","content":null,"messageData":null}')
    expect(message.content).toBeUndefined()
    expect(message.messageData).toBeUndefined()
  })

  it.each([
    '',
    'x',
    '{',
    '1',
    'null',
    '"text"',
    '[]',
    '{}',
    '{"persona":"a"}',
    '{"persona":"a","role":"b","content":1}',
  ])('refuses %j with a MessageError', text => {
    expect(thrownBy(() => Message.fromJSON(text))).toMatchObject({ name: 'MessageError', reason: 'invalid' })
  })

  it.each([
    ['{', 'The text is not JSON.', expect.any(SyntaxError)],
    ['5', 'The JSON is not an object.', undefined],
    ['null', 'The JSON is not an object.', undefined],
    ['{"role":"x"}', 'The message cannot be sent: its persona is missing.', undefined],
    ['{"persona":"a"}', 'The message cannot be sent: its role is missing.', undefined],
  ])('of %j it says: %s', (text, message, cause) => {
    const error = thrownBy(() => Message.fromJSON(text)) as Error
    expect([error.message, error.cause]).toEqual([message, cause])
  })

  it('does not say what the text was', () => {
    const error = thrownBy(() => Message.fromJSON('a secret text'))
    expect((error as Error).message).not.toContain('secret')
  })

  it('takes no prototype from the wire', () => {
    const message = Message.fromJSON('{"persona":"a","role":"b","__proto__":{"polluted":1},"constructor":{"x":1}}')
    expect(message).toBeInstanceOf(Message)
    expect(message).not.toHaveProperty('polluted')
    expect({}).not.toHaveProperty('polluted')
  })
})

describe('direction', () => {
  it.each<[string, string, object, boolean, boolean]>([
    ['agent', 'customer support agent', {}, true, false],
    ['metadata', 'stale_token', {}, true, false],
    ['system', 'heartbeat', {}, true, false],
    ['system', 'context', { from: 'customer' }, true, true],
    ['system', 'context', { from: 'customer', messageId: 'm-1' }, true, false],
    ['customer', 'human', {}, false, true],
    ['customer', 'human', { messageId: 'm-1' }, true, true],
    ['agent', 'x', { from: 'Help Centre' }, true, false],
    ['robot', 'x', {}, false, false],
    ['robot', 'x', { messageId: 'm-1' }, true, false],
  ])('%s / %s with %j', (persona, role, options, incoming, outgoing) => {
    const message = new Message(persona, role, 'x', options)
    expect([message.isIncoming(), message.isOutgoing()]).toEqual([incoming, outgoing])
  })
})

describe('clone', () => {
  const original = new Message('customer', 'human', 'Hi', {
    messageId: 'm-1',
    messageData: { further: 1 },
    timestamp: 5,
    from: 'a',
    to: 'b',
    agentId: 'help',
    sessionId: 's',
  })

  it('keeps everything, the ids of agent and session too', () => {
    expect(original.clone()).toEqual(original)
    expect(original.clone()).not.toBe(original)
    expect(original.clone()).toBeInstanceOf(Message)
  })

  it.each<Partial<Message>>([
    { persona: 'system' },
    { role: 'x' },
    { content: '' },
    { messageId: 'm-2' },
    { messageData: {} },
    { timestamp: 6 },
    { from: 'c', to: 'd' },
    { agentId: 'other', sessionId: 't' },
  ])('replaces %j and leaves the original as it is', updates => {
    const before = { ...original }
    expect({ ...original.clone(updates) }).toEqual({ ...before, ...updates })
    expect({ ...original }).toEqual(before)
  })

  it('can take the content away', () => {
    expect(original.clone({ content: undefined }).content).toBeUndefined()
  })
})

describe('receivedMessage', () => {
  const place = { agentName: 'Help Centre', agentId: 'help', sessionId: 's' }

  it('fills in what a frame leaves out, and where it belongs', () => {
    expect({ ...receivedMessage({ persona: 'agent', role: 'x' }, place, { now: () => 9 }) }).toEqual({
      persona: 'agent',
      role: 'x',
      content: '',
      messageId: undefined,
      messageData: undefined,
      timestamp: 9,
      from: 'Help Centre',
      to: 'customer',
      agentId: 'help',
      sessionId: 's',
    })
  })

  it('takes from the frame only what the service decides about', () => {
    const messageData = { options: ['Yes', 'No'] }
    const frame = { persona: 'agent', role: 'x', content: 'Hi', timestamp: 3, messageId: 'm-1', messageData }
    const given = { ...frame, from: 'someone', to: 'else', sessionId: 'other', agentId: 'another' }
    expect(receivedMessage(given, place)).toMatchObject({
      ...frame,
      from: 'Help Centre',
      to: 'customer',
      agentId: 'help',
      sessionId: 's',
    })
  })

  it('carries the agent, the session and the time of its receipt, which may change between messages', () => {
    const clock = { time: 1, now: () => clock.time }
    const facts = { agentId: 'help', agentName: '', sessionId: undefined as string | undefined }
    const receive = () => receivedMessage({ persona: 'agent', role: 'x' }, facts, clock)
    expect(receive()).toMatchObject({ agentId: 'help', from: '', sessionId: undefined, timestamp: 1 })
    Object.assign(facts, { agentId: 'desk', agentName: 'Help Desk', sessionId: 's2' })
    clock.time = 2
    expect(receive()).toMatchObject({ agentId: 'desk', from: 'Help Desk', sessionId: 's2', timestamp: 2 })
  })

  it('keeps a timestamp of zero', () => {
    expect(receivedMessage({ persona: 'agent', role: 'x', timestamp: 0 }, place).timestamp).toBe(0)
  })
})

describe('toMessage', () => {
  it('[REST-12] reads an element of a transcript that is a frame', () => {
    const frame = {
      messageId: 'm-1',
      persona: 'agent',
      role: 'customer support agent',
      content: 'Hello',
      timestamp: 5,
      messageData: { sources: [{ title: 'Returns' }] },
    }
    expect(toMessage({ ...frame, further: 1 })).toMatchObject({ ...frame, to: 'customer', from: undefined })
    expect(toMessage({ persona: 'customer', role: 'human', content: 'Hi' })).toMatchObject({
      content: 'Hi',
      from: 'customer',
      to: undefined,
      messageId: undefined,
      timestamp: undefined,
    })
  })
})
