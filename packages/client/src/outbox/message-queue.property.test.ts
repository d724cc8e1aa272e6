import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MessageQueue, type QueuedMessage } from './message-queue.ts'

const entry = (id: string): QueuedMessage => ({ id, data: `frame ${id}`, timestamp: 0, attempts: 0 })

it('MessageQueue behaves as a plain array does, whatever comes and goes', () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('enqueue' as const), count: fc.integer({ min: 1, max: 90 }) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('dequeue' as const), count: fc.integer({ min: 1, max: 90 }) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), count: fc.nat(300) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), count: fc.constant(0) }) },
  )
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 200 }), fc.array(step, { maxLength: 30, size: 'max' }), (limit, steps) => {
      const queue = new MessageQueue(limit)
      let model: string[] = []
      let made = 0
      for (const { kind, count } of steps) {
        if (kind === 'enqueue')
          for (let i = 0; i < count; i++) {
            const id = String(made++)
            expect(queue.enqueue(entry(id))).toBe(model.length < limit)
            if (model.length < limit) model.push(id)
          }
        else if (kind === 'dequeue')
          for (let i = 0; i < count; i++) {
            expect(queue.peek()?.id).toBe(model[0])
            expect(queue.dequeue()?.id).toBe(model.shift())
          }
        else if (kind === 'remove') {
          const id = String(count)
          expect(queue.remove(id)).toBe(model.includes(id))
          model = model.filter(each => each !== id)
        } else {
          expect(queue.clear().map(({ id }) => id)).toEqual(model)
          model = []
        }
        expect(queue.getAll().map(({ id }) => id)).toEqual(model)
        expect(queue.size).toBe(model.length)
        expect(queue.isEmpty).toBe(model.length === 0)
      }
    }),
  )
})
