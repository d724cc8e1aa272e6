import { countVisitedElements, eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { lastSession, passing, payloadsOf, setUp } from '../../test/agent-harness.ts'
import { BaseMessageHandler, type HandlerResult } from './message-handler.ts'

/** Handles each message of the agent with a promise. */
class AsyncHandler extends BaseMessageHandler {
  canHandle(): boolean {
    return true
  }
  async handle(): Promise<HandlerResult> {
    return { type: 'x', status: 'success', data: {} } as never
  }
}

async function connected(config: object = {}, settings: object = {}) {
  const all = setUp({ reply: () => [], settings: { heartbeatBeforeReply: false, ...settings } })
  const made = all.make({ transcriptConfig: { enabled: false }, ...config })
  await made.agent.initialize()
  await made.agent.connect()
  return { ...all, ...made }
}

/** The effort of the double amount, as a multiple of that of the single one. */
async function growth(effort: (amount: number) => Promise<number>, amount: number): Promise<number> {
  const single = await effort(amount)
  return (await effort(2 * amount)) / single
}

describe('the effort of a conversation', () => {
  it('[REL-253] grows with the number of frames that wait for an asynchronous handler, not with its square', async () => {
    const effort = async (frames: number) => {
      const { agent, emulator, told, clock } = await connected()
      agent.getMessageProcessor().addHandler(new AsyncHandler(), 0)
      const session = lastSession(emulator)
      const visited = await countVisitedElements(async () => {
        for (let n = 0; n < frames; n++)
          emulator.control.pushFrame(session, JSON.stringify({ persona: 'agent', role: 'x', content: `${n}` }))
        await eventually(() => payloadsOf(told, 'message').length >= frames)
      })
      await passing(clock, agent.destroy())
      return visited
    }
    expect(await growth(effort, 1_000)).toBeLessThan(2.5)
  })

  it('[REL-253] does not grow with what was recovered before', async () => {
    const effort = async (missed: number) => {
      const { agent, emulator, clock, told } = await connected({}, { sendHistory: false, historyLimit: 5_000 })
      const session = lastSession(emulator)
      emulator.control.dropSockets(1012)
      await eventually(() => !agent.isConnected())
      for (let n = 0; n < missed; n++) emulator.control.say(session, { content: `missed ${n}` })
      for (let step = 0; step < 20; step++) await clock.advance(500)
      expect(payloadsOf(told, 'messagesRecovered')[0]?.messages).toHaveLength(missed)
      const visited = await countVisitedElements(async () => {
        for (let n = 0; n < 100; n++)
          emulator.control.pushFrame(session, JSON.stringify({ persona: 'agent', role: 'x', content: `later ${n}` }))
        await turnEventLoop(20)
      })
      await passing(clock, agent.destroy())
      return visited
    }
    expect(await growth(effort, 500)).toBeLessThan(1.1)
  })

  it('[REL-253] of sending again does not grow with the transcript', async () => {
    const effort = async (entries: number) => {
      const { agent, emulator, clock } = await connected({ transcriptConfig: {}, baseReconnectDelay: 100 })
      const session = lastSession(emulator)
      for (let n = 0; n < entries; n++)
        emulator.control.pushFrame(session, JSON.stringify({ persona: 'agent', role: 'x', content: `${n}` }))
      emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
      const ids: string[] = []
      for (let n = 0; n < 100; n++) ids.push(await agent.send(`lost ${n}`))
      emulator.control.dropSockets()
      await turnEventLoop(1)
      emulator.faults.lift()
      for (let step = 0; step < 40; step++) await clock.advance(500)
      const visited = await countVisitedElements(async () => {
        for (const id of ids) expect(agent.delivery(id)?.retry()).toBe(true)
      })
      await passing(clock, agent.destroy())
      return visited
    }
    expect(await growth(effort, 1_000)).toBeLessThan(1.5)
  })
})
