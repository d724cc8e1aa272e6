import { randomUUID } from 'node:crypto'
import { getHeapSnapshot } from 'node:v8'
import { collectGarbage } from '@aiagent/test-support/collect-garbage'
import { AiAgent } from '../src/ai-agent.ts'
import type { AiAgentConfig } from '../src/config.ts'
import { passing, sendInDoubt, setUp } from './agent-harness.ts'

/*
 * Prints how many texts of three conversations are in the heap: of one that goes on, of one whose user has signed out, and of one
 * that goes on without a transcript. It is a separate program, since a snapshot contains the heap of everything that runs in a
 * process.
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

/** An agent with its service, which keeps the last message of each list. */
function setUpAgent(config: Partial<AiAgentConfig> = {}) {
  const settings = { recordingLimit: 1, historyLimit: 1, resumeBufferLimit: 1, heartbeatBeforeReply: false }
  const { clock, emulator, environment } = setUp({ settings, reply: ({ text }) => ({ content: `${text}, really` }) })
  // The harness records events, which would hold the texts.
  const agent = new AiAgent({ id: 'help', endpoint: emulator.origin, ...config }, environment)
  return { clock, emulator, agent }
}

/** An agent with a message in each state and answers, all of which contain the mark. */
async function setUpTalk(mark: string) {
  const { clock, emulator, agent } = setUpAgent()
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

/** An agent without a transcript after 1,000 answered messages, and one that it could not deliver. All contain the mark. */
async function setUpTalkWithoutTranscript(mark: string) {
  const { clock, emulator, agent } = setUpAgent({ transcriptConfig: { enabled: false } })
  await agent.initialize()
  await agent.connect()
  for (let n = 0; n < 1_000; n++) await passing(clock, agent.ask(`${mark} says ${n}`))
  await clock.advance(20_000)
  await passing(clock, agent.ask('one more'))
  await sendInDoubt(agent, emulator, `${mark} says what is lost`)
  await clock.advance(20_000)
  return agent
}

const marks = [randomUUID(), randomUUID(), randomUUID()] as const
const [staying, leaving] = [await setUpTalk(marks[0]), await setUpTalk(marks[1])]
await passing(leaving.clock, leaving.agent.logout())
const passed = await setUpTalkWithoutTranscript(marks[2])
const [going, left, unwritten] = await countInHeap(marks)
console.log(JSON.stringify({ going, left, unwritten }))
await Promise.all([staying.agent.destroy(), leaving.agent.destroy(), passed.destroy()])
