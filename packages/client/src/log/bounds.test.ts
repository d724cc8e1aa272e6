import { describe, expect, it } from 'vitest'
import { passing, payloadsOf, rejection, setUp } from '../../test/agent-harness.ts'
import { linesOf } from '../../test/outage-harness.ts'
import type { AiAgentConfig } from '../config.ts'

// Loaded before the clock is moved: loading a module takes real time.
await import('../masking/load-masker.ts')

/** A connected agent of a service that answers nothing. */
async function setUpBounds(config: Partial<AiAgentConfig> = {}, capabilities: 'receipts'[] = []) {
  const settings = { capabilities, heartbeatBeforeReply: false, historyLimit: 20_000 }
  const parts = setUp({ settings, reply: () => [] })
  const { agent, told } = parts.make(config)
  await agent.initialize()
  let sent = 0
  /** Sends numbered messages, and waits until the service has them. */
  const send = async (count: number) => {
    for (const last = sent + count; sent < last; ) await agent.send(`text ${++sent}`, { id: `${sent}` })
    await parts.clock.advance(100)
  }
  return { ...parts, agent, told, send }
}

describe('the bounds of what an agent keeps of its messages', () => {
  it('[LIM-01] [REL-10] 1,000 wait, with questions and messages that await initialize()', async () => {
    const { make } = setUp()
    const { agent } = make()
    for (let n = 0; n < 500; n++) await agent.send(`held ${n}`)
    const asked = rejection(agent.ask('one'))
    await agent.initialize()
    for (let n = 0; n < 499; n++) await agent.send(`queued ${n}`)
    expect(agent.getQueueSize()).toBe(1_000)
    expect(await rejection(agent.send('one more'))).toMatchObject({ reason: 'queue_full' })
    expect(await rejection(agent.ask('one more'))).toMatchObject({ reason: 'queue_full' })
    expect([agent.getQueueSize(), agent.getTranscriptSize()]).toEqual([1_000, 1_000])
    await agent.destroy()
    await asked
  })

  it('[REL-87] the last 1,000 settled messages, and what the host has taken of earlier ones', async () => {
    const { agent, clock, send } = await setUpBounds({}, ['receipts'])
    await agent.connect()
    await send(1)
    const taken = agent.delivery('1')
    const list = agent.getTranscript()
    await send(999)
    expect(agent.delivery('1')?.state).toBe('acknowledged')
    await send(1)
    expect([agent.delivery('1'), agent.delivery('2')?.state]).toEqual([undefined, 'acknowledged'])
    agent.clearTranscript()
    await passing(clock, agent.logout())
    expect(taken).toMatchObject({ id: '1', state: 'acknowledged' })
    expect(await taken?.outcome).toBe('acknowledged')
    expect([taken?.message.content, taken?.retry(), taken?.cancel()]).toEqual(['text 1', false, false])
    expect(list.map(({ message }) => message.content)).toEqual(['text 1'])
    await agent.destroy()
  })

  it('[REL-87] 10,000 messages without evidence', async () => {
    const { agent, send } = await setUpBounds()
    await agent.connect()
    await send(10_001)
    const [first, second] = ['1', '2'].map(id => agent.delivery(id))
    expect(first).toMatchObject({ state: 'unknown', reason: 'limit' })
    expect(second?.state).toBe('sent')
    await agent.destroy()
  })

  it('[REL-98] what tells messages that are not stored from new ones, of which none comes back', async () => {
    const { agent, clock, emulator, told, send } = await setUpBounds({ transcriptConfig: { enabled: false } })
    await agent.connect()
    await send(4_500)
    emulator.control.dropSockets()
    await clock.advance(0)
    await passing(clock, agent.connect())
    await clock.advance(2_000)
    expect([linesOf(agent), payloadsOf(told, 'messagesRecovered')]).toEqual([[], []])
    await agent.destroy()
  })
})
