import { describe, expect, it } from 'vitest'
import { answered, said, setUpDelivery, thrownBy } from '../../test/outbox-harness.ts'

/** As docs/guide/delivery.md promises, in milliseconds. */
const EVIDENCE_LIMIT_MS = 5_000

describe('the delivery of a message', () => {
  it('[REL-80] is reported from the queue to the socket, each change once', () => {
    const { send, connect, stateOf, pathOf, updates } = setUpDelivery()
    send('one')
    expect([stateOf('one'), updates]).toEqual(['queued', []])
    connect()
    send('two')
    expect([pathOf('one'), pathOf('two')]).toEqual(['queued sending sent', 'queued sending sent'])
    expect([stateOf('one'), stateOf('two'), stateOf('three')]).toEqual(['sent', 'sent', undefined])
  })

  it('[REL-80] is sent already when its entry of the transcript is reported', () => {
    const { send, connect, stateOf, on } = setUpDelivery()
    connect()
    const states: unknown[] = []
    on.accepted = ({ messageId = '' }) => void states.push(stateOf(messageId))
    send('one')
    expect(states).toEqual(['sent'])
  })

  it('[REL-80] is queued while the agent is not ready, and while the write fails', () => {
    const { send, connect, becomeReady, stateOf } = setUpDelivery({ isReady: false })
    send('one')
    expect(stateOf('one')).toBe('queued')
    becomeReady()
    const transport = connect()
    transport.isBroken = true
    send('two')
    expect([stateOf('one'), stateOf('two')]).toEqual(['sent', 'queued'])
  })

  it('[REL-80] is not kept for a message that send() refuses', () => {
    const { outbox, send } = setUpDelivery({ maxQueueSize: 1 })
    send('one')
    expect(thrownBy(() => send('two'))).toMatchObject({ reason: 'queue_full' })
    expect(outbox.delivery('two')).toBeUndefined()
  })

  it('[REL-81] is acknowledged by the history of a reopened chat', async () => {
    const { send, connect, lose, readHistory, pathOf, outbox } = setUpDelivery()
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
    const { send, connect, lose, readHistory, stateOf, reasonOf, state } = setUpDelivery()
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
    const { send, connect, lose, readHistory, stateOf, state } = setUpDelivery()
    state.isOwnSession = false
    connect()
    send('yes')
    lose()
    connect()
    await readHistory(said('yes'))
    expect(stateOf('yes')).toBe('unknown')
  })

  it('[REL-81] is acknowledged by what follows the last known message, also when the service has dropped that', async () => {
    const { send, connect, lose, readHistory, stateOf, state } = setUpDelivery()
    state.isOwnSession = false
    connect()
    await readHistory(said('yes', { timestamp: 5 }), answered('Sure?', { messageId: 'm-1', timestamp: 6 }))
    send('yes', 'no')
    lose()
    connect()
    await readHistory(said('yes', { timestamp: 7 }), answered('Fine', { messageId: 'm-2', timestamp: 8 }))
    expect([stateOf('yes'), stateOf('no')]).toEqual(['acknowledged', 'unknown'])
  })

  it('[REL-81] is acknowledged by words from before what the agent has said since it was sent', async () => {
    const { outbox, connect, lose, readHistory, hear, stateOf } = setUpDelivery()
    connect()
    hear(answered('Sure?', { messageId: 'm-1' }))
    outbox.send('yes', { id: 'a' })
    hear(answered('Really?', { messageId: 'm-2' }))
    outbox.send('yes', { id: 'b' })
    lose()
    connect()
    await readHistory(answered('Sure?', { messageId: 'm-1' }), said('yes'), answered('Really?', { messageId: 'm-2' }))
    expect([stateOf('a'), stateOf('b')]).toEqual(['acknowledged', 'unknown'])
  })

  it.each([
    ['at the start of the session', []],
    ['after a history', [answered('Welcome', { messageId: 'm-0' })]],
  ])('[REL-81] is not acknowledged by words of another client that were said before it: %s', async (_case, earlier) => {
    const { send, connect, lose, readHistory, hear, stateOf } = setUpDelivery()
    connect()
    if (earlier.length > 0) await readHistory(...earlier)
    hear(answered('Sure?', { messageId: 'm-1' }))
    // Another client says yes.
    hear(answered('Really?', { messageId: 'm-2' }))
    send('yes')
    lose()
    connect()
    await readHistory(
      ...earlier,
      answered('Sure?', { messageId: 'm-1' }),
      said('yes'),
      answered('Really?', { messageId: 'm-2' }),
    )
    expect(stateOf('yes')).toBe('unknown')
  })

  it('[REL-81] is acknowledged by words behind a history that was made before it arrived', async () => {
    const { send, connect, lose, readHistory, hear, stateOf } = setUpDelivery()
    connect()
    send('yes')
    const earlier = answered('Welcome', { messageId: 'm-0' })
    await readHistory(earlier)
    hear(answered('Sure?', { messageId: 'm-1' }))
    lose()
    connect()
    await readHistory(earlier, said('yes'), answered('Sure?', { messageId: 'm-1' }))
    expect(stateOf('yes')).toBe('acknowledged')
  })

  it('[REL-81] is acknowledged by words behind the last message of the agent, whatever else has arrived since', async () => {
    const { send, connect, lose, readHistory, hear, stateOf } = setUpDelivery()
    connect()
    hear(answered('Sure?', { messageId: 'm-1' }))
    hear({ persona: 'system', role: 'heartbeat', content: '' })
    send('yes')
    lose()
    connect()
    await readHistory(answered('Sure?', { messageId: 'm-1' }), said('yes'))
    expect(stateOf('yes')).toBe('acknowledged')
  })

  it('[REL-81] of equal words the one that was sent first is acknowledged, also where it is not in doubt', async () => {
    const { outbox, connect, lose, readHistory, clock, stateOf } = setUpDelivery({ doubtAfterMs: 1_000 })
    connect()
    outbox.send('same', { id: 'a' })
    await clock.advance(5_000)
    outbox.send('same', { id: 'b' })
    lose()
    connect()
    outbox.ledger.handleNoHistory()
    expect([stateOf('a'), stateOf('b')]).toEqual(['sent', 'unknown'])
    await readHistory(said('same'))
    expect([stateOf('a'), stateOf('b')]).toEqual(['acknowledged', 'unknown'])
  })

  it('[REL-81] of equal words one that is sent again by retry() counts as the later one', async () => {
    const { outbox, connect, lose, readHistory, stateOf } = setUpDelivery()
    connect()
    outbox.send('same', { id: 'a' })
    lose()
    connect()
    await readHistory()
    outbox.send('same', { id: 'b' })
    outbox.delivery('a')?.retry()
    lose()
    connect()
    await readHistory(said('same'))
    expect([stateOf('a'), stateOf('b')]).toEqual(['unknown', 'acknowledged'])
  })

  it('[REL-82] stays in doubt where a listener has lost the connection in the middle of a history', async () => {
    const { send, connect, lose, readHistory, on, stateOf } = setUpDelivery()
    connect()
    send('one', 'two')
    lose()
    connect()
    on.updated = ({ state }) => void (state === 'acknowledged' && lose())
    await readHistory(said('one'))
    expect([stateOf('one'), stateOf('two')]).toEqual(['acknowledged', 'sent'])
  })

  it('[REL-82] is not in doubt because a later connection was lost', async () => {
    const { outbox, send, connect, lose, clock, stateOf } = setUpDelivery({ doubtAfterMs: 1_000 })
    connect()
    send('early')
    await clock.advance(5_000)
    lose()
    connect()
    lose(10_000)
    connect()
    outbox.ledger.handleNoHistory()
    expect(stateOf('early')).toBe('sent')
  })

  it('[REL-81] [REL-83] is not acknowledged by the same words in another session', async () => {
    const { send, connect, close, readHistory, stateOf, reasonOf, state, pathOf } = setUpDelivery()
    connect()
    send('yes')
    close()
    state.sessionId = 's2'
    connect()
    await readHistory(said('yes'))
    expect([stateOf('yes'), reasonOf('yes')]).toEqual(['unknown', 'session_ended'])
    expect(pathOf('yes')).toBe('queued sending sent unknown')
  })

  it('[REL-82] is reported as unknown once, however often the connection is lost', async () => {
    const { send, connect, lose, readHistory, close, pathOf } = setUpDelivery()
    connect()
    send('one')
    for (let cut = 0; cut < 3; cut++) {
      lose()
      connect()
      await readHistory(said('another'))
    }
    close()
    expect(pathOf('one')).toBe('queued sending sent unknown')
  })

  it('[REL-81] counts each element of a history once', async () => {
    const { outbox, connect, lose, readHistory, stateOf } = setUpDelivery()
    connect()
    for (const id of ['a', 'b', 'c']) outbox.send('same', { id })
    lose()
    connect()
    await readHistory(said('same'), said('same'))
    expect(['a', 'b', 'c'].map(stateOf)).toEqual(['acknowledged', 'acknowledged', 'unknown'])
  })

  it('[REL-81] stays unknown where the same words were written to two connections and arrived once', async () => {
    const { outbox, connect, lose, readHistory, stateOf } = setUpDelivery()
    connect()
    outbox.send('same', { id: 'a' })
    lose()
    connect()
    outbox.send('same', { id: 'b' })
    await readHistory(said('same'))
    expect([stateOf('a'), stateOf('b')]).toEqual(['unknown', 'sent'])
  })

  it('[REL-82] becomes unknown when no history comes, and only if the loss is in doubt', async () => {
    const { outbox, send, connect, lose, clock, stateOf } = setUpDelivery({ doubtAfterMs: 1_000 })
    connect()
    send('early')
    await clock.advance(5_000)
    send('late')
    lose()
    connect()
    expect([stateOf('early'), stateOf('late')]).toEqual(['sent', 'sent'])
    outbox.ledger.handleNoHistory()
    await clock.advance(0)
    expect([stateOf('early'), stateOf('late')]).toEqual(['sent', 'unknown'])
  })

  it('[REL-82] becomes unknown after a limit when nothing says that no history comes', async () => {
    const { send, connect, lose, clock, stateOf } = setUpDelivery()
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
    const { send, connect, lose, readHistory, clock, stateOf } = setUpDelivery()
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
    const { outbox, send, connect, close, readHistory, stateOf, reasonOf, pathOf } = setUpDelivery()
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

  it('[REL-83] stays queued at the end of the chat, which reports no failure', () => {
    const { send, connect, close, failures, stateOf } = setUpDelivery()
    connect()
    close()
    send('one')
    close()
    expect([stateOf('one'), failures]).toEqual(['queued', []])
  })

  it('[REL-83] is unknown when the chat goes on in another session', () => {
    const { send, connect, lose, state, reasonOf, stateOf } = setUpDelivery()
    connect()
    send('one')
    lose()
    state.sessionId = 's2'
    connect()
    expect([stateOf('one'), reasonOf('one')]).toEqual(['unknown', 'session_ended'])
  })

  it('[REL-83] fails with its reason when the message is dropped from the queue', async () => {
    const { outbox, send, pathOf, reasonOf } = setUpDelivery()
    send('one')
    const outcome = outbox.delivery('one')?.outcome
    outbox.clear()
    expect([pathOf('one'), reasonOf('one'), await outcome]).toEqual(['queued failed', 'cleared', 'failed'])
  })

  it('[REL-80] is found by a listener while the queue is cleared', () => {
    const { outbox, send, on } = setUpDelivery()
    send('one', 'two')
    const states: unknown[] = []
    on.updated = () => void states.push(outbox.delivery('two')?.state)
    outbox.clear()
    expect(states).toEqual(['queued', 'failed'])
  })

  it('[REL-80] is that of the later message of two with the same id', async () => {
    const { outbox, connect, lose, clock, readHistory } = setUpDelivery()
    connect()
    outbox.send('one', { id: 'a' })
    lose()
    connect()
    outbox.ledger.handleNoHistory()
    await clock.advance(1)
    outbox.send('two', { id: 'a' })
    lose()
    connect()
    await readHistory(said('two'))
    expect(outbox.delivery('a')).toMatchObject({ state: 'acknowledged', message: { content: 'two' } })
  })

  it('[REL-83] is settled and forgotten when the user is signed out', async () => {
    const { outbox, send, connect, lose, updates } = setUpDelivery()
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
    const { outbox, send, connect, lose, readHistory, updates } = setUpDelivery()
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

  it('[REL-83] is not acknowledged once a listener has signed the user out in the middle of a history', async () => {
    const { outbox, send, connect, lose, readHistory, on, updates } = setUpDelivery()
    connect()
    send('one', 'two')
    lose()
    connect()
    on.updated = ({ state }) => void (state === 'acknowledged' && outbox.forgetUser())
    await readHistory(said('one'), said('two'))
    expect(updates.flatMap(({ id, state }) => (state === 'acknowledged' ? id : []))).toEqual(['one'])
  })

  it('[REL-83] is settled at the sign-out where it was answered in a session that another tab has taken', async () => {
    const { outbox, send, connect, stateOf } = setUpDelivery()
    connect()
    send('one')
    const outcome = outbox.delivery('one')?.outcome
    outbox.handleSessionTaken(() => true)
    expect(stateOf('one')).toBe('sent')
    outbox.forgetUser()
    expect(await outcome).toBe('unknown')
  })

  it('[REL-83] is not reported as sent where a listener ends the chat while it is sending', () => {
    const { send, connect, close, on, updates } = setUpDelivery()
    connect()
    on.updated = ({ state }) => void (state === 'sending' && close())
    send('one')
    expect(updates.map(({ state }) => state)).toEqual(['sending', 'unknown'])
  })

  it('[REL-83] is settled without a report by destroy()', async () => {
    const { outbox, send, connect, lose, updates } = setUpDelivery()
    connect()
    send('written')
    lose()
    send('waiting')
    const handles = [outbox.delivery('written'), outbox.delivery('waiting')]
    const outcomes = handles.map(handle => handle?.outcome)
    const count = updates.length
    outbox.destroy(new Error('destroyed') as never)
    expect([await Promise.all(outcomes), updates.length]).toEqual([['unknown', 'failed'], count])
    expect(handles.map(handle => handle?.reason)).toEqual(['destroyed', 'destroyed'])
  })
})

describe('a handle', () => {
  it('[REL-86] cancels a queued message, and nothing else', async () => {
    const { outbox, send, connect, failures, pathOf } = setUpDelivery()
    send('one', 'two')
    const handle = outbox.delivery('one')
    const outcome = handle?.outcome
    expect([handle?.cancel(), handle?.cancel(), await outcome]).toEqual([true, false, 'cancelled'])
    const transport = connect()
    expect([transport.contents, outbox.delivery('two')?.cancel(), failures]).toEqual([['two'], false, []])
    expect(pathOf('one')).toBe('queued cancelled')
  })

  it('[REL-86] cancels only its own message where another one of the same id waits', () => {
    const { outbox, send, connect, lose } = setUpDelivery()
    connect()
    send('one')
    const first = outbox.delivery('one')
    lose()
    send('one')
    expect([first?.cancel(), first?.state, outbox.size]).toEqual([false, 'sent', 1])
    expect([outbox.delivery('one')?.cancel(), outbox.size]).toEqual([true, 0])
  })

  it('[REL-83] has its outcome also for a caller who asks late', async () => {
    const { outbox, send, connect, lose } = setUpDelivery()
    send('failed', 'cancelled')
    outbox.delivery('cancelled')?.cancel()
    outbox.clear()
    connect()
    send('unknown')
    lose()
    outbox.leaveConversation()
    const ids = ['failed', 'cancelled', 'unknown']
    expect(await Promise.all(ids.map(id => outbox.delivery(id)?.outcome))).toEqual(ids)
  })

  it('[REL-86] does nothing on retry() in a state that is neither unknown nor failed', () => {
    const { outbox, send, connect, confirm, updates } = setUpDelivery({ hasReceipts: true })
    send('queued', 'cancelled')
    const queued = outbox.delivery('queued')
    const cancelled = outbox.delivery('cancelled')
    cancelled?.cancel()
    const before = updates.length
    expect([queued?.retry(), cancelled?.retry(), updates.length, outbox.size]).toEqual([false, false, before, 1])
    const transport = connect()
    send('acknowledged')
    confirm('acknowledged')
    const count = updates.length
    expect([queued?.retry(), outbox.delivery('acknowledged')?.retry()]).toEqual([false, false])
    expect([transport.contents, updates.length]).toEqual([['queued', 'acknowledged'], count])
  })

  it('[REL-86] does nothing on retry() after a sign-out, or when a later message has its id', () => {
    const { outbox, send, updates } = setUpDelivery()
    send('one')
    const first = outbox.delivery('one')
    outbox.clear()
    send('one')
    const count = updates.length
    expect([first?.retry(), first?.state, outbox.size, updates.length]).toEqual([false, 'failed', 1, count])
    const second = outbox.delivery('one')
    outbox.forgetUser()
    const end = updates.length
    expect([second?.retry(), second?.state, updates.length]).toEqual([false, 'failed', end])
  })

  it('[REL-86] is not sent again when a listener of retry() signs the user out', () => {
    const { outbox, send, connect, on } = setUpDelivery()
    send('one')
    const handle = outbox.delivery('one')
    outbox.clear()
    on.updated = ({ state }) => void (state === 'queued' && outbox.forgetUser())
    expect(handle?.retry()).toBe(false)
    expect([handle?.state, connect().contents]).toEqual(['failed', []])
  })

  it('[REL-80] drops nothing that a listener sends while the user is signed out', () => {
    const { outbox, send, connect, on } = setUpDelivery()
    send('one')
    on.updated = ({ id, state }) => void (id === 'one' && state === 'failed' && send('two'))
    outbox.forgetUser()
    expect([outbox.delivery('one'), outbox.delivery('two')?.state, outbox.size]).toEqual([undefined, 'queued', 1])
    expect(connect().contents).toEqual(['two'])
  })

  it('[REL-86] sends an unknown message again, masked as before and behind what waits', async () => {
    const { outbox, connect, lose, readHistory, masked, accepted, pathOf } = setUpDelivery({ mask: () => '***' })
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
    const { outbox, connect, becomeReady } = setUpDelivery({ isReady: false, mask: () => '***' })
    outbox.send('secret', { id: 'one' })
    outbox.clear()
    expect(outbox.delivery('one')?.retry()).toBe(true)
    becomeReady()
    expect(connect().contents).toEqual(['***'])
  })

  it('[REL-86] leaves everything as it was when a retry finds no space', async () => {
    const { outbox, send, lose, connect, readHistory } = setUpDelivery({ maxQueueSize: 1 })
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
    const { outbox, send, connect, lose, readHistory } = setUpDelivery()
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

  it('[REL-86] cancels a question whose turn has come, and gives the turn to the next one', async () => {
    const { outbox, connect, pathOf } = setUpDelivery()
    const first = outbox.ask('one')
    const rejected = first.catch(error => error.code)
    outbox.ask('two').catch(() => {})
    expect([outbox.delivery('id-0')?.cancel(), await rejected]).toEqual([true, 'ABORTED'])
    expect([connect().contents, pathOf('id-0')]).toEqual([['two'], 'queued cancelled'])
  })

  it('[REL-86] is cancelled when the caller of ask() gives up before it was written', async () => {
    const { outbox, pathOf } = setUpDelivery()
    const caller = new AbortController()
    const rejected = outbox.ask('one', { signal: caller.signal }).catch(error => error.code)
    caller.abort()
    expect([await rejected, pathOf('id-0')]).toEqual(['ABORTED', 'queued cancelled'])
  })

  it('[REL-83] of a question that was sent is unknown with the end of its session', async () => {
    const { outbox, connect, close, stateOf, reasonOf } = setUpDelivery()
    connect()
    const rejected = outbox.ask('one').catch(error => error.reason)
    close()
    expect([await rejected, stateOf('id-0'), reasonOf('id-0')]).toEqual(['closed', 'unknown', 'session_ended'])
  })

  it('[REL-86] cancels a question that waits for its turn', async () => {
    const { outbox, connect } = setUpDelivery()
    connect()
    const first = outbox.ask('one')
    const second = outbox.ask('two')
    const rejected = Promise.all([first.catch(error => error.code), second.catch(error => error.code)])
    expect([outbox.delivery('id-1')?.state, outbox.delivery('id-1')?.cancel()]).toEqual(['queued', true])
    outbox.destroy(Object.assign(new Error('destroyed'), { code: 'ABORTED' }) as never)
    expect(await rejected).toEqual(['ABORTED', 'ABORTED'])
  })
})
