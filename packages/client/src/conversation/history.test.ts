import { describe, expect, it } from 'vitest'
import { lastSession, passing, payloadsOf, sendInDoubt, setUp } from '../../test/agent-harness.ts'
import { linesOf } from '../../test/outage-harness.ts'
import { answered, said } from '../../test/outbox-harness.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { AiAgentConfig } from '../config.ts'
import type { TranscriptConfig } from '../log/entry.ts'

/**
 * A connected agent of a service that sends a history only when the test says so.
 *
 * @param isSupplied whether the host supplies the session, so that something may have been said in it before
 */
async function setUpHistory({ isSupplied = false, ...config }: Partial<AiAgentConfig> & { isSupplied?: boolean } = {}) {
  const parts = setUp({ settings: { sendHistory: false, heartbeatBeforeReply: false }, reply: () => [] })
  const { clock, emulator, make } = parts
  const withholdTranscript = () =>
    emulator.faults.add({ kind: 'answer', route: 'GET */conversations/sessions/*', status: 501 })
  withholdTranscript()
  if (isSupplied) {
    const { agent } = make()
    await agent.initialize()
    await passing(clock, agent.destroy())
  }
  const { agent, told } = make({ ...config, ...(isSupplied && { sessionId: lastSession(emulator) }) })
  const updated = new Set<string>()
  agent.on('deliveryUpdate', ({ payload }) => void updated.add(payload.id))
  await agent.initialize()
  await agent.connect()
  const reconnect = async () => {
    await clock.advance(0)
    await passing(clock, agent.connect())
  }
  return {
    ...parts,
    agent,
    told,
    /** Ids of all messages of which a delivery was reported. */
    updated,
    /** The service sends the history of the session. */
    show: async (...history: object[]) => {
      const messageData = { chat_history: history }
      emulator.control.pushFrame(
        lastSession(emulator),
        JSON.stringify({ persona: 'system', role: 'chat history', messageData }),
      )
      await clock.advance(0)
    },
    /** Loses a message with its connection, and opens another one. */
    lose: async (text: string) => {
      const id = await sendInDoubt(agent, emulator, text)
      withholdTranscript()
      await reconnect()
      return id
    },
    /** The calls for the transcript are not answered any more. */
    hang: () => {
      emulator.faults.lift()
      emulator.faults.add({ kind: 'hang-request', route: 'GET */conversations/sessions/*' })
    },
    /** Loses the connection, and opens another one. */
    reopen: async () => {
      emulator.control.dropSockets()
      await reconnect()
    },
  }
}

describe('a message in doubt', () => {
  it('[REL-81] is not acknowledged by the same words before the last message of the agent, where that was said twice', async () => {
    const { agent, show, lose } = await setUpHistory()
    const history = [answered('Sure?'), said('yes'), answered('Sure?')]
    await show(...history)
    const id = await lose('yes')
    await show(...history)
    expect(agent.delivery(id)).toMatchObject({ state: 'unknown', reason: 'connection_lost' })
    await agent.destroy()
  })

  it('[REL-81] [REL-96] is neither acknowledged by words that may be earlier ones, nor shown beside them', async () => {
    const { agent, told, show, lose } = await setUpHistory({ isSupplied: true })
    const id = await lose('yes')
    await show(said('yes'))
    expect([linesOf(agent), agent.delivery(id)?.state]).toEqual([['sent: yes'], 'unknown'])
    expect(payloadsOf(told, 'messagesRecovered')).toEqual([])
    await agent.destroy()
  })

  it('[REL-83] is acknowledged by the history of a later connection once it was unknown', async () => {
    const { agent, show, lose, reopen } = await setUpHistory()
    const id = await lose('one')
    await show(answered('Hello'))
    expect(agent.delivery(id)?.state).toBe('unknown')
    await reopen()
    await show(answered('Hello'), said('one'))
    expect([linesOf(agent), agent.delivery(id)?.state]).toEqual([['received: Hello', 'sent: one'], 'acknowledged'])
    await agent.destroy()
  })
})

describe('a history that arrives late', () => {
  it('[REL-82] [REL-83] acknowledges what is unknown since none came for 5 s, and adds the rest', async () => {
    const { agent, clock, show, lose } = await setUpHistory()
    const id = await lose('one')
    await clock.advance(5_000)
    expect(agent.delivery(id)?.state).toBe('unknown')
    await show(said('one'), answered('Fine'))
    expect([linesOf(agent), agent.delivery(id)?.state]).toEqual([['sent: one', 'received: Fine'], 'acknowledged'])
    await agent.destroy()
  })
})

describe('a message in doubt that waits for a history', () => {
  it.each([-3_600_000, 3_600_000])(
    '[REL-82] is unknown after 5 s although the wall clock jumps by %i ms',
    async jump => {
      const { agent, clock, lose, hang } = await setUpHistory()
      const id = await lose('one')
      hang()
      await clock.advance(1_000)
      clock.shiftWallClock(jump)
      await clock.advance(3_900)
      expect(agent.delivery(id)?.state).toBe('sent')
      await clock.advance(200)
      expect(agent.delivery(id)).toMatchObject({ state: 'unknown', reason: 'connection_lost' })
      await agent.destroy()
    },
  )

  it('[REL-82] is unknown 5 s after the last of several openings, each of which is lost', async () => {
    const { agent, clock, lose, reopen, hang } = await setUpHistory()
    const id = await lose('one')
    hang()
    for (let cut = 0; cut < 3; cut++) {
      await clock.advance(4_000)
      await reopen()
    }
    await clock.advance(4_000)
    expect(agent.delivery(id)?.state).toBe('sent')
    await clock.advance(1_000)
    expect(agent.delivery(id)?.state).toBe('unknown')
    await agent.destroy()
  })

  it.each<[string, (agent: AiAgent) => Promise<unknown>, string]>([
    ['logout()', agent => agent.logout(), 'signed_out'],
    ['restartConnection()', agent => agent.restartConnection(), 'session_ended'],
    ['disconnect()', agent => agent.disconnect(), 'session_ended'],
  ])('[REL-83] is unknown at once with %s, once, and leaves no timer', async (_name, leave, reason) => {
    const { agent, clock, lose, hang } = await setUpHistory()
    const id = await lose('one')
    hang()
    const updates: string[] = []
    agent.on(
      'deliveryUpdate',
      ({ payload }) => void updates.push(`${payload.id === id} ${payload.state} ${payload.reason}`),
    )
    await passing(clock, leave(agent))
    await clock.advance(20_000)
    expect(updates).toEqual([`true unknown ${reason}`])
    await agent.destroy()
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('delivery: at-least-once without a history and without a transcript', () => {
  it('[REL-84] leaves a message in doubt sent for 15 s, and only then sends it twice', async () => {
    const { agent, clock, emulator, lose } = await setUpHistory({ delivery: 'at-least-once' })
    const id = await lose('one')
    await clock.advance(14_000)
    const next = await agent.send('two')
    expect([agent.delivery(id)?.state, agent.delivery(next)?.state]).toEqual(['sent', 'queued'])
    const accepted = () =>
      emulator.control.record(lastSession(emulator))?.accepted.map(({ message }) => message.content)
    expect(accepted()).not.toContain('one')
    await clock.advance(1_000)
    expect(accepted()?.slice(-2)).toEqual(['one', 'two'])
    await agent.destroy()
  })

  it('[REL-84] sends it at once into a new session, whose history cannot show it', async () => {
    const { agent, clock, emulator } = await setUpHistory({ delivery: 'at-least-once' })
    await sendInDoubt(agent, emulator, 'one')
    emulator.control.forgetSession(lastSession(emulator))
    await passing(
      clock,
      agent.connect().catch(() => {}),
    )
    await passing(clock, agent.connect())
    await clock.advance(100)
    expect(emulator.control.record(lastSession(emulator))?.accepted.map(({ message }) => message.content)).toEqual([
      'one',
    ])
    await agent.destroy()
  })

  it('[REL-84] sends nothing twice that a late history shows', async () => {
    const { agent, clock, emulator, show, lose } = await setUpHistory({ delivery: 'at-least-once' })
    const id = await lose('one')
    await clock.advance(14_000)
    await show(said('one'))
    await clock.advance(60_000)
    expect(agent.delivery(id)?.state).toBe('acknowledged')
    const accepted = emulator.control.record(lastSession(emulator))?.accepted ?? []
    expect(accepted.filter(({ message }) => message.content === 'one')).toEqual([])
    await agent.destroy()
  })
})

describe('messages with the same id', () => {
  it('[REL-18] [REL-96] of the service are shown, each once, however often a history has them', async () => {
    const { agent, show, reopen } = await setUpHistory()
    const history = ['one', 'two', 'two'].map(text => answered(text, { messageId: 'm-1', timestamp: 1 }))
    const lines = ['received: one', 'received: two', 'received: two']
    await reopen()
    await show(...history)
    expect(linesOf(agent)).toEqual(lines)
    await reopen()
    await show(...history)
    expect(linesOf(agent)).toEqual(lines)
    await agent.destroy()
  })

  it('[REL-80] of the host are all sent, and the delivery is that of the last one', async () => {
    const { agent, show, lose } = await setUpHistory()
    await agent.send('one', { id: 'same' })
    await agent.send('two', { id: 'same' })
    await lose('three')
    await show(said('one'))
    expect(agent.delivery('same')?.message.content).toBe('two')
    expect(agent.delivery('same')?.state).toBe('unknown')
    await show(said('one'), said('two'))
    expect([linesOf(agent), agent.delivery('same')?.state]).toEqual([
      ['sent: one', 'sent: two', 'sent: three'],
      'acknowledged',
    ])
    await agent.destroy()
  })
})

describe('a history that arrives twice', () => {
  it('[REL-96] adds, reports and acknowledges each message once', async () => {
    const { agent, told, show, lose, reopen, updated } = await setUpHistory({ isSupplied: true })
    await show(answered('Hello', { messageId: 'm-1', timestamp: 1 }))
    const id = await lose('one')
    const history = [
      answered('Hello', { messageId: 'm-1', timestamp: 1 }),
      said('one', { timestamp: 2 }),
      said('from the phone', { timestamp: 3 }),
      answered('Fine', { messageId: 'm-2', timestamp: 4 }),
    ]
    await show(...history)
    await show(...history)
    await reopen()
    await show(...history)
    const lines = ['sent: one', 'sent: from the phone', 'received: Fine']
    expect(linesOf(agent)).toEqual(lines)
    expect(payloadsOf(told, 'messagesRecovered').map(({ messages }) => messages.length)).toEqual([2])
    expect(payloadsOf(told, 'agentMessage').map(({ messageId }) => messageId)).toEqual(['m-2'])
    expect([agent.delivery(id)?.state, [...updated]]).toEqual(['acknowledged', [id]])
    await agent.destroy()
  })
})

describe('the history of the first opening of a session of the host', () => {
  it('[REL-96] is not recovered, then or by a later history', async () => {
    const { agent, told, clock, show, reopen } = await setUpHistory({ isSupplied: true })
    const welcome = answered('Welcome', { messageId: 'w', timestamp: clock.now() + 1 })
    await show(welcome)
    await reopen()
    await show(welcome)
    expect([linesOf(agent), payloadsOf(told, 'messagesRecovered')]).toEqual([[], []])
    expect(payloadsOf(told, 'chatHistory')).toHaveLength(2)
    await agent.destroy()
  })

  it('[REL-96] tells what is new in a later one, wherever it is and without times', async () => {
    const { agent, told, show, reopen } = await setUpHistory({ isSupplied: true })
    await show(answered('Welcome', { messageId: 'w' }))
    await reopen()
    await show(
      said('earlier'),
      answered('Welcome', { messageId: 'w' }),
      answered('later', { messageId: 'l' }),
      // No handler is for this kind.
      { persona: 'metadata', role: 'note', content: 'odd' },
    )
    expect(linesOf(agent)).toEqual(['sent: earlier', 'received: later', 'received: odd'])
    expect(payloadsOf(told, 'messagesRecovered')).toHaveLength(1)
    await agent.destroy()
  })
})

describe('a message of another client, or of an earlier page', () => {
  it('[REL-96] [REL-80] is an entry without a delivery', async () => {
    const { agent, show, reopen, updated } = await setUpHistory({ isSupplied: true })
    await show(answered('Hello', { messageId: 'm-1', timestamp: 1 }))
    await reopen()
    await show(
      answered('Hello', { messageId: 'm-1', timestamp: 1 }),
      said('from the phone', { messageId: 'p-1', timestamp: 2 }),
    )
    const [entry] = agent.getTranscript({ direction: 'sent' })
    expect(entry).toMatchObject({ recovered: true, message: { content: 'from the phone', messageId: 'p-1' } })
    expect([agent.delivery('p-1'), agent.delivery(entry?.id ?? ''), updated.size]).toEqual([undefined, undefined, 0])
    await agent.destroy()
  })
})

describe('a message that the transcript does not have', () => {
  it.each<[string, TranscriptConfig, string[]]>([
    ['nothing is stored', { enabled: false }, []],
    ['its persona is excluded', { excludePersonas: ['agent'] }, ['sent: one']],
    ['its role is excluded', { excludeRoles: ['x'] }, ['sent: one']],
    ['its kind is not included', { includeMessageTypes: ['customer_message'] }, ['sent: one']],
  ])('[CFG-08] [REL-96] is recognized in a history where %s', async (_case, transcriptConfig, lines) => {
    const { agent, told, emulator, clock, show, reopen } = await setUpHistory({ transcriptConfig })
    await agent.send('one', { id: 'one' })
    await clock.advance(0)
    emulator.control.pushFrame(lastSession(emulator), answered('Fine', { messageId: 'm-1', timestamp: 1 }) as never)
    await clock.advance(0)
    await reopen()
    await show(said('one'), answered('Fine', { messageId: 'm-1', timestamp: 1 }))
    expect([linesOf(agent), agent.delivery('one')?.state]).toEqual([lines, 'acknowledged'])
    expect([payloadsOf(told, 'agentMessage').length, payloadsOf(told, 'messagesRecovered')]).toEqual([1, []])
    await agent.destroy()
  })
  it.each<[string, TranscriptConfig]>([
    ['no entry is kept', { maxEntries: 0 }],
    ['one entry is kept, which is that of the history', { maxEntries: 1 }],
    ['it was too long to be kept', { maxBytes: 1 }],
  ])('[CFG-08] [REL-96] [REL-16] is not recovered after it was trimmed: %s', async (_case, transcriptConfig) => {
    const { agent, told, emulator, clock, show, reopen } = await setUpHistory({ transcriptConfig })
    await agent.send('one', { id: 'one' })
    await clock.advance(1_000)
    const fine = answered('Fine', { messageId: 'm-1', timestamp: clock.now() })
    emulator.control.pushFrame(lastSession(emulator), fine as never)
    await clock.advance(1_000)
    await reopen()
    await show(said('one'), fine)
    await show(said('one'), fine)
    expect([linesOf(agent), agent.delivery('one')?.state]).toEqual([[], 'acknowledged'])
    expect([payloadsOf(told, 'agentMessage').length, payloadsOf(told, 'messagesRecovered')]).toEqual([1, []])
    await agent.destroy()
  })
})

describe('a history that shows nothing of what this page has of a session of the host', () => {
  const received = 'received: Hello'
  it.each<[string, TranscriptConfig, string[]]>([
    ['the last entry is a frame without a time that follows the outage', {}, ['received: Known', received]],
    ['nothing is stored', { enabled: false }, []],
    ['one entry is kept', { maxEntries: 1 }, []],
  ])(
    '[REL-96] adds what is later than the last message before the outage: %s',
    async (_case, transcriptConfig, lines) => {
      const { agent, told, emulator, clock, show } = await setUpHistory({ isSupplied: true, transcriptConfig })
      const push = (frame: object) => emulator.control.pushFrame(lastSession(emulator), frame as never)
      await clock.advance(1_000)
      push(answered('Known', { messageId: 'm-2', timestamp: clock.now() }))
      await clock.advance(1_000)
      emulator.control.dropSockets()
      await clock.advance(100)
      const hello = answered('Hello', { messageId: 'm-3', timestamp: clock.now() })
      await clock.advance(100)
      await passing(clock, agent.connect())
      push({ persona: 'system', role: 'context validation' })
      await show(answered('Before', { messageId: 'm-1', timestamp: clock.now() - 2_000 }), hello)
      const recovered = payloadsOf(told, 'messagesRecovered').map(({ messages }) => messages.map(each => each.content))
      expect([linesOf(agent), recovered]).toEqual([lines, [['Hello']]])
      await agent.destroy()
    },
  )

  it('[REL-96] adds what is later than the opening where nothing was heard', async () => {
    const { agent, told, emulator, clock, show } = await setUpHistory({ isSupplied: true })
    await clock.advance(1_000)
    emulator.control.dropSockets()
    await clock.advance(100)
    const before = answered('Before', { messageId: 'm-1', timestamp: clock.now() - 60_000 })
    const hello = answered('Hello', { messageId: 'm-2', timestamp: clock.now() })
    await clock.advance(100)
    await passing(clock, agent.connect())
    await show(before, hello)
    expect([linesOf(agent), payloadsOf(told, 'messagesRecovered').length]).toEqual([[received], 1])
    await agent.destroy()
  })
})
