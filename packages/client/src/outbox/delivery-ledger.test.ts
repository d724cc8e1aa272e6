import { describe, expect, it } from 'vitest'
import { said, setUpDelivery } from '../../test/outbox-harness.ts'
import { OBSERVED_LIMIT, SETTLED_LIMIT } from '../log/message-log.ts'

describe('the ledger', () => {
  it('[REL-87] keeps the last 1,000 settled messages', () => {
    const { outbox, send } = setUpDelivery({ maxQueueSize: 2_000 })
    for (let n = 0; n < SETTLED_LIMIT + 1; n++) send(String(n))
    outbox.clear()
    expect([outbox.delivery('0'), outbox.delivery('1')?.state]).toEqual([undefined, 'failed'])
  })

  it('[REL-87] observes a bounded number of messages without evidence, and says which it gives up', () => {
    const { send, connect, stateOf, reasonOf } = setUpDelivery()
    connect()
    for (let n = 0; n < OBSERVED_LIMIT + 1; n++) send(String(n))
    expect([stateOf('0'), reasonOf('0'), stateOf('1')]).toEqual(['unknown', 'limit', 'sent'])
  })

  it('[REL-87] finds out what arrived among more unknown messages than it keeps settled ones', async () => {
    const { outbox, send, connect, lose, readHistory, stateOf } = setUpDelivery()
    const ids = Array.from({ length: SETTLED_LIMIT + 500 }, (_, n) => String(n))
    connect()
    send(...ids)
    lose()
    connect()
    outbox.ledger.handleNoHistory()
    await readHistory()
    expect(new Set(ids.map(stateOf))).toEqual(new Set(['unknown']))
    lose()
    connect()
    await readHistory(...ids.slice(0, 700).map(id => said(id)))
    expect(ids.filter(id => stateOf(id) === 'acknowledged')).toEqual(ids.slice(0, 700))
    expect(ids.filter(id => stateOf(id) === 'unknown')).toEqual(ids.slice(700))
  })

  it('[REL-87] observes no more unknown messages than those that were sent since leave room for', async () => {
    const { outbox, send, connect, lose, readHistory, stateOf } = setUpDelivery()
    connect()
    for (let n = 0; n < OBSERVED_LIMIT; n++) send(String(n))
    lose()
    connect()
    outbox.ledger.handleNoHistory()
    await readHistory()
    expect(stateOf('0')).toBe('unknown')
    send('new')
    expect([stateOf('0'), stateOf('1')]).toEqual([undefined, 'unknown'])
  })

  it('[REL-87] finds nothing in a history by words alone once an unknown message was forgotten', async () => {
    const { outbox, send, connect, lose, readHistory, stateOf } = setUpDelivery()
    connect()
    send('yes')
    for (let n = 0; n < OBSERVED_LIMIT; n++) send(String(n))
    lose()
    connect()
    outbox.ledger.handleNoHistory()
    await readHistory()
    expect([stateOf('yes'), stateOf('0')]).toEqual([undefined, 'unknown'])
    outbox.send('yes', { id: 'again' })
    lose()
    connect()
    await readHistory(said('yes'))
    expect(stateOf('again')).toBe('unknown')
  })

  it('finds the message that was sent last under an id, whatever became of the others', () => {
    const { outbox, connect, lose } = setUpDelivery()
    const found = () => outbox.delivery('same')?.message.content
    connect()
    outbox.send('sent', { id: 'same' })
    lose()
    outbox.send('queued', { id: 'same' })
    expect(found()).toBe('queued')
    outbox.clear()
    expect(found()).toBe('queued')
    outbox.send('later', { id: 'same' })
    expect(found()).toBe('later')
  })
})
