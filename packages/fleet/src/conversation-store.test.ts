import { expect, it } from 'vitest'
import { ConversationStore, keyPrefix, type StoredFields } from './conversation-store.ts'

it('[SEC-71] keeps conversations apart whose ids differ in half of a surrogate pair only', () => {
  const ids = ['c', 'c\ud83d', 'c\ude00', 'c\ufffd', 'c:%5Cud83d']
  const fields = new Map<string, StoredFields>()
  const store = new ConversationStore((_shard, _number, id) => {
    const kept = new Map<string, string>()
    const made = { fields: kept, set: kept.set.bind(kept), delete: kept.delete.bind(kept) }
    if (!fields.has(id)) fields.set(id, made as StoredFields)
    return fields.get(id)
  })
  for (const id of ids) store.set(`${keyPrefix(1, 2, id)}session`, { value: id, timestamp: 0 })
  expect([...fields.keys()]).toEqual(ids)
  expect(ids.map(id => store.get(`${keyPrefix(1, 2, id)}session`)?.value)).toEqual(ids)
})
