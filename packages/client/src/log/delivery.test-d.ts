import { assertType, describe, expectTypeOf, it } from 'vitest'
import type { PersistQueueOptions } from '../config.ts'
import type {
  AiAgent,
  AiAgentConfig,
  Delivery,
  DeliveryReason,
  DeliveryState,
  DeliveryUpdate,
  Explanation,
  ExplanationCode,
} from '../index.ts'
import type { DeliveryMode, DeliveryOutcome } from './delivery.ts'

describe('deliveries', () => {
  it('Delivery: a handle for an id that may be unknown', () => {
    expectTypeOf<AiAgent['delivery']>().returns.toEqualTypeOf<Delivery | undefined>()
    assertType<(delivery: Delivery) => Promise<DeliveryOutcome>>(delivery => delivery.outcome)
    // @ts-expect-error a handle comes from `agent.delivery()`
    assertType<Delivery>({ id: 'm-1', state: 'sent' })
  })

  it('DeliveryState, DeliveryOutcome: an outcome is a state', () => {
    assertType<DeliveryState>('sending')
    assertType<DeliveryOutcome>('unknown')
    expectTypeOf<DeliveryOutcome>().toExtend<DeliveryState>()
    // @ts-expect-error the service does not say that somebody has read a message
    assertType<DeliveryState>('read')
    // @ts-expect-error `sent` is followed by another state
    assertType<DeliveryOutcome>('sent')
  })

  it('DeliveryUpdate, DeliveryReason: both states, and why', () => {
    assertType<DeliveryUpdate>({ id: 'm-1', state: 'failed', previousState: 'queued', reason: 'cleared' })
    // @ts-expect-error a change has a state before it
    assertType<DeliveryUpdate>({ id: 'm-1', state: 'failed' })
    assertType<DeliveryReason>('connection_lost')
    // @ts-expect-error reasons are names
    assertType<DeliveryReason>('The connection was lost.')
  })

  it('DeliveryMode, PersistQueueOptions: in the configuration', () => {
    assertType<DeliveryMode>('at-least-once')
    // @ts-expect-error only receipts of the service allow that
    assertType<DeliveryMode>('exactly-once')
    assertType<PersistQueueOptions>({ expiresAfterMs: 60_000 })
    // @ts-expect-error milliseconds
    assertType<PersistQueueOptions>({ expiresAfterMs: '1 h' })
    assertType<Partial<AiAgentConfig>>({ delivery: 'at-most-once', doubtAfterMs: 0, persistQueue: true })
  })

  it('Explanation, ExplanationCode: a sentence, and a code for programs', () => {
    expectTypeOf<AiAgent['explain']>().returns.toEqualTypeOf<Promise<Explanation>>()
    assertType<Explanation>({ code: 'offline', text: 'The device is offline.', queued: 0 })
    // @ts-expect-error the code carries the meaning
    assertType<Explanation>({ text: 'Connected.', queued: 0 })
    assertType<ExplanationCode>('token_needed')
    // @ts-expect-error states of the connection are written in capitals, codes are not
    assertType<ExplanationCode>('CONNECTED')
  })
})
