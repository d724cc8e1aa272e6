import { AiAgent, MemoryCacheAdapter } from '@aiagent/client'
import { createEmulator } from '@aiagent/emulator'
import extensionMessages from '@aiagent/protocol/fixtures/extension-messages.json' with { type: 'json' }
import malformedFrames from '@aiagent/protocol/fixtures/malformed-frames.json' with { type: 'json' }
import serverMessages from '@aiagent/protocol/fixtures/server-messages.json' with { type: 'json' }
import { ProcessWatch } from '../checks/process-watch.ts'
import { Random } from '../schedule/random.ts'
import { SimulatedClock, turnEventLoop } from '../service/run-clock.ts'
import { answerTo, emulatorOptions } from '../service/service.ts'
import { type FuzzResult, heapUsed } from './fuzz-result.ts'
import { mutatedText } from './mutate.ts'

/** Frames that one agent is given. */
const FRAMES_PER_AGENT = 500

/** Frames between two turns of the event loop. */
const FRAMES_PER_TURN = 20

const VALID: readonly unknown[] = [...serverMessages, ...extensionMessages.server].map(({ frame }) => frame)

/**
 * Gives agents mutated frames. Nothing may be thrown into the void, and after the frames a message of the user must be
 * answered.
 */
export async function fuzzFrames(seed: number, inputs: number): Promise<FuzzResult> {
  const watch = new ProcessWatch()
  const problems: string[] = []
  let agents = 0
  let heapAtStart = 0
  for (let given = 0; given < inputs; given += FRAMES_PER_AGENT) {
    if (given >= inputs / 10) heapAtStart ||= heapUsed()
    const count = Math.min(FRAMES_PER_AGENT, inputs - given)
    const problem = await fuzzAgent(seed + agents, count)
    if (problem) problems.push(`seed ${seed + agents}: ${problem}`)
    agents++
  }
  const heapGrowth = heapUsed() - heapAtStart
  for (const { text } of await watch.stop()) problems.push(text)
  return { inputs, agents, problems, heapGrowth }
}

async function fuzzAgent(seed: number, count: number): Promise<string | undefined> {
  const random = new Random(seed)
  const clock = new SimulatedClock()
  const capabilities = random.chance(0.5) ? (['receipts', 'resume'] as const) : []
  const history = random.chance(0.5) ? 'chat' : 'rest'
  const setup = { replyDelayMs: 0, unknownSession: 'refuse', capabilities, history } as const
  const emulator = createEmulator(emulatorOptions(setup, seed, clock))
  const { fetch, WebSocket, origin } = emulator
  const agent = new AiAgent(
    {
      id: 'help',
      endpoint: origin,
      enableLogging: false,
      baseReconnectDelay: 100,
      transcriptConfig: { maxEntries: 200 },
    },
    {
      fetch,
      WebSocket,
      clock: clock.agent,
      random: random.next,
      randomUUID: random.uuid,
      memory: new MemoryCacheAdapter(),
    },
  )
  let isAnswered = (_answer: string) => {}
  agent.on('agentMessage', ({ payload }) => isAnswered(payload.message.content ?? ''))
  const until = async (holds: () => boolean) => {
    for (let looks = 0; !holds() && looks < 600; looks++) await clock.advance(100)
    return holds()
  }
  try {
    await agent.initialize()
    await agent.connect()
    const questions: Promise<unknown>[] = []
    for (let left = count; left > 0; left--) {
      const sessionId = [...emulator.world.sessions.keys()].at(-1) ?? ''
      if (agent.getState() === 'CONNECTED')
        emulator.faults.add({ kind: 'push', sessionId, frame: frameText(random) || ' ' })
      else if (!(await until(() => agent.getState() === 'CONNECTED'))) return `not connected: ${agent.getState()}`
      if (left % FRAMES_PER_TURN === 0) await turnEventLoop(1)
      // The history of a reopening meets what the frames have left.
      if (left % 125 === 0) emulator.faults.add({ kind: 'drop' })
      if (left % 100 === 0) questions.push(agent.ask(`question ${left}`, { timeoutMs: 5_000 }).catch(() => {}))
    }
    await clock.advance(10_000)
    const settled = Promise.all(questions).then(() => true)
    if (!(await Promise.race([settled, turnEventLoop(10).then(() => false)]))) return 'ask() has not settled'
    if (!(await until(() => agent.getState() === 'CONNECTED'))) return `not connected: ${agent.getState()}`
    let hasAnswer = false
    isAnswered = answer => (hasAnswer ||= answer === answerTo('are you there?'))
    await agent.send('are you there?')
    if (!(await until(() => hasAnswer))) return 'a message after the frames was not answered'
    JSON.stringify(agent.getTranscriptAsJSON())
    if (agent.getTranscriptSize() > 200) return `the transcript has ${agent.getTranscriptSize()} entries`
    return undefined
  } catch (error) {
    return `${error instanceof Error ? error.stack : error}`
  } finally {
    const destroyed = agent.destroy()
    await clock.advance(200)
    await destroyed
    emulator.close()
  }
}

function frameText(random: Random): string {
  if (random.chance(0.1)) return random.pick(malformedFrames).text ?? ''
  return mutatedText(random.pick(VALID), random)
}
