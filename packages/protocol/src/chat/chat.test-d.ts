import { assertType, describe, expectTypeOf, it } from 'vitest'
import {
  type ClientIntent,
  type ClientMessage,
  type ContextAttribute,
  type ContextValidationIssue,
  type EscalationData,
  type FeedbackRating,
  type LexedMarkdown,
  type MarkdownLexer,
  type MarkdownTokenizer,
  type MessageData,
  type Persona,
  ProtocolError,
  type Role,
  type ServerMessage,
  type ServerMessageData,
  type Source,
} from '../index.ts'

describe('frames', () => {
  it('ClientMessage: persona and role, and whatever goes with them', () => {
    assertType<ClientMessage>({ persona: 'customer', role: 'human', content: 'Hello' })
    // @ts-expect-error a typing error in a field's name
    assertType<ClientMessage>({ persona: 'customer', role: 'human', contnet: 'Hello' })
    // @ts-expect-error the role is missing
    assertType<ClientMessage>({ persona: 'customer', content: 'Hello' })
  })

  it('ServerMessage: the same from the other side, where much may be null', () => {
    assertType<ServerMessage>({ persona: 'agent', role: 'agent', content: null, timestamp: 0 })
    // @ts-expect-error the moment is a number of milliseconds
    assertType<ServerMessage>({ persona: 'agent', role: 'agent', timestamp: '2026-01-01' })
  })

  it('ServerMessageData, MessageData: known fields, and unknown ones', () => {
    assertType<ServerMessageData>({ error_code: 401, options: ['yes', 'no'] })
    // @ts-expect-error a typing error in a field's name
    assertType<ServerMessageData>({ optoins: ['yes'] })
    // @ts-expect-error a list of options holds texts
    assertType<ServerMessageData>({ options: ['yes', 2] })
    assertType<MessageData>({ token: 'secret', context: { plan: 'gold' }, color: 'blue' })
    // @ts-expect-error a token is text
    assertType<MessageData>({ token: 7 })
  })

  it('Persona, Role: the known words', () => {
    expectTypeOf<'customer' | 'agent' | 'system' | 'metadata'>().toExtend<Persona>()
    // @ts-expect-error there is no such persona
    assertType<Persona>('robot')
    expectTypeOf<'human' | 'token' | 'context validation' | 'graceful disconnect'>().toExtend<Role>()
    // @ts-expect-error there is no such role
    assertType<Role>('typing')
  })

  it('ClientIntent: told apart by its kind', () => {
    assertType<ClientIntent>({ kind: 'feedback', rating: 'down', answerMessageId: 'm-1' })
    // @ts-expect-error a rating belongs to an answer
    assertType<ClientIntent>({ kind: 'feedback', rating: 'down' })
    expectTypeOf<FeedbackRating>().toEqualTypeOf<'up' | 'down'>()
    // @ts-expect-error there are no stars
    assertType<FeedbackRating>(5)
  })

  it('ProtocolError: holds what was received', () => {
    assertType<ProtocolError>(new ProtocolError('The frame is not JSON.', '{'))
    // @ts-expect-error what was received is missing
    assertType<ProtocolError>(new Error('The frame is not JSON.'))
  })
})

describe('what frames carry', () => {
  it('ContextAttribute: a value, with what should be known about it', () => {
    assertType<ContextAttribute>({ value: 41, type: 'integer', description: 'Age', notInLLM: true })
    // @ts-expect-error a flag is true or false
    assertType<ContextAttribute>({ value: 41, notInLLM: 'yes' })
  })

  it('ContextValidationIssue: a name and a reason', () => {
    assertType<ContextValidationIssue>({ name: 'age', reason: 'type_mismatch', providedType: null })
    // @ts-expect-error the reason is missing
    assertType<ContextValidationIssue>({ name: 'age' })
  })

  it('EscalationData: ways to a human', () => {
    assertType<EscalationData>({ live: true, liveDomain: 'live.example.test' })
    // @ts-expect-error a number to call is text
    assertType<EscalationData>({ phoneNumber: 49 })
  })

  it('Source: an article, read through ServerMessageData', () => {
    assertType<Source>({ title: 'Returns', url: null })
    // @ts-expect-error a title is text
    assertType<Source>({ title: 3 })
    expectTypeOf<ServerMessageData['sources']>().toEqualTypeOf<Source[] | null | undefined>()
  })
})

describe('Markdown', () => {
  it('LexedMarkdown: tokens of the lexer, or undefined', () => {
    assertType<LexedMarkdown<string>>({ tokens: ['a'], work: 1 })
    assertType<LexedMarkdown<string>>({ tokens: undefined, work: 1 })
    // @ts-expect-error the tokens are those of the lexer
    assertType<LexedMarkdown<string>>({ tokens: [1], work: 1 })
  })

  it('MarkdownLexer, MarkdownTokenizer: the parts of the lexer that are used', () => {
    const read = (text: string) => text
    assertType<MarkdownTokenizer>({ space: read, list: read, blockquote: read, table: read, text: read })
    // @ts-expect-error a tokenizer reads text
    assertType<MarkdownTokenizer>({ space: read, list: read, blockquote: read, table: read, text: (at: number) => at })
    const lexer = { tokens: [''], inlineQueue: [], options: {}, blockTokens: read, inlineTokens: read }
    assertType<MarkdownLexer<string>>(lexer)
    // @ts-expect-error without options
    assertType<MarkdownLexer<string>>({ ...lexer, options: undefined })
  })
})
