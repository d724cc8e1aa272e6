import { assertType, describe, expectTypeOf, it } from 'vitest'
import type { RecoverySource } from '../events.ts'
import { type ChatClosed, type CloseCause, ConnectionState, MessageQueue, type QueuedMessage } from '../index.ts'

describe('the chat', () => {
  it('ConnectionState: five states, by their names', () => {
    expectTypeOf<ConnectionState>().toEqualTypeOf<'IDLE' | 'CONNECTING' | 'CONNECTED' | 'RECONNECTING' | 'CLOSED'>()
    assertType<ConnectionState>(ConnectionState.CONNECTED)
    // @ts-expect-error states are written in capitals
    assertType<ConnectionState>('connected')
  })

  it('ChatClosed: the cause, and whether a reconnect follows', () => {
    assertType<ChatClosed>({ code: 1006, reason: '', cause: 'network', willReconnect: true, retryInMs: 1_000 })
    // @ts-expect-error every close has a cause
    assertType<ChatClosed>({ code: 1006, reason: '', willReconnect: true })
  })

  it('CloseCause: one of eight', () => {
    assertType<CloseCause>('ended_by_service')
    // @ts-expect-error a close code is the detail, not the cause
    assertType<CloseCause>(1000)
  })

  it('RecoverySource: history, rest or resume', () => {
    expectTypeOf<RecoverySource>().toEqualTypeOf<'history' | 'rest' | 'resume'>()
    // @ts-expect-error it is named by how it is requested
    assertType<RecoverySource>('transcript')
  })

  it('MessageQueue: a limit, and messages in order', () => {
    assertType<MessageQueue>(new MessageQueue(10))
    expectTypeOf<MessageQueue['peek']>().returns.toEqualTypeOf<QueuedMessage | undefined>()
    // @ts-expect-error a list has no limit
    assertType<MessageQueue>([])
  })

  it('QueuedMessage: a frame with the id that its sender knows it by', () => {
    assertType<QueuedMessage>({ id: 'm-1', data: '{}', timestamp: 0, attempts: 0 })
    // @ts-expect-error a frame waits as its text
    assertType<QueuedMessage>({ id: 'm-1', data: {}, timestamp: 0, attempts: 0 })
  })
})
