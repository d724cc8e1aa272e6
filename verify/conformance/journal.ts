import type { AgentEvent, AgentEventType, AiAgent } from '@aiagent/client'
import { EVENT_NAMES } from './event-names.ts'
import { ofWeather } from './wire.ts'

/** A test of phases listens to them itself. */
const TYPES = EVENT_NAMES.filter(name => name !== 'phaseChanged')

/** Records every event of an agent, in order, but for what a patient caller does not show. */
export class Journal {
  readonly #events: AgentEvent[] = []

  constructor(agent: AiAgent) {
    for (const type of TYPES) agent.on(type, event => this.#events.push(event as AgentEvent))
  }

  get #shown(): AgentEvent[] {
    return this.#events.filter(
      ({ type, payload }) => !ofWeather.has(type === 'error' ? (payload as { error: Error }).error : Object(payload)),
    )
  }

  /** Names of all events so far. */
  get types(): AgentEventType[] {
    return this.#shown.map(event => event.type)
  }

  /** Events with a name. */
  events<Type extends AgentEventType>(type: Type): AgentEvent<Type>[] {
    return this.#shown.filter(event => event.type === type) as AgentEvent<Type>[]
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
