import { PERSONA, ROLE } from '@aiagent/protocol'
import type { AiAgent } from '../ai-agent.ts'
import type { AgentEvent } from '../events.ts'
import type { Message } from '../log/message.ts'
import { ATTRIBUTE, METRIC, NAME, STATUS_ERROR } from './names.ts'
import {
  type Attributes,
  contextOf,
  type TelemetryContext,
  type TelemetryLogger,
  type TelemetryMeter,
  type TelemetrySpan,
} from './telemetry-types.ts'

/** How many answers are remembered, so that a later rating belongs to its turn. */
const KEPT_ANSWERS = 200

interface Turn {
  readonly span: TelemetrySpan
  readonly startedAt: number
  readonly messageId: string | undefined
}

/** What the turns of an agent need. */
export interface TurnsOptions {
  agent: AiAgent
  start(event: { timestamp: number }, attributes: Attributes): TelemetrySpan
  meter: TelemetryMeter | undefined
  logger: TelemetryLogger | undefined
  content: boolean
  /** Attributes of every span, which grow as facts become known. */
  common: Readonly<Attributes>
  base(): TelemetryContext | undefined
  conversationOf(sessionId: string | undefined): string | undefined
}

/**
 * The turns of one agent: each begins with a message of the user and ends with the first message of the agent after it. The
 * protocol does not link the two, so the oldest open turn is the one that is answered.
 */
export class Turns {
  readonly #options: TurnsOptions
  readonly #duration
  readonly #firstResponse
  readonly #queue
  readonly #answered = new Map<string, TelemetrySpan>()
  /** Separate from the signal of the other listeners: Node warns above ten listeners of one signal. */
  readonly #ended = new AbortController()
  #open: Turn[] = []
  #queued = 0

  constructor(options: TurnsOptions) {
    const { meter } = options
    this.#options = options
    this.#duration = meter?.createHistogram(...METRIC.DURATION)
    this.#firstResponse = meter?.createHistogram(...METRIC.FIRST_RESPONSE)
    this.#queue = meter?.createUpDownCounter(...METRIC.QUEUE)
  }

  listen(): void {
    const { agent } = this.#options
    const { signal } = this.#ended
    agent.on('transcriptUpdate', event => this.#handleEntry(event), { signal })
    agent.on('deliveryUpdate', event => this.#handleDelivery(event), { signal })
    agent.on('agentMessage', event => this.#handleAnswer(event), { signal })
    agent.on('errorMessage', event => this.#handleError(event), { signal })
    agent.on(
      'escalation',
      ({ timestamp, payload: { escalationType, messageId } }) => {
        const span = this.#answered.get(messageId ?? '') ?? this.#open[0]?.span
        span?.addEvent(NAME.ESCALATED, { [ATTRIBUTE.ESCALATION]: escalationType }, new Date(timestamp))
      },
      { signal },
    )
    agent.on('queueFlushed', () => this.#countQueue(), { signal })
  }

  /** The name of the agent became known. */
  describe(name: string): void {
    const { common } = this.#options
    for (const { span } of this.#open) {
      span.updateName(name)
      for (const [key, value] of Object.entries(common)) span.setAttribute(key, value)
    }
  }

  /** Ends all open turns as failed, and removes the listeners. */
  end(event: { timestamp: number }, reason: string): void {
    this.#ended.abort()
    for (const turn of [...this.#open]) this.#close(turn, event, reason)
    this.#queue?.add(-this.#queued)
    this.#queued = 0
  }

  #handleEntry(event: AgentEvent<'transcriptUpdate'>): void {
    this.#countQueue()
    const { direction, message } = event.payload
    if (direction !== 'sent') return
    const { persona, role } = message
    if (role === ROLE.FEEDBACK) this.#rate(message, event)
    if (persona !== PERSONA.CUSTOMER || role !== ROLE.HUMAN) return
    const { agent, content } = this.#options
    const span = this.#options.start(event, {
      [ATTRIBUTE.OPERATION]: NAME.TURN,
      [ATTRIBUTE.OUTPUT_TYPE]: 'text',
      ...(content && { [ATTRIBUTE.INPUT]: messagesOf('user', message.content) }),
    })
    if (!agent.isConnected()) span.addEvent(NAME.QUEUED, {}, new Date(event.timestamp))
    this.#identify(span, event.sessionId)
    this.#open.push({ span, startedAt: event.timestamp, messageId: message.messageId })
  }

  #handleDelivery(event: AgentEvent<'deliveryUpdate'>): void {
    this.#countQueue()
    const { id, state, reason } = event.payload
    const turn = this.#open.find(({ messageId }) => messageId === id)
    if (!turn) return
    const time = new Date(event.timestamp)
    if (state === 'sent') {
      // The session may be newer than the message.
      this.#identify(turn.span, event.sessionId)
      turn.span.addEvent(NAME.SENT, {}, time)
    } else if (state !== 'sending') {
      const details = { [ATTRIBUTE.DELIVERY]: state, ...(reason && { [ATTRIBUTE.REASON]: reason }) }
      turn.span.addEvent(NAME.DELIVERED, details, time)
      if (state !== 'acknowledged') this.#close(turn, event, reason ?? state)
    }
  }

  #handleAnswer(event: AgentEvent<'agentMessage'>): void {
    const [turn] = this.#open
    if (!turn) return
    const { messageId, message } = event.payload
    const { agent, content } = this.#options
    if (messageId) {
      if (isPlainId(messageId, event.sessionId)) turn.span.setAttribute(ATTRIBUTE.RESPONSE, messageId)
      this.#answered.set(messageId, turn.span)
      const [oldest = ''] = this.#answered.keys()
      if (this.#answered.size > KEPT_ANSWERS) this.#answered.delete(oldest)
    }
    const answer = content ? agent.previewMasking(message.content ?? '') : undefined
    if (answer && !answer.isBlocked) turn.span.setAttribute(ATTRIBUTE.OUTPUT, messagesOf('assistant', answer.content))
    this.#firstResponse?.record((event.timestamp - turn.startedAt) / 1000, this.#labels())
    this.#close(turn, event)
  }

  #handleError(event: AgentEvent<'errorMessage'>): void {
    const [turn] = this.#open
    const { message } = event.payload
    if (turn) this.#close(turn, event, serviceCode(message.messageData?.['error_code']))
  }

  /** Ends a turn. The event of an escalation follows its message, so the span ends a microtask later. */
  #close(turn: Turn, { timestamp }: { timestamp: number }, error?: string): void {
    this.#open = this.#open.filter(each => each !== turn)
    if (error !== undefined) {
      turn.span.setAttribute(ATTRIBUTE.ERROR, error)
      turn.span.setStatus({ code: STATUS_ERROR })
    }
    const labels = { ...this.#labels(), ...(error !== undefined && { [ATTRIBUTE.ERROR]: error }) }
    this.#duration?.record((timestamp - turn.startedAt) / 1000, labels)
    void Promise.resolve().then(() => turn.span.end(new Date(timestamp)))
  }

  #rate(message: Message, { timestamp, sessionId }: { timestamp: number; sessionId?: string | undefined }): void {
    const { rating, answerMessageId = '' } = Object(message.messageData?.['feedback']) as Record<string, string>
    const isUp = rating === 'up'
    const turn = this.#answered.get(answerMessageId)
    this.#options.logger?.emit({
      eventName: NAME.EVALUATED,
      attributes: {
        [ATTRIBUTE.EVALUATION]: 'user_feedback',
        [ATTRIBUTE.SCORE_LABEL]: isUp ? 'up' : 'down',
        [ATTRIBUTE.SCORE_VALUE]: isUp ? 1 : 0,
        ...(isPlainId(answerMessageId, sessionId) && { [ATTRIBUTE.RESPONSE]: answerMessageId }),
      },
      timestamp: new Date(timestamp),
      ...(turn && { context: contextOf(turn, this.#options.base()) }),
    })
  }

  #identify(span: TelemetrySpan, sessionId: string | undefined): void {
    const conversation = this.#options.conversationOf(sessionId)
    if (conversation !== undefined) span.setAttribute(ATTRIBUTE.CONVERSATION, conversation)
  }

  #countQueue(): void {
    const size = this.#options.agent.getQueueSize()
    if (size !== this.#queued) this.#queue?.add(size - this.#queued)
    this.#queued = size
  }

  #labels(): Attributes {
    const { [ATTRIBUTE.PROVIDER]: provider = '' } = this.#options.common
    return { [ATTRIBUTE.OPERATION]: NAME.TURN, [ATTRIBUTE.PROVIDER]: provider }
  }
}

/** What a service calls an error, in the form of its codes. Any other text may be anyone's words, and each is one more label. */
const serviceCode = (code: unknown) => (typeof code === 'string' && /^\d{3}-\d{3}$/.test(code) ? code : 'error')

/** Whether an id, which the service chooses, has the form of one and does not contain the session's, which is a credential. */
const isPlainId = (id: string, sessionId = '') =>
  /^[\w.:+/=~-]{1,100}$/.test(id) && (sessionId === '' || !id.includes(sessionId))

/** One message in the form of the conventions. */
const messagesOf = (role: string, content = '') => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
