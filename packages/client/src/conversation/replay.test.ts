import { CHAT_QUERY } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { lastSession, namesOf, passing, payloadsOf } from '../../test/agent-harness.ts'
import { exchange, linesOf, SETTLED_MS, setUpOutage } from '../../test/outage-harness.ts'
import type { AiAgentConfig } from '../config.ts'

/** A connected agent whose service numbers its frames and repeats what was missed. */
async function setUpResume(settings: Record<string, unknown> = {}, config: Partial<AiAgentConfig> = {}) {
  const parts = await setUpOutage({ capabilities: ['receipts', 'resume'], ...settings }, () => config)
  /** The numbers that the openings of chats named. */
  const numbers = () =>
    parts.emulator.control
      .requests()
      .filter(({ status }) => status === 101)
      .map(({ query }) => query[CHAT_QUERY.LAST_SEQ])
  /** Sends a frame as it is, without a number. */
  const push = (frame: object) => void parts.emulator.faults.add({ kind: 'push', frame: JSON.stringify(frame) })
  /** Loses the connection, and opens another one, over which nothing of the service has arrived yet. */
  const reopenInSilence = async () => {
    parts.emulator.control.dropSockets()
    await parts.clock.advance(0)
    parts.emulator.faults.add({ kind: 'lose-frames', direction: 'to-client' })
    await passing(parts.clock, parts.agent.connect())
    parts.emulator.faults.lift()
  }
  return { ...parts, numbers, push, reopenInSilence }
}

/** What the agent says of a question that it was asked. */
const replyTo = (text: string, more: object) => ({ persona: 'agent', role: 'r', content: `You said: ${text}`, ...more })

describe('a service that repeats what was missed', () => {
  it('[REL-99] is told the last number, and its replay is recovered once', async () => {
    const { agent, told, clock, emulator, sendAndCut, numbers, printed } = await setUpResume()
    await agent.send('zero')
    await clock.advance(1_000)
    await sendAndCut('one')
    told.length = 0
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(exchange('zero', 'one'))
    expect(payloadsOf(told, 'agentMessage')).toMatchObject([{ recovered: true, message: { content: 'You said: one' } }])
    expect(payloadsOf(told, 'transcriptUpdate').at(-1)).toMatchObject({ recovered: true })
    expect(payloadsOf(told, 'messagesRecovered')).toMatchObject([
      { source: 'resume', messages: [{ content: 'You said: one' }] },
    ])
    expect(namesOf(told)).not.toContain('chatHistory')
    await agent.send('two')
    await clock.advance(1_000)
    expect(payloadsOf(told, 'agentMessage').at(-1)).not.toHaveProperty('recovered')
    expect(numbers()).toEqual([undefined, expect.stringMatching(/^\d+$/)])
    expect(emulator.control.requests().filter(({ path }) => path.includes('/conversations/'))).toEqual([])
    expect(printed.flat().filter(text => String(text).includes('out of order'))).toEqual([])
    await agent.destroy()
    expect(clock.pendingTimers).toBe(0)
  })

  it('[REL-99] is told 0 where nothing was processed, so that the first answer is not lost', async () => {
    const { agent, clock, sendAndCut, numbers } = await setUpResume()
    await sendAndCut('one')
    await clock.advance(SETTLED_MS)
    expect(numbers()).toEqual([undefined, '0'])
    expect(linesOf(agent)).toEqual(exchange('one'))
    await agent.destroy()
  })

  it('[REL-99] is told 0 after a history that is empty', async () => {
    const { agent, clock, push, sendAndCut, numbers } = await setUpResume()
    push({ persona: 'system', role: 'chat history', messageData: { chat_history: [] } })
    await sendAndCut('one')
    await clock.advance(SETTLED_MS)
    expect(numbers()).toEqual([undefined, '0'])
    expect(linesOf(agent)).toEqual(exchange('one'))
    await agent.destroy()
  })

  it('[REL-99] is not assumed: elsewhere its frames and its numbers are ordinary', async () => {
    const { agent, clock, emulator } = await setUpResume({ capabilities: [] })
    const push = (frame: object) => emulator.control.pushFrame(lastSession(emulator), JSON.stringify(frame))
    push({ persona: 'metadata', role: 'resumed', content: 'as text', messageData: { complete: true } })
    push({ persona: 'agent', role: 'x', seq: 1, content: 'twice' })
    push({ persona: 'agent', role: 'x', seq: 1, content: 'twice' })
    await clock.advance(100)
    expect(linesOf(agent)).toEqual(['as text', 'twice', 'twice'].map(text => `received: ${text}`))
    await agent.destroy()
  })

  it('[REL-99] concerns its own frames only: those of the agent and errors of the service are ordinary', async () => {
    const { agent, told, clock, push } = await setUpResume()
    for (const role of ['pong', 'resumed']) push({ persona: 'agent', role, content: role })
    push({ persona: 'metadata', role: 'error', content: 'Too much.' })
    // Nothing is replayed at present.
    push({ persona: 'metadata', role: 'resumed', messageData: { complete: true } })
    await clock.advance(0)
    expect(linesOf(agent).slice(0, 2)).toEqual(['received: pong', 'received: resumed'])
    expect(payloadsOf(told, 'errorMessage')).toHaveLength(1)
    expect(payloadsOf(told, 'error')).toEqual([])
    await agent.destroy()
  })

  it('[REL-99] numbers frames by the last one that has a number', async () => {
    const { agent, clock, emulator, push, numbers } = await setUpResume()
    await agent.send('one')
    await clock.advance(1_000)
    push({ persona: 'system', role: 'heartbeat' })
    await clock.advance(0)
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    expect(numbers()).toEqual([undefined, '1'])
    await agent.destroy()
  })

  it('[REL-99] [REL-107] shows different frames with the same number, with one warning, and the same frame once', async () => {
    const { agent, clock, push, printed } = await setUpResume()
    push(replyTo('one', { seq: 7, messageId: 'a' }))
    push(replyTo('one', { seq: 7, messageId: 'b' }))
    push(replyTo('one', { seq: 7, messageId: 'b' }))
    push(replyTo('two', { seq: 8 }))
    push(replyTo('two', { seq: 8 }))
    push(replyTo('three', { seq: 8 }))
    await clock.advance(0)
    const received = ['one', 'one', 'two', 'three'].map(text => `received: You said: ${text}`)
    expect(linesOf(agent)).toEqual(received)
    const warnings = printed.filter(parts => parts.some(text => String(text).includes('out of order')))
    expect(warnings).toEqual([[expect.any(String), { last: 7, seq: 7 }]])
    await agent.destroy()
  })

  it('[REL-99] recognizes the last 1,000 frames by their numbers', async () => {
    const { agent, clock, push } = await setUpResume({}, { transcriptConfig: { maxEntries: 2_000 } })
    for (let seq = 1; seq <= 1_001; seq++) push(replyTo(String(seq), { seq, messageId: undefined }))
    for (const seq of [2, 1]) push(replyTo(String(seq), { seq, messageId: undefined }))
    await clock.advance(0)
    expect([agent.getTranscriptSize(), linesOf(agent).at(-1)]).toEqual([1_002, 'received: You said: 1'])
    await agent.destroy()
  })

  it.each<[string, object | string | undefined]>([
    ['sends a history instead of it', undefined],
    ['says that it is not complete', { complete: false }],
    ['does not say whether it is complete', {}],
    ['says nothing of it', { persona: 'metadata' }],
    ['never says that it has repeated everything', 'nothing'],
  ])('[REL-99] reads the history where the service %s', async (_case, messageData) => {
    const { agent, told, clock, emulator, push, reopenInSilence, numbers } = await setUpResume()
    await agent.send('one')
    await clock.advance(1_000)
    emulator.world.sessions
      .get(lastSession(emulator))
      ?.history.add({ ...replyTo('two', { messageId: 'm-2', timestamp: clock.now() }) } as never)
    await reopenInSilence()
    if (typeof messageData === 'string') await clock.advance(5_000)
    else if (messageData && 'persona' in messageData) push({ persona: 'metadata', role: 'resumed' })
    else if (messageData) push({ persona: 'metadata', role: 'resumed', messageData })
    else
      push({
        persona: 'system',
        role: 'chat history',
        messageData: { chat_history: [replyTo('two', { messageId: 'm-2', timestamp: clock.now() })] },
      })
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual([...exchange('one'), 'received: You said: two'])
    const source = messageData ? 'rest' : 'history'
    expect(payloadsOf(told, 'messagesRecovered')).toMatchObject([{ source, messages: [{ messageId: 'm-2' }] }])
    // The elements had no numbers, so that none is known.
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    expect(numbers().at(-1)).toBeUndefined()
    await agent.destroy()
  })

  it('[REL-99] shows a message once that a slow replay repeats after the history has shown it', async () => {
    const { agent, told, clock, emulator, push, reopenInSilence } = await setUpResume()
    await agent.send('one')
    await clock.advance(1_000)
    const two = replyTo('two', { messageId: 'm-2', timestamp: clock.now() })
    emulator.world.sessions.get(lastSession(emulator))?.history.add({ ...two } as never)
    await reopenInSilence()
    await clock.advance(SETTLED_MS)
    push({ ...two, seq: 3 })
    push({ persona: 'metadata', role: 'resumed', messageData: { complete: true } })
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual([...exchange('one'), 'received: You said: two'])
    expect(payloadsOf(told, 'messagesRecovered')).toHaveLength(1)
    await agent.destroy()
  })

  it('[REL-99] goes on from the highest number of a history, whatever their order', async () => {
    const { agent, clock, emulator, push, reopenInSilence, numbers } = await setUpResume()
    await reopenInSilence()
    const chat_history = [
      replyTo('two', { messageId: 'm-2', seq: 9 }),
      replyTo('one', { messageId: 'm-1', seq: 4 }),
      replyTo('zero', { messageId: 'm-0' }),
    ]
    push({ persona: 'system', role: 'chat history', messageData: { chat_history } })
    push(replyTo('one', { messageId: 'm-1', seq: 4 }))
    await clock.advance(0)
    expect(linesOf(agent).filter(line => line.endsWith('one'))).toHaveLength(1)
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    expect(numbers().at(-1)).toBe('9')
    await agent.destroy()
  })

  it('[REL-99] drops frames whose number was processed before', async () => {
    const { agent, told, clock, emulator } = await setUpResume()
    await agent.send('one')
    await clock.advance(1_000)
    emulator.faults.add({ kind: 'replay', times: 3 })
    await clock.advance(0)
    expect(linesOf(agent)).toEqual(exchange('one'))
    expect(namesOf(told).filter(name => name === 'message')).toHaveLength(1)
    await agent.destroy()
  })

  it('[REL-107] follows the numbers of the service after a far too high one, with one warning', async () => {
    const { agent, clock, emulator, sendAndCut, numbers, printed } = await setUpResume()
    await agent.send('one')
    await clock.advance(1_000)
    const push = (content: string, seq: number) =>
      emulator.faults.add({ kind: 'push', frame: { persona: 'agent', role: 'r', content, seq } })
    push('far', 2 ** 52)
    push('farther', 2 ** 52 + 7)
    // A number that belongs to a later frame.
    push('early', 3)
    await clock.advance(0)
    await agent.send('two')
    await clock.advance(1_000)
    await agent.send('three')
    await clock.advance(1_000)
    expect(linesOf(agent)).toEqual([
      ...exchange('one'),
      'received: far',
      'received: farther',
      'received: early',
      ...exchange('two', 'three'),
    ])
    // What was processed before is still dropped, and a reopening names the number of the service.
    emulator.faults.add({ kind: 'replay', times: 2 })
    await clock.advance(0)
    await sendAndCut('four')
    await clock.advance(SETTLED_MS)
    expect(numbers()).toEqual([undefined, '3'])
    expect(linesOf(agent).slice(5)).toEqual(exchange('two', 'three', 'four'))
    expect(printed.flat().filter(text => String(text).includes('out of order'))).toHaveLength(1)
    await agent.destroy()
  })

  it('[REL-99] reads the history where the service no longer holds all frames', async () => {
    const { agent, told, clock, emulator, sendAndCut, numbers } = await setUpResume({ resumeBufferLimit: 1 })
    await agent.send('zero')
    await clock.advance(1_000)
    await agent.send('one')
    await sendAndCut('two')
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent).toSorted()).toEqual(exchange('zero', 'one', 'two').toSorted())
    expect(payloadsOf(told, 'messagesRecovered')).toMatchObject([{ source: 'history' }])
    // The elements of the history have numbers, from which the next reopening continues.
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    expect(numbers()).toEqual([undefined, '1', '3'])
    expect(linesOf(agent)).toHaveLength(6)
    await agent.destroy()
  })

  it('[REL-99] is not told a number in a new session, nor by another page', async () => {
    const { agent, clock, emulator, numbers, make } = await setUpResume()
    await agent.send('one')
    await clock.advance(1_000)
    emulator.control.forgetSession(lastSession(emulator))
    await clock.advance(SETTLED_MS)
    const other = make({ sessionId: lastSession(emulator) }).agent
    await other.initialize()
    await other.connect()
    expect(numbers()).toEqual([undefined, undefined, undefined])
    await Promise.all([agent.destroy(), other.destroy()])
  })

  it('[REL-99] answers an open question with its replay, and keeps its frames out of transcript and events', async () => {
    const { agent, told, clock, emulator, printed } = await setUpResume()
    const answer = agent.ask('one')
    await clock.advance(100)
    emulator.control.dropSockets()
    await clock.advance(0)
    await agent.send('two')
    await clock.advance(SETTLED_MS)
    expect((await answer).content).toBe('You said: one')
    const roles = agent.getTranscript().map(({ message }) => message.role)
    expect(roles.filter(role => ['resumed', 'receipt', 'pong'].includes(role))).toEqual([])
    expect(payloadsOf(told, 'message').filter(({ data }) => JSON.stringify(data).includes('"resumed"'))).toEqual([])
    expect(printed.join('\n')).not.toContain('No handler accepts')
    await agent.destroy()
  })

  it('[REL-99] [REL-98] has no replay for a user who has left', async () => {
    const { agent, clock, told, sendAndCut } = await setUpResume()
    await sendAndCut('secret')
    await clock.advance(600)
    const left = agent.logout()
    await clock.advance(1_000)
    await left
    await agent.initialize()
    await agent.connect()
    await clock.advance(SETTLED_MS)
    expect([linesOf(agent), namesOf(told).includes('messagesRecovered')]).toEqual([[], false])
    await agent.destroy()
  })
})
