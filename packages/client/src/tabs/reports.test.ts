import { describe, expect, it } from 'vitest'
import { CAPABILITIES, linesOf, setUpTabs } from '../../test/set-up-tabs.ts'

const settings = { heartbeatBeforeReply: false, capabilities: [] }

/** A leader, a follower, and a tab that has sent messages. */
async function setUpReports(capabilities: readonly (typeof CAPABILITIES)[number][] = []) {
  const tabs = setUpTabs({ settings: { ...settings, capabilities: [...capabilities] } })
  const leader = await tabs.connected()
  const { agent, tab } = await tabs.connected()
  const owner = tabs.scripted('owner')
  await owner.post({ kind: 'hello', isNew: false })
  const leaderId = String(owner.heard('state').at(-1)?.from)
  const words = { persona: 'customer', role: 'human', content: 'Hello', timestamp: tabs.clock.now() }
  const say = (id: string, more: object = {}) => owner.post({ kind: 'said', message: { ...words, id }, ...more })
  const update = (id: string, state: string, reason?: string) => owner.post({ kind: 'delivery', id, state, reason })
  /** Another tab than the owner repeats a message. */
  const repeat = (id: string, state: string, from = 'another') =>
    owner.post({ kind: 'said', message: { ...words, id }, state, owner: 'owner' }, { from })
  const updates: string[] = []
  agent.on('deliveryUpdate', ({ payload }) => void updates.push(`${payload.previousState} ${payload.state}`))
  return { ...tabs, leader, agent, tab, owner, leaderId, words, say, update, repeat, updates }
}

/** How a message gets into a state, as its tab reports it. */
const WAYS = {
  queued: [],
  sent: ['sent'],
  acknowledged: ['sent', 'acknowledged'],
  unknown: ['sent', 'unknown'],
  failed: ['failed'],
  cancelled: ['cancelled'],
} as const
const STATES = Object.keys(WAYS) as (keyof typeof WAYS)[]

/** For each state of a message, its state after the report of each state in the order of {@link STATES}. */
type Table = Readonly<Record<keyof typeof WAYS, string>>

const BY_ITS_TAB: Table = {
  queued: 'queued sent acknowledged unknown failed cancelled',
  sent: 'sent sent acknowledged unknown failed cancelled',
  acknowledged: 'acknowledged acknowledged acknowledged acknowledged acknowledged acknowledged',
  // Only evidence or a retry follows.
  unknown: 'queued sent acknowledged unknown unknown unknown',
  failed: 'queued sent acknowledged failed failed failed',
  cancelled: 'cancelled cancelled cancelled cancelled cancelled cancelled',
}
const BY_THE_LEADER: Table = {
  ...BY_ITS_TAB,
  // It may have missed the retry.
  unknown: 'unknown unknown acknowledged unknown unknown unknown',
  failed: 'failed failed acknowledged failed failed failed',
}
const BY_ANOTHER_TAB: Table = {
  ...BY_THE_LEADER,
  // It may have missed the evidence.
  queued: 'queued sent acknowledged queued queued cancelled',
  sent: 'sent sent acknowledged sent sent cancelled',
}

it.each([
  ['its tab', BY_ITS_TAB],
  ['the leader', BY_THE_LEADER],
  ['another tab', BY_ANOTHER_TAB],
])('[REL-64] [REL-155] the state of a message follows what is reported by %s', async (by, table) => {
  const { agent, say, update, repeat, leaderId } = await setUpReports()
  const results: Record<string, string[]> = {}
  for (const known of STATES)
    for (const reported of STATES) {
      const id = `${known} ${reported}`
      await say(id)
      for (const state of WAYS[known]) await update(id, state)
      if (by === 'its tab') await update(id, reported)
      else await repeat(id, reported, by === 'the leader' ? leaderId : 'another')
      results[known] = [...(results[known] ?? []), String(agent.delivery(id)?.state)]
    }
  expect(Object.fromEntries(Object.entries(results).map(([known, states]) => [known, states.join(' ')]))).toEqual(table)
})

it('[REL-64] each change of a message of another tab is reported once, and a repetition of its outcome not', async () => {
  const { agent, say, update, updates } = await setUpReports()
  await say('a')
  for (const state of ['queued', 'sent', 'sent', 'failed', 'acknowledged', 'unknown']) await update('a', state)
  expect(updates).toEqual([
    ...['queued sending', 'sending sent', 'sent failed'],
    ...['failed queued', 'queued acknowledged'],
  ])
  updates.length = 0
  await say('b')
  for (const state of ['unknown', 'queued', 'sent', 'unknown', 'sent', 'unknown', 'acknowledged'])
    await update('b', state)
  expect(updates).toEqual([
    ...['queued unknown', 'unknown queued', 'queued sending', 'sending sent', 'sent unknown'],
    ...['unknown sending', 'sending sent', 'sent unknown', 'unknown acknowledged'],
  ])
  await say('c')
  const outcomes: unknown[] = []
  void agent.delivery('c')?.outcome.then(outcome => outcomes.push(outcome))
  await update('c', 'failed', 'refused')
  expect(outcomes).toEqual(['failed'])
  expect(agent.delivery('c')?.reason).toBe('refused')
  await update('c', 'queued')
  expect(agent.delivery('c')?.reason).toBeUndefined()
})

it('[REL-64] nothing more is reported once a listener of a retry in another tab has destroyed the agent', async () => {
  const { agent, say, update, updates } = await setUpReports()
  await say('a')
  await update('a', 'unknown')
  agent.on('deliveryUpdate', () => void agent.destroy())
  await update('a', 'queued')
  await update('a', 'sent')
  expect(updates).toEqual(['queued unknown', 'unknown queued'])
})

it('[REL-155] a message is acknowledged whose acknowledgement arrived first, up to a thousand such messages', async () => {
  const { agent, say, update } = await setUpReports()
  for (let count = 0; count <= 1_000; count++) void update(`m${count}`, 'acknowledged')
  await update('other', 'sent')
  for (const id of ['m0', 'm1', 'other']) await say(id, { state: 'sent' })
  expect(['m0', 'm1', 'other'].map(id => agent.delivery(id)?.state)).toEqual(['sent', 'acknowledged', 'sent'])
})

it('[LIM-01] of messages of other tabs without an outcome a thousand are observed', async () => {
  const { agent, say, leader } = await setUpReports()
  for (let count = 0; count < 1_000; count++) void say(`m${count}`)
  await say('m1000')
  for (const tab of [agent, leader.agent])
    expect(['m0', 'm1', 'm1000'].map(id => [tab.delivery(id)?.state, tab.delivery(id)?.reason])).toEqual([
      ['unknown', 'limit'],
      ['queued', undefined],
      ['queued', undefined],
    ])
})

it('[REL-69] no other tab reports the delivery of a message of this one', async () => {
  const { agent, clock, update, repeat } = await setUpReports()
  const id = await agent.send('mine')
  await clock.advance(100)
  await update(id, 'failed', 'refused')
  await repeat(id, 'acknowledged')
  expect(agent.delivery(id)?.state).toBe('sent')
})

it('[REL-155] a tab asks once for what other tabs than the leader have told it without an outcome', async () => {
  const { clock, owner, repeat, leaderId } = await setUpReports()
  const asked = () => owner.heard('recall').filter(({ from }) => from !== leaderId)
  const before = asked().length
  await repeat('a', 'acknowledged')
  await repeat('b', 'sent', leaderId)
  await clock.advance(10)
  expect(asked()).toHaveLength(before)
  await repeat('c', 'sent')
  await repeat('d', 'unknown')
  await clock.advance(10)
  expect(asked()).toHaveLength(before + 1)
  expect(asked().at(-1)?.known).toMatchObject({ open: expect.arrayContaining(['b', 'c', 'd']) })
  expect(asked().at(-1)?.known).not.toMatchObject({ open: expect.arrayContaining(['a']) })
  await repeat('e', 'queued')
  await clock.advance(10)
  expect(asked()).toHaveLength(before + 2)
})

it('[REL-155] a tab that has missed something names the last hundred messages that it has', async () => {
  const { clock, agent, owner, leaderId, say, update, words } = await setUpReports()
  const joinedAt = clock.now()
  const known = async () => {
    owner.skip()
    await owner.post({ kind: 'hello', isNew: false })
    return owner.heard('recall').findLast(({ from }) => from !== leaderId)?.known as {
      ids: string[]
      since: number
      open: string[]
    }
  }
  await clock.advance(1_000)
  const own = await agent.send('mine')
  await clock.advance(1_000)
  await say('a')
  await say('b')
  await update('b', 'acknowledged')
  await say('c')
  await update('c', 'unknown')
  const [, answer] = agent.getTranscript().map(({ message }) => message.messageId)
  const first = await known()
  expect([...first.ids].sort()).toEqual([own, answer, 'a', 'b', 'c'].sort())
  expect(first.open.sort()).toEqual(['a', 'c'])
  expect(first.since).toBe(joinedAt)
  // It has joined long before.
  expect(owner.heard('recall').filter(({ known }) => known === undefined)).toEqual([])
  agent.clearTranscript()
  const cleared = await known()
  expect([...cleared.ids].sort()).toEqual([own, answer, 'a', 'b', 'c'].sort())
  expect(cleared.since).toBe(joinedAt)
  // More than it names: what is older than the first one that it names may be known.
  const later = clock.now() + 10_000
  for (let count = 0; count < 150; count++)
    void owner.post({ kind: 'said', message: { ...words, id: `x${count}`, timestamp: later + count } })
  await clock.advance(0)
  const last = await known()
  expect(last.ids.filter(id => id.startsWith('x'))).toHaveLength(100)
  expect(last.ids).not.toContain('x49')
  expect(last.since).toBe(later + 50)
  agent.clearTranscript()
  const missing = await known()
  expect(missing.ids.filter(id => id.startsWith('x'))).toHaveLength(100)
  expect(missing.since).toBe(later + 50)
})

it('[REL-155] a tab that has missed something is told what it does not have, and what became of the rest', async () => {
  const { clock, agent, owner, words, say } = await setUpReports()
  const from = clock.now()
  await clock.advance(100)
  const own = await agent.send('mine')
  await clock.advance(100)
  const agentId = owner.heard('said').at(-1)?.from
  const repeat = (id: string, state: string, timestamp = from, sessionId = agent.getSessionId()) =>
    owner.post({ kind: 'said', message: { ...words, id, timestamp, sessionId }, owner: 'other', state })
  const told = async (known?: object) => {
    const before = owner.heard('said').length
    await owner.post({ kind: 'recall', known: known && { ids: [], since: from + 1_000, open: [], ...known } })
    const messages = owner.heard('said').slice(before)
    return messages.filter(each => each.from === agentId).map(({ message }) => (message as { id: string }).id)
  }
  // Those of the tab that asks it has itself.
  await say('its own', { state: 'sent' })
  await repeat('open', 'unknown')
  await repeat('arrived', 'acknowledged', from, 'of an earlier session')
  await repeat('late', 'acknowledged', from + 1_000)
  await owner.post({
    kind: 'said',
    message: { ...words, id: 'rating', role: 'feedback' },
    owner: 'other',
    state: 'acknowledged',
  })
  expect(await told({})).toEqual(['open', 'late'])
  expect(await told({ since: from })).toEqual([own, 'open', 'arrived', 'late', 'rating'])
  expect(await told({ since: from, ids: [own, 'open', 'late'] })).toEqual(['open', 'arrived', 'rating'])
  expect(await told({ open: ['arrived', 'its own'] })).toEqual(['open', 'arrived', 'late'])
  // The id of another session opens a conversation that the other tab may not know.
  const saidAs = (id: string) => owner.heard('said').findLast(({ message }) => (message as { id: string }).id === id)
  expect(saidAs('open')?.message).toEqual({ ...words, id: 'open', timestamp: from, sessionId: agent.getSessionId() })
  expect(saidAs('arrived')?.message).toEqual({ ...words, id: 'arrived', timestamp: from })
  // A tab that joins is told what no history shows.
  expect(await told()).toEqual(['open', 'rating'])
  // Without their texts, messages can be shown no more, but their outcome is known.
  agent.clearTranscript()
  expect(await told({ since: from })).toEqual(['open'])
  expect(await told({ open: ['late', 'arrived'] })).toEqual(['arrived', 'open', 'late'])
})

it('[SEC-60] what arrives after a sign-out of messages that other tabs have sent before is reported as unknown', async () => {
  const { agent, clock, owner, words } = await setUpReports()
  const updates: unknown[] = []
  agent.on('deliveryUpdate', ({ payload: { id, state, reason } }) => void updates.push([id, state, reason]))
  const post = (message: object) => void owner.post(message)
  const say = (id: string) => post({ kind: 'said', message: { ...words, id } })
  const update = (id: string, state: string) => post({ kind: 'delivery', id, state })
  for (const id of ['queued', 'sent', 'arrived']) say(id)
  post({ kind: 'said', message: { ...words, id: 'of before' }, state: 'sent' })
  for (const id of ['sent', 'arrived', 'of before', 'nothing known']) update(id, 'sent')
  update('arrived', 'acknowledged')
  post({ kind: 'read', messageId: 'queued' })
  // What follows a lost message is not known.
  owner.skip()
  update('queued', 'sent')
  await agent.logout()
  await clock.advance(1_000)
  expect(updates).toEqual([
    ['sent', 'sending', undefined],
    ['sent', 'sent', undefined],
    ['arrived', 'sending', undefined],
    ['arrived', 'sent', undefined],
    ['queued', 'unknown', 'signed_out'],
    ['sent', 'unknown', 'signed_out'],
  ])
  expect(agent.delivery('queued')).toBeUndefined()
})

it('[REL-64] [REL-155] a message of another tab is shown unless a history has shown it, under another id', async () => {
  const { browser, clock, connected, scripted, passUntil } = setUpTabs({ settings })
  const earlier = await connected({ resume: true })
  await earlier.agent.send('Hello')
  await passUntil(() => linesOf(earlier).length === 2, 'the answer')
  const writtenAt = clock.now()
  await clock.advance(1_000)
  earlier.tab.close()
  const tab = await connected({ resume: true }, browser.open(earlier.tab.sessionStorage))
  await passUntil(() => linesOf(tab).length === 2, 'the history')
  const owner = scripted('owner')
  const shown = async (id: string, timestamp: number, state?: string) => {
    const message = { id, persona: 'customer', role: 'human', content: 'Hello', timestamp }
    await owner.post({ kind: 'said', message, state })
    return linesOf(tab).filter(line => line === 'sent Hello').length
  }
  await clock.advance(1_000)
  // Said after the history, it is another one.
  expect(await shown('new', clock.now())).toBe(2)
  expect(await shown('queued', clock.now(), 'queued')).toBe(3)
  expect(await shown('old', writtenAt)).toBe(3)
  // The entry of the history is that of the one before.
  expect(await shown('another old', writtenAt)).toBe(4)
})

it('[REL-64] [REL-155] as a message of which a tab is told that has missed it', async () => {
  const { browser, clock, connected, scripted, passUntil } = setUpTabs({ settings })
  const earlier = await connected({ resume: true })
  await earlier.agent.send('Hello')
  await passUntil(() => linesOf(earlier).length === 2, 'the answer')
  earlier.tab.close()
  const tab = await connected({ resume: true }, browser.open(earlier.tab.sessionStorage))
  await passUntil(() => linesOf(tab).length === 2, 'the history')
  await clock.advance(1_000)
  const message = { id: 'a', persona: 'customer', role: 'human', content: 'Hello', timestamp: clock.now() }
  await scripted('owner').post({ kind: 'said', message, state: 'sent' })
  expect(linesOf(tab)).toHaveLength(2)
  expect(tab.agent.delivery('a')?.state).toBe('sent')
})

it.each([true, false])(
  '[SEC-61] what is answered stays sent where another tab has taken the session, and what that tab has sent settles (%s)',
  async hasSent => {
    const { agent, leader, clock, owner, say, update, words, passUntil, scripted } = await setUpReports()
    const other = scripted('other')
    const otherSays = async (id: string, ...states: string[]) => {
      await other.post({ kind: 'said', message: { ...words, id } })
      for (const state of states) await other.post({ kind: 'delivery', id, state })
    }
    for (const id of ['answered', 'failed']) {
      await say(id)
      await update(id, id === 'failed' ? 'failed' : 'sent')
    }
    await otherSays('answered of another', 'sent')
    await agent.send('hello')
    await passUntil(() => linesOf({ agent }).includes('received You said: hello'), 'an answer')
    await say('sent')
    await update('sent', 'sent')
    await say('queued')
    await otherSays('sent of another', 'sent')
    await otherSays('queued of another')
    const sessionId = String(agent.getSessionId())
    const taker = hasSent ? owner : scripted('taker')
    await taker.post({ kind: 'taken', sessionId, nonce: 1 })
    expect(taker.heard('synced').map(({ nonce }) => nonce)).toEqual([1, 1])
    const states = (tab = agent) =>
      Object.fromEntries(
        ['answered', 'failed', 'sent', 'queued', 'answered of another', 'sent of another', 'queued of another'].map(
          id => [id, `${tab.delivery(id)?.state} ${tab.delivery(id)?.reason}`],
        ),
      )
    const left = hasSent ? 'unknown session_ended' : undefined
    const expected = {
      answered: 'sent undefined',
      failed: 'failed undefined',
      sent: left ?? 'sent undefined',
      queued: left ?? 'queued undefined',
      'answered of another': 'sent undefined',
      'sent of another': 'sent undefined',
      'queued of another': 'queued undefined',
    }
    expect(states()).toEqual(expected)
    expect(states(leader.agent)).toEqual(expected)
    // In the next session, the leader sends what another tab has left.
    await agent.send('again')
    await passUntil(() => linesOf({ agent }).includes('received You said: again'), 'the next answer')
    other.tab.crash()
    await clock.advance(10_000)
    expect(states()['answered of another']).toBe('sent undefined')
    expect(states()['sent of another']).toBe('unknown page_ended')
    expect(states()['queued of another']).toMatch(/^(?:sent|acknowledged) /)
  },
)

it('[REL-64] a tab that is taken for the sender of a message sends it only where that is possible', async () => {
  const { agent, clock, owner, say, update, emulator, passUntil } = await setUpReports()
  const [session] = emulator.world.sessions.values()
  const accepted = () => session?.received.entries().filter(({ message }) => message?.content === 'Hello').length
  await agent.send('mine')
  await clock.advance(100)
  const to = String(owner.heard('said').at(-1)?.from)
  const act = (id: string, action: string) => owner.post({ kind: 'act', id, action }, { to })
  for (const id of ['sent', 'unknown', 'failed'] as const) {
    await say(id)
    for (const state of WAYS[id]) await update(id, state)
  }
  await act('nothing known', 'retry')
  await act('sent', 'retry')
  await act('unknown', 'cancel')
  await clock.advance(100)
  expect(accepted()).toBe(0)
  // They are those of the other tab still.
  await update('sent', 'failed')
  expect(agent.delivery('sent')?.state).toBe('failed')
  await act('unknown', 'retry')
  await passUntil(() => linesOf({ agent }).includes('received You said: Hello'), 'the answer')
  expect(accepted()).toBe(1)
  await act('failed', 'retry')
  await clock.advance(100)
  expect(accepted()).toBe(2)
})

it('[REL-64] its tab repeats the outcome of a message', async () => {
  const { agent, say } = await setUpReports()
  await say('a')
  await say('a', { state: 'unknown', reason: 'closed' })
  expect([agent.delivery('a')?.state, agent.delivery('a')?.reason]).toEqual(['unknown', 'closed'])
})

it('[REL-155] a page that is left tells the others which messages have no outcome, and which of them are questions', async () => {
  const { agent, clock, tab, say, update, scripted } = await setUpReports()
  const other = scripted('other')
  await say('question', { isQuestion: true })
  await say('message')
  await say('arrived')
  await update('arrived', 'acknowledged')
  const own = await agent.send('mine')
  await clock.advance(100)
  const before = other.heard('said').length
  tab.hide()
  await clock.advance(10)
  const told = other.heard('said').slice(before) as unknown as {
    message: { id: string }
    owner?: string
    state: string
    isQuestion?: boolean
  }[]
  expect(told.map(({ message, owner, state, isQuestion }) => [message.id, owner, state, isQuestion])).toEqual([
    ['question', 'owner', 'queued', true],
    ['message', 'owner', 'queued', undefined],
    [own, undefined, 'sent', undefined],
  ])
})

describe('a message that a history has shown before its tab ended', () => {
  /** Its tab has written it over the leader, and the history of a reconnect shows it. */
  const setUpShown = async () => {
    const parts = await setUpReports()
    const { leader, owner, say, update, emulator, clock, words, passUntil } = parts
    await say('a')
    await update('a', 'sent')
    await owner.post({ kind: 'open', socket: 1, sessionId: leader.agent.getSessionId(), isFirst: false })
    await clock.advance(10)
    await owner.post({ kind: 'write', socket: 1, text: JSON.stringify(words) })
    await passUntil(() => linesOf(leader).includes('received You said: Hello'), 'the answer')
    emulator.control.dropSockets()
    await passUntil(() => !leader.agent.isConnected(), 'the end of the connection')
    await passUntil(() => leader.agent.isConnected(), 'the next connection')
    await clock.advance(1_000)
    const [session] = emulator.world.sessions.values()
    const accepted = () => session?.received.entries().filter(({ message }) => message?.content === 'Hello').length
    // Its tab reports that itself.
    expect(leader.agent.delivery('a')?.state).toBe('sent')
    return { ...parts, accepted, state: () => leader.agent.delivery('a')?.state }
  }

  it('[REL-180] is acknowledged when no other history can be loaded, also where its tab repeats what it knows', async () => {
    const { owner, say, emulator, clock, state } = await setUpShown()
    await say('a', { state: 'sent' })
    emulator.faults.add({ kind: 'answer', route: 'GET *', status: 503 })
    owner.tab.crash()
    await clock.advance(10_000)
    expect(state()).toBe('acknowledged')
  })

  it('[REL-64] is sent once more where its tab has repeated it, and ended before it was written', async () => {
    const { owner, update, clock, state, accepted } = await setUpShown()
    await update('a', 'unknown')
    await update('a', 'queued')
    owner.tab.crash()
    await clock.advance(10_000)
    expect(accepted()).toBe(2)
    expect(state()).not.toBe('unknown')
  })
})

it('[REL-64] [REL-155] a leader asks the other tabs before it sends what a tab has left, which may have withdrawn it', async () => {
  const { agent, leader, clock, owner, say, emulator, scripted } = await setUpReports()
  await agent.send('mine')
  await clock.advance(100)
  const to = String(owner.heard('said').at(-1)?.from)
  await say('withdrawn')
  await say('left')
  // The leader does not receive it, and nothing that follows shows the gap.
  await owner.post({ kind: 'delivery', id: 'withdrawn', state: 'cancelled' }, { to })
  const frozen = scripted('frozen')
  await frozen.post({ kind: 'hello', isNew: false })
  owner.tab.crash()
  await clock.advance(1_500)
  const [session] = emulator.world.sessions.values()
  const accepted = () => session?.received.entries().filter(({ message }) => message?.content === 'Hello').length
  expect(leader.agent.delivery('withdrawn')?.state).toBe('cancelled')
  // A tab that does not answer is waited for.
  expect(frozen.heard('sync')).toHaveLength(1)
  expect(accepted()).toBe(0)
  await clock.advance(1_500)
  expect(accepted()).toBe(1)
})

it('[REL-64] with receipts, what an ended tab has got none for is repeated in the same session, except ratings', async () => {
  const { leader, clock, owner, say, update, words, emulator, passUntil } = await setUpReports(CAPABILITIES)
  const rating = { ...words, id: 'rating', role: 'feedback', persona: 'agent' }
  await owner.post({ kind: 'said', message: rating })
  await update('rating', 'sent')
  await say('sent')
  await update('sent', 'sent')
  owner.tab.crash()
  const stateOf = (id: string) => leader.agent.delivery(id)?.state
  await passUntil(() => stateOf('sent') === 'acknowledged', 'the receipt')
  await clock.advance(10_000)
  expect(stateOf('rating')).toBe('unknown')
  const [session] = emulator.world.sessions.values()
  expect(session?.received.entries().filter(({ message }) => message?.content === 'Hello')).toHaveLength(1)
})

it('[REL-180] only the messages of ended tabs settle, and what an ended tab has sent long before at the end of the conversation', async () => {
  const { leader, clock, owner, say, update, words, scripted } = await setUpReports()
  const living = scripted('living')
  await say('old')
  await update('old', 'sent')
  await clock.advance(60_000)
  await say('new')
  await update('new', 'sent')
  for (const id of ['of a living tab', 'queued of a living tab'])
    await living.post({ kind: 'said', message: { ...words, id } })
  await living.post({ kind: 'delivery', id: 'of a living tab', state: 'sent' })
  owner.tab.crash()
  await clock.advance(10_000)
  const states = () =>
    ['old', 'new', 'of a living tab', 'queued of a living tab'].map(id => {
      const { state, reason } = leader.agent.delivery(id) ?? {}
      return [state, reason]
    })
  const left = [
    ['unknown', 'page_ended'],
    ['sent', undefined],
    ['queued', undefined],
  ]
  expect(states()).toEqual([['sent', undefined], ...left])
  const restarting = leader.agent.restartConnection()
  await clock.advance(1_000)
  await restarting
  expect(states()).toEqual([['unknown', 'session_ended'], ...left])
  living.tab.crash()
  await clock.advance(10_000)
  expect(states()[2]).toEqual(['unknown', 'page_ended'])
})

it('[REL-61] a message is the same in each tab', async () => {
  const { agent, leader, clock } = await setUpReports()
  const data = { content: 'Hello', messageData: { order: 7 }, from: 'a', to: 'b' }
  const id = await agent.send({ persona: 'customer', role: 'human', ...data })
  await clock.advance(100)
  const [own, other] = [agent, leader.agent].map(tab =>
    tab.getTranscript().find(({ message }) => message.messageId === id),
  )
  expect(other?.message).toMatchObject({ ...data, sessionId: agent.getSessionId(), timestamp: own?.message.timestamp })
  expect(other?.message.toPayloadString()).toBe(own?.message.toPayloadString())
})
