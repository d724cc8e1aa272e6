import {
  AiAgent,
  type AiAgentConfig,
  ApiHelper,
  AuthenticationService,
  type DeploymentInfo,
  type Environment,
  Logger,
  type Message,
} from '@aiagent/client'

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
  /** Replaces parts of the platform, as the second argument of `AiAgent`. */
  environment?: Partial<Environment>
}

/** Thrown by a scenario that does not apply to a deployment. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

/** A request, without its query. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  /** Status of the response; undefined without one. */
  status?: number
  /** Number of the event in which it was sent, counted over all requests and responses. */
  readonly sentAt: number
  /** Number of the event in which it was answered. */
  answeredAt?: number
}

/** How long a service may take to close a chat, or to report an error, in milliseconds. */
const SETTLE_MS = 300

/** What a scenario works with. Everything that it opens is closed after it. */
export class Bench {
  readonly options: BenchOptions
  /** All requests, in the order in which they were sent. */
  readonly requests: SeenRequest[] = []
  readonly #environment: Partial<Environment>
  #events = 0
  readonly #agents: AiAgent[] = []
  readonly #sessions = new WeakMap<AiAgent, string>()
  readonly #services: AuthenticationService[] = []

  constructor(options: BenchOptions) {
    this.options = options
    const { fetch = globalThis.fetch } = options.environment ?? {}
    this.#environment = { ...options.environment, fetch: (input, init) => this.#observe(fetch, input, init) }
  }

  async #observe(fetch: Environment['fetch'], input: string, init?: RequestInit): Promise<Response> {
    const { pathname: path } = new URL(input)
    const request: SeenRequest = { method: init?.method ?? 'GET', path, sentAt: ++this.#events }
    this.requests.push(request)
    const response = await fetch(input, init)
    Object.assign(request, { status: response.status, answeredAt: ++this.#events })
    return response
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
      this.#environment,
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
    await this.open(agent)
    return agent
  }

  /** Initializes an agent and opens its chat. */
  async open(agent: AiAgent): Promise<void> {
    const { status } = await agent.initialize()
    if (status === 'choose') throw new NotApplicable('the agent needs the choice of a portal')
    await agent.connect()
  }

  /** Loads the transcript of the session of an agent that was connected. */
  async transcriptOf(agent: AiAgent): Promise<unknown[]> {
    const api = await this.api()
    return api.getPreviousTranscript({ agentId: this.options.agentId, sessionId: this.sessionOf(agent) })
  }

  /** Asks the question of the options. */
  ask(agent: AiAgent): Promise<Message> {
    return agent.ask(this.options.question, { timeoutMs: this.options.timeoutMs })
  }

  /** The deployment information. */
  deploymentInfo(): Promise<DeploymentInfo> {
    const environment = this.#environment
    return ApiHelper.getDeploymentInfo(this.options.endpoint, { enabled: false }, { environment })
  }

  /** The calls of the deployment, with an access token as an agent would get it. */
  async api(): Promise<ApiHelper> {
    const { endpoint, token: given } = this.options
    const deploymentInfo = await this.deploymentInfo()
    const token = given ?? (await this.#anonymousToken(deploymentInfo))
    return new ApiHelper(
      { apiDomain: deploymentInfo.apiDomain, endpoint, cache: { enabled: false }, getToken: async () => token },
      this.#environment,
    )
  }

  async #anonymousToken(deploymentInfo: DeploymentInfo): Promise<string> {
    const logger = new Logger({ enableConsole: false })
    const service = new AuthenticationService({ type: 'anonymous' }, { logger, environment: this.#environment })
    this.#services.push(service)
    await service.initialize({ deploymentInfo, endpoint: this.options.endpoint })
    return service.getToken()
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) await agent.destroy()
    for (const service of this.#services) await service.cleanup()
  }

  /** Claims that a condition holds in time. */
  async until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const end = Date.now() + this.options.timeoutMs
    let isMet = await holds()
    while (!isMet && Date.now() < end) {
      await pause(10)
      isMet = await holds()
    }
    claim(isMet, `Not within ${this.options.timeoutMs / 1000} s: ${what}.`)
  }

  /** Gives the service the time to close a chat, or to report an error. */
  async settle(): Promise<void> {
    await pause(SETTLE_MS)
  }
}

/** @throws {Error} when a claim about the service does not hold */
export function claim(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}

/** The rejection of a promise; undefined when it is resolved. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

export const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
