import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Linked, LinkedList } from './linked-list.ts'

interface Item extends Linked<Item> {
  readonly name: number
}

const ITEMS = 8

const list = fc.constantFrom(0 as const, 1 as const)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), list, item: fc.nat(ITEMS - 1) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), item: fc.nat(ITEMS - 1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete the first' as const), list }) },
)

describe('a linked list', () => {
  it('holds the same items in the same order as an array, also when they move between two lists', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const items = Array.from({ length: ITEMS }, (_, name): Item => ({ name }))
        const lists = [new LinkedList<Item>(), new LinkedList<Item>()] as const
        let model: [number[], number[]] = [[], []]
        for (const each of steps) {
          const item = each.kind === 'delete the first' ? lists[each.list].first : items[each.item]
          if (!item) continue
          model = [model[0].filter(name => name !== item.name), model[1].filter(name => name !== item.name)]
          if (each.kind === 'add') {
            lists[each.list].add(item)
            model[each.list].push(item.name)
          } else item.list?.delete(item)
          for (const index of [0, 1] as const) {
            expect([...lists[index]].map(({ name }) => name)).toEqual(model[index])
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
