import { describe, expect, it } from 'vitest'
import { Message } from '../log/message.ts'
import { MessageProcessor } from './handlers.ts'
import {
  BaseMessageHandler,
  type HandlerResult,
  handled,
  type MessageHandlerResult,
  resultOf,
} from './message-handler.ts'

const setUp = () => {
  const told = { refreshes: 0 }
  const processor = new MessageProcessor({ onRefreshRequired: () => told.refreshes++ })
  const process = (message: Message) => processor.process(message) as MessageHandlerResult | undefined
  return { told, processor, process }
}

const message = (persona: string, role: string, messageData?: object, content = 'text', more = {}) =>
  new Message(persona, role, content, { messageData: messageData as never, timestamp: 5, ...more })

class Custom extends BaseMessageHandler {
  readonly #name: string
  constructor(name: string) {
    super()
    this.#name = name
  }
  canHandle({ role }: Message): boolean {
    return role === 'custom' || role === 'heartbeat'
  }
  handle(message: Message): HandlerResult {
    return resultOf(this.#name, message, handled(message))
  }
}

describe('which handler takes a message', () => {
  it.each<[string, string, object | undefined, string | undefined]>([
    ['metadata', 'stale_token', { error_code: '401-012' }, 'token_refresh_required'],
    ['metadata', 'stale_token', { error_code: '401-999' }, 'token_refresh_required'],
    ['metadata', 'stale_token', { error_code: 401 }, 'token_refresh_required'],
    ['metadata', 'stale_token', undefined, 'token_refresh_required'],
    ['metadata', 'expired_token', { error_code: '403-001' }, 'token_refresh_required'],
    ['metadata', 'expired_token', { error_code: '500' }, 'token_refresh_required'],
    ['metadata', 'expired_token', { error_code: null }, 'token_refresh_required'],
    ['metadata', 'error', { error_code: '500-001' }, 'error_message'],
    ['metadata', 'error', undefined, 'error_message'],
    ['metadata', 'heartbeat', undefined, undefined],
    ['system', 'context validation', {}, 'context_validation'],
    ['system', 'chat history', {}, 'chat_history_processed'],
    ['system', 'heartbeat', undefined, 'heartbeat_processed'],
    ['system', 'error', undefined, undefined],
    ['system', 'stale_token', undefined, undefined],
    ['system', 'chat_history', undefined, undefined],
    ['agent', 'customer support agent', {}, 'agent_message'],
    ['agent', 'heartbeat', undefined, 'agent_message'],
    ['agent', 'a role of tomorrow', undefined, 'agent_message'],
    ['customer', 'human', undefined, undefined],
    ['robot', 'beep', undefined, undefined],
  ])('%s / %s with %j is %s', (persona, role, data, type) => {
    const { told, process } = setUp()
    expect(process(message(persona, role, data))?.type).toBe(type)
    expect(told.refreshes).toBe(type === 'token_refresh_required' ? 1 : 0)
  })

  it('a custom handler goes last by default, first at 0, and out again', () => {
    const { processor, process } = setUp()
    const own = processor.getHandlers()
    const [last, first] = [new Custom('last'), new Custom('first')]
    processor.addHandler(last)
    expect(process(message('robot', 'custom'))?.type).toBe('last')
    expect(process(message('system', 'heartbeat'))?.type).toBe('heartbeat_processed')
    processor.addHandler(first, 0)
    expect(process(message('system', 'heartbeat'))?.type).toBe('first')
    expect(processor.getHandlers()).toEqual([first, ...own, last])
    expect(processor.removeHandler(first)).toBe(true)
    expect(processor.removeHandler(first)).toBe(false)
    expect(process(message('system', 'heartbeat'))?.type).toBe('heartbeat_processed')
    expect(processor.getHandlers()).toEqual([...own, last])
  })

  it('a position puts a handler right there', () => {
    const { processor } = setUp()
    const custom = new Custom('x')
    processor.addHandler(custom, 2)
    expect(processor.getHandlers().indexOf(custom)).toBe(2)
  })

  it('reset brings back the own handlers, which work as before', () => {
    const { told, processor, process } = setUp()
    for (const handler of processor.getHandlers()) processor.removeHandler(handler)
    processor.addHandler(new Custom('x'))
    expect(process(message('agent', 'x'))).toBeUndefined()
    processor.reset()
    expect(processor.getHandlers()).toHaveLength(6)
    expect(process(message('metadata', 'stale_token'))?.type).toBe('token_refresh_required')
    expect(told.refreshes).toBe(1)
  })

  it('the list of handlers is a copy', () => {
    const { processor } = setUp()
    ;(processor.getHandlers() as unknown[]).length = 0
    expect(processor.getHandlers()).toHaveLength(6)
  })
})

describe('results', () => {
  it('carry ids, moment, names and the frame as received', () => {
    const { process } = setUp()
    const data = { further: { x: 1 } }
    const more = { messageId: 'm-1', agentId: 'help', sessionId: 's', from: 'Help Centre' }
    expect(process(message('agent', 'x', data, 'Hello', more))).toEqual({
      type: 'agent_message',
      messageId: 'm-1',
      timestamp: 5,
      sessionId: 's',
      agentId: 'help',
      from: { name: 'Help Centre', isAi: true },
      to: { name: 'Customer', isAi: false },
      message: {
        persona: 'agent',
        role: 'x',
        content: 'Hello',
        raw: data,
        showReasoning: false,
        showFeedback: false,
        showOptions: false,
      },
    })
  })

  it.each([
    ['agent', 'x', 'AI Agent', true, 'Customer'],
    ['system', 'heartbeat', 'AI Agent', true, 'Customer'],
    ['system', 'context validation', 'System', false, 'Client'],
    ['system', 'chat history', 'System', false, 'Client'],
    ['metadata', 'error', 'System', false, 'Client'],
    ['metadata', 'stale_token', 'System', false, 'Client'],
  ])('%s / %s comes from %s', (persona, role, name, isAi, to) => {
    expect(setUp().process(message(persona, role))).toMatchObject({
      from: { name, isAi },
      to: { name: to, isAi: false },
      message: { raw: {} },
    })
  })

  it('share nothing that a listener could change for the next message', () => {
    const { process } = setUp()
    const first = process(message('metadata', 'error'))
    expect(() => Object.assign(first?.from ?? {}, { name: 'changed' })).toThrow(TypeError)
    expect(() => Object.assign(first?.message.raw ?? {}, { changed: true })).toThrow(TypeError)
    expect(process(message('metadata', 'error'))).toMatchObject({ from: { name: 'System' }, message: { raw: {} } })
  })

  it.each([
    [{ error_code: '401-012' }, '401-012'],
    [{ error_code: 500 }, '500'],
    [{ error_code: 0 }, '0'],
    [{ error_code: null }, undefined],
    [{}, undefined],
    [undefined, undefined],
  ])('errors and token requests read the code of %j as %j', (data, errorCode) => {
    for (const role of ['error', 'stale_token'])
      expect(setUp().process(message('metadata', role, data))).toMatchObject({ errorCode, message: { errorCode } })
  })

  it.each([
    [{ chat_history: [{ a: 1 }, 'x'] }, [{ a: 1 }, 'x'], true],
    [{ chat_history: [] }, [], false],
    [{ chat_history: null }, [], false],
    [undefined, [], false],
  ])('history of %j', (data, chatHistory, hasHistory) => {
    expect(setUp().process(message('system', 'chat history', data))).toMatchObject({
      hasHistory,
      message: { chatHistory },
    })
  })

  it('context validation hands on the issues', () => {
    const issues = [{ name: 'age', reason: 'type_mismatch', expectedType: 'integer', providedType: 'string' }]
    const process = (data: object | undefined) => setUp().process(message('system', 'context validation', data))
    expect(process({ contextValidationErrors: issues })).toMatchObject({ contextValidationErrors: issues })
    expect(process(undefined)).toMatchObject({ contextValidationErrors: [] })
  })
})

describe('what is derived for an answer of the agent', () => {
  const derive = (role: string, data: object | undefined) => {
    const result = setUp().process(message('agent', role, data))
    const { persona, role: same, content, raw, ...derived } = { ...result?.message } as Record<string, unknown>
    expect([persona, same, content]).toEqual(['agent', role, 'text'])
    expect(raw).toEqual(data ?? {})
    return derived
  }
  const no = { showReasoning: false, showFeedback: false, showOptions: false }
  const support = 'customer support agent'
  const question = 'follow up question agent'

  it.each<[string, object | undefined, object]>([
    [support, undefined, { ...no, showFeedback: true }],
    ['other', undefined, no],
    [support, { reasoning: 'because' }, { ...no, showFeedback: true, showReasoning: true, reasoning: 'because' }],
    ['other', { reasoning: '  ' }, { ...no, reasoning: '  ' }],
    ['other', { reasoning: '' }, no],
    ['other', { reasoning: null }, no],
    ['other', { sources: [{ title: 'T', url: 'u' }] }, { ...no, sources: [{ title: 'T', url: 'u' }] }],
    ['other', { sources: null }, no],
    [question, { options: ['a', 'b'] }, { ...no, showOptions: true, options: ['a', 'b'] }],
    [question, { options: [] }, { ...no, options: [] }],
    [question, undefined, no],
    ['other', { options: ['a'] }, { ...no, options: ['a'] }],
    ['other', { escalation: true }, no],
    ['other', { escalation: false, escalationData: { live: true } }, no],
    ['other', { escalation: true, escalationData: {} }, no],
    ['other', { escalation: true, escalationData: { live: false, phone: false, email: null } }, no],
    [
      'other',
      { escalation: true, escalationData: { live: true, phone: true, entrypointUrl: 'u', liveDomain: 'd' } },
      {
        ...no,
        escalationType: 'live',
        escalationData: { live: true, phone: true, entrypointUrl: 'u', liveDomain: 'd' },
      },
    ],
    [
      'other',
      { escalation: true, escalationData: { email: true, sms: true, smsNumber: '2', phone: true, phoneNumber: '1' } },
      {
        ...no,
        escalationType: 'alternate',
        escalationData: {
          email: true,
          sms: true,
          smsNumber: '2',
          phone: true,
          phoneNumber: '1',
          options: [
            { label: 'CALL', type: 'phone', value: '1' },
            { label: 'SMS', type: 'sms', value: '2' },
            { label: 'EMAIL', type: 'email' },
          ],
        },
      },
    ],
    [
      'other',
      { escalation: true, escalationData: { phone: true } },
      {
        ...no,
        escalationType: 'alternate',
        escalationData: { phone: true, options: [{ label: 'CALL', type: 'phone' }] },
      },
    ],
  ])('%s with %j', (role, data, expected) => {
    expect(derive(role, data)).toEqual(expected)
  })
})
