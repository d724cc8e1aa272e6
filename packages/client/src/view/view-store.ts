import type { AgentEvents, AgentEventType, AgentPhase, AiAgent, FeedbackRating, TranscriptEntry } from '../index.ts'
import { type ConversationDelivery, type ConversationMessage, heldMessage } from './conversation-message.ts'
import type { ConversationSnapshot } from './conversation-view.ts'
import { maskedRanges } from './masked-ranges.ts'
import { MessageList } from './message-list.ts'
import { Notifier } from './notifier.ts'
import { SessionNotes } from './session-notes.ts'
import type { ViewPlatform } from './view-platform.ts'
import { EMPTY_SNAPSHOT, NO_FACTS, snapshotOf, type ViewFacts } from './view-state.ts'

/** Silence after a written message, in milliseconds, from which the connection counts as silent. */
const SILENCE_MS = 15_000

/** Joins the events of an agent into one snapshot. It owns the facts that the agent does not keep. */
export class ViewStore {
  readonly list: MessageList
  readonly #agent: AiAgent
  readonly #platform: ViewPlatform
  readonly #notifier: Notifier
  readonly #notes: SessionNotes
  readonly #undo: (() => void)[] = []
  #isDestroyed = false
  #facts: ViewFacts
  #snapshot: ConversationSnapshot = EMPTY_SNAPSHOT
  #isOutdated = true
  /** Texts as the user wrote them, of messages that are not in the transcript yet, by id. */
  readonly #written = new Map<string, string>()
  /** The text that is being passed to the agent. */
  #sending: string | undefined
  #stopSilence: (() => void) | undefined

  constructor(agent: AiAgent, platform: ViewPlatform) {
    this.#agent = agent
    this.#platform = platform
    this.#facts = { ...NO_FACTS, isOffline: !platform.isOnline() }
    this.#notifier = new Notifier(platform, error => agent.logger.error('A listener of a view failed.', error))
    this.list = new MessageList(text => agent.maskContent(text))
    this.#notes = new SessionNotes(agent)
    this.#listen()
    this.list.read(agent.getTranscript(), 'sent')
    if (agent.getIsInitialized()) void this.#loadNotes()
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#notifier.subscribe(listener)

  readonly getSnapshot = (): ConversationSnapshot => {
    if (this.#isOutdated) this.#snapshot = snapshotOf(this.#agent, this.list, this.#facts, this.#snapshot)
    this.#isOutdated = false
    return this.#snapshot
  }

  /** Changes some facts, and notifies soon. */
  change(facts: Partial<ViewFacts> = {}): void {
    this.#facts = { ...this.#facts, ...facts }
    this.#isOutdated = true
    this.#notifier.schedule()
  }

  /** Sets the draft, and notifies at once. */
  setDraft(draft: string): void {
    this.change({ draft })
    this.#notifier.notify()
    this.#save()
  }

  /** Marks a message as rated, also where the transcript keeps no feedback. */
  rate(item: ConversationMessage, rating: FeedbackRating): void {
    this.list.rate(item.sessionId, item.messageId, rating)
    this.change()
    this.#save()
  }

  /** Passes text to the agent, and shows it, also while it waits for `initialize()`. */
  async send(text: string): Promise<string> {
    this.#sending = text
    let sent: Promise<string>
    try {
      // An agent that is ready records the message before this returns.
      sent = this.#agent.send(text)
    } finally {
      this.#sending = undefined
    }
    const id = await sent
    if (!this.list.find(id) && !this.#agent.getIsInitialized()) this.#hold(id, text)
    return id
  }

  destroy(): void {
    this.#isDestroyed = true
    for (const undo of this.#undo) undo()
    this.#notifier.stop()
    this.#notes.stop()
    this.#stopSilence?.()
  }

  #listen(): void {
    const agent = this.#agent
    this.#on('phaseChanged', ({ payload }) => this.#handlePhase(payload))
    for (const name of ['portalsAvailable', 'agentsAvailable', 'profilesAvailable'] as const)
      this.#on(name, () => this.change())
    this.#on('stateChanged', ({ timestamp, payload: { state, retryInMs } }) => {
      this.#endSilence()
      const retryAt = retryInMs === undefined ? undefined : timestamp + retryInMs
      this.change(state === 'CONNECTED' ? { retryAt, error: undefined, needsToken: false } : { retryAt })
    })
    this.#on('error', ({ payload }) => this.change({ error: payload.error }))
    this.#on('errorMessage', ({ payload }) => this.change({ error: payload.error, isWorking: false }))
    this.#on('tokenExpiring', ({ payload }) => {
      if (payload.reason === 'transport_request') this.change({ needsToken: true })
    })
    this.#on('message', () => this.#endSilence())
    this.#on('heartbeat', () => this.change({ isWorking: true }))
    this.#on('closed', () => this.change({ isWorking: false }))
    this.#on('transcriptUpdate', ({ payload }) => this.#record(payload.entry))
    this.#on('queueFlushed', () => {
      for (const { id, delivery } of this.list.get()) if (delivery === 'queued') this.list.setDelivery(id, 'sent')
      this.change()
    })
    this.#on('transcriptRestored', () => this.#read())
    this.#on('transcriptTrimmed', () => {
      this.list.trimTo(agent.getTranscriptSize())
      this.change()
    })
    this.#on('transcriptCleared', () => {
      this.list.clear()
      this.change({ unread: 0, error: undefined, isWorking: false })
    })
    this.#undo.push(this.#platform.onOnlineChange(() => this.change({ isOffline: !this.#platform.isOnline() })))
  }

  #on<Name extends AgentEventType>(name: Name, listener: (event: AgentEvents[Name]) => void): void {
    this.#undo.push(this.#agent.subscribe(name, listener))
  }

  #handlePhase(phase: AgentPhase): void {
    if (phase.at === 'ready') {
      this.list.release()
      this.#written.clear()
      void this.#loadNotes()
    }
    if (phase.at === 'leaving') {
      this.#notes.stop()
      this.list.forget()
      this.#written.clear()
      this.#facts = { ...NO_FACTS, isOffline: this.#facts.isOffline }
    }
    this.change({ error: phase.at === 'idle' ? phase.error : undefined })
  }

  /** A message was accepted for sending, or received. */
  #record(entry: TranscriptEntry): void {
    const { message, direction } = entry
    const isSent = direction === 'sent'
    const written = this.#sending ?? this.#written.get(message.messageId ?? '')
    if (isSent && written !== undefined && written !== message.content) {
      this.list.setMasked(message.content ?? '', maskedRanges(this.#agent.previewMasking(written)))
      this.#save()
    }
    const item = this.list.add(entry, isSent ? this.#deliveryOf() : undefined)
    const { unread } = this.#facts
    if (isSent) {
      if (item && this.#agent.isConnected()) this.#awaitFrame()
      this.change()
    } else if (item) this.change({ unread: unread + 1, isWorking: false })
  }

  /** The agent says how many messages wait, but not which. They leave in order, so a new one waits behind them. */
  #deliveryOf(): ConversationDelivery {
    return this.#agent.getQueueSize() > 0 ? 'queued' : 'sent'
  }

  #read(): void {
    if (this.#agent.getTranscriptSize() > 0) this.list.read(this.#agent.getTranscript(), 'acknowledged')
    this.change()
  }

  #hold(id: string, text: string): void {
    this.#written.set(id, text)
    this.list.hold(heldMessage(id, text, this.#platform.now()))
    this.change()
  }

  #awaitFrame(): void {
    this.#stopSilence ??= this.#platform.setTimer(() => this.change({ isSilent: true }), SILENCE_MS)
  }

  #endSilence(): void {
    this.#stopSilence?.()
    this.#stopSilence = undefined
    if (this.#facts.isSilent) this.change({ isSilent: false })
  }

  async #loadNotes(): Promise<void> {
    const notes = await this.#notes.load()
    if (!notes || this.#isDestroyed) return
    this.list.addNotes(notes)
    this.#read()
    if (!this.#facts.draft && typeof notes.draft === 'string') this.change({ draft: notes.draft })
  }

  #save(): void {
    if (!this.#agent.getIsInitialized()) return
    this.#notes.save({ ...this.list.notes, draft: this.#agent.maskContent(this.#facts.draft) })
  }
}
