import { collectGarbage } from '@aiagent/test-support/collect-garbage'
import { describe, expect, it } from 'vitest'
import { MessageQueue, type QueuedMessage } from './message-queue.ts'

const entry = (id: string): QueuedMessage => ({ id, data: `frame ${id}`, timestamp: 0, attempts: 0 })

describe('MessageQueue', () => {
  it('refuses one more than its limit, and takes again when one has left', () => {
    const queue = new MessageQueue(2)
    expect([queue.enqueue(entry('a')), queue.enqueue(entry('b')), queue.enqueue(entry('c'))]).toEqual([
      true,
      true,
      false,
    ])
    expect(queue.getAll().map(({ id }) => id)).toEqual(['a', 'b'])
    queue.dequeue()
    expect(queue.enqueue(entry('d'))).toBe(true)
    expect(queue.getAll().map(({ id }) => id)).toEqual(['b', 'd'])
  })

  it('takes nothing with a limit of 0', () => {
    expect(new MessageQueue(0).enqueue(entry('a'))).toBe(false)
  })

  it('[LIM-01] holds 1,000 messages by default', () => {
    const queue = new MessageQueue()
    const accepted = Array.from({ length: 1_001 }, (_, index) => queue.enqueue(entry(`${index}`)))
    expect([queue.size, accepted.indexOf(false)]).toEqual([1_000, 1_000])
  })

  it('counts tries for a message that waits', () => {
    const queue = new MessageQueue(5)
    queue.enqueue(entry('a'))
    queue.markAttempted('a')
    queue.markAttempted('a')
    queue.markAttempted('unknown')
    expect(queue.peek()?.attempts).toBe(2)
  })

  it('hands out a list that later changes do not touch', () => {
    const queue = new MessageQueue(5)
    queue.enqueue(entry('a'))
    const all = queue.getAll()
    queue.clear()
    expect(all).toHaveLength(1)
    expect(queue.isEmpty).toBe(true)
  })

  it.each([0, 1, 2, 5])('lets go of most that has left while %i wait', async waiting => {
    const queue = new MessageQueue(10)
    const passed: Array<WeakRef<QueuedMessage>> = []
    for (let made = 0; made < 500; made++) {
      const passing = entry(String(made))
      passed.push(new WeakRef(passing))
      queue.enqueue(passing)
      if (queue.size > waiting) queue.dequeue()
    }
    await collectGarbage()
    expect(queue.size).toBe(waiting)
    expect(passed.filter(each => each.deref() !== undefined).length).toBeLessThanOrEqual(2 * waiting + 1)
  })
})
