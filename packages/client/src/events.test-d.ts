import type { AgentDetails, AgentListItem, ContextValidationIssue } from '@aiagent/protocol'
import { describe, expectTypeOf, it } from 'vitest'
import type { AiAgent } from './ai-agent.ts'
import type { ConnectionState } from './chat/connection-state.ts'
import type { Message } from './conversation/message.ts'
import type { AgentMessage } from './conversation/message-handler.ts'
import type { TranscriptEntry } from './conversation/transcript.ts'
import type { SDKError } from './errors.ts'
import type { AgentEvent, AgentEventType } from './events.ts'

declare const agent: AiAgent

describe('events', () => {
  it('every event comes in the same envelope', () => {
    expectTypeOf<AgentEvent['type']>().toEqualTypeOf<AgentEventType>()
    expectTypeOf<AgentEvent['timestamp']>().toEqualTypeOf<number>()
    expectTypeOf<AgentEvent['sessionId']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<AgentEvent<'queueFlushed'>['type']>().toEqualTypeOf<'queueFlushed'>()
  })

  it('a listener knows its payload', () => {
    agent.on('agentMessage', ({ payload }) => {
      expectTypeOf(payload.message).toEqualTypeOf<AgentMessage>()
      expectTypeOf(payload).not.toHaveProperty('timestamp')
      expectTypeOf(payload).not.toHaveProperty('sessionId')
    })
    agent.once('error', ({ payload }) => expectTypeOf(payload.error).toEqualTypeOf<SDKError>())
    agent.subscribe('closed', ({ payload }) =>
      expectTypeOf(payload).toEqualTypeOf<{ code: number; reason: string; willReconnect: boolean }>(),
    )
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

  it('knows no other names', () => {
    // @ts-expect-error there is no such event
    agent.on('agentmessage', () => {})
  })

  it('hands back what chaining and undoing need', () => {
    expectTypeOf(agent.on('connected', () => {})).toEqualTypeOf<AiAgent>()
    expectTypeOf(agent.subscribe('connected', () => {})).toEqualTypeOf<() => void>()
  })
})
