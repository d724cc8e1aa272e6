import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { TimeLimitError, untilAborted, withTimeLimit } from './abort.ts'

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
