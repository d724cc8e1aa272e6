import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DeliveryRecord, RecordList } from './delivery.ts'
import { Message } from './message.ts'

const ITEMS = 8

const fields = { timestamp: 0, message: new Message('customer', 'human', 'text'), state: 'queued' } as const

const list = fc.constantFrom(0 as const, 1 as const)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), list, item: fc.nat(ITEMS - 1) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), item: fc.nat(ITEMS - 1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete the first' as const), list }) },
)

describe('a list of entries', () => {
  it('holds the same items in the same order as an array, also when they move between two lists', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const items = Array.from({ length: ITEMS }, (_, id): DeliveryRecord => ({ id: String(id), ...fields }))
        const lists = [new RecordList(), new RecordList()] as const
        let model: [string[], string[]] = [[], []]
        for (const each of steps) {
          const item = each.kind === 'delete the first' ? lists[each.list].first : items[each.item]
          if (!item) continue
          model = [model[0].filter(id => id !== item.id), model[1].filter(id => id !== item.id)]
          if (each.kind === 'add') {
            lists[each.list].add(item)
            model[each.list].push(item.id)
          } else item.list?.delete(item)
          for (const index of [0, 1] as const) {
            expect([...lists[index]].map(({ id }) => id)).toEqual(model[index])
            expect([lists[index].first?.id, lists[index].size]).toEqual([model[index][0], model[index].length])
          }
          for (const { id, list, previous, next } of items) {
            const names = model.find(each => each.includes(id))
            const at = names?.indexOf(id) ?? Number.NaN
            expect(list).toBe(names && lists[model.indexOf(names) as 0 | 1])
            expect([previous?.id, next?.id]).toEqual([names?.[at - 1], names?.[at + 1]])
          }
        }
      }),
      { numRuns: propertyRuns(100) },
    )
  })
})
