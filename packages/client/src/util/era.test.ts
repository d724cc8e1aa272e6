import { describe, expect, it } from 'vitest'
import { Era } from './era.ts'

const never = <T>() => new Promise<T>(() => {})

describe('Era', () => {
  it('ends its calls, even those that ignore their signal, and no call of the next one', async () => {
    const era = new Era()
    const signals: AbortSignal[] = []
    const call = (signal: AbortSignal) => {
      signals.push(signal)
      return never<number>()
    }
    const calls = [era.during(call), era.during(call)]
    const next = era.end('left')
    expect([era.isOver, next.isOver]).toEqual([true, false])
    expect(signals.map(({ reason }) => reason)).toEqual(['left', 'left'])
    for (const each of calls) await expect(each).rejects.toBe('left')
    expect(await next.during(async () => 1)).toBe(1)
  })

  it('starts no call when it is over', async () => {
    const era = new Era()
    era.end('left')
    let calls = 0
    await expect(era.during(async () => ++calls)).rejects.toBe('left')
    expect(calls).toBe(0)
  })

  it('ends a call by the signal of its caller', async () => {
    const era = new Era()
    const caller = new AbortController()
    const call = era.during(never, caller.signal)
    caller.abort('given up')
    await expect(call).rejects.toBe('given up')
    expect(era.isOver).toBe(false)
    await expect(era.during(never, caller.signal)).rejects.toBe('given up')
  })

  it('passes results and failures on', async () => {
    const era = new Era()
    expect(await era.during(async () => 1)).toBe(1)
    await expect(era.during(() => Promise.reject(new Error('down')))).rejects.toThrow('down')
  })
})
