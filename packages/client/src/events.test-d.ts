import type { AgentDetails, AgentListItem, ContextValidationIssue } from '@aiagent/protocol'
import { assertType, describe, expectTypeOf, it } from 'vitest'
import type { AiAgent } from './ai-agent.ts'
import type { ConnectionState } from './chat/connection-state.ts'
import type { AgentMessage } from './conversation/message-handler.ts'
import type { AnySDKError, ApiError, AuthError } from './errors.ts'
import type {
  AgentEvent,
  AgentEventPayloadMap,
  AgentEvents,
  AgentEventType,
  ChatClosed,
  UnreadableFrame,
} from './events.ts'
import type { Source } from './index.ts'
import type { TranscriptEntry } from './log/entry.ts'
import type { Message } from './log/message.ts'
import type { MaskingUnavailableReason } from './masking/masking.ts'

declare const agent: AiAgent

describe('events', () => {
  it('every event has the same envelope', () => {
    expectTypeOf<AgentEvent['type']>().toEqualTypeOf<AgentEventType>()
    expectTypeOf<AgentEvent['timestamp']>().toEqualTypeOf<number>()
    expectTypeOf<AgentEvent['sessionId']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<AgentEvent<'queueFlushed'>['type']>().toEqualTypeOf<'queueFlushed'>()
  })

  it('AgentEventType, AgentEvent, AgentEvents: a name and its payload', () => {
    assertType<AgentEventType>('queueFlushed')
    // @ts-expect-error names are camel case
    assertType<AgentEventType>('QueueFlushed')
    assertType<AgentEvent<'queueFlushed'>>({ type: 'queueFlushed', timestamp: 0, payload: { count: 2 } })
    // @ts-expect-error the payload belongs to another event
    assertType<AgentEvent<'queueFlushed'>>({ type: 'queueFlushed', timestamp: 0, payload: { code: 1000 } })
    assertType<AgentEvents['connected']>({ type: 'connected', timestamp: 0, payload: {} })
    // @ts-expect-error the type belongs to another event
    assertType<AgentEvents['connected']>({ type: 'closed', timestamp: 0, payload: {} })
    assertType<AgentEventPayloadMap['tokenExpiring']>({ reason: 'expiring', expiresAt: 0 })
    // @ts-expect-error unknown reason
    assertType<AgentEventPayloadMap['tokenExpiring']>({ reason: 'expired' })
  })

  it('has the documented names', () => {
    expectTypeOf<
      | 'connected'
      | 'message'
      | 'agentMessage'
      | 'contextValidation'
      | 'errorMessage'
      | 'error'
      | 'closed'
      | 'stateChanged'
      | 'queueFlushed'
      | 'heartbeat'
      | 'tokenExpiring'
      | 'transcriptUpdate'
      | 'callTranscriptUpdate'
      | 'callerInfoUpdate'
      | 'conversationIdUpdate'
      | 'userContextUpdate'
      | 'filterTagsUpdate'
      | 'initialized'
      | 'portalsAvailable'
      | 'agentsAvailable'
      | 'profilesAvailable'
      | 'chatHistory'
      | 'escalation'
      | 'transcriptRestored'
      | 'transcriptTrimmed'
    >().toExtend<AgentEventType>()
  })

  it('infers the payload of a listener', () => {
    agent.on('agentMessage', ({ payload }) => {
      expectTypeOf(payload.message).toEqualTypeOf<AgentMessage>()
      expectTypeOf(payload).not.toHaveProperty('timestamp')
      expectTypeOf(payload).not.toHaveProperty('sessionId')
    })
    agent.once('error', ({ payload }) => expectTypeOf(payload.error).toEqualTypeOf<AnySDKError>())
    agent.subscribe('closed', ({ payload }) => expectTypeOf(payload).toEqualTypeOf<ChatClosed>())
    agent.on('transcriptRestored', ({ payload }) =>
      expectTypeOf(payload.entries).toEqualTypeOf<readonly TranscriptEntry[]>(),
    )
    agent.on('transcriptTrimmed', ({ payload }) => expectTypeOf(payload).toEqualTypeOf<{ removed: number }>())
    agent.on('stateChanged', ({ payload }) => expectTypeOf(payload.state).toEqualTypeOf<ConnectionState>())
    agent.on('initialized', ({ payload }) =>
      expectTypeOf(payload.agent).toEqualTypeOf<AgentDetails | AgentListItem | undefined>(),
    )
    agent.on('contextValidation', ({ payload }) => {
      expectTypeOf(payload.message).toEqualTypeOf<Message>()
      expectTypeOf(payload.issues).toEqualTypeOf<ContextValidationIssue[]>()
    })
    agent.on('transcriptUpdate', ({ payload }) => {
      expectTypeOf(payload).toExtend<TranscriptEntry>()
      expectTypeOf(payload.entry).toEqualTypeOf<TranscriptEntry>()
    })
  })

  it('rejects unknown names', () => {
    // @ts-expect-error unknown event
    agent.on('agentmessage', () => {})
  })

  it('returns the agent from on() and an unsubscribe function from subscribe()', () => {
    expectTypeOf(agent.on('connected', () => {})).toEqualTypeOf<AiAgent>()
    expectTypeOf(agent.subscribe('connected', () => {})).toEqualTypeOf<() => void>()
  })

  it('narrows the union of all events by type, and the message by its class', () => {
    const read = (event: AgentEvent) => {
      if (event.type === 'agentMessage') expectTypeOf(event.payload.message).toEqualTypeOf<AgentMessage>()
      // @ts-expect-error only agentMessage has this payload
      return event.payload.message
    }
    assertType<(event: AgentEvent<'closed'>) => unknown>(read)
    expectTypeOf<AgentEventPayloadMap['message']['data']>().toEqualTypeOf<Message | UnreadableFrame>()
    assertType<UnreadableFrame>('{')
    // @ts-expect-error a parsed frame is a Message
    assertType<UnreadableFrame>({ persona: 'agent', role: 'agent' })
  })

  it('AnySDKError: the code narrows to the class', () => {
    const read = (error: AnySDKError) => {
      if (error.code === 'API_ERROR') expectTypeOf(error).toEqualTypeOf<ApiError>()
      if (error.code === 'AUTH_ERROR') expectTypeOf(error).toEqualTypeOf<AuthError>()
    }
    assertType<(error: AnySDKError) => void>(read)
    // @ts-expect-error a plain error has no code
    assertType<AnySDKError>(new Error('closed'))
  })

  it('Source, MaskingUnavailableReason: parts of payloads', () => {
    expectTypeOf<AgentMessage['sources']>().toEqualTypeOf<Source[] | undefined>()
    assertType<Source>({ title: 'Returns', url: 'https://help.example.test/returns' })
    // @ts-expect-error a typing error in a field's name
    assertType<Source>({ titel: 'Returns' })
    expectTypeOf<AgentEventPayloadMap['maskingUnavailable']['reason']>().toEqualTypeOf<MaskingUnavailableReason>()
    // @ts-expect-error there is no such reason
    assertType<MaskingUnavailableReason>('bored')
  })
})
