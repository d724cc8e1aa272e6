import { describe, expect, it } from 'vitest'
import { messagesOf, type OutboxSetUp, setUpOutbox, thrownBy } from '../../test/outbox-harness.ts'
import { EVIDENCE_LIMIT_MS } from './evidence.ts'
import { BURST_SIZE } from './lane.ts'
import { OBSERVED_LIMIT, SETTLED_LIMIT, WINDOW } from './ledger.ts'

const said = (content: string, more: object = {}) => ({ persona: 'customer', role: 'human', content, ...more })
const answered = (content: string, more: object = {}) => ({ persona: 'agent', role: 'x', content, ...more })
const receipt = (messageId: string) => ({ persona: 'metadata', role: 'receipt', messageData: { messageId } })

function setUp(given: OutboxSetUp = {}) {
  const parts = setUpOutbox(given)
  const { outbox, updates, clock } = parts
  const stateOf = (id: string) => outbox.delivery(id)?.state
  const reasonOf = (id: string) => outbox.delivery(id)?.reason
  const send = (...ids: string[]) => {
    for (const id of ids) outbox.send(id, { id })
  }
  /** The states that a message has passed, as they were reported. */
  const pathOf = (id: string) => {
    const path = ['queued']
    for (const update of updates.filter(each => each.id === id)) {
      expect(update.previousState).toBe(path.at(-1))
      path.push(update.state)
    }
    return path.join(' ')
  }
  const readHistory = async (...history: object[]) => {
    outbox.handleHistory(messagesOf(history))
    await clock.advance(0)
    await import('./match-history.ts')
    await clock.advance(0)
  }
  const confirm = (id: string) => outbox.handleReceipt(receipt(id) as never)
  return { ...parts, stateOf, reasonOf, send, pathOf, readHistory, confirm }
}

describe('the delivery of a message', () => {
  it('[REL-80] is reported from the queue to the socket, each change once', () => {
    const { send, connect, stateOf, pathOf, updates } = setUp()
    send('one')
    expect([stateOf('one'), updates]).toEqual(['queued', []])
    connect()
    send('two')
    expect([pathOf('one'), pathOf('two')]).toEqual(['queued sending sent', 'queued sending sent'])
    expect([stateOf('one'), stateOf('two'), stateOf('three')]).toEqual(['sent', 'sent', undefined])
  })

  it('[REL-80] is queued while the agent is not ready, and while the write fails', () => {
    const { send, connect, becomeReady, stateOf } = setUp({ isReady: false })
    send('one')
    expect(stateOf('one')).toBe('queued')
    becomeReady()
    const transport = connect()
    transport.isBroken = true
    send('two')
    expect([stateOf('one'), stateOf('two')]).toEqual(['sent', 'queued'])
  })

  it('[REL-80] is not kept for a message that send() refuses', () => {
    const { outbox, send } = setUp({ maxQueueSize: 1 })
    send('one')
    expect(thrownBy(() => send('two'))).toMatchObject({ reason: 'queue_full' })
    expect(outbox.delivery('two')).toBeUndefined()
  })

  it('[REL-81] is acknowledged by the history of a reopened chat', async () => {
    const { send, connect, lose, readHistory, pathOf, outbox } = setUp()
    connect()
    send('one', 'two', 'three')
    const outcome = outbox.delivery('two')?.outcome
    lose()
    connect()
    await readHistory(said('one'), answered('You said: one'), said('two'))
    expect(['one', 'two', 'three'].map(pathOf)).toEqual([
      'queued sending sent acknowledged',
      'queued sending sent acknowledged',
      'queued sending sent unknown',
    ])
    expect(await outcome).toBe('acknowledged')
  })

  it('[REL-81] is not acknowledged by the same words that were said before', async () => {
    const { send, connect, lose, readHistory, stateOf, reasonOf, state } = setUp()
    state.isOwnSession = false
    connect()
    const earlier = [said('yes', { timestamp: 1 }), answered('Sure?', { messageId: 'm-1', timestamp: 2 })]
    await readHistory(...earlier)
    send('yes')
    lose()
    connect()
    await readHistory(...earlier)
    expect([stateOf('yes'), reasonOf('yes')]).toEqual(['unknown', 'connection_lost'])
  })

  it('[REL-81] is not acknowledged by words alone where it is not known what was said before', async () => {
    const { send, connect, lose, readHistory, stateOf, state } = setUp()
    state.isOwnSession = false
    connect()
    send('yes')
    lose()
    connect()
    await readHistory(said('yes'))
    expect(stateOf('yes')).toBe('unknown')
  })

  it('[REL-81] is acknowledged by what follows the last known message, also when the service has dropped that', async () => {
    const { send, connect, lose, readHistory, stateOf, state } = setUp()
    state.isOwnSession = false
    connect()
    await readHistory(said('yes', { timestamp: 5 }), answered('Sure?', { messageId: 'm-1', timestamp: 6 }))
    send('yes', 'no')
    lose()
    connect()
    await readHistory(said('yes', { timestamp: 7 }), answered('Fine', { messageId: 'm-2', timestamp: 8 }))
    expect([stateOf('yes'), stateOf('no')]).toEqual(['acknowledged', 'unknown'])
  })

  it('[REL-81] counts each element of a history once', async () => {
    const { outbox, connect, lose, readHistory, stateOf } = setUp()
    connect()
    for (const id of ['a', 'b', 'c']) outbox.send('same', { id })
    lose()
    connect()
    await readHistory(said('same'), said('same'))
    expect(['a', 'b', 'c'].map(stateOf)).toEqual(['acknowledged', 'acknowledged', 'unknown'])
  })

  it('[REL-81] stays unknown where the same words were written to two connections and arrived once', async () => {
    const { outbox, connect, lose, readHistory, stateOf } = setUp()
    connect()
    outbox.send('same', { id: 'a' })
    lose()
    connect()
    outbox.send('same', { id: 'b' })
    await readHistory(said('same'))
    expect([stateOf('a'), stateOf('b')]).toEqual(['unknown', 'sent'])
  })

  it('[REL-82] becomes unknown when no history comes, and only if the loss is in doubt', async () => {
    const { send, connect, lose, clock, stateOf, outbox } = setUp({ doubtAfterMs: 1_000 })
    connect()
    send('early')
    await clock.advance(5_000)
    send('late')
    lose()
    connect()
    expect([stateOf('early'), stateOf('late')]).toEqual(['sent', 'sent'])
    outbox.handleNoHistory()
    await clock.advance(0)
    expect([stateOf('early'), stateOf('late')]).toEqual(['sent', 'unknown'])
  })

  it('[REL-82] becomes unknown after a limit when nothing says that no history comes', async () => {
    const { send, connect, lose, clock, stateOf } = setUp()
    connect()
    send('one')
    lose()
    connect()
    await clock.advance(EVIDENCE_LIMIT_MS - 1)
    expect(stateOf('one')).toBe('sent')
    await clock.advance(1)
    expect([stateOf('one'), clock.pendingTimers]).toEqual(['unknown', 0])
  })

  it('[REL-82] stays in doubt over a second loss until a history comes', async () => {
    const { send, connect, lose, readHistory, clock, stateOf } = setUp()
    connect()
    send('one', 'two')
    lose()
    connect()
    lose()
    await clock.advance(60_000)
    expect(stateOf('one')).toBe('sent')
    connect()
    await readHistory(said('one'))
    expect([stateOf('one'), stateOf('two')]).toEqual(['acknowledged', 'unknown'])
  })

  it('[REL-83] is settled when the session ends, and late evidence still counts', async () => {
    const { outbox, send, connect, close, readHistory, stateOf, reasonOf, pathOf } = setUp()
    connect()
    send('one')
    const outcome = outbox.delivery('one')?.outcome
    close()
    expect([await outcome, reasonOf('one')]).toEqual(['unknown', 'session_ended'])
    connect()
    await readHistory(said('one'))
    expect([stateOf('one'), await outbox.delivery('one')?.outcome]).toEqual(['acknowledged', 'acknowledged'])
    expect(pathOf('one')).toBe('queued sending sent unknown acknowledged')
  })

  it('[REL-83] is unknown when the chat goes on in another session', () => {
    const { send, connect, lose, state, reasonOf, stateOf } = setUp()
    connect()
    send('one')
    lose()
    state.sessionId = 's2'
    connect()
    expect([stateOf('one'), reasonOf('one')]).toEqual(['unknown', 'session_ended'])
  })

  it('[REL-83] fails with its reason when the message is dropped from the queue', async () => {
    const { outbox, send, pathOf, reasonOf } = setUp()
    send('one')
    const outcome = outbox.delivery('one')?.outcome
    outbox.clear()
    expect([pathOf('one'), reasonOf('one'), await outcome]).toEqual(['queued failed', 'cleared', 'failed'])
  })

  it('[REL-83] is settled and forgotten when the user is signed out', async () => {
    const { outbox, send, connect, lose, updates } = setUp()
    connect()
    send('written')
    lose()
    send('waiting')
    const outcomes = [outbox.delivery('written')?.outcome, outbox.delivery('waiting')?.outcome]
    const handle = outbox.delivery('waiting')
    outbox.forgetUser()
    expect(await Promise.all(outcomes)).toEqual(['unknown', 'failed'])
    expect(updates.slice(-2)).toEqual([
      { id: 'waiting', state: 'failed', previousState: 'queued', reason: 'signed_out' },
      { id: 'written', state: 'unknown', previousState: 'sent', reason: 'signed_out' },
    ])
    expect([outbox.delivery('written'), outbox.delivery('waiting'), handle?.retry()]).toEqual([
      undefined,
      undefined,
      false,
    ])
  })

  it('[REL-83] reports nothing of the previous user when their history arrives late', async () => {
    const { outbox, send, connect, lose, readHistory, updates } = setUp()
    connect()
    send('one')
    lose()
    connect()
    const reading = readHistory(said('one'))
    outbox.forgetUser()
    const count = updates.length
    await reading
    expect(updates.length).toBe(count)
  })

  it('[REL-83] is settled without a report by destroy()', async () => {
    const { outbox, send, connect, lose, updates } = setUp()
    connect()
    send('written')
    lose()
    send('waiting')
    const outcomes = [outbox.delivery('written')?.outcome, outbox.delivery('waiting')?.outcome]
    const count = updates.length
    outbox.destroy(new Error('destroyed') as never)
    expect([await Promise.all(outcomes), updates.length]).toEqual([['unknown', 'failed'], count])
  })
})

describe('delivery: at-least-once', () => {
  it('[REL-84] sends what the history does not show again, in order, before anything new', async () => {
    const { send, connect, lose, readHistory, pathOf, flushed } = setUp({ delivery: 'at-least-once' })
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

  it('[REL-84] waits for a history no longer than the limit', async () => {
    const { send, connect, lose, clock } = setUp({ delivery: 'at-least-once' })
    connect()
    send('one')
    lose()
    const transport = connect()
    await clock.advance(EVIDENCE_LIMIT_MS)
    expect(transport.contents).toEqual(['one'])
  })

  it('[REL-84] sends nothing again after an end in order', async () => {
    const { send, connect, close, readHistory } = setUp({ delivery: 'at-least-once' })
    connect()
    send('one')
    close()
    const transport = connect()
    await readHistory()
    expect(transport.contents).toEqual([])
  })

  it('[REL-84] sends nothing of a conversation that was left into the next one, except by retry()', async () => {
    const { outbox, send, connect, lose, close, state, pathOf, reasonOf, readHistory } = setUp({
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

  it('[REL-84] sends what is in doubt again when the conversation goes on in another session', async () => {
    const { send, connect, lose, state, readHistory } = setUp({ delivery: 'at-least-once' })
    connect()
    send('one')
    lose()
    state.sessionId = 's2'
    const transport = connect()
    await readHistory()
    expect(transport.contents).toEqual(['one'])
  })

  it('[REL-84] sends what is in doubt again when the same conversation is opened again later', async () => {
    const { send, connect, lose, close, readHistory } = setUp({ delivery: 'at-least-once' })
    connect()
    send('one')
    lose()
    close()
    const transport = connect()
    await readHistory()
    expect(transport.contents).toEqual(['one'])
  })

  it('[REL-84] is not the default', async () => {
    const { send, connect, lose, readHistory } = setUp()
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
    const { send, connect, confirm, pathOf, outbox } = setUp({ hasReceipts: true })
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

  it('[REL-85] a message without a receipt is sent again under the same id, before what waits', () => {
    const { send, connect, lose, confirm, stateOf } = setUp({ hasReceipts: true })
    connect()
    send('one', 'two', 'three')
    confirm('one')
    lose()
    send('four')
    const transport = connect()
    send('five')
    expect(transport.sent.map(frame => JSON.parse(frame).messageId)).toEqual(['two', 'three', 'four', 'five'])
    expect(['two', 'three'].map(stateOf)).toEqual(['sent', 'sent'])
  })

  it('[REL-85] messages keep their order when the connection breaks before all of them are sent again', () => {
    const { send, connect, lose } = setUp({ hasReceipts: true })
    const ids = Array.from({ length: BURST_SIZE + 1 }, (_, n) => `m${n}`)
    connect()
    send(...ids)
    lose()
    const second = connect()
    expect(second.sent).toHaveLength(BURST_SIZE)
    lose()
    expect(connect().sent.map(frame => JSON.parse(frame).messageId)).toEqual(ids.slice(0, BURST_SIZE))
  })

  it('[REL-85] a message that the host left behind is sent again in its session, and not in another', () => {
    const { send, connect, close, state, stateOf } = setUp({ hasReceipts: true })
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
    const { outbox, send, connect, stateOf, reasonOf } = setUp({ hasReceipts: true })
    const transport = connect()
    send('one')
    const refusal = { persona: 'metadata', role: 'error', messageData: { error_code: '429-001', messageId: 'one' } }
    expect(outbox.handleReceipt(refusal as never)).toBe(false)
    expect([stateOf('one'), reasonOf('one')]).toEqual(['failed', 'refused'])
    expect(outbox.delivery('one')?.retry()).toBe(true)
    expect(transport.sent.map(frame => JSON.parse(frame).messageId)).toEqual(['one', 'one'])
  })

  it('[REL-85] no more than a window of messages is without a receipt; the others wait in the queue', () => {
    const { outbox, connect, confirm } = setUp({ hasReceipts: true })
    const transport = connect()
    for (let n = 0; n < WINDOW + 20; n++) outbox.send(String(n), { id: String(n) })
    expect([transport.sent.length, outbox.size]).toEqual([WINDOW, 20])
    confirm('0')
    expect([transport.sent.length, outbox.size]).toEqual([WINDOW + 1, 19])
  })

  it('[REL-85] frames of a service that has not announced them are ordinary frames', () => {
    const { send, connect, confirm, stateOf } = setUp()
    connect()
    send('one')
    expect([confirm('one'), stateOf('one')]).toEqual([false, 'sent'])
  })
})

describe('a handle', () => {
  it('[REL-86] cancels a queued message, and nothing else', async () => {
    const { outbox, send, connect, failures, pathOf } = setUp()
    send('one', 'two')
    const handle = outbox.delivery('one')
    const outcome = handle?.outcome
    expect([handle?.cancel(), handle?.cancel(), await outcome]).toEqual([true, false, 'cancelled'])
    const transport = connect()
    expect([transport.contents, outbox.delivery('two')?.cancel(), failures]).toEqual([['two'], false, []])
    expect(pathOf('one')).toBe('queued cancelled')
  })

  it('[REL-86] sends an unknown message again, masked as before and behind what waits', async () => {
    const { outbox, connect, lose, readHistory, masked, accepted, pathOf } = setUp({ mask: () => '***' })
    connect()
    outbox.send('secret', { id: 'one' })
    lose()
    connect()
    await readHistory()
    const handle = outbox.delivery('one')
    expect([handle?.state, handle?.retry(), handle?.state]).toEqual(['unknown', true, 'sent'])
    lose()
    outbox.send('two', { id: 'two' })
    const transport = connect()
    await readHistory()
    expect(handle?.retry()).toBe(true)
    expect(transport.contents).toEqual(['***', '***'])
    expect([masked.length, accepted.length]).toEqual([2, 2])
    expect(pathOf('one')).toBe('queued sending sent unknown queued sending sent unknown queued sending sent')
  })

  it('[REL-86] sends a message again that was dropped before it was masked', () => {
    const { outbox, connect, becomeReady } = setUp({ isReady: false, mask: () => '***' })
    outbox.send('secret', { id: 'one' })
    outbox.clear()
    expect(outbox.delivery('one')?.retry()).toBe(true)
    becomeReady()
    expect(connect().contents).toEqual(['***'])
  })

  it('[REL-86] leaves everything as it was when a retry finds no space', async () => {
    const { outbox, send, lose, connect, readHistory } = setUp({ maxQueueSize: 1 })
    connect()
    send('one')
    lose()
    connect()
    await readHistory()
    lose()
    send('two')
    const handle = outbox.delivery('one')
    expect(thrownBy(() => handle?.retry())).toMatchObject({ reason: 'queue_full', messageId: 'one' })
    expect([handle?.state, handle?.reason, outbox.size]).toEqual(['unknown', 'connection_lost', 1])
  })

  it('[REL-86] never calls a message failed or cancelled that may have arrived', async () => {
    const { outbox, send, connect, lose, readHistory } = setUp()
    connect()
    send('one', 'two')
    lose()
    connect()
    await readHistory()
    lose()
    const [one, two] = [outbox.delivery('one'), outbox.delivery('two')]
    one?.retry()
    two?.retry()
    expect([one?.cancel(), one?.state]).toEqual([true, 'unknown'])
    outbox.clear()
    expect([two?.state, two?.reason]).toEqual(['unknown', 'cleared'])
  })

  it('[REL-86] cancels a question that waits for its turn', async () => {
    const { outbox, connect } = setUp()
    connect()
    const first = outbox.ask('one')
    const second = outbox.ask('two')
    const rejected = Promise.all([first.catch(error => error.code), second.catch(error => error.code)])
    expect([outbox.delivery('id-1')?.state, outbox.delivery('id-1')?.cancel()]).toEqual(['queued', true])
    outbox.destroy(Object.assign(new Error('destroyed'), { code: 'ABORTED' }) as never)
    expect(await rejected).toEqual(['ABORTED', 'ABORTED'])
  })
})

describe('the ledger', () => {
  it('[REL-87] keeps the last 1,000 settled messages', () => {
    const { outbox, send } = setUp({ maxQueueSize: 2_000 })
    for (let n = 0; n < SETTLED_LIMIT + 1; n++) send(String(n))
    outbox.clear()
    expect([outbox.delivery('0'), outbox.delivery('1')?.state]).toEqual([undefined, 'failed'])
  })

  it('[REL-87] observes a bounded number of messages without evidence, and says which it gives up', () => {
    const { send, connect, stateOf, reasonOf } = setUp()
    connect()
    for (let n = 0; n < OBSERVED_LIMIT + 1; n++) send(String(n))
    expect([stateOf('0'), reasonOf('0'), stateOf('1')]).toEqual(['unknown', 'limit', 'sent'])
  })

  it('[REL-87] finds out what arrived among more unknown messages than it keeps settled ones', async () => {
    const { outbox, send, connect, lose, readHistory, stateOf } = setUp()
    const ids = Array.from({ length: SETTLED_LIMIT + 500 }, (_, n) => String(n))
    connect()
    send(...ids)
    lose()
    connect()
    outbox.handleNoHistory()
    await readHistory()
    expect(new Set(ids.map(stateOf))).toEqual(new Set(['unknown']))
    lose()
    connect()
    await readHistory(...ids.slice(0, 700).map(id => said(id)))
    expect(ids.filter(id => stateOf(id) === 'acknowledged')).toEqual(ids.slice(0, 700))
    expect(ids.filter(id => stateOf(id) === 'unknown')).toEqual(ids.slice(700))
  })

  it('[REL-87] observes no more unknown messages than those that were sent since leave room for', async () => {
    const { outbox, send, connect, lose, readHistory, stateOf } = setUp()
    connect()
    for (let n = 0; n < OBSERVED_LIMIT; n++) send(String(n))
    lose()
    connect()
    outbox.handleNoHistory()
    await readHistory()
    expect(stateOf('0')).toBe('unknown')
    send('new')
    expect([stateOf('0'), stateOf('1')]).toEqual([undefined, 'unknown'])
  })

  it('[REL-87] finds nothing in a history by words alone once an unknown message was forgotten', async () => {
    const { outbox, send, connect, lose, readHistory, stateOf } = setUp()
    connect()
    send('yes')
    for (let n = 0; n < OBSERVED_LIMIT; n++) send(String(n))
    lose()
    connect()
    outbox.handleNoHistory()
    await readHistory()
    expect([stateOf('yes'), stateOf('0')]).toEqual([undefined, 'unknown'])
    outbox.send('yes', { id: 'again' })
    lose()
    connect()
    await readHistory(said('yes'))
    expect(stateOf('again')).toBe('unknown')
  })
})
