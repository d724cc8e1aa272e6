import { assertType, describe, expectTypeOf, it } from 'vitest'
import type { AgentMessage, Escalation } from '../index.ts'
import type { AlternateEscalation, LiveEscalation } from './message-handler.ts'

declare const message: AgentMessage

const live = {
  escalationType: 'live',
  escalationData: { liveDomain: 'live.example.test' },
  messageId: 'm-1',
  message,
} as const
const option = { label: 'CALL', type: 'phone', value: '+49 …' } as const
const alternate = {
  escalationType: 'alternate',
  escalationData: { options: [option] },
  messageId: 'm-1',
  message,
} as const

describe('a hand-over', () => {
  it('LiveEscalation: a chat takes over', () => {
    assertType<LiveEscalation>(live)
    // @ts-expect-error an address is text
    assertType<LiveEscalation>({ ...live, escalationData: { entrypointUrl: new URL('https://live.example.test') } })
  })

  it('AlternateEscalation: the other ways are listed', () => {
    assertType<AlternateEscalation>({ ...alternate, escalationData: { options: [option] } })
    // @ts-expect-error the list is missing
    assertType<AlternateEscalation>({ ...alternate, escalationData: {} })
  })

  it('Escalation: one or the other, told apart by its type', () => {
    assertType<Escalation>(live)
    expectTypeOf<Extract<Escalation, { escalationType: 'alternate' }>>().toEqualTypeOf<AlternateEscalation>()
    // @ts-expect-error there is no other way
    assertType<Escalation>({ ...live, escalationType: 'phone' })
  })
})
