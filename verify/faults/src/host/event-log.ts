import {
  type AgentListItem,
  type DeliveryState,
  Message,
  MessageError,
  type Portal,
  type TranscriptEntry,
  type UserProfile,
} from '@aiagent/client'
import type { RunClock } from '../service/run-clock.ts'
import type { AgentLife } from './agent-life.ts'

/** A message that the agent reported while a user was at the screen. */
export interface ReportedMessage {
  readonly user: number
  readonly message: Message
}

const OUTCOMES: ReadonlySet<DeliveryState> = new Set(['acknowledged', 'cancelled', 'failed', 'unknown'])

/** Outcomes that late evidence or a retry may change. */
const LATE: ReadonlySet<DeliveryState> = new Set(['failed', 'unknown'])

/** What the events of the agents said, one process after the other, as far as the checks need it. */
export class EventLog {
  /** The last reported state of each delivery, by the id of the message. */
  readonly fates = new Map<string, DeliveryState>()
  /** Times of the reported writes, by the id of the message, in milliseconds of the run. */
  readonly writes = new Map<string, number[]>()
  /** Receives the further states of a delivery, with their time. */
  readonly onFate = new Map<string, (fate: DeliveryState, at: number) => void>()
  /** Changes of a delivery after its outcome, in words: none is allowed but a late acknowledgement and a retry. */
  readonly undone: string[] = []
  /** Ids of messages that the host is retrying in this moment. */
  readonly retried = new Set<string>()
  /** Times at which a connection broke, or was given up as dead, in milliseconds of the run. */
  readonly breaks: number[] = []
  /** Contents of the agent's messages, in order. */
  readonly answers: string[] = []
  readonly reported: ReportedMessage[] = []
  readonly transcript: TranscriptEntry[] = []
  /** The messages of the `message` events, in order. */
  readonly heard: Message[] = []
  /** Ids of the messages that an `error` event named. */
  readonly named = new Set<string>()
  /** Ids of the messages that were dropped before they were sent. */
  readonly dropped = new Set<string>()
  /** The choices that were offered last. */
  portals: readonly Portal[] = []
  agents: readonly AgentListItem[] = []
  profiles: readonly UserProfile[] = []
  /** Number of messages that were found after an outage. */
  recovered = 0
  readonly #clock: RunClock
  readonly #user: () => number

  constructor(clock: RunClock, user: () => number) {
    this.#clock = clock
    this.#user = user
  }

  /** Listens to the agent of a process until that ends. */
  follow(life: AgentLife): void {
    const { agent, signal } = life
    const states = new Map<string, DeliveryState>()
    agent.on(
      'deliveryUpdate',
      ({ payload: { id, state, reason } }) => {
        const before = states.get(id)
        states.set(id, state)
        if (before && OUTCOMES.has(before) && !(LATE.has(before) && (state === 'acknowledged' || this.retried.has(id))))
          this.undone.push(`${id}: ${before} → ${state}`)
        const at = this.#clock.elapsed()
        this.fates.set(id, state)
        if (reason === 'cleared' || reason === 'signed_out') this.dropped.add(id)
        const onFate = this.onFate.get(id)
        if (onFate) onFate(state, at)
        else if (state === 'sending') this.writes.set(id, [...(this.writes.get(id) ?? []), at])
      },
      { signal },
    )
    agent.on(
      'error',
      ({ payload: { error } }) => {
        if (error instanceof MessageError && error.messageId !== undefined) this.named.add(error.messageId)
      },
      { signal },
    )
    agent.on(
      'closed',
      ({ payload: { code, cause } }) => {
        if (cause === 'dead_connection' || (code !== 1000 && code !== 1005)) this.breaks.push(this.#clock.elapsed())
      },
      { signal },
    )
    agent.on(
      'message',
      ({ payload: { data } }) => {
        if (!(data instanceof Message)) return
        this.heard.push(data)
        this.#report(data)
      },
      { signal },
    )
    agent.on(
      'agentMessage',
      ({ payload }) => {
        this.answers.push(payload.message.content ?? '')
      },
      { signal },
    )
    agent.on(
      'messagesRecovered',
      ({ payload: { messages } }) => {
        this.recovered += messages.length
      },
      { signal },
    )
    agent.on(
      'transcriptUpdate',
      ({ payload: { entry } }) => {
        this.transcript.push(entry)
        this.#report(entry.message)
      },
      { signal },
    )
    agent.on(
      'portalsAvailable',
      ({ payload }) => {
        this.portals = payload.portals
      },
      { signal },
    )
    agent.on(
      'agentsAvailable',
      ({ payload }) => {
        this.agents = payload.agents
      },
      { signal },
    )
    agent.on(
      'profilesAvailable',
      ({ payload }) => {
        this.profiles = payload.profiles
      },
      { signal },
    )
  }

  #report(message: Message): void {
    this.reported.push({ user: this.#user(), message })
  }
}
