import { CHAT_QUERY } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { lastSession, namesOf, payloadsOf } from '../../test/agent-harness.ts'
import { exchange, linesOf, SETTLED_MS, setUpOutage } from '../../test/outage-harness.ts'

/** A connected agent whose service numbers its frames and repeats what was missed. */
async function setUpResume(settings: Record<string, unknown> = {}) {
  const parts = await setUpOutage({ capabilities: ['receipts', 'resume'], ...settings })
  /** The numbers that the openings of chats named. */
  const numbers = () =>
    parts.emulator.control
      .requests()
      .filter(({ status }) => status === 101)
      .map(({ query }) => query[CHAT_QUERY.LAST_SEQ])
  return { ...parts, numbers }
}

describe('a service that repeats what was missed', () => {
  it('[REL-99] is told the last number, and its replay is recovered once', async () => {
    const { agent, told, clock, emulator, sendAndCut, numbers } = await setUpResume()
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

  it('[REL-99] is not assumed: elsewhere its frames and its numbers are ordinary', async () => {
    const { agent, clock, emulator } = await setUpResume({ capabilities: [] })
    const push = (frame: object) => emulator.control.pushFrame(lastSession(emulator), JSON.stringify(frame))
    push({ persona: 'metadata', role: 'resumed', content: 'as text', messageData: { complete: true } })
    push({ persona: 'agent', role: 'x', messageId: 'a', seq: 1, content: 'twice' })
    push({ persona: 'agent', role: 'x', messageId: 'a', seq: 1, content: 'twice' })
    await clock.advance(100)
    expect(linesOf(agent)).toEqual(['as text', 'twice', 'twice'].map(text => `received: ${text}`))
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
