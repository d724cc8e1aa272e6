import type { AgentEvents, AgentEventType, AiAgent, TranscriptEntry } from '../index.ts'
import { type ConversationMessage, heldMessage, maskedRanges } from './conversation-message.ts'
import type { ConversationSnapshot, ConversationView } from './conversation-view.ts'
import { createMessageList, type MessageList, type Ratings } from './message-list.ts'
import { createNotifier } from './notifier.ts'
import type { ViewPlatform } from './view-platform.ts'
import { EMPTY_SNAPSHOT, snapshotOf, type ViewFacts } from './view-state.ts'

/** Silence after a written message, in milliseconds, from which the connection counts as silent. */
const SILENCE_MS = 15_000

/** Joins the events of an agent into one snapshot. It owns the facts that the agent does not keep. */
export interface ViewStore extends Pick<ConversationView, 'subscribe' | 'getSnapshot' | 'setDraft' | 'destroy'> {
  readonly list: MessageList
  /** Changes some facts, and notifies soon. */
  change(facts?: ViewFacts): void
  /** Passes text to the agent, and shows it, also while it waits for `initialize()`. */
  send(text: string): Promise<string>
  /** Stores ratings and draft with the session. */
  save(): void
}

export function createViewStore(agent: AiAgent, platform: ViewPlatform): ViewStore {
  const list = createMessageList(agent)
  const notifier = createNotifier(platform, error => agent.logger.error('A listener of a view failed.', error))
  const undo: (() => void)[] = []
  let facts: ViewFacts = {}
  let snapshot: ConversationSnapshot = EMPTY_SNAPSHOT
  let isOutdated = true
  /** Messages that wait for `initialize()`, as the user wrote them. */
  let waiting: readonly ConversationMessage[] = []
  /** The text that is being passed to the agent. */
  let sending: string | undefined
  let stopSilence: (() => void) | undefined
  let isDestroyed = false
  let isUnsaved = false
  /** Reading and writing of the session's data, one after the other. */
  let storing: Promise<unknown> = Promise.resolve()

  const change = (changes?: ViewFacts) => {
    facts = { ...facts, ...changes }
    isOutdated = true
    notifier.schedule()
  }

  const on = <Name extends AgentEventType>(name: Name, listener: (event: AgentEvents[Name]) => void) => {
    undo.push(agent.subscribe(name, listener))
  }

  const save = () => {
    isUnsaved = true
    storing = storing.then(() => {
      if (!isUnsaved || !agent.getIsInitialized()) return undefined
      isUnsaved = false
      return agent.setSessionData({ ratings: list.ratings(), draft: agent.maskContent(facts.draft ?? '') })
    })
  }

  const restore = () => {
    storing = storing.then(async () => {
      const { ratings, draft } = Object(await agent.getSessionData()) as { ratings?: Ratings; draft?: string }
      if (isDestroyed || !ratings) return
      list.setRatings({ ...ratings, ...list.ratings() })
      list.read(agent.getTranscript())
      change({ draft: facts.draft || draft || '' })
    })
  }

  const endSilence = () => {
    stopSilence?.()
    stopSilence = undefined
    if (facts.isSilent) change({ isSilent: false })
  }

  const record = (entry: TranscriptEntry) => {
    const { message, direction } = entry
    if (direction === 'received') {
      if (list.add(entry)) change({ unread: (facts.unread ?? 0) + 1 })
      return
    }
    const written = sending ?? waiting.find(({ id }) => id === message.messageId)?.content
    const isMasked = written !== undefined && written !== message.content
    const item = list.add(entry, isMasked ? maskedRanges(agent.previewMasking(written)) : undefined)
    if (item && agent.isConnected()) stopSilence ??= platform.setTimer(() => change({ isSilent: true }), SILENCE_MS)
    change()
  }

  /** Reads the transcript again, where it stores messages at all. */
  const read = () => {
    if (agent.getTranscriptSize() > 0) list.read(agent.getTranscript())
    change()
  }

  on('phaseChanged', ({ payload: phase }) => {
    if (phase.at === 'ready' || phase.at === 'leaving') list.hold((waiting = []))
    if (phase.at === 'ready') restore()
    if (phase.at === 'leaving') {
      isUnsaved = false
      list.setRatings({})
      list.read([])
      facts = { isOffline: !platform.isOnline() }
    }
    change({ error: phase.at === 'idle' ? phase.error : undefined })
  })
  for (const name of ['portalsAvailable', 'agentsAvailable', 'profilesAvailable', 'workingChanged'] as const)
    on(name, () => change())
  on('stateChanged', ({ timestamp, payload: { state, retryInMs } }) => {
    endSilence()
    change({
      retryAt: retryInMs === undefined ? undefined : timestamp + retryInMs,
      ...(state === 'CONNECTED' && { error: undefined, needsToken: false }),
    })
  })
  for (const name of ['error', 'errorMessage'] as const) on(name, ({ payload: { error } }) => change({ error }))
  on('tokenExpiring', ({ payload }) => {
    if (payload.reason === 'transport_request') change({ needsToken: true })
  })
  on('message', endSilence)
  on('deliveryUpdate', ({ payload }) => {
    list.updateDelivery(payload.id)
    change()
  })
  on('transcriptUpdate', ({ payload }) => record(payload.entry))
  on('transcriptRestored', read)
  on('messagesRecovered', read)
  on('transcriptTrimmed', () => {
    list.trim(agent.getTranscript())
    change()
  })
  on('transcriptCleared', () => {
    list.read([])
    change({ unread: 0, error: undefined })
  })
  const checkNetwork = () => change({ isOffline: !platform.isOnline() })
  undo.push(platform.onOnlineChange(checkNetwork))
  checkNetwork()
  list.read(agent.getTranscript())
  if (agent.getIsInitialized()) restore()

  return {
    list,
    change,
    save,
    subscribe: notifier.subscribe,
    getSnapshot() {
      if (isOutdated) snapshot = snapshotOf(agent, list, facts, snapshot)
      isOutdated = false
      return snapshot
    },
    setDraft(draft) {
      change({ draft })
      notifier.notify()
      save()
    },
    async send(text) {
      let sent: Promise<string>
      sending = text
      try {
        // An agent that is ready records the message before this returns.
        sent = agent.send(text)
      } finally {
        sending = undefined
      }
      const id = await sent
      if (!agent.getIsInitialized()) {
        waiting = [...waiting, heldMessage(id, text, platform.now())]
        list.hold(waiting)
        change()
      }
      return id
    },
    destroy() {
      isDestroyed = true
      for (const stop of undo) stop()
      notifier.stop()
      stopSilence?.()
    },
  }
}
