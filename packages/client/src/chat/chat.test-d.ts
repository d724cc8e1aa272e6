import { assertType, describe, expectTypeOf, it } from 'vitest'
import { ConnectionState, MessageQueue, type QueuedMessage } from '../index.ts'

describe('the chat', () => {
  it('ConnectionState: five states, by their names', () => {
    expectTypeOf<ConnectionState>().toEqualTypeOf<'IDLE' | 'CONNECTING' | 'CONNECTED' | 'RECONNECTING' | 'CLOSED'>()
    assertType<ConnectionState>(ConnectionState.CONNECTED)
    // @ts-expect-error states are written in capitals
    assertType<ConnectionState>('connected')
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
