import { describe, expect, it } from 'vitest'
import { said, setUpDelivery } from '../../test/outbox-harness.ts'
import { BURST_SIZE } from './burst-writer.ts'

/** As docs/guide/delivery.md promises: milliseconds, and messages without a receipt. */
const EVIDENCE_LIMIT_MS = 15_000
const WINDOW = 1_000

describe('delivery: at-least-once', () => {
  it('[REL-84] sends what the history does not show again, in order, before anything new', async () => {
    const { send, connect, lose, readHistory, pathOf, flushed } = setUpDelivery({ delivery: 'at-least-once' })
    connect()
    send('one', 'two', 'three')
    lose()
    send('four')
    const transport = connect()
    send('five')
    expect(transport.contents).toEqual([])
    await readHistory(said('one'))
    expect(transport.contents).toEqual(['two', 'three', 'four', 'five'])
    expect(pathOf('one')).toBe('queued sending sent acknowledged')
    expect(pathOf('two')).toBe('queued sending sent sending sent')
    expect(flushed).toEqual([2])
  })

  it.each([
    ['nothing says that none comes', false],
    ['the service has none', true],
  ])('[REL-84] waits for a history until the limit, and stays sent meanwhile: %s', async (_case, isNone) => {
    const { outbox, send, connect, lose, clock, stateOf } = setUpDelivery({ delivery: 'at-least-once' })
    connect()
    send('one')
    lose()
    const transport = connect()
    if (isNone) outbox.ledger.handleNoHistory()
    await clock.advance(EVIDENCE_LIMIT_MS - 1)
    expect([transport.contents, stateOf('one')]).toEqual([[], 'sent'])
    await clock.advance(1)
    expect(transport.contents).toEqual(['one'])
  })

  it('[REL-84] sends nothing again that is not in doubt', async () => {
    const { outbox, send, connect, lose, readHistory, clock, stateOf } = setUpDelivery({
      delivery: 'at-least-once',
      doubtAfterMs: 1_000,
    })
    connect()
    send('early')
    await clock.advance(5_000)
    send('late')
    lose()
    const transport = connect()
    await readHistory()
    expect([transport.contents, stateOf('early'), outbox.size]).toEqual([['late'], 'sent', 0])
  })

  it('[REL-84] sends nothing again after an end in order', async () => {
    const { send, connect, close, readHistory } = setUpDelivery({ delivery: 'at-least-once' })
    connect()
    send('one')
    close()
    const transport = connect()
    await readHistory()
    expect(transport.contents).toEqual([])
  })

  it('[REL-84] sends nothing again after an end in order when the next connection is lost before the chat is open', async () => {
    const { send, connect, close, lose, readHistory } = setUpDelivery({ delivery: 'at-least-once' })
    connect()
    send('one')
    close()
    lose()
    const transport = connect()
    await readHistory()
    expect(transport.contents).toEqual([])
  })

  it('[REL-84] keeps in doubt what a lost connection carried when the next one is lost too', async () => {
    const { send, connect, lose, readHistory } = setUpDelivery({ delivery: 'at-least-once' })
    connect()
    send('one')
    lose()
    lose()
    const transport = connect()
    await readHistory()
    expect(transport.contents).toEqual(['one'])
  })

  it('[REL-84] sends nothing of a conversation that was left into the next one, except by retry()', async () => {
    const { outbox, send, connect, lose, close, state, pathOf, reasonOf, readHistory } = setUpDelivery({
      delivery: 'at-least-once',
    })
    connect()
    send('one')
    lose()
    close()
    outbox.leaveConversation()
    state.sessionId = 's2'
    const transport = connect()
    await readHistory()
    send('two')
    expect(transport.contents).toEqual(['two'])
    expect([pathOf('one'), reasonOf('one')]).toEqual(['queued sending sent unknown', 'session_ended'])
    expect([outbox.delivery('one')?.retry(), transport.contents]).toEqual([true, ['two', 'one']])
  })

  it('[REL-84] says that a message in doubt is unknown when its conversation is left, also where the session goes on', async () => {
    const { outbox, send, connect, lose, pathOf, reasonOf } = setUpDelivery()
    connect()
    send('one')
    lose()
    outbox.leaveConversation()
    connect()
    expect([pathOf('one'), reasonOf('one')]).toEqual(['queued sending sent unknown', 'connection_lost'])
  })

  it.each([
    ['at-least-once', false, ['one']],
    ['at-least-once', true, ['one']],
    ['at-most-once', true, []],
  ] as const)(
    '[REL-84] %s decides whether another session of the conversation gets what is in doubt (receipts: %s)',
    async (delivery, hasReceipts, contents) => {
      const { send, connect, lose, state, stateOf, readHistory } = setUpDelivery({ delivery, hasReceipts })
      connect()
      send('one')
      lose()
      state.sessionId = 's2'
      const transport = connect()
      await readHistory()
      expect(transport.contents).toEqual(contents)
      expect(stateOf('one')).toBe(contents.length > 0 ? 'sent' : 'unknown')
    },
  )

  it('[REL-84] sends what is in doubt again when the same conversation is opened again later', async () => {
    const { send, connect, lose, close, readHistory } = setUpDelivery({ delivery: 'at-least-once' })
    connect()
    send('one')
    lose()
    close()
    const transport = connect()
    await readHistory()
    expect(transport.contents).toEqual(['one'])
  })

  it('[REL-84] is not the default', async () => {
    const { send, connect, lose, readHistory } = setUpDelivery()
    connect()
    send('one')
    lose()
    const transport = connect()
    await readHistory()
    expect(transport.contents).toEqual([])
  })
})

describe('with receipts', () => {
  it('[REL-85] a message carries its id, and the receipt acknowledges it', () => {
    const { send, connect, confirm, pathOf, outbox } = setUpDelivery({ hasReceipts: true })
    const transport = connect()
    send('one')
    outbox.send({ persona: 'robot', role: 'x', content: 'made up' })
    expect(transport.sent.map(frame => JSON.parse(frame))).toEqual([
      said('one', { messageId: 'one' }),
      { persona: 'robot', role: 'x', content: 'made up' },
    ])
    expect(confirm('one')).toBe(true)
    expect(pathOf('one')).toBe('queued sending sent acknowledged')
  })

  it('[REL-85] a message is not acknowledged by the words of an earlier one that has its receipt', async () => {
    const { outbox, connect, lose, confirm, readHistory, stateOf } = setUpDelivery({ hasReceipts: true })
    connect()
    outbox.send('same', { id: 'a' })
    confirm('a')
    outbox.send('same', { id: 'b' })
    lose()
    connect()
    await readHistory(said('same'))
    expect(stateOf('b')).toBe('sent')
    confirm('b')
    expect(stateOf('b')).toBe('acknowledged')
  })

  it('[REL-85] a message without a receipt is sent again under the same id, before what waits', () => {
    const { send, connect, lose, confirm, pathOf } = setUpDelivery({ hasReceipts: true })
    connect()
    send('one', 'two', 'three')
    confirm('one')
    lose()
    send('four')
    const transport = connect()
    send('five')
    expect(transport.sent.map(frame => JSON.parse(frame).messageId)).toEqual(['two', 'three', 'four', 'five'])
    const path = 'queued sending sent sending sent'
    expect(['two', 'three'].map(pathOf)).toEqual([path, path])
  })

  it('[REL-85] a whole window of messages is sent again, and once only', async () => {
    const { outbox, send, connect, lose, clock } = setUpDelivery({ hasReceipts: true })
    connect()
    for (let n = 0; n < WINDOW; n++) send(String(n))
    lose()
    const transport = connect()
    outbox.ledger.handleNoHistory()
    await clock.advance(1_000)
    expect(transport.contents).toEqual(Array.from({ length: WINDOW }, (_, n) => String(n)))
    outbox.ledger.handleNoHistory()
    await clock.advance(1_000)
    expect(transport.sent).toHaveLength(WINDOW)
  })

  it('[REL-85] of an unknown message that is sent again in its session, only the receipt is reported', () => {
    const { send, connect, close, confirm, pathOf } = setUpDelivery({ hasReceipts: true })
    connect()
    send('one')
    close()
    expect(connect().contents).toEqual(['one'])
    close()
    expect(connect().contents).toEqual(['one'])
    expect(pathOf('one')).toBe('queued sending sent unknown')
    confirm('one')
    expect(pathOf('one')).toBe('queued sending sent unknown acknowledged')
  })

  it('[REL-85] messages keep their order when the connection breaks before all of them are sent again', () => {
    const { send, connect, lose } = setUpDelivery({ hasReceipts: true })
    const ids = Array.from({ length: BURST_SIZE + 1 }, (_, n) => `m${n}`)
    connect()
    send(...ids)
    lose()
    const second = connect()
    expect(second.sent).toHaveLength(BURST_SIZE)
    lose()
    expect(connect().sent.map(frame => JSON.parse(frame).messageId)).toEqual(ids.slice(0, BURST_SIZE))
  })

  it('[REL-85] a message whose receipt arrives while others are sent again is not', async () => {
    const { send, connect, lose, confirm, clock } = setUpDelivery({ hasReceipts: true })
    const ids = Array.from({ length: BURST_SIZE + 2 }, (_, n) => `m${n}`)
    connect()
    send(...ids)
    lose()
    const transport = connect()
    confirm(`m${BURST_SIZE}`)
    await clock.advance(1_000)
    expect(transport.contents).toEqual(ids.filter(id => id !== `m${BURST_SIZE}`))
  })

  it('[REL-85] a message that the host left behind is sent again in its session, and not in another', () => {
    const { send, connect, close, state, stateOf } = setUpDelivery({ hasReceipts: true })
    connect()
    send('one')
    close()
    expect(stateOf('one')).toBe('unknown')
    expect(connect().contents).toEqual(['one'])
    close()
    state.sessionId = 's2'
    expect(connect().contents).toEqual([])
  })

  it('[REL-85] a message that the service refuses fails, and can be sent again', () => {
    const { outbox, send, connect, pathOf, stateOf, reasonOf } = setUpDelivery({ hasReceipts: true })
    const transport = connect()
    send('one')
    const refusal = { persona: 'metadata', role: 'error', messageData: { error_code: '429-001', messageId: 'one' } }
    expect(outbox.handleReceipt(refusal as never)).toBe(false)
    expect([stateOf('one'), reasonOf('one')]).toEqual(['failed', 'refused'])
    expect(outbox.delivery('one')?.retry()).toBe(true)
    expect(transport.sent.map(frame => JSON.parse(frame).messageId)).toEqual(['one', 'one'])
    expect(pathOf('one')).toBe('queued sending sent failed queued sending sent')
  })

  it('[REL-85] no more than a window of messages is without a receipt; the others wait in the queue', () => {
    const { outbox, connect, confirm } = setUpDelivery({ hasReceipts: true })
    const transport = connect()
    for (let n = 0; n < WINDOW + 20; n++) outbox.send(String(n), { id: String(n) })
    expect([transport.sent.length, outbox.size]).toEqual([WINDOW, 20])
    confirm('0')
    expect([transport.sent.length, outbox.size]).toEqual([WINDOW + 1, 19])
  })

  it('[REL-85] only a receipt proves a message, and only an error of a message in question fails it', () => {
    const { outbox, send, connect, confirm, stateOf } = setUpDelivery({ hasReceipts: true })
    connect()
    send('one', 'two')
    const frame = (persona: string, role: string, messageId?: unknown) =>
      outbox.handleReceipt({ persona, role, messageData: { messageId } } as never)
    expect(frame('agent', 'receipt', 'one')).toBe(false)
    expect(frame('metadata', 'receipt', 1)).toBe(false)
    expect(frame('metadata', 'note', 'one')).toBe(false)
    expect([stateOf('one'), confirm('one'), stateOf('one')]).toEqual(['sent', true, 'acknowledged'])
    expect([
      frame('metadata', 'error', 'one'),
      frame('metadata', 'error', 'two'),
      frame('metadata', 'error', 'three'),
    ]).toEqual([false, false, false])
    expect([stateOf('one'), stateOf('two')]).toEqual(['acknowledged', 'failed'])
  })

  it('[REL-85] frames of a service that has not announced them are ordinary frames', () => {
    const { send, connect, confirm, stateOf } = setUpDelivery()
    connect()
    send('one')
    expect([confirm('one'), stateOf('one')]).toEqual([false, 'sent'])
  })
})
