import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Linked, LinkedList } from './linked-list.ts'

interface Item extends Linked<Item> {
  readonly name: number
}

const ITEMS = 8

const list = fc.constantFrom(0, 1)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), list, item: fc.nat(ITEMS - 1) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), list, item: fc.nat(ITEMS - 1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete the first' as const), list }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), list }) },
)

describe('a linked list', () => {
  it('holds the same items in the same order as an array, also when they move between two lists', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const items = Array.from({ length: ITEMS }, (_, name): Item => ({ name }))
        const lists = [new LinkedList<Item>(), new LinkedList<Item>()] as const
        const model: [number[], number[]] = [[], []]
        const without = (of: 0 | 1, name: number | undefined) => {
          model[of] = model[of].filter(each => each !== name)
        }
        for (const each of steps) {
          const of = each.list as 0 | 1
          const { first } = lists[of]
          if (each.kind === 'add') {
            lists[of].add(items[each.item] as Item)
            without(0, each.item)
            without(1, each.item)
            model[of].push(each.item)
          } else if (each.kind === 'delete') {
            lists[of].delete(items[each.item] as Item)
            without(of, each.item)
          } else if (each.kind === 'clear') {
            lists[of].clear()
            model[of] = []
          } else if (first) {
            lists[of].delete(first)
            without(of, model[of][0])
          }
          for (const index of [0, 1] as const) {
            expect(lists[index].toArray().map(({ name }) => name)).toEqual(model[index])
            expect([lists[index].first?.name, lists[index].size]).toEqual([model[index][0], model[index].length])
          }
          for (const { name, list, previous, next } of items) {
            const names = model.find(each => each.includes(name))
            const at = names?.indexOf(name) ?? Number.NaN
            expect(list).toBe(names && lists[model.indexOf(names) as 0 | 1])
            expect([previous?.name, next?.name]).toEqual([names?.[at - 1], names?.[at + 1]])
          }
        }
      }),
      { numRuns: propertyRuns(100) },
    )
  })
})
