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
import { type ConversationMessage, heldMessage, isRating, type TextRange } from './conversation-message.ts'
import type { ConversationSnapshot, ConversationView, ConversationViewOptions } from './conversation-snapshot.ts'
import { createMessageList, type KeptFacts, type MessageList, NOTHING_KEPT } from './message-list.ts'
import { createNotifier } from './notifier.ts'
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
  /** Stores ratings, masked parts, and the draft and the chats with colleagues where they are given, with the session. */
  save(changes?: Unsaved): void
  /** The user has read everything. */
  markRead(): void
  /** The error of an action that is refused. @param reason default: `invalid` */
  refusal(message: string, reason?: MessageErrorReason): MessageError
  /** Settles when what was to be read and stored so far is. */
  stored(): Promise<void>
}

/** What is stored with the session, as any page of any version may have stored it. */
interface StoredData extends Partial<KeptFacts> {
  readonly draft?: unknown
  readonly desk?: unknown
  readonly signals?: unknown
  readonly readUpTo?: unknown
}

interface Unsaved {
  readonly draft?: string
  /** As the live desk has written it. */
  readonly desk?: unknown
  /** As the signals have written it. */
  readonly signals?: unknown
  /** Id of the last message of the agent that the user has read; empty for none of them. */
  readonly readUpTo?: string
}

/** Reading and writing of the data of each agent's session, one after the other: several views of one agent share it. */
const queues = new WeakMap<AiAgent, Promise<void>>()

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
  /** What waits to be stored. */
  let unsaved: Unsaved | undefined

  const change = (changes?: ViewFacts) => {
    facts = { ...facts, ...changes }
    isOutdated = true
    notifier.schedule()
  }

  const on = <Name extends AgentEventType>(name: Name, listener: (event: AgentEvents[Name]) => void) => {
    undo.push(agent.subscribe(name, listener))
  }

  const stored = async () => queues.get(agent)

  /** Adds what was stored with the session, by this view, another one, or the page before. Returns the rest of it. */
  const merge = (stored: unknown) => {
    const { ratings, masked, draft, desk, readUpTo, signals } = Object(stored) as StoredData
    const known = list.kept()
    if (ratings || masked)
      list.keep({
        ...known,
        ratings: { ...ratingsOf(ratings), ...known.ratings },
        masked: { ...frozenRanges(masked), ...known.masked },
      })
    return {
      draft: typeof draft === 'string' ? draft : '',
      readUpTo: typeof readUpTo === 'string' ? readUpTo : undefined,
      desk,
      signals,
    }
  }

  /** Queues work with what is stored of the user, who may have left until then. */
  const enqueue = (work: (stored: ReturnType<typeof merge>) => unknown) => {
    const done = stored().then(async () => {
      const data = await agent.getSessionData()
      if (agent.getIsInitialized()) await work(merge(data))
    })
    queues.set(
      agent,
      done.catch(error => agent.logger.warn('The data of a view could not be stored.', error)),
    )
  }

  const save = (changes?: Unsaved) => {
    unsaved = { ...unsaved, ...changes }
    enqueue(stored => {
      if (!unsaved) return
      const { draft, ...others } = { ...stored, ...unsaved }
      const { isBlocked, content } = agent.previewMasking(draft)
      // Without rules it stays in memory, until there are some.
      unsaved = isBlocked && draft ? { draft } : undefined
      return agent.setSessionData({ ...list.kept(), ...others, draft: isBlocked ? '' : content })
    })
  }

  /** @param isRead whether the list holds the transcript, but for what is stored */
  const restore = (isRead = false) => {
    const before = list.kept()
    enqueue(({ draft, readUpTo }) => {
      if (isDestroyed) return
      if (!isRead || list.kept() !== before) list.read(agent.getTranscript())
      change({ draft: facts.draft || draft })
      // What has arrived meanwhile is behind it too; after markRead() it is outdated.
      if (keepsUnread && readUpTo !== undefined && facts.unread !== 0)
        change({ unread: unreadSince(readUpTo) ?? facts.unread ?? 0 })
      // An earlier page may have stored it without these rules.
      const { isBlocked, content } = agent.previewMasking(draft)
      if (draft && (isBlocked || content !== draft)) unsaved ??= { draft }
      if (unsaved) save()
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
      change({ unread: (facts.unread ?? 0) + 1, ...(facts.needsToken && SOLVED) })
      return
    }
    const written = sending ?? list.held().find(({ id }) => id === message.messageId)?.content
    if (written !== undefined && message.content !== undefined && written !== message.content) {
      list.mask(agent.previewMasking(written))
      save()
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
      save({
        readUpTo: list.get().findLast(({ author, messageId }) => author === 'agent' && messageId)?.messageId ?? '',
      })
  }

  /** Number of shown messages of the agent behind one of them; undefined where the transcript does not have it. */
  const unreadSince = (messageId: string) => {
    const received = agent.getTranscript({ direction: 'received' })
    const index = received.map(({ message }) => message.messageId).lastIndexOf(messageId)
    return index < 0 && messageId ? undefined : received.slice(index + 1).filter(({ id }) => list.find(id)).length
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
      unsaved = undefined
      list.keep(NOTHING_KEPT)
      list.place()
      list.read([])
      facts = { isOffline: !platform.isOnline() }
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
      if (unsaved) save()
    }
    change({
      retryAt: retryInMs === undefined ? undefined : timestamp + retryInMs,
      isWaitAsked: false,
      ...(state === 'CONNECTED' && SOLVED),
    })
  })
  // The error of a failed attempt follows its state.
  on('error', ({ payload: { error } }) =>
    change({ error, ...(facts.retryAt !== undefined && error.retryAfterMs && { isWaitAsked: true }) }),
  )
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
    // It was read in another tab before this one has loaded the transcript.
    const unread = facts.readUpTo === undefined ? undefined : unreadSince(facts.readUpTo)
    if (unread !== undefined) change({ unread, readUpTo: undefined })
  })
  on('messagesRecovered', read)
  on('transcriptTrimmed', () => {
    list.trim(agent.getTranscript())
    change()
  })
  on('transcriptCleared', () => {
    keepHeld('queued')
    list.read([])
    change({ unread: 0, unreadOfDesk: 0, error: undefined })
  })
  on('conversationRead', ({ payload: { messageId } }) => {
    const count = unreadSince(messageId)
    if (count === undefined) return change({ readUpTo: messageId })
    // What came after it is unread here too. A view that has counted nothing was opened later.
    change({ unread: Math.min(facts.unread ?? count, count) })
  })
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
    save,
    refusal: (message, reason = 'invalid') => new MessageError(message, reason),
    stored,
    countDesk: () => change({ unreadOfDesk: (facts.unreadOfDesk ?? 0) + 1 }),
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
      if (isOutdated) snapshot = snapshotOf(agent, list, facts, snapshot)
      isOutdated = false
      return snapshot
    },
    setDraft(draft) {
      // The draft belongs to the user who is being signed out.
      if (agent.status.phase.at === 'leaving') return
      change({ draft })
      notifier.notify()
      save({ draft })
    },
    markRead() {
      change({ unread: 0, unreadOfDesk: 0, readUpTo: undefined })
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
      return stored()
    },
  }
}

/** Ratings as they were stored; nothing of another form. */
function ratingsOf(ratings: unknown): KeptFacts['ratings'] {
  return Object.fromEntries(Object.entries(Object(ratings) as object).filter(([, rating]) => isRating(rating)))
}

const isRange = (range: unknown): range is TextRange => {
  const { start, end } = Object(range) as Partial<TextRange>
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && 0 <= Number(start) && Number(start) < Number(end)
}

/** Masked parts as they were stored, frozen; those of another form are left out. */
function frozenRanges(masked: unknown): KeptFacts['masked'] {
  const entries = Object.entries(Object(masked) as KeptFacts['masked'])
  return Object.fromEntries(
    entries.flatMap(([text, ranges]) =>
      Array.isArray(ranges) ? [[text, Object.freeze(ranges.filter(isRange).map(range => Object.freeze(range)))]] : [],
    ),
  )
}
