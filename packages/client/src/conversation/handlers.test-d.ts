import { assertType, describe, expectTypeOf, it } from 'vitest'
import {
  type AgentMessage,
  AgentMessageHandler,
  BaseMessageHandler,
  ChatHistoryHandler,
  ContextValidationHandler,
  type ContextValidationIssue,
  ErrorMessageHandler,
  type EscalationData,
  type EscalationOption,
  type HandlerResult,
  HeartbeatHandler,
  type Message,
  type MessageHandlerResult,
  MessageProcessor,
  TokenRefreshHandler,
  type TokenRefreshHandlerOptions,
} from '../index.ts'
import type {
  AgentMessageResult,
  ChatHistoryResult,
  ContextValidationResult,
  ErrorMessageResult,
  HandledMessage,
  HeartbeatResult,
  Party,
  TokenRefreshResult,
} from './message-handler.ts'

const handled: HandledMessage = { persona: 'agent', role: 'agent', content: 'Hello', raw: {} }
const place = {
  messageId: 'm-1',
  timestamp: 0,
  sessionId: 's-1',
  agentId: 'help',
  from: { name: 'AI Agent', isAi: true },
  to: { name: 'Customer', isAi: false },
}
const answer: AgentMessage = { ...handled, showReasoning: false, showFeedback: true, showOptions: false }
const failure = { ...handled, errorCode: '401-012' }

describe('what handlers return', () => {
  it('Party: a name, and whether it is a machine', () => {
    assertType<Party>(place.from)
    // @ts-expect-error a name alone does not tell
    assertType<Party>({ name: 'AI Agent' })
  })

  it('HandledMessage: with the data as received', () => {
    assertType<HandledMessage>(handled)
    // @ts-expect-error without data it is an empty object
    assertType<HandledMessage>({ ...handled, raw: undefined })
  })

  it('HandlerResult: of any type', () => {
    assertType<HandlerResult>({ type: 'typing', ...place, message: handled })
    // @ts-expect-error the type is another one
    assertType<HandlerResult<'typing'>>({ type: 'heartbeat', ...place, message: handled })
  })

  it('AgentMessage, AgentMessageResult: an answer', () => {
    assertType<AgentMessage>({ ...answer, escalationType: 'live', escalationData: { liveDomain: 'live.example.test' } })
    // @ts-expect-error an escalation is live or alternate
    assertType<AgentMessage>({ ...answer, escalationType: 'phone' })
    assertType<AgentMessageResult>({ type: 'agent_message', ...place, message: answer })
    // @ts-expect-error the message does not say what to show
    assertType<AgentMessageResult>({ type: 'agent_message', ...place, message: handled })
  })

  it('EscalationData, EscalationOption: how to reach a human', () => {
    assertType<EscalationData>({ live: true, entrypointUrl: null })
    // @ts-expect-error a host is text
    assertType<EscalationData>({ liveDomain: 7 })
    assertType<EscalationOption>({ label: 'CALL', type: 'phone', value: '+49 …' })
    // @ts-expect-error there is no such way
    assertType<EscalationOption>({ label: 'FAX', type: 'phone' })
  })

  it('HeartbeatResult: a sign of work', () => {
    assertType<HeartbeatResult>({ type: 'heartbeat_processed', ...place, message: handled })
    // @ts-expect-error an answer is not a heartbeat
    assertType<HeartbeatResult>({ type: 'agent_message', ...place, message: answer })
  })

  it('ChatHistoryResult: earlier messages', () => {
    const message = { ...handled, chatHistory: [] }
    assertType<ChatHistoryResult>({ type: 'chat_history_processed', ...place, message, hasHistory: false })
    // @ts-expect-error whether there is a history is missing
    assertType<ChatHistoryResult>({ type: 'chat_history_processed', ...place, message })
  })

  it('ErrorMessageResult, TokenRefreshResult: with the code', () => {
    assertType<ErrorMessageResult>({ type: 'error_message', ...place, message: failure, errorCode: undefined })
    // @ts-expect-error a code is text here, whatever the service sent
    assertType<ErrorMessageResult>({ type: 'error_message', ...place, message: failure, errorCode: 401 })
    assertType<TokenRefreshResult>({ type: 'token_refresh_required', ...place, message: failure, errorCode: '401-012' })
    // @ts-expect-error the message has the code as well
    assertType<TokenRefreshResult>({ type: 'token_refresh_required', ...place, message: handled, errorCode: '401-012' })
  })

  it('ContextValidationResult, ContextValidationIssue: what was refused', () => {
    const issue = { name: 'age', reason: 'type_mismatch', expectedType: 'integer', providedType: 'string' }
    assertType<ContextValidationIssue>(issue)
    // @ts-expect-error the attribute is missing
    assertType<ContextValidationIssue>({ reason: 'type_mismatch' })
    const result = { type: 'context_validation', ...place, message: handled } as const
    assertType<ContextValidationResult>({ ...result, contextValidationErrors: [issue] })
    // @ts-expect-error issues have names and reasons
    assertType<ContextValidationResult>({ ...result, contextValidationErrors: ['age'] })
  })

  it('MessageHandlerResult: one of them, told apart by its type', () => {
    assertType<MessageHandlerResult>({ type: 'agent_message', ...place, message: answer })
    expectTypeOf<Extract<MessageHandlerResult, { type: 'agent_message' }>>().toEqualTypeOf<AgentMessageResult>()
    // @ts-expect-error a custom handler has its own results
    assertType<MessageHandlerResult>({ type: 'typing', ...place, message: handled })
  })
})

describe('handlers', () => {
  it('BaseMessageHandler: two functions to write', () => {
    class Typing extends BaseMessageHandler {
      canHandle = (message: Message) => message.role === 'typing'
      handle = () => ({ type: 'typing', ...place, message: handled })
    }
    assertType<BaseMessageHandler>(new Typing())
    // @ts-expect-error what it makes of a message is missing
    assertType<BaseMessageHandler>({ canHandle: () => true })
  })

  it('each handler of the library has its own result', () => {
    assertType<AgentMessageHandler>(new AgentMessageHandler())
    // @ts-expect-error heartbeats are not answers
    assertType<AgentMessageHandler>(new HeartbeatHandler())
    assertType<HeartbeatHandler>(new HeartbeatHandler())
    // @ts-expect-error answers are not heartbeats
    assertType<HeartbeatHandler>(new AgentMessageHandler())
    assertType<ChatHistoryHandler>(new ChatHistoryHandler())
    // @ts-expect-error errors are not a history
    assertType<ChatHistoryHandler>(new ErrorMessageHandler())
    assertType<ErrorMessageHandler>(new ErrorMessageHandler())
    // @ts-expect-error a rejected attribute is not an error of the chat
    assertType<ErrorMessageHandler>(new ContextValidationHandler())
    assertType<ContextValidationHandler>(new ContextValidationHandler())
    // @ts-expect-error a history refuses nothing
    assertType<ContextValidationHandler>(new ChatHistoryHandler())
  })

  it('TokenRefreshHandler: tells whom a token is asked of', () => {
    const options: TokenRefreshHandlerOptions = { onRefreshRequired: expired => expectTypeOf(expired).toBeBoolean() }
    assertType<TokenRefreshHandler>(new TokenRefreshHandler(options))
    // @ts-expect-error errors refresh nothing
    assertType<TokenRefreshHandler>(new ErrorMessageHandler())
    assertType<TokenRefreshHandlerOptions>(options)
    // @ts-expect-error the callback is missing
    assertType<TokenRefreshHandlerOptions>({})
  })

  it('MessageProcessor: handlers in order', () => {
    assertType<MessageProcessor>(new MessageProcessor({ onRefreshRequired() {} }))
    expectTypeOf<MessageProcessor['getHandlers']>().returns.toEqualTypeOf<readonly BaseMessageHandler[]>()
    // @ts-expect-error a list of handlers asks none of them
    assertType<MessageProcessor>([new AgentMessageHandler()])
  })
})
