import type { AgentEvent, AgentEventType, AiAgent } from '@aiagent/client'

const TYPES = Object.keys({
  initialized: 0,
  portalsAvailable: 0,
  agentsAvailable: 0,
  profilesAvailable: 0,
  connected: 0,
  closed: 0,
  stateChanged: 0,
  error: 0,
  message: 0,
  agentMessage: 0,
  escalation: 0,
  errorMessage: 0,
  maskingPatternsRefused: 0,
  maskingUnavailable: 0,
  heartbeat: 0,
  contextValidation: 0,
  chatHistory: 0,
  rateLimited: 0,
  tokenExpiring: 0,
  userChanged: 0,
  queueFlushed: 0,
  deliveryUpdate: 0,
  callTranscriptUpdate: 0,
  callerInfoUpdate: 0,
  conversationIdUpdate: 0,
  userContextUpdate: 0,
  filterTagsUpdate: 0,
  transcriptUpdate: 0,
  transcriptRestored: 0,
  transcriptTrimmed: 0,
  transcriptCleared: 0,
  conversationRead: 0,
  messagesRecovered: 0,
  workingChanged: 0,
} satisfies Record<Exclude<AgentEventType, 'phaseChanged'>, 0>) as AgentEventType[]

/** Records every event of an agent, in order. */
export class Journal {
  readonly #events: AgentEvent[] = []

  constructor(agent: AiAgent) {
    for (const type of TYPES) agent.on(type, event => this.#events.push(event as AgentEvent))
  }

  /** Names of all events so far. */
  get types(): AgentEventType[] {
    return this.#events.map(event => event.type)
  }

  /** Events with a name. */
  events<Type extends AgentEventType>(type: Type): AgentEvent<Type>[] {
    return this.#events.filter(event => event.type === type) as AgentEvent<Type>[]
  }

  /** Payloads of the events with a name. */
  of<Type extends AgentEventType>(type: Type): AgentEvent<Type>['payload'][] {
    return this.events(type).map(event => event.payload)
  }

  /** Contents of the agent's messages. */
  get answers(): (string | undefined)[] {
    return this.of('agentMessage').map(payload => payload.message.content)
  }

  /** Codes of the `error` events. */
  get errorCodes(): string[] {
    return this.of('error').map(payload => payload.error.code)
  }
}
