import { type AiAgent, type DeliveryState, Message, type TranscriptEntry } from '@aiagent/client'

/** A message that the agent reported while a user was at the screen. */
export interface ReportedMessage {
  readonly user: number
  readonly message: Message
}

/** What the agent's events said, as far as the checks need it. */
export class EventLog {
  /** The last reported state of each delivery, by the id of the message. */
  readonly fates = new Map<string, DeliveryState>()
  /** Receives the further states of a delivery. */
  readonly onFate = new Map<string, (fate: DeliveryState) => void>()
  /** Contents of the agent's messages, in order. */
  readonly answers: string[] = []
  readonly reported: ReportedMessage[] = []
  readonly transcript: TranscriptEntry[] = []
  /** Number of messages that were found after an outage. */
  recovered = 0
  readonly #user: () => number

  constructor(agent: AiAgent, user: () => number) {
    this.#user = user
    agent.on('deliveryUpdate', ({ payload: { id, state } }) => {
      this.fates.set(id, state)
      this.onFate.get(id)?.(state)
    })
    agent.on('message', ({ payload: { data } }) => {
      if (data instanceof Message) this.#report(data)
    })
    agent.on('agentMessage', ({ payload }) => {
      this.answers.push(payload.message.content ?? '')
    })
    agent.on('messagesRecovered', ({ payload: { messages } }) => {
      this.recovered += messages.length
    })
    agent.on('transcriptUpdate', ({ payload: { entry } }) => {
      this.transcript.push(entry)
      this.#report(entry.message)
    })
  }

  #report(message: Message): void {
    this.reported.push({ user: this.#user(), message })
  }
}
