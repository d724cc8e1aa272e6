import {
  type AgentEvents,
  type AgentEventType,
  type AiAgent,
  type DeliveryState,
  MessageError,
  type MessageErrorReason,
  type TranscriptEntry,
} from '@aiagent/client'
import { isRequested } from './conversation-error.ts'
import { type ConversationMessage, heldMessage } from './conversation-message.ts'
import type { ConversationSnapshot, ConversationView, ConversationViewOptions } from './conversation-snapshot.ts'
import { createMessageList, type MessageList, NOTHING_KEPT } from './message-list.ts'
import { createNotifier } from './notifier.ts'
import { SessionData } from './session-data.ts'
import { UnreadCount } from './unread-count.ts'
import type { ViewPlatform } from './view-platform.ts'
import { EMPTY_SNAPSHOT, snapshotOf, type ViewFacts } from './view-state.ts'

/** Silence after a written message, in milliseconds, from which the connection counts as silent. */
const SILENCE_MS = 15_000

/** A chat that is open, with the token that it needs, has solved what was wrong. */
const SOLVED: ViewFacts = { error: undefined, needsToken: false }

/** Joins the events of an agent into one snapshot. It owns the facts that the agent does not keep. */
export interface ViewStore extends Pick<ConversationView, 'subscribe' | 'getSnapshot' | 'setDraft' | 'destroy'> {
  readonly list: MessageList
  /** Number of users who have left: each time the phase `leaving` was entered. */
  readonly departures: number
  /** Changes some facts, and notifies soon. */
  change(facts?: ViewFacts): void
  /** Passes text to the agent, and shows it, also while it waits for `initialize()`. */
  send(text: string): Promise<string>
  /** Counts a message of a colleague as unread. */
  countDesk(): void
  /** Stores ratings, masked parts, and what is given, with the session. */
  save(changes?: Parameters<SessionData['save']>[0]): void
  /** The user has read everything. */
  markRead(): void
  /** The error of an action that is refused. @param reason default: `invalid` */
  refusal(message: string, reason?: MessageErrorReason): MessageError
  /** Settles when what was to be read and stored so far is. */
  stored(): Promise<void>
}

export function createViewStore(
  agent: AiAgent,
  platform: ViewPlatform,
  { keepsUnread }: Pick<ConversationViewOptions, 'keepsUnread'> = {},
): ViewStore {
  const list = createMessageList(agent)
  const notifier = createNotifier(platform, error => agent.logger.error('A listener of a view failed.', error))
  const undo: (() => void)[] = []
  let facts: ViewFacts = { isOffline: !platform.isOnline() }
  let snapshot: ConversationSnapshot = EMPTY_SNAPSHOT
  let isOutdated = true
  /** The text that is being passed to the agent. */
  let sending: string | undefined
  let stopSilence: (() => void) | undefined
  let departures = 0
  let isDestroyed = false

  const change = (changes?: ViewFacts) => {
    facts = { ...facts, ...changes }
    isOutdated = true
    notifier.schedule()
  }

  const on = <Name extends AgentEventType>(name: Name, listener: (event: AgentEvents[Name]) => void) => {
    undo.push(agent.subscribe(name, listener))
  }

  const data = new SessionData(agent, list)
  const unread = new UnreadCount(agent, list, count => change({ unread: count }))

  /** @param isRead whether the list holds the transcript, but for what is stored */
  const restore = (isRead = false) => {
    const before = list.kept()
    // What was read and reported in the expired session says nothing about the next one.
    if (list.newSession()?.hasExpired) data.save({ readUpTo: undefined, signals: undefined })
    data.read(({ draft, readUpTo }) => {
      if (isDestroyed) return
      if (!isRead || list.kept() !== before) list.read(agent.getTranscript())
      change({ draft: facts.draft || draft })
      if (keepsUnread && readUpTo !== undefined) unread.adopt(readUpTo)
    })
  }

  const endSilence = () => {
    stopSilence?.()
    stopSilence = undefined
    if (facts.isSilent) change({ isSilent: false })
  }

  const startSilence = () => {
    stopSilence ??= platform.setTimer(() => change({ isSilent: true }), SILENCE_MS)
  }

  const keepHeld = (state: DeliveryState) => list.hold(list.held().filter(({ delivery }) => delivery === state))

  /** Shows what became of a message of an agent that ends, which reports it by no event. */
  const settle = ({ id, author }: ConversationMessage) => {
    if (author === 'user')
      void agent.delivery(id)?.outcome.then(outcome => {
        if (isDestroyed) return
        list.updateDelivery(id, outcome)
        change()
      })
  }

  /** Something must arrive after a message that was written. */
  const watch = (item: ConversationMessage | undefined) => {
    if (item?.delivery === 'sent') startSilence()
  }

  const record = (entry: TranscriptEntry) => {
    const { message, direction } = entry
    if (direction === 'received') {
      if (!list.add(entry)) return
      endSilence()
      // An answer shows that the service has a token that it takes.
      if (facts.needsToken) change(SOLVED)
      unread.add()
      return
    }
    const written = sending ?? list.held().find(({ id }) => id === message.messageId)?.content
    if (written !== undefined && message.content !== undefined && written !== message.content) {
      list.mask(agent.previewMasking(written))
      data.save()
    }
    watch(list.add(entry))
    change()
  }

  /** Loads what is of most use without a network, when it could not be loaded. A failure shows when it is used. */
  const preload = () => {
    for (const part of [agent.explain(), import('./export-conversation.ts')]) part.catch(() => {})
  }

  /** Reads the transcript again, where it stores messages at all. */
  const read = () => {
    if (agent.getTranscriptSize() > 0) list.read(agent.getTranscript())
    change()
  }

  /** Stores what the user has read: everything up to the last message of the agent. */
  const saveRead = () => {
    if (keepsUnread)
      data.save({
        readUpTo: list.present().findLast(({ author, messageId }) => author === 'agent' && messageId)?.messageId ?? '',
      })
  }

  on('phaseChanged', ({ payload: phase }) => {
    if (phase.at === 'ready') {
      // All others are in the transcript now, or were taken back.
      keepHeld('failed')
      restore()
    }
    if (phase.at === 'destroyed') list.get().forEach(settle)
    if (phase.at === 'leaving') {
      departures++
      list.hold([])
      data.drop()
      list.keep(NOTHING_KEPT)
      list.place()
      list.clear()
      facts = { isOffline: !platform.isOnline() }
      unread.reset(undefined)
    }
    change({ error: phase.at === 'idle' && !isRequested(phase.error) ? phase.error : undefined })
  })
  for (const name of ['portalsAvailable', 'agentsAvailable', 'profilesAvailable', 'workingChanged'] as const)
    on(name, () => change())
  on('stateChanged', ({ timestamp, sessionId, payload: { state, retryInMs } }) => {
    endSilence()
    list.enter(sessionId)
    if (state === 'CONNECTED') {
      preload()
      data.flush()
    }
    change({
      retryAt: retryInMs === undefined ? undefined : timestamp + retryInMs,
      isWaitAsked: false,
      ...(state === 'CONNECTED' && SOLVED),
    })
  })
  // The error of a failed attempt follows its state.
  on('error', ({ payload: { error } }) => {
    // Before there is a chat, the session of the previous page is all that can be refused.
    if (!agent.getIsInitialized() && Object(error).reason === 'refused') list.expire()
    change({ error, ...(facts.retryAt !== undefined && error.retryAfterMs && { isWaitAsked: true }) })
  })
  on('errorMessage', ({ payload: { error } }) => change({ error }))
  on('rateLimited', ({ timestamp, payload }) => {
    if (payload.source === 'rest' && !agent.isConnected())
      change({ retryAt: timestamp + payload.retryInMs, isWaitAsked: true })
  })
  on('tokenExpiring', ({ payload }) => {
    if (payload.reason === 'transport_request') change({ needsToken: true })
  })
  // After a history or a heartbeat, the wait for the answer continues: the silence counts from then on.
  on('message', () => {
    const isWaiting = stopSilence
    endSilence()
    if (isWaiting) startSilence()
  })
  on('deliveryUpdate', ({ payload }) => {
    if (payload.state === 'acknowledged') endSilence()
    watch(list.updateDelivery(payload.id))
    // The options that it answered wait again.
    if (payload.state === 'cancelled') read()
    else change()
  })
  on('transcriptUpdate', ({ payload }) => record(payload.entry))
  on('transcriptRestored', () => {
    read()
    unread.restored()
  })
  on('messagesRecovered', read)
  on('transcriptTrimmed', () => {
    list.trim(agent.getTranscript())
    change()
  })
  on('transcriptCleared', () => {
    list.leave()
    keepHeld('queued')
    change({ error: undefined })
    unread.reset(0)
    // By then a new session has followed, or none does.
    void Promise.resolve().then(() => {
      list.settle(true)
      if (!isDestroyed) change()
    })
  })
  on('conversationRead', ({ payload }) => unread.readElsewhere(payload.messageId))
  const checkNetwork = () => {
    const isOffline = !platform.isOnline()
    if (isOffline !== facts.isOffline) change({ isOffline })
  }
  // Only while something is subscribed: a view that is forgotten, as in a rendering that React discards, leaves nothing.
  let stopNetwork: (() => void) | undefined
  const endNetwork = () => {
    stopNetwork?.()
    stopNetwork = undefined
  }
  list.read(agent.getTranscript())
  if (agent.getIsInitialized()) restore(true)
  if (agent.isConnected()) preload()

  return {
    list,
    get departures() {
      return departures
    },
    change,
    save: changes => data.save(changes),
    refusal: (message, reason = 'invalid') => new MessageError(message, reason),
    stored: () => data.settled(),
    countDesk: () => unread.addOfDesk(),
    subscribe(listener) {
      const stop = notifier.subscribe(listener)
      if (!stopNetwork) {
        stopNetwork = platform.onOnlineChange(checkNetwork)
        checkNetwork()
      }
      return () => {
        if (stop() === 0) endNetwork()
      }
    },
    getSnapshot() {
      if (!stopNetwork) checkNetwork()
      if (isOutdated) {
        list.settle()
        snapshot = snapshotOf(agent, list, facts, snapshot)
      }
      isOutdated = false
      return snapshot
    },
    setDraft(draft) {
      // The draft belongs to the user who is being signed out.
      if (agent.status.phase.at === 'leaving') return
      change({ draft })
      notifier.notify()
      data.save({ draft })
    },
    markRead() {
      unread.reset(0)
      agent.markRead()
      saveRead()
    },
    async send(text) {
      const user = departures
      let sent: Promise<string>
      // The user answers what is there.
      saveRead()
      sending = text
      try {
        // An agent that is ready records the message before this returns.
        sent = agent.send(text)
      } finally {
        sending = undefined
      }
      const id = await sent
      if (!agent.getIsInitialized() && user === departures) {
        list.hold([...list.held(), heldMessage(id, text, platform.now())])
        change()
      }
      return id
    },
    destroy() {
      isDestroyed = true
      for (const stop of undo) stop()
      endNetwork()
      notifier.stop()
      stopSilence?.()
      return data.settled()
    },
  }
}
