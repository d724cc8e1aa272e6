import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { TimeLimitError, untilAborted, withTimeLimit } from './abort.ts'
import { SingleFlight } from './single-flight.ts'

const never = <T>() => new Promise<T>(() => {})

describe('untilAborted', () => {
  it('passes the result on', async () => {
    await expect(untilAborted(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1)
    await expect(untilAborted(Promise.reject(new Error('no')), new AbortController().signal)).rejects.toThrow('no')
  })

  it('rejects with the reason of a signal that is or becomes aborted', async () => {
    const controller = new AbortController()
    const waiting = untilAborted(never(), controller.signal)
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(untilAborted(never(), controller.signal)).rejects.toThrow('enough')
  })
})

describe('withTimeLimit', () => {
  it('rejects although the work ignores its signal, and leaves no timer', async () => {
    const clock = new ManualClock()
    let given: AbortSignal | undefined
    const result = withTimeLimit(clock, 500, undefined, signal => {
      given = signal
      return never()
    }).catch((error: unknown) => error)
    await clock.advance(499)
    expect(given?.aborted).toBe(false)
    await clock.advance(1)
    expect(await result).toBeInstanceOf(TimeLimitError)
    expect(given?.aborted).toBe(true)
    expect(clock.pendingTimers).toBe(0)
  })

  it('ends with the caller and cancels its timer', async () => {
    const clock = new ManualClock()
    const controller = new AbortController()
    const result = withTimeLimit(clock, 500, controller.signal, () => never())
    controller.abort(new Error('left'))
    await expect(result).rejects.toThrow('left')
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('SingleFlight', () => {
  it('lets concurrent callers share a call, and later ones start a new one', async () => {
    const flights = new SingleFlight<number>()
    let calls = 0
    const start = async () => ++calls
    expect(await Promise.all([flights.run('a', start), flights.run('a', start), flights.run('b', start)])).toEqual([
      1, 1, 2,
    ])
    expect(await flights.run('a', start)).toBe(3)
  })

  it('starts a new call after a failure', async () => {
    const flights = new SingleFlight<number>()
    await expect(flights.run('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    await expect(flights.run('a', async () => 1)).resolves.toBe(1)
  })

  it('aborts the call only when no caller waits any more', async () => {
    const flights = new SingleFlight<number>()
    const [first, second] = [new AbortController(), new AbortController()]
    let inner: AbortSignal | undefined
    const start = (signal: AbortSignal) => {
      inner = signal
      return never<number>()
    }
    const outcomes = [flights.run('a', start, first.signal), flights.run('a', start, second.signal)].map(each =>
      each.catch((error: Error) => error.message),
    )
    first.abort(new Error('one'))
    await turnEventLoop()
    expect(inner?.aborted).toBe(false)
    second.abort(new Error('two'))
    expect(await Promise.all(outcomes)).toEqual(['one', 'two'])
    expect(inner?.aborted).toBe(true)
  })
})
