import { describe, expect, it } from 'vitest'
import clientMessages from '../../fixtures/client-messages.json' with { type: 'json' }
import extensionMessages from '../../fixtures/extension-messages.json' with { type: 'json' }
import { ProtocolError } from '../protocol-error.ts'
import { parseContextAttribute, readClientIntent } from './client-message.ts'
import { parseClientMessage } from './codec.ts'

describe('readClientIntent', () => {
  it.each([...clientMessages, ...extensionMessages.client])(
    '[WS-04] tells the intent of: $name',
    ({ frame, intent }) => {
      expect(readClientIntent(parseClientMessage(JSON.stringify(frame)))).toEqual(intent)
    },
  )

  it.each([
    ['a token frame without data', { persona: 'metadata', role: 'token' }],
    ['a token frame without a token', { persona: 'metadata', role: 'token', messageData: {} }],
    ['a context that is a list', { persona: 'system', role: 'context', messageData: { context: [] } }],
    ['a context that is null', { persona: 'system', role: 'context', messageData: { context: null } }],
    [
      'feedback without an answer',
      { persona: 'system', role: 'feedback', messageData: { feedback: { rating: 'up' } } },
    ],
    [
      'feedback about a number',
      { persona: 'system', role: 'feedback', messageData: { feedback: { rating: 'up', answerMessageId: 2 } } },
    ],
    ['an escalation without an event', { persona: 'system', role: 'escalation', messageData: {} }],
    ['a persona and role that do not go together', { persona: 'customer', role: 'token', messageData: { token: 't' } }],
    ['a heartbeat from the wrong side', { persona: 'system', role: 'heartbeat' }],
    ['a role spelled otherwise', { persona: 'system', role: 'graceful_disconnect' }],
  ])('takes %s for other', (_, frame) => {
    expect(readClientIntent(frame)).toEqual({ kind: 'other' })
  })

  it('hands over only the parts that matter', () => {
    const messageData = { feedback: { rating: 'up', answerMessageId: 'm-2', comment: 'thanks', kind: 'token' } }
    expect(readClientIntent({ persona: 'system', role: 'feedback', messageData })).toEqual({
      kind: 'feedback',
      rating: 'up',
      answerMessageId: 'm-2',
    })
  })
})

describe('parseContextAttribute', () => {
  it.each([
    [{ value: 1 }, true],
    [{ value: null, type: 'string', further: 1 }, true],
    [{ type: 'string' }, false],
    [{ value: 1, notInLLM: 'yes' }, false],
    [[1], false],
  ])('reads %j: %s', (attribute, fits) => {
    const read = () => parseContextAttribute(attribute)
    if (fits) expect(read()).toEqual(attribute)
    else expect(read).toThrow(ProtocolError)
  })
})
