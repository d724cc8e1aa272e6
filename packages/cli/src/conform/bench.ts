import { AiAgent, type AiAgentConfig, ApiHelper, AuthenticationService, Logger, type Message } from '@aiagent/client'

/** Options of the scenarios. */
export interface BenchOptions {
  endpoint: string
  agentId: string
  /** Access token of a user; anonymous without one. */
  token?: string
  /** A question that the agent answers. */
  question: string
  /** Time limit of a wait, in milliseconds. */
  timeoutMs: number
}

/** Thrown by a scenario that does not apply to a deployment. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

/** A request of an agent, without its query. */
export interface SeenRequest {
  method: string
  path: string
  status: number
}

/** What a scenario works with. Everything that it opens is closed after it. */
export class Bench {
  readonly options: BenchOptions
  /** Requests of the agents, in order. */
  readonly requests: SeenRequest[] = []
  readonly #agents: AiAgent[] = []
  readonly #sessions = new WeakMap<AiAgent, string>()
  readonly #services: AuthenticationService[] = []

  constructor(options: BenchOptions) {
    this.options = options
  }

  /** Creates an agent without a cache, so that every call reaches the service. */
  agent(config: Partial<AiAgentConfig> = {}): AiAgent {
    const { endpoint, agentId, token } = this.options
    const agent = new AiAgent(
      {
        id: agentId,
        endpoint,
        enableLogging: false,
        cache: { enabled: false },
        ...(token !== undefined && { auth: { type: 'pre-auth', accessToken: token } }),
        ...config,
      },
      {
        fetch: async (input, init) => {
          const response = await fetch(input, init)
          const { pathname: path } = new URL(input)
          this.requests.push({ method: init?.method ?? 'GET', path, status: response.status })
          return response
        },
      },
    )
    this.#agents.push(agent)
    agent.on('connected', ({ sessionId = '' }) => void this.#sessions.set(agent, sessionId))
    return agent
  }

  /** Id of the session of an agent that was connected. */
  sessionOf(agent: AiAgent): string {
    return this.#sessions.get(agent) ?? ''
  }

  /** Creates an agent and opens its chat. */
  async connected(config?: Partial<AiAgentConfig>): Promise<AiAgent> {
    const agent = this.agent(config)
    const { status } = await agent.initialize()
    if (status === 'choose') throw new NotApplicable('the agent needs the choice of a portal')
    await agent.connect()
    return agent
  }

  /** Asks the question of the options. */
  ask(agent: AiAgent): Promise<Message> {
    return agent.ask(this.options.question, { timeoutMs: this.options.timeoutMs })
  }

  /** An access token as an agent would get it, and the calls of the deployment with it. */
  async api(): Promise<{ api: ApiHelper; token: string }> {
    const { endpoint, token: given } = this.options
    const deploymentInfo = await ApiHelper.getDeploymentInfo(endpoint, { enabled: false })
    const token = given ?? (await this.#anonymousToken(deploymentInfo))
    const api = new ApiHelper({
      apiDomain: deploymentInfo.apiDomain,
      endpoint,
      cache: { enabled: false },
      getToken: async () => token,
    })
    return { api, token }
  }

  async #anonymousToken(deploymentInfo: Awaited<ReturnType<typeof ApiHelper.getDeploymentInfo>>): Promise<string> {
    const logger = new Logger({ enableConsole: false })
    const service = new AuthenticationService({ type: 'anonymous' }, { logger })
    this.#services.push(service)
    await service.initialize({ deploymentInfo, endpoint: this.options.endpoint })
    return service.getToken()
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) await agent.destroy()
    for (const service of this.#services) await service.cleanup()
  }

  /**
   * Waits until a condition holds.
   *
   * @throws {Error} when the time is over
   */
  async until(holds: () => boolean, what: string): Promise<void> {
    const end = Date.now() + this.options.timeoutMs
    while (!holds()) {
      if (Date.now() > end) throw new Error(`Not within ${this.options.timeoutMs / 1000} s: ${what}.`)
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  }
}

/** @throws {Error} when a claim about the service does not hold */
export function claim(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}

/** The rejection of a promise. @throws {Error} when it is resolved */
export async function rejection(promise: Promise<unknown>, expected: string): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error(expected)
    },
    (error: unknown) => error,
  )
}
