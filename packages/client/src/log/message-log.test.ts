import { describe, expect, it } from 'vitest'
import { rejection } from '../../test/agent-harness.ts'
import { answered, type OutboxSetUp, said, setUpDelivery } from '../../test/outbox-harness.ts'
import { Message } from './message.ts'
import { OBSERVED_LIMIT, SETTLED_LIMIT } from './message-log.ts'

const OFF: OutboxSetUp = { transcript: { enabled: false } }

/** Sends a message, and lets so much time pass until the service says something that it is not sent again. */
async function sayLongAgo({ send, hear, clock }: ReturnType<typeof setUpDelivery>, ...ids: string[]) {
  send(...ids)
  await clock.advance(20_000)
  hear(answered('good'))
}

describe('the text of a message', () => {
  it('is not kept without a transcript once it is not written again, and is then not sent again', async () => {
    const parts = setUpDelivery(OFF)
    const { outbox, connect, send, hear, state, clock } = parts
    connect()
    await sayLongAgo(parts, 'long ago')
    send('just now')
    await clock.advance(10_000)
    hear(answered('fine'))
    const delivery = outbox.delivery('long ago')
    expect(delivery).toMatchObject({
      state: 'sent',
      message: { content: undefined, persona: 'customer', role: 'human' },
    })
    expect(outbox.delivery('just now')?.message.content).toBe('just now')
    state.sessionId = 's2'
    connect()
    expect([delivery?.state, delivery?.retry()]).toEqual(['unknown', false])
    expect([outbox.delivery('just now')?.state, outbox.delivery('just now')?.retry()]).toEqual(['unknown', true])
  })

  it('is kept as long as the transcript has it, or it may be written', async () => {
    const parts = setUpDelivery()
    const { outbox, connect, send, state } = parts
    const contents = () => ['one', 'two', 'three', 'four'].map(id => outbox.log.find(id)?.message.content)
    connect()
    await sayLongAgo(parts, 'one', 'two')
    state.sessionId = 's2'
    connect()
    expect([outbox.delivery('two')?.state, outbox.delivery('two')?.retry()]).toEqual(['unknown', true])
    send('three')
    outbox.log.clear()
    await sayLongAgo(parts)
    parts.lose()
    send('four')
    expect(contents()).toEqual(['one', 'two', undefined, 'four'])
  })

  it('is not kept after clearTranscript(), except of a message that can be sent again', () => {
    const { outbox, connect, send, confirm } = setUpDelivery({ hasReceipts: true })
    connect()
    send('confirmed', 'refused')
    confirm('confirmed')
    outbox.handleReceipt({ persona: 'metadata', role: 'error', messageData: { messageId: 'refused' } } as never)
    outbox.log.clear()
    expect(outbox.log.find('confirmed')).toMatchObject({ state: 'acknowledged', message: { content: undefined } })
    expect(outbox.log.find('refused')).toMatchObject({ state: 'failed', message: { content: 'refused' } })
  })

  it('is not kept where the filters of the transcript exclude it', async () => {
    const parts = setUpDelivery({ transcript: { excludeRoles: ['human'] } })
    parts.connect()
    await sayLongAgo(parts, 'one')
    expect(parts.outbox.log.find('one')?.message.content).toBeUndefined()
  })

  it('is not kept without a transcript once the service has confirmed it', () => {
    const { outbox, connect, send, confirm } = setUpDelivery({ ...OFF, hasReceipts: true })
    connect()
    send('confirmed', 'not confirmed')
    confirm('confirmed')
    expect(outbox.delivery('confirmed')).toMatchObject({ state: 'acknowledged', message: { content: undefined } })
    expect(outbox.delivery('not confirmed')?.message.content).toBe('not confirmed')
  })

  it('is not kept without a transcript once it is withdrawn', () => {
    const { outbox, send } = setUpDelivery({ ...OFF, isReady: false })
    send('one')
    const record = outbox.log.find('one')
    expect(record && outbox.cancel(record)).toBe(true)
    expect(record).toMatchObject({ state: 'cancelled', message: { content: undefined } })
  })

  it('is not kept without a transcript of a message that was in doubt, once a history shows it', async () => {
    const { outbox, connect, send, lose, readHistory } = setUpDelivery(OFF)
    connect()
    send('shown', 'not shown')
    lose()
    connect()
    await readHistory(said('shown'))
    expect(outbox.log.find('shown')).toMatchObject({ state: 'acknowledged', message: { content: undefined } })
    expect(outbox.log.find('not shown')).toMatchObject({ state: 'unknown', message: { content: 'not shown' } })
  })

  it('is kept with receipts until there is one, since it is sent again', async () => {
    const parts = setUpDelivery({ ...OFF, hasReceipts: true })
    parts.connect()
    await sayLongAgo(parts, 'not confirmed')
    parts.lose()
    expect(parts.connect().contents).toEqual(['not confirmed'])
  })

  it('is kept of a message in doubt, however late the service says something', async () => {
    const { connect, send, lose, hear, clock } = setUpDelivery({ ...OFF, delivery: 'at-least-once' })
    connect()
    send('lost')
    lose()
    await clock.advance(30_000)
    const transport = connect()
    hear({ persona: 'metadata', role: 'heartbeat' })
    await clock.advance(15_000)
    expect(transport.contents).toEqual(['lost'])
  })

  it('stays readable for a host that has the delivery', async () => {
    const parts = setUpDelivery(OFF)
    parts.connect()
    parts.send('taken', 'not taken')
    const delivery = parts.outbox.delivery('taken')
    await sayLongAgo(parts)
    expect([delivery?.message.content, parts.outbox.delivery('not taken')?.message.content]).toEqual([
      'taken',
      undefined,
    ])
  })

  it('is kept of the last 1,000 unknown messages, and a history still shows the others', async () => {
    const { outbox, send, connect, lose, hear, readHistory } = setUpDelivery(OFF)
    const ids = Array.from({ length: SETTLED_LIMIT + 2 }, (_, n) => String(n))
    connect()
    send(...ids)
    lose()
    connect()
    outbox.ledger.handleNoHistory()
    hear(answered('good'))
    expect(ids.filter(id => outbox.log.find(id)?.message.content === undefined)).toEqual(['0', '1'])
    expect(['1', '2'].map(id => outbox.delivery(id)?.retry())).toEqual([false, true])
    lose()
    connect()
    await readHistory(said('0'), said('1'), said('3'))
    expect(['0', '1', '3', '4'].map(id => outbox.delivery(id)?.state)).toEqual([
      'acknowledged',
      'acknowledged',
      'acknowledged',
      'unknown',
    ])
  })

  it('is not needed to count how often the words of a question were said', async () => {
    const { outbox, connect, lose, hear, clock, readHistory } = setUpDelivery(OFF)
    connect()
    outbox.send('and now?', { id: 'before' })
    await clock.advance(20_000)
    hear({ persona: 'metadata', role: 'heartbeat' })
    expect(outbox.log.find('before')?.message.content).toBeUndefined()
    const asked = rejection(outbox.ask('and now?'))
    lose()
    connect()
    // One of the two has arrived: it need not be the question.
    await readHistory(said('and now?'), answered('nothing new'))
    expect(await asked).toMatchObject({ reason: 'closed' })
  })
})

describe('a message that is forgotten', () => {
  it('is an unknown one beyond 10,000 without evidence: its words in a history prove no later message', async () => {
    const { outbox, connect, send, lose, readHistory } = setUpDelivery(OFF)
    const stateOf = (id: string) => outbox.log.find(id)?.state
    connect()
    for (let n = 0; n < OBSERVED_LIMIT; n++) send(String(n))
    lose()
    connect()
    outbox.ledger.handleNoHistory()
    expect([stateOf('0'), outbox.log.isComplete]).toEqual(['unknown', true])
    send('one more', 'and another')
    expect(['0', '1', '2'].map(stateOf)).toEqual([undefined, undefined, 'unknown'])
    expect(outbox.log.isComplete).toBe(false)
    outbox.send('0', { id: 'again' })
    lose()
    connect()
    await readHistory(said('0'))
    expect(stateOf('again')).toBe('unknown')
  })

  it('is one beyond 1,000 that have another outcome, which hides no evidence', async () => {
    const { outbox, connect, send, lose, readHistory, stateOf } = setUpDelivery()
    for (let n = 0; n <= SETTLED_LIMIT; n++) {
      send(String(n))
      outbox.clear()
    }
    expect([stateOf('0'), stateOf('1'), outbox.log.isComplete]).toEqual([undefined, 'failed', true])
    connect()
    send('one')
    lose()
    connect()
    await readHistory(said('one'))
    expect(stateOf('one')).toBe('acknowledged')
  })
})

describe('a message without an entry', () => {
  it('is known in the order of its time, whether it was sent or received', async () => {
    const { outbox, connect, send, clock } = setUpDelivery(OFF)
    connect()
    send('one')
    await clock.advance(10)
    const { log } = outbox
    log.record(new Message('agent', 'x', 'two', { timestamp: clock.now() }), 'received', clock.now())
    await clock.advance(10)
    send('three')
    expect(log.missing.map(({ isSent }) => isSent)).toEqual([true, false, true])
  })

  it('is known once after clearTranscript(), also where the service has used its id', () => {
    const { outbox, connect, send } = setUpDelivery()
    connect()
    send('m-1')
    const { log } = outbox
    log.record(new Message('agent', 'x', 'two', { messageId: 'm-1' }), 'received', 0)
    log.clear()
    expect(log.missing.map(({ isSent }) => isSent).toSorted()).toEqual([false, true])
  })
})

describe('an entry of the log', () => {
  it('is frozen for the host, whether it was said, received or read in a history', () => {
    const { outbox, connect, send } = setUpDelivery()
    connect()
    send('one')
    const { log } = outbox
    const [said] = log.entries()
    const message = outbox.log.find('one')?.message
    if (!message) throw new Error('The message is unknown.')
    log.record(message.clone({ persona: 'agent' }), 'received', 0, 'agent_message')
    log.insert([{ message, direction: 'sent', timestamp: 0, size: 1, position: 0 }], 's1', () => undefined, true)
    expect(log.entries().map(entry => [Object.isFrozen(entry), entry.recovered])).toEqual([
      [true, true],
      [true, undefined],
      [true, undefined],
    ])
    expect(Object.keys(said ?? {})).toEqual(['id', 'message', 'direction', 'timestamp', 'sessionId', 'agentId'])
  })
})
