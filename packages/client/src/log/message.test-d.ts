import type { ContextAttribute } from '@aiagent/protocol'
import { assertType, describe, expectTypeOf, it } from 'vitest'
import type { MessageHelperParams } from '../conversation/message-helpers.ts'
import {
  type AgentMessageParams,
  type AiAgent,
  type AskOptions,
  type ContextAttributes,
  type ContextMessageParams,
  createAgentMessage,
  type EscalationMessageParams,
  type FeedbackMessageParams,
  type FeedbackRating,
  type GracefulDisconnectParams,
  Message,
  type MessageData,
  type MessageObject,
  PERSONA,
  type Persona,
  ROLE,
  type Role,
  type SendOptions,
  type TokenMessageParams,
} from '../index.ts'
import type { MessageOptions } from './message.ts'

describe('messages', () => {
  it('Message: persona and role, and what may go with them', () => {
    assertType<Message>(new Message('customer', 'human', 'Hello', { messageId: 'm-1', timestamp: 0 }))
    // @ts-expect-error plain data becomes a message by `Message.fromJSON()`
    assertType<Message>({ persona: 'customer', role: 'human', content: 'Hello' })
    assertType<MessageOptions>({ messageData: { context: { plan: 'gold' } }, sessionId: 's-1' })
    // @ts-expect-error the moment is a number of milliseconds
    assertType<MessageOptions>({ timestamp: new Date(0) })
  })

  it('MessageObject: everything may be left out', () => {
    assertType<MessageObject>({ content: 'Hello' })
    expectTypeOf(createAgentMessage).returns.toEqualTypeOf<MessageObject>()
    // @ts-expect-error content is text
    assertType<MessageObject>({ content: ['Hello'] })
  })

  it('MessageData: fields of both directions, and unknown ones', () => {
    assertType<MessageData>({ escalation: true, escalationData: { phoneNumber: '+49 …' }, color: 'blue' })
    // @ts-expect-error options are a list of texts
    assertType<MessageData>({ options: 'yes' })
  })

  it('Persona, Role: the known ones', () => {
    assertType<Persona>(PERSONA.CUSTOMER)
    // @ts-expect-error a role is not a persona
    assertType<Persona>(ROLE.HUMAN)
    assertType<Role>(ROLE.GRACEFUL_DISCONNECT)
    // @ts-expect-error the wire writes blanks
    assertType<Role>('graceful_disconnect')
  })

  it('SendOptions: the sender’s id, and names', () => {
    assertType<SendOptions>({ id: 'm-1', from: 'Customer', to: 'Help Desk' })
    // @ts-expect-error an id is text
    assertType<SendOptions>({ id: 1 })
  })

  it('AskOptions: how long to wait, and what gives up; the answer is a message', () => {
    assertType<AskOptions>({ timeoutMs: 30_000, signal: AbortSignal.timeout(1) })
    // @ts-expect-error a time limit is a number of milliseconds
    assertType<AskOptions>({ timeoutMs: '30 s' })
    expectTypeOf<AiAgent['ask']>().returns.resolves.toEqualTypeOf<Message>()
    expectTypeOf<AiAgent['messages']>().returns.toEqualTypeOf<AsyncIterableIterator<Message>>()
  })
})

describe('the context', () => {
  it('ContextAttribute: a value, with what should be known about it', () => {
    assertType<ContextAttribute>({ value: 41, type: 'integer', notInLLM: true })
    // @ts-expect-error the name of a type is text
    assertType<ContextAttribute>({ value: 41, type: Number })
  })

  it('ContextAttributes: values by name, to be read', () => {
    assertType<ContextAttributes>({ plan: 'gold' })
    // @ts-expect-error a list has no names
    assertType<ContextAttributes>(['gold'])
  })
})

describe('what the helpers take', () => {
  it('MessageHelperParams, GracefulDisconnectParams: an id and names', () => {
    assertType<MessageHelperParams>({ messageId: 'm-1', from: 'Customer' })
    // @ts-expect-error the content belongs to a helper of its own
    assertType<MessageHelperParams>({ content: 'Hello' })
    assertType<GracefulDisconnectParams>({ to: 'Help Desk' })
    // @ts-expect-error a goodbye has no reason
    assertType<GracefulDisconnectParams>({ reason: 'done' })
  })

  it('AgentMessageParams: a content', () => {
    assertType<AgentMessageParams>({ content: 'Hello', persona: 'customer' })
    // @ts-expect-error the content is missing
    assertType<AgentMessageParams>({ persona: 'customer' })
  })

  it('ContextMessageParams: attributes by name', () => {
    assertType<ContextMessageParams>({ context: { plan: { value: 'gold' } } })
    // @ts-expect-error attributes stand in `context`
    assertType<ContextMessageParams>({ plan: 'gold' })
  })

  it('FeedbackMessageParams, FeedbackRating: a thumb for one answer', () => {
    expectTypeOf<FeedbackRating>().toEqualTypeOf<'up' | 'down'>()
    // @ts-expect-error there is no thumb in between
    assertType<FeedbackRating>('neutral')
    assertType<FeedbackMessageParams>({ rating: 'up', answerMessageId: 'm-2' })
    // @ts-expect-error there are two thumbs, and no stars
    assertType<FeedbackMessageParams>({ rating: 5, answerMessageId: 'm-2' })
  })

  it('EscalationMessageParams: whatever happened', () => {
    assertType<EscalationMessageParams>({ escalationEvent: { type: 'opened' } })
    // @ts-expect-error something happened
    assertType<EscalationMessageParams>({ messageId: 'm-1' })
  })

  it('TokenMessageParams: a token', () => {
    assertType<TokenMessageParams>({ token: 'secret' })
    // @ts-expect-error null is not a token
    assertType<TokenMessageParams>({ token: null })
  })
})
