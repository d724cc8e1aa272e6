import { type AgentEventType, AiAgent, type AiAgentConfig } from '@aiagent/client'

const NAMES = [
  'initialized',
  'connected',
  'closed',
  'stateChanged',
  'error',
  'message',
  'agentMessage',
  'queueFlushed',
  'heartbeat',
  'deliveryUpdate',
  'transcriptUpdate',
  'transcriptRestored',
  'messagesRecovered',
] satisfies AgentEventType[]

/** Runs the library in a test's page and records its events. All results can be copied out of the page. */
export class PageHost {
  readonly heard: { type: AgentEventType; payload: Record<string, unknown>; at: number }[] = []
  readonly #agent: AiAgent

  constructor(config: AiAgentConfig) {
    this.#agent = new AiAgent(config)
    for (const type of NAMES) {
      this.#agent.on(type, ({ payload }) =>
        this.heard.push({ type, payload: JSON.parse(JSON.stringify(payload)), at: performance.now() }),
      )
    }
  }

  async open(): Promise<void> {
    await this.#agent.initialize()
    await this.#agent.connect()
  }
  initialize = (): Promise<unknown> => this.#agent.initialize()
  connect = (): Promise<void> => this.#agent.connect()
  disconnect = (): Promise<void> => this.#agent.disconnect()
  send = (text: string): Promise<string> => this.#agent.send(text)
  setContext = (context: Record<string, unknown>): Promise<void> => this.#agent.setContext(context)
  getContext = () => this.#agent.getContext()
  getTranscript = () => this.#agent.getTranscriptAsJSON()
  getState = () => this.#agent.getState()
  getQueueSize = () => this.#agent.getQueueSize()
  getUser = () => this.#agent.getUserDetails()

  updateAccessToken = (token: string): Promise<void> => this.#agent.updateAccessToken(token)
  getAccessToken = (): Promise<string | null> => this.#agent.getAccessToken()
  logout = (): Promise<void> => this.#agent.logout()
  clearStoredData = (endpoint: string): Promise<void> => AiAgent.clearStoredData(endpoint)
  deliveryOf = (id: string) => this.#agent.delivery(id)?.state
  destroy = (): Promise<void> => this.#agent.destroy()
  /** Directions and contents of the transcript. */
  talk = (): string[] =>
    this.#agent
      .getTranscript()
      .filter(({ message }) => message.persona !== 'system')
      .map(({ direction, message }) => `${direction}: ${message.content}`)

  /** Sends texts one after the other without waiting in between. */
  async sendAll(texts: string[]): Promise<void> {
    await Promise.all(texts.map(text => this.#agent.send(text)))
  }

  /** The agent's answers so far. */
  answers(): unknown[] {
    return this.of('agentMessage').map(payload => (payload['message'] as { content: string }).content)
  }

  /** Time of the last event with a name, on the page's clock, in milliseconds. */
  lastAt(type: AgentEventType): number {
    return this.heard.findLast(event => event.type === type)?.at ?? Number.NaN
  }

  /** Outcome of `connect()`: `connected`, or the error's code and reason. */
  async connectOutcome(): Promise<string> {
    return this.#agent.connect().then(
      () => 'connected',
      error => `${error.code} ${error.reason}`,
    )
  }

  of(type: AgentEventType): Record<string, unknown>[] {
    return this.heard.filter(event => event.type === type).map(({ payload }) => payload)
  }
}

/** Globals that the bundle defines in the page. */
export const makePageHost = (config: AiAgentConfig): PageHost => new PageHost(config)

declare global {
  /** The host of the page, once a test has created it. */
  var host: PageHost
  var createHost: (config: AiAgentConfig) => PageHost
}
