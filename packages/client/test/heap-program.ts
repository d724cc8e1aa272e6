import { randomUUID } from 'node:crypto'
import { getHeapSnapshot } from 'node:v8'
import { collectGarbage } from '@aiagent/test-support/collect-garbage'
import { AiAgent } from '../src/ai-agent.ts'
import { passing, sendInDoubt, setUp } from './agent-harness.ts'

/*
 * Prints how many texts of two conversations are in the heap: of one that goes on, and of one whose user has signed out. It is a
 * separate program, since a snapshot contains the heap of everything that runs in a process.
 */

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
  // The harness records events, which would hold the texts.
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

const marks = [randomUUID(), randomUUID()] as const
const [staying, leaving] = [await setUpTalk(marks[0]), await setUpTalk(marks[1])]
await passing(leaving.clock, leaving.agent.logout())
const [going, left] = await countInHeap(marks)
console.log(JSON.stringify({ going, left }))
await Promise.all([staying.agent.destroy(), leaving.agent.destroy()])
