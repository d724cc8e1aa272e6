import { AiAgent, type AiAgentConfig, MemoryCacheAdapter } from '@aiagent/client'
import { createEmulator, DEFAULT_WORLD, type Emulator } from '@aiagent/emulator'
import { ProcessWatch } from '../checks/process-watch.ts'
import { Random } from '../schedule/random.ts'
import { SimulatedClock, turnEventLoop } from '../service/run-clock.ts'
import { answerTo } from '../service/service.ts'
import { fuzzCalls } from './fuzz-calls.ts'
import { type FuzzResult, heapUsed } from './fuzz-result.ts'
import { mutatedText } from './mutate.ts'

/** Longer than any time limit of the client together, in milliseconds of the run's clock. */
const ALL_LIMITS_MS = 200_000

/** Share of the inputs that agents are given; the others are given to single calls, which is much faster. */
const SHARE_OF_AGENTS = 0.05

/**
 * Gives agents and single calls mutated bodies of REST responses. Every call must settle, nothing may be thrown into the void, and once
 * the bodies are right again an agent that starts without what was cached must work.
 */
export async function fuzzBodies(seed: number, inputs: number): Promise<FuzzResult> {
  const watch = new ProcessWatch()
  const problems: string[] = []
  let agents = 0
  let given = 0
  const forAgents = inputs * SHARE_OF_AGENTS
  let heapAtStart = 0
  while (given < forAgents) {
    if (given >= forAgents / 10) heapAtStart ||= heapUsed()
    const run = new BodyRun(seed + agents)
    const problem = await run.play()
    if (problem) problems.push(`seed ${seed + agents}: ${problem}`)
    given += Math.max(1, run.mutated)
    agents++
  }
  if (given < inputs) problems.push(...(await fuzzCalls(seed, inputs - given)))
  const heapGrowth = heapUsed() - heapAtStart
  for (const { text } of await watch.stop()) problems.push(text)
  return { inputs: Math.max(inputs, given), agents, problems, heapGrowth }
}

class BodyRun {
  /** Number of bodies that were changed. */
  mutated = 0
  readonly #random: Random
  readonly #clock = new SimulatedClock()
  readonly #emulator: Emulator
  #chance: number

  constructor(seed: number) {
    this.#random = new Random(seed)
    this.#chance = this.#random.pick([0.1, 0.3, 1])
    this.#emulator = createEmulator({
      seed,
      clock: this.#clock.service,
      world: DEFAULT_WORLD,
      reply: ({ text }) => ({ content: answerTo(text) }),
    })
  }

  async play(): Promise<string | undefined> {
    try {
      return (await this.#useWhileBroken()) ?? (await this.#useAfterwards())
    } catch (error) {
      return `${error instanceof Error ? error.stack : error}`
    } finally {
      this.#emulator.close()
    }
  }

  async #useWhileBroken(): Promise<string | undefined> {
    const agent = this.#newAgent(this.#random.pick(KINDS))
    const calls: (() => Promise<unknown>)[] = [
      () => agent.initialize(),
      () => agent.connect(),
      () => agent.send('hello'),
      () => agent.getAgentDetails(),
      () => agent.restartConnection(),
      () => agent.logout(),
    ]
    for (const call of calls) {
      if (!(await this.#settles(call()))) return `${call.toString().replace(/^.*=> /, '')} has not settled`
    }
    return (await this.#settles(agent.destroy())) ? undefined : 'destroy() has not settled'
  }

  async #useAfterwards(): Promise<string | undefined> {
    this.#chance = 0
    const agent = this.#newAgent({ id: 'help' })
    let hasAnswer = false
    agent.on('agentMessage', ({ payload }) => {
      hasAnswer ||= payload.message.content === answerTo('are you there?')
    })
    for (const call of [() => agent.initialize(), () => agent.connect(), () => agent.send('are you there?')])
      if (!(await this.#settles(call()))) return 'a call with right bodies has not settled'
    await this.#clock.advance(1_000)
    await this.#settles(agent.destroy())
    return hasAnswer ? undefined : 'no answer with right bodies'
  }

  #newAgent(config: Pick<AiAgentConfig, 'id' | 'initParams'>): AiAgent {
    const { origin, WebSocket, control } = this.#emulator
    const auth = config.id === 'help' ? {} : { auth: { getToken: async () => control.issueToken() } }
    return new AiAgent(
      { endpoint: origin, enableLogging: false, baseReconnectDelay: 100, ...config, ...auth },
      {
        fetch: this.#fetch,
        WebSocket,
        clock: this.#clock.agent,
        random: this.#random.next,
        randomUUID: this.#random.uuid,
        memory: new MemoryCacheAdapter(),
        sessionStorage: undefined,
        localStorage: undefined,
      },
    )
  }

  readonly #fetch = async (input: string, init?: RequestInit): Promise<Response> => {
    const response = await this.#emulator.fetch(input, init)
    if (!this.#random.chance(this.#chance)) return response
    this.mutated++
    const text = await response.text()
    let valid: unknown = text
    try {
      valid = JSON.parse(text)
    } catch {}
    const status = this.#random.weighted([
      [8, response.status === 204 ? 200 : response.status],
      [1, 200],
      [1, this.#random.pick([201, 400, 401, 403, 404, 409, 429, 500, 503])],
    ])
    const headers = { 'Content-Type': this.#random.pick(['application/json', 'text/html', '']) }
    return new Response(mutatedText(valid, this.#random), { status, headers })
  }

  /** Lets time pass until a promise has settled. Returns false if it does not. */
  async #settles(promise: Promise<unknown>): Promise<boolean> {
    let settled = false
    const settle = () => {
      settled = true
    }
    promise.then(settle, settle)
    await turnEventLoop(4)
    for (let passed = 0; !settled && passed < ALL_LIMITS_MS; passed += 1_000) await this.#clock.advance(1_000)
    return settled
  }
}

/** The agents of the default world, with and without users and portals. */
const KINDS: readonly Pick<AiAgentConfig, 'id' | 'initParams'>[] = [
  { id: 'help' },
  { id: 'account' },
  { id: 'help', initParams: { portalIds: '1001,1002' } },
  { id: 'account', initParams: { isDefaultAgent: 'true' } },
]
