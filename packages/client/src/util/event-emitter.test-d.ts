import { assertType, describe, expectTypeOf, it } from 'vitest'
import {
  type AgentEvents,
  type AiAgent,
  EventEmitter,
  type Listener,
  type ListenerOptions,
  type Subscribable,
} from '../index.ts'

interface Events {
  opened: { at: number }
  closed: string
}

const emitter = new EventEmitter<Events>(() => {})

describe('events of any kind', () => {
  it('EventEmitter: knows what each event carries', () => {
    assertType<EventEmitter<Events>>(emitter.on('opened', ({ at }) => expectTypeOf(at).toBeNumber()))
    // @ts-expect-error there is no such event
    emitter.on('lost', () => {})
    // @ts-expect-error other events are another emitter
    assertType<EventEmitter<Events>>(new EventEmitter<{ opened: number }>(() => {}))
  })

  it('Listener: takes the event, and may answer anything', () => {
    assertType<Listener<string>>(async reason => reason.length)
    // @ts-expect-error the event is text
    assertType<Listener<string>>((reason: number) => reason)
  })

  it('ListenerOptions: a signal that ends the listening', () => {
    assertType<ListenerOptions>({ signal: AbortSignal.timeout(1) })
    // @ts-expect-error `once()` is a function of its own
    assertType<ListenerOptions>({ once: true })
  })
})

describe('an object with events', () => {
  it('Subscribable: can be listened to, not emitted through', () => {
    expectTypeOf<AiAgent>().toExtend<Subscribable<AgentEvents>>()
    // @ts-expect-error the emitter itself is for the object alone
    assertType<Subscribable<Events>>(emitter)
  })
})
