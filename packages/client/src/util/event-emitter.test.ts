import { turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventEmitter } from './event-emitter.ts'

interface Events {
  said: string
  done: number
}

function setUp() {
  const failures: unknown[] = []
  const calls: string[] = []
  const emitter = new EventEmitter<Events>((error, name) => failures.push([name, error]))
  const note = (label: string) => (text: string) => void calls.push(`${label}:${text}`)
  return { emitter, failures, calls, note }
}

describe('EventEmitter', () => {
  it('calls regular listeners before those of once, each in the order of registration', () => {
    const { emitter, calls, note } = setUp()
    emitter.once('said', note('once 1')).on('said', note('on 1')).once('said', note('once 2')).on('said', note('on 2'))
    emitter.emit('said', 'a')
    emitter.emit('said', 'b')
    expect(calls).toEqual(['on 1:a', 'on 2:a', 'once 1:a', 'once 2:a', 'on 1:b', 'on 2:b'])
  })

  it('registers the same function once', () => {
    const { emitter, calls, note } = setUp()
    const listener = note('x')
    emitter.on('said', listener).on('said', listener).once('said', listener)
    expect(emitter.listenerCount('said')).toBe(1)
    emitter.emit('said', 'a')
    emitter.emit('said', 'b')
    expect(calls).toEqual(['x:a', 'x:b'])
  })

  it('keeps a listener that was registered for the next event before it was registered for all', () => {
    const { emitter, calls, note } = setUp()
    const listener = note('x')
    emitter.once('said', listener).on('said', listener)
    emitter.emit('said', 'a')
    emitter.emit('said', 'b')
    expect(calls).toEqual(['x:a', 'x:b'])
  })

  it('[EVT-09] reports a listener that throws or rejects, and calls the others', async () => {
    const { emitter, failures, calls, note } = setUp()
    const thrown = new Error('thrown')
    const rejected = new Error('rejected')
    emitter.on('said', () => {
      throw thrown
    })
    emitter.on('said', async () => {
      throw rejected
    })
    emitter.on('said', note('after'))
    emitter.emit('said', 'a')
    await turnEventLoop()
    expect(calls).toEqual(['after:a'])
    expect(failures).toEqual([
      ['said', thrown],
      ['said', rejected],
    ])
  })

  it('does not call a listener that was added during a delivery until the next event', () => {
    const { emitter, calls, note } = setUp()
    emitter.once('said', () => emitter.once('said', note('late')).on('said', note('late too')))
    emitter.emit('said', 'a')
    expect(calls).toEqual([])
    emitter.emit('said', 'b')
    expect(calls).toEqual(['late too:b', 'late:b'])
  })

  it('does not call a listener that an earlier one removed', () => {
    const { emitter, calls, note } = setUp()
    const removed = note('removed')
    emitter.on('said', () => emitter.off('said', removed)).on('said', removed)
    emitter.emit('said', 'a')
    expect(calls).toEqual([])
  })

  it('calls a once listener a single time when it emits the same event itself', () => {
    const { emitter, calls } = setUp()
    emitter.once('said', text => {
      calls.push(text)
      if (calls.length < 5) emitter.emit('said', 'again')
    })
    emitter.emit('said', 'a')
    expect(calls).toEqual(['a'])
  })

  it('removes one listener, those of a name, or all', () => {
    const { emitter, calls, note } = setUp()
    const first = note('first')
    emitter
      .on('said', first)
      .on('said', note('second'))
      .on('done', () => calls.push('done'))
    emitter.off('said', first)
    emitter.emit('said', 'a')
    expect(calls).toEqual(['second:a'])
    emitter.off('said')
    expect(emitter.listenerCount('said')).toBe(0)
    emitter.on('said', first).removeAllListeners()
    expect(emitter.listenerCount('said') + emitter.listenerCount('done')).toBe(0)
  })

  it('listens until its signal is aborted, and not at all when that was before', () => {
    const { emitter, calls, note } = setUp()
    const controller = new AbortController()
    emitter.on('said', note('x'), { signal: controller.signal }).once('said', note('y'), { signal: controller.signal })
    controller.abort()
    emitter.on('said', note('z'), { signal: controller.signal })
    emitter.emit('said', 'a')
    expect(calls).toEqual([])
    expect(emitter.listenerCount('said')).toBe(0)
  })

  it('returns a function that unsubscribes from subscribe', () => {
    const { emitter, calls, note } = setUp()
    const undo = emitter.subscribe('said', note('x'))
    emitter.emit('said', 'a')
    undo()
    undo()
    emitter.emit('said', 'b')
    expect(calls).toEqual(['x:a'])
  })

  it('behaves as a list of listeners does, whatever is added, removed and emitted', () => {
    const step = fc.record({ kind: fc.constantFrom('on', 'once', 'off', 'emit'), who: fc.nat(4) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const { emitter } = setUp()
        const calls: number[] = []
        const expected: number[] = []
        const listeners = [0, 1, 2, 3, 4].map(who => () => void calls.push(who))
        let regular: number[] = []
        let single: number[] = []
        for (const { kind, who } of steps) {
          const listener = listeners[who]
          if (kind === 'on') {
            emitter.on('done', listener ?? (() => {}))
            single = single.filter(each => each !== who)
            if (!regular.includes(who)) regular.push(who)
          } else if (kind === 'once') {
            emitter.once('done', listener ?? (() => {}))
            if (!regular.includes(who) && !single.includes(who)) single.push(who)
          } else if (kind === 'off') {
            emitter.off('done', listener)
            regular = regular.filter(each => each !== who)
            single = single.filter(each => each !== who)
          } else {
            emitter.emit('done', 1)
            expected.push(...regular, ...single)
            single = []
          }
        }
        expect(calls).toEqual(expected)
        expect(emitter.listenerCount('done')).toBe(regular.length + single.length)
      }),
    )
  })
})
