import { readClientIntent } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { Message, type MessageObject } from '../log/message.ts'
import {
  createAgentMessage,
  createContextMessage,
  createEscalationMessage,
  createFeedbackMessage,
  createGracefulDisconnectMessage,
  createTokenMessage,
  isContextMessage,
} from './message-helpers.ts'

const ids = { messageId: 'm-1', from: 'me', to: 'you' }

const table: Array<[string, (more?: object) => MessageObject, object, object]> = [
  [
    'createContextMessage',
    more => createContextMessage({ context: { plan: 'gold' }, ...more }),
    { persona: 'system', role: 'context', messageData: { context: { plan: 'gold' } } },
    { kind: 'context', context: { plan: 'gold' } },
  ],
  [
    'createFeedbackMessage',
    more => createFeedbackMessage({ rating: 'down', answerMessageId: 'a-1', ...more }),
    { persona: 'system', role: 'feedback', messageData: { feedback: { rating: 'down', answerMessageId: 'a-1' } } },
    { kind: 'feedback', rating: 'down', answerMessageId: 'a-1' },
  ],
  [
    'createEscalationMessage',
    more => createEscalationMessage({ escalationEvent: { accepted: true }, ...more }),
    { persona: 'system', role: 'escalation', messageData: { escalationEvent: { accepted: true } } },
    { kind: 'escalation', event: { accepted: true } },
  ],
  [
    'createAgentMessage',
    more => createAgentMessage({ content: 'Hello', ...more }),
    { persona: 'customer', role: 'human', content: 'Hello' },
    { kind: 'user', content: 'Hello' },
  ],
  [
    'createAgentMessage of another persona',
    more => createAgentMessage({ content: 'Hello', persona: 'agent', role: 'note', ...more }),
    { persona: 'agent', role: 'note', content: 'Hello' },
    { kind: 'other' },
  ],
  [
    'createGracefulDisconnectMessage',
    more => (more ? createGracefulDisconnectMessage(more) : createGracefulDisconnectMessage()),
    { persona: 'system', role: 'graceful disconnect' },
    { kind: 'graceful disconnect' },
  ],
  [
    'createTokenMessage',
    more => createTokenMessage({ token: 't', ...more }),
    { persona: 'metadata', role: 'token', messageData: { token: 't' } },
    { kind: 'token', token: 't' },
  ],
]

describe('message helpers', () => {
  it.each(table)('[OPS-06] %s makes a plain object', (_name, create, expected) => {
    expect(create()).toEqual(expected)
    expect(Object.keys(create()).sort()).toEqual(Object.keys(expected).sort())
    expect(Object.getPrototypeOf(create())).toBe(Object.prototype)
  })

  it.each(table)('[OPS-06] %s takes ids of the sender, which stay off the wire', (_name, create, expected) => {
    expect(create(ids)).toEqual({ ...expected, ...ids })
    expect(JSON.parse(Message.fromJSON(create(ids)).toPayloadString())).toEqual(expected)
  })

  it.each(table)('[OPS-06] the service reads what %s makes', (_name, create, _expected, intent) => {
    expect(readClientIntent(JSON.parse(Message.fromJSON(create()).toPayloadString()))).toEqual(intent)
  })
})

describe('isContextMessage', () => {
  it.each<[string, string, object | undefined, boolean]>([
    ['system', 'context', { context: { plan: 'gold' } }, true],
    ['system', 'context', { context: {} }, true],
    ['system', 'context', { context: ['gold'] }, false],
    ['system', 'context', {}, false],
    ['system', 'context', undefined, false],
    ['customer', 'context', { context: {} }, false],
    ['system', 'human', { context: {} }, false],
  ])('of %s / %s with %j is %s', (persona, role, messageData, expected) => {
    const message = new Message(persona, role, undefined, messageData ? { messageData: messageData as never } : {})
    expect(isContextMessage(message)).toBe(expected)
  })
})
