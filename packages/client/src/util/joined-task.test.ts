import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { JoinedTask } from './joined-task.ts'

const never = <T>() => new Promise<T>(() => {})
const messageOf = (outcome: Promise<unknown>) => outcome.catch((error: Error) => error.message)

describe('JoinedTask', () => {
  it('lets concurrent callers share a task, and later ones start a new one', async () => {
    const tasks = new JoinedTask<number>()
    let calls = 0
    const start = async () => ++calls
    const join = (key: string) => tasks.join(start, undefined, key)
    expect(await Promise.all([join('a'), join('a'), join('b')])).toEqual([1, 1, 2])
    expect(await join('a')).toBe(3)
  })

  it('starts a new task after a failure', async () => {
    const task = new JoinedTask<number>()
    await expect(task.join(() => Promise.reject(new Error('down')))).rejects.toThrow('down')
    expect(task.isRunning).toBe(false)
    await expect(task.join(async () => 1)).resolves.toBe(1)
  })

  it('aborts the task only when no caller waits any more', async () => {
    const task = new JoinedTask<number>(signal => new Error(`ended by ${signal.reason.message}`))
    const [first, second] = [new AbortController(), new AbortController()]
    let inner: AbortSignal | undefined
    const start = (signal: AbortSignal) => {
      inner = signal
      return never<number>()
    }
    const outcomes = [task.join(start, first.signal), task.join(start, second.signal)].map(messageOf)
    first.abort(new Error('one'))
    await turnEventLoop()
    expect(inner?.aborted).toBe(false)
    second.abort(new Error('two'))
    expect(await Promise.all(outcomes)).toEqual(['ended by one', 'ended by two'])
    expect(inner?.aborted).toBe(true)
    expect(await messageOf(task.join(start, first.signal))).toBe('ended by one')
  })

  it('rejects all callers when it is aborted, even if the work ignores its signal', async () => {
    const task = new JoinedTask<number>()
    const outcomes = [task.join(never), task.join(never)].map(messageOf)
    task.abort(new Error('left'))
    expect(await Promise.all(outcomes)).toEqual(['left', 'left'])
    expect(await task.join(async () => 1)).toBe(1)
  })

  it('gives the callers of a replaced task the outcome of the next one', async () => {
    const task = new JoinedTask<number>()
    let inner: AbortSignal | undefined
    const first = task.join(signal => {
      inner = signal
      return never<number>()
    })
    const second = task.replace(never)
    expect(inner?.aborted).toBe(true)
    const third = task.replace(async () => 3)
    expect(await Promise.all([first, second, third])).toEqual([3, 3, 3])
  })

  it('may be joined and aborted by what its work calls', async () => {
    const task = new JoinedTask<number>()
    let inner: Promise<unknown> = Promise.resolve()
    const outer = task.join(async () => {
      inner = messageOf(task.join(async () => 2))
      task.abort(new Error('left'))
      return 1
    })
    expect(await messageOf(outer)).toBe('left')
    expect(await inner).toBe('left')
  })
})
