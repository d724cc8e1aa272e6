import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { lastSession, passing, payloadsOf, setUp, type ToldEvent } from '../../test/agent-harness.ts'
import { setUpTab } from '../../test/resume-harness.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { TranscriptConfig } from './entry.ts'

const MIB = 1024 * 1024

/** A connected agent, and a function that lets the service send a message to it. */
async function connected(transcriptConfig: TranscriptConfig = {}) {
  const all = setUp()
  const { agent, told } = all.make({ transcriptConfig })
  await agent.initialize()
  await agent.connect()
  const session = lastSession(all.emulator)
  const push = (content: string, messageData?: Record<string, unknown>) =>
    all.emulator.control.pushFrame(session, {
      messageId: `m-${content.slice(0, 8)}`,
      persona: 'agent',
      role: 'customer support agent',
      content,
      ...(messageData && { messageData }),
    })
  const heard = (count: number) =>
    eventually(() => payloadsOf(told, 'agentMessage').length >= count, `${count} messages`)
  return { ...all, agent, told, push, heard }
}

/** Entries that the events of the transcript leave over, for a host that keeps its own list. */
const countByEvents = (told: readonly ToldEvent[]) =>
  payloadsOf(told, 'transcriptUpdate').length -
  payloadsOf(told, 'transcriptTrimmed').reduce((sum, { removed }) => sum + removed, 0)

describe('the limits of the transcript', () => {
  it('[REL-16] keeps the newest 5,000 entries by default, and reports each removal after the update', async () => {
    const { agent, told, push, heard } = await connected()
    for (let n = 0; n < 5_003; n++) push(`n${n}`)
    await heard(5_003)
    const entries = agent.getTranscript()
    expect([entries.length, agent.getTranscriptSize()]).toEqual([5_000, 5_000])
    expect([entries[0]?.message.content, entries.at(-1)?.message.content]).toEqual(['n3', 'n5002'])
    expect(payloadsOf(told, 'transcriptTrimmed')).toEqual([{ removed: 1 }, { removed: 1 }, { removed: 1 }])
    const names = told.map(({ name }) => name).filter(name => name.startsWith('transcript'))
    expect(names.slice(-2)).toEqual(['transcriptUpdate', 'transcriptTrimmed'])
  })

  it('[REL-16] keeps at most 8 MiB of frames by default, message data included', async () => {
    const { agent, told, push, heard } = await connected()
    const filling = 'x'.repeat(3 * MIB)
    push('one', { filling })
    push('two', { filling })
    await heard(2)
    expect([agent.getTranscriptSize(), payloadsOf(told, 'transcriptTrimmed')]).toEqual([2, []])
    push(`three${filling}`)
    await heard(3)
    expect(agent.getTranscript().map(({ message }) => message.content?.slice(0, 5))).toEqual(['two', 'three'])
    expect(payloadsOf(told, 'transcriptTrimmed')).toEqual([{ removed: 1 }])
  })

  it('[REL-16] counts sent messages too, and drops a message that alone exceeds the limit', async () => {
    const { agent, told } = setUp().make({ transcriptConfig: { maxBytes: 200 } })
    await agent.initialize()
    await agent.send('a'.repeat(60))
    await agent.send({ content: 'b', messageData: { filling: 'y'.repeat(80) } })
    expect(agent.getTranscriptSize()).toBe(1)
    await agent.send('c'.repeat(300))
    expect(agent.getTranscript()).toEqual([])
    expect(payloadsOf(told, 'transcriptTrimmed')).toEqual([{ removed: 1 }, { removed: 2 }])
    await agent.send('short')
    expect(agent.getTranscript().map(({ message }) => message.content)).toEqual(['short'])
    expect(countByEvents(told)).toBe(1)
  })

  it('[REL-16] has no limit with Infinity', async () => {
    const { agent, told, push, heard } = await connected({
      maxEntries: Number.POSITIVE_INFINITY,
      maxBytes: Number.POSITIVE_INFINITY,
    })
    for (let n = 0; n < 5_002; n++) push(`n${n}`)
    push('x'.repeat(5 * MIB))
    push('y'.repeat(5 * MIB))
    await heard(5_004)
    expect([agent.getTranscriptSize(), payloadsOf(told, 'transcriptTrimmed')]).toEqual([5_004, []])
  })

  it('[REL-16] applies to a restored transcript', async () => {
    const { load, talkAndLeave } = setUpTab()
    await talkAndLeave('one', 'two', 'three')
    const { agent, told } = load({ transcriptConfig: { maxEntries: 2 } })
    await agent.initialize()
    expect(agent.getTranscript().map(({ message }) => message.content)).toEqual(['three', 'You said: three'])
    expect(payloadsOf(told, 'transcriptRestored')).toEqual([{ entries: agent.getTranscript() }])
    expect(payloadsOf(told, 'transcriptTrimmed')).toEqual([{ removed: 4 }])
    await agent.destroy()
    const small = load({ transcriptConfig: { maxBytes: 250 } })
    await small.agent.initialize()
    expect(small.agent.getTranscriptSize()).toBeLessThan(6)
    expect(small.agent.getTranscript().at(-1)?.message.content).toBe('You said: three')
  })
})

describe('messages that the client writes by itself', () => {
  const sent = (agent: AiAgent) => agent.getTranscript({ direction: 'sent' }).map(({ message }) => message)

  it('[FLOW-24] has the graceful disconnect of disconnect(), once, with its event', async () => {
    const { agent, told, clock, emulator } = await connected()
    await passing(clock, agent.disconnect())
    await passing(clock, agent.disconnect())
    const [goodbye, ...rest] = sent(agent)
    expect(rest).toEqual([])
    expect(goodbye).toMatchObject({
      persona: 'system',
      role: 'graceful disconnect',
      from: 'customer',
      messageId: expect.any(String),
      sessionId: lastSession(emulator),
      agentId: 'help',
    })
    expect(payloadsOf(told, 'transcriptUpdate').map(({ message }) => message)).toEqual([goodbye])
  })

  it.each<[string, TranscriptConfig, number]>([
    ['excludeRoles', { excludeRoles: ['graceful disconnect'] }, 0],
    ['includeMessageTypes', { includeMessageTypes: ['disconnect_message'] }, 1],
    ['other includeMessageTypes', { includeMessageTypes: ['customer_message'] }, 0],
  ])('[FLOW-24] keeps to %s for the graceful disconnect', async (_, config, count) => {
    const { agent, clock } = await connected(config)
    await passing(clock, agent.disconnect())
    expect(agent.getTranscriptSize()).toBe(count)
  })

  it('[FLOW-24] has no graceful disconnect that was not sent', async () => {
    const { agent, clock } = await connected()
    await passing(clock, agent.disconnect({ skipGracefulDisconnect: true }))
    expect(sent(agent)).toEqual([])
  })

  it('[FLOW-24] has the context that goes to a session of the host', async () => {
    const { agent, clock, emulator } = await connected()
    const sessionId = lastSession(emulator)
    await agent.setContext({ plan: 'gold' })
    await passing(clock, agent.restartConnection({ sessionId }))
    expect(sent(agent)).toEqual([
      expect.objectContaining({
        role: 'context',
        sessionId,
        messageData: { context: expect.objectContaining({ plan: 'gold' }) },
      }),
    ])
  })

  it('[FLOW-24] [SEC-15] holds nothing of the goodbye of a user who signs out', async () => {
    const { agent, told, clock } = await connected()
    await passing(clock, agent.logout())
    expect([agent.getTranscriptSize(), payloadsOf(told, 'transcriptUpdate')]).toEqual([0, []])
  })
})

describe('deeply nested message data', () => {
  const nested = (depth: number): string => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
  const frame = (depth: number) =>
    `{"persona":"agent","role":"r","content":"depth ${depth}","messageData":${nested(depth)}}`

  it('[REL-17] is omitted from the entry beyond 100 levels, so that the transcript can be converted to JSON', async () => {
    const { agent, emulator, told, heard } = await connected()
    for (const depth of [100, 101, 50_000]) emulator.control.pushFrame(lastSession(emulator), frame(depth))
    await heard(3)
    const rows = agent.getTranscriptAsJSON()
    expect(rows.map(({ content, messageData }) => [content, messageData !== undefined])).toEqual([
      ['depth 100', true],
      ['depth 101', false],
      ['depth 50000', false],
    ])
    expect(JSON.stringify(rows)).toContain('depth 50000')
    expect(payloadsOf(told, 'transcriptUpdate').map(({ message }) => message.messageData === undefined)).toEqual([
      false,
      true,
      true,
    ])
  })

  it('[REL-17] of the host is sent whole, and also omitted from the entry', async () => {
    const { agent, emulator } = await connected()
    const messageData = JSON.parse(nested(200)) as Record<string, unknown>
    await agent.send({ content: 'deep', messageData })
    await eventually(() => emulator.control.frames(lastSession(emulator)).length)
    expect(emulator.control.frames(lastSession(emulator))[0]?.message?.messageData).toEqual(messageData)
    expect(agent.getTranscript()[0]?.message).toMatchObject({ content: 'deep', messageData: undefined })
  })
})

describe('ids of entries', () => {
  const idsOf = (agent: AiAgent) => agent.getTranscript().map(({ id }) => id)

  it('[REL-18] are unique even if the service reuses message ids, and stay the same', async () => {
    const { agent, told, push, heard } = await connected()
    for (const content of ['one', 'uno', 'two']) push(content)
    await heard(3)
    await agent.send('mine', { id: 'm-one' })
    const ids = idsOf(agent)
    expect(new Set(ids).size).toBe(4)
    push('three')
    await heard(4)
    expect(idsOf(agent).slice(0, 4)).toEqual(ids)
    expect(
      payloadsOf(told, 'transcriptUpdate')
        .slice(0, 4)
        .map(({ id }) => id),
    ).toEqual(ids)
  })

  it('[REL-18] of restored messages are the same after each reload, and each message has a message id', async () => {
    const { load, talkAndLeave, emulator } = setUpTab()
    const session = await talkAndLeave('one', 'one')
    for (const entry of emulator.world.sessions.get(session)?.history.entries() ?? [])
      if (entry.persona === 'agent') Object.assign(entry, { messageId: 'm-1' })
    const ids: string[][] = []
    for (let reload = 0; reload < 2; reload++) {
      const { agent } = load()
      await agent.initialize()
      expect(agent.getTranscript().filter(({ message }) => message.messageId === undefined)).toEqual([])
      ids.push(idsOf(agent))
      await agent.destroy()
    }
    expect(new Set(ids[0]).size).toBe(4)
    expect(ids[1]).toEqual(ids[0])
  })
})
