import { type AiAgent, Message, MessageError, type TranscriptEntry } from '@aiagent/client'

/** A message that the agent reported while a user was at the screen. */
export interface ReportedMessage {
  readonly user: number
  readonly message: Message
}

/** What the agent's events said, as far as the checks need it. */
export class EventLog {
  /** Ids of the messages that an `error` event reported as dropped. */
  readonly dropped = new Set<string>()
  /** Contents of the agent's messages, in order. */
  readonly answers: string[] = []
  readonly reported: ReportedMessage[] = []
  readonly transcript: TranscriptEntry[] = []
  readonly #user: () => number

  constructor(agent: AiAgent, user: () => number) {
    this.#user = user
    agent.on('error', ({ payload: { error } }) => {
      if (error instanceof MessageError && error.messageId !== undefined) this.dropped.add(error.messageId)
    })
    agent.on('message', ({ payload: { data } }) => {
      if (data instanceof Message) this.#report(data)
    })
    agent.on('agentMessage', ({ payload }) => {
      this.answers.push(payload.message.content ?? '')
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
