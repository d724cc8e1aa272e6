import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { lastSession, namesOf, passing, payloadsOf, setUp } from '../../test/agent-harness.ts'
import { linesOf, setUpTab } from '../../test/resume-harness.ts'
import type { Message } from '../log/message.ts'

/** Does not answer "Silence", and repeats any other message. */
const reply = ({ text }: { text: string }) => (text === 'Silence' ? [] : { content: `You said: ${text}` })

/** A connected agent whose service sends its last answers again after each opening. */
async function setUpRepeating(settings: object = {}, config: object = {}) {
  const all = setUp({ reply, settings: { heartbeatBeforeReply: false, ...settings } })
  const made = all.make(config)
  const { agent } = made
  await agent.initialize()
  await agent.connect()
  for (const text of ['one', 'two', 'three']) await passing(all.clock, agent.ask(text))
  all.emulator.faults.add({ kind: 'repeat-answers' })
  const reopen = async () => {
    all.emulator.control.dropSockets(1012)
    await eventually(() => !agent.isConnected())
    await all.clock.advance(8_000)
    await eventually(() => agent.isConnected())
    await all.clock.advance(2_000)
  }
  const push = (frame: object) => all.emulator.control.pushFrame(lastSession(all.emulator), JSON.stringify(frame))
  return { ...all, ...made, reopen, push }
}

describe('answers that the service sends again', () => {
  it.each([
    ['with a history', {}],
    ['without a history', { sendHistory: false }],
    ['with a replay', { capabilities: ['resume', 'receipts'] }],
  ])(
    '[REL-249] answer no open question, and are neither reported nor in the transcript twice: %s',
    async (_case, settings) => {
      const { agent, told, reopen, push, clock } = await setUpRepeating(settings)
      const asked = agent.ask('Silence')
      await clock.advance(8_000)
      const before = { lines: linesOf(agent), told: told.length }
      await reopen()
      await reopen()
      expect(linesOf(agent)).toEqual(before.lines)
      const later = told.slice(before.told)
      expect(namesOf(later).filter(name => name === 'agentMessage' || name === 'messagesRecovered')).toEqual([])
      expect(payloadsOf(later, 'message').filter(({ data }) => (data as Message).persona === 'agent')).toEqual([])
      push({ persona: 'agent', role: 'x', messageId: 'm-9', content: 'The answer' })
      await clock.advance(100)
      expect((await asked).content).toBe('The answer')
      await agent.destroy()
    },
  )

  it.each([
    ['with a history', {}],
    ['with a replay', { capabilities: ['resume', 'receipts'] }],
  ] as const)(
    '[REL-249] [REL-99] are recognized where the first one came before the token was handed over: %s',
    async (_case, settings) => {
      const { emulator, make, clock } = setUp({ reply, settings: { heartbeatBeforeReply: false, ...settings } })
      const token = emulator.control.issueToken()
      const waiting: (() => void)[] = []
      let isGiven = true
      const getToken = () => (isGiven ? token : new Promise<string>(resolve => void waiting.push(() => resolve(token))))
      const { agent, told } = make({ id: 'account', auth: { getToken } })
      await agent.initialize()
      isGiven = false
      const connected = agent.connect()
      await eventually(() => emulator.control.requests().some(({ status }) => status === 101))
      emulator.control.say(lastSession(emulator), { content: 'Welcome!' })
      await eventually(() => linesOf(agent).length === 1)
      isGiven = true
      for (const handOver of waiting) handOver()
      await passing(clock, connected)
      emulator.faults.add({ kind: 'repeat-answers' })
      for (let openings = 0; openings < 2; openings++) {
        emulator.control.dropSockets(1012)
        await eventually(() => !agent.isConnected())
        await clock.advance(8_000)
        await eventually(() => agent.isConnected())
        await clock.advance(2_000)
      }
      expect(linesOf(agent)).toEqual(['received: Welcome!'])
      expect(namesOf(told).filter(name => name === 'agentMessage')).toEqual(['agentMessage'])
      await agent.destroy()
      expect(clock.pendingTimers).toBe(0)
    },
  )

  it('[REL-249] are distinguished from answers that differ in id, role, text or data', async () => {
    const { agent, told, push, clock } = await setUpRepeating()
    const first = { persona: 'agent', role: 'x', messageId: 'm', content: 'A', messageData: { a: 1, b: { c: [2] } } }
    const others = [
      { ...first, content: 'B' },
      { ...first, role: 'y' },
      { ...first, messageId: 'n' },
      { ...first, messageData: { a: 1 } },
      { ...first, messageData: undefined },
    ]
    const without = [
      { ...first, messageId: undefined },
      { ...first, content: ' ' },
      { persona: 'system', role: 'x', messageId: 'm', content: 'A' },
    ]
    const before = payloadsOf(told, 'message').length
    for (const frame of [first, ...others, ...without, ...without]) push(frame)
    await clock.advance(0)
    expect(payloadsOf(told, 'message')).toHaveLength(before + 1 + others.length + 2 * without.length)
    push({ ...first, messageData: { b: { c: [2] }, a: 1 } })
    for (const frame of [first, ...others]) push(frame)
    await clock.advance(0)
    expect(payloadsOf(told, 'message')).toHaveLength(before + 1 + others.length + 2 * without.length)
    await agent.destroy()
  })

  it('[REL-249] do not count as a sign of life: the waits of a service that only repeats itself grow', async () => {
    const { agent, emulator, clock } = await setUpRepeating({}, { maxReconnectAttempts: 3 })
    for (let attempt = 0; attempt < 4; attempt++) {
      emulator.control.dropSockets(1012)
      await eventually(() => !agent.isConnected())
      for (let step = 0; step < 20 && !agent.isConnected(); step++) await clock.advance(500)
    }
    expect(agent.getState()).toBe('CLOSED')
    await agent.destroy()
  })

  it('[REL-249] belong to a session: the next one may say the same', async () => {
    const { agent, told, push, clock } = await setUpRepeating()
    const frame = { persona: 'agent', role: 'x', messageId: 'm', content: 'Welcome' }
    push(frame)
    await passing(clock, agent.restartConnection())
    await eventually(() => agent.isConnected())
    push(frame)
    await clock.advance(0)
    expect(payloadsOf(told, 'message').filter(({ data }) => (data as Message).content === 'Welcome')).toHaveLength(2)
    await agent.destroy()
  })

  it('[REL-249] are not new in the page after a reload', async () => {
    const { open, talkAndLeave, emulator, clock } = setUpTab({}, { reply })
    await talkAndLeave('one', 'two')
    emulator.faults.add({ kind: 'repeat-answers' })
    const { agent, told } = await open()
    await clock.advance(2_000)
    expect(linesOf(agent)).toHaveLength(4)
    expect(payloadsOf(told, 'agentMessage')).toEqual([])
    await agent.destroy()
  })
})
