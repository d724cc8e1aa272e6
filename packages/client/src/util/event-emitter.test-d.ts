import { assertType, describe, expectTypeOf, it } from 'vitest'
import { type AgentEvents, type AiAgent, EventEmitter, type Subscribable } from '../index.ts'
import type { Listener, ListenerOptions } from './event-emitter.ts'

interface Events {
  opened: { at: number }
  closed: string
}

const emitter = new EventEmitter<Events>(() => {})

describe('events of any kind', () => {
  it('EventEmitter types the payload of each event', () => {
    assertType<EventEmitter<Events>>(emitter.on('opened', ({ at }) => expectTypeOf(at).toBeNumber()))
    // @ts-expect-error unknown event
    emitter.on('lost', () => {})
    // @ts-expect-error an emitter of other events
    assertType<EventEmitter<Events>>(new EventEmitter<{ opened: number }>(() => {}))
  })

  it('Listener receives the payload and may return anything', () => {
    assertType<Listener<string>>(async reason => reason.length)
    // @ts-expect-error the payload is a string
    assertType<Listener<string>>((reason: number) => reason)
  })

  it('ListenerOptions has a signal that removes the listener', () => {
    assertType<ListenerOptions>({ signal: AbortSignal.timeout(1) })
    // @ts-expect-error use `once()` instead
    assertType<ListenerOptions>({ once: true })
  })
})

describe('an object with events', () => {
  it('Subscribable has listeners, but no emit()', () => {
    expectTypeOf<AiAgent>().toExtend<Subscribable<AgentEvents>>()
    // @ts-expect-error the emitter is private to the object
    assertType<Subscribable<Events>>(emitter)
  })
})
