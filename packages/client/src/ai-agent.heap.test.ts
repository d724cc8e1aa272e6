import { randomUUID } from 'node:crypto'
import { getHeapSnapshot } from 'node:v8'
import { collectGarbage } from '@aiagent/test-support/collect-garbage'
import { describe, expect, it } from 'vitest'
import { passing, sendInDoubt, setUp } from '../test/agent-harness.ts'
import { AiAgent } from './ai-agent.ts'

// Loaded before the clock is moved: loading a module takes real time.
await import('./masking/load-masker.ts')

/** How often each mark is in the heap behind a number. */
async function countInHeap(marks: readonly string[]): Promise<number[]> {
  await collectGarbage()
  let last = ''
  const counts = marks.map(() => 0)
  for await (const chunk of getHeapSnapshot() as AsyncIterable<Buffer | string>) {
    const text = last + chunk
    marks.forEach((mark, index) => {
      counts[index] = (counts[index] ?? 0) + text.split(`${mark} says `).length - 1
    })
    last = text.slice(-40)
  }
  return counts
}

/** An agent with a message in each state and answers, all of which contain the mark. */
async function setUpTalk(mark: string) {
  const settings = { recordingLimit: 1, historyLimit: 1, resumeBufferLimit: 1, heartbeatBeforeReply: false }
  const { clock, emulator, environment } = setUp({ settings, reply: ({ text }) => ({ content: `${text}, really` }) })
  // What is recorded of events would hold the texts.
  const agent = new AiAgent({ id: 'help', endpoint: emulator.origin }, environment)
  let said = 0
  const text = () => `${mark} says ${++said}`
  await agent.send(text())
  await agent.initialize()
  await agent.connect()
  for (let n = 0; n < 5; n++) await passing(clock, agent.ask(text()))
  await sendInDoubt(agent, emulator, text())
  await clock.advance(20_000)
  // The emulator keeps the last message of each list.
  await passing(clock, agent.ask('one more'))
  await passing(clock, agent.disconnect())
  await agent.send(text())
  return { agent, clock }
}

describe('the memory of a process', () => {
  it('[SEC-15] holds no text of a conversation after the sign-out of its user', async () => {
    const marks = [randomUUID(), randomUUID()] as const
    const [staying, leaving] = [await setUpTalk(marks[0]), await setUpTalk(marks[1])]
    await passing(leaving.clock, leaving.agent.logout())
    const [found = 0, left] = await countInHeap(marks)
    expect(found).toBeGreaterThan(10)
    expect(left).toBe(0)
    for (const { agent } of [staying, leaving]) await agent.destroy()
  }, 60_000)
})
