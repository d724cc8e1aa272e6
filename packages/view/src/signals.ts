import type { AiAgent, Role, TranscriptEntry } from '@aiagent/client'
import type { ConversationEscalation, ConversationMessage } from './conversation-message.ts'
import type { ConversationSignal, SignalListener } from './conversation-snapshot.ts'
import { holdLock, tabName } from './tab-lock.ts'
import type { ViewPlatform } from './view-platform.ts'
import type { ViewStore } from './view-store.ts'

/** What has been reported of a conversation; stored with the session, so that the next page does not report it again. */
interface Marks {
  readonly openedAt?: number | undefined
  readonly hasFirst?: boolean | undefined
  /** The first message of the user that the agent has not answered. */
  readonly asked?: { readonly id: string; readonly at: number } | undefined
}

/** As `ROLE`: with it, bundlers of hosts would make a further file, which every chat loads. */
const HUMAN: Role = 'human'

/** Time after which a lock that is not granted is held by another tab, in milliseconds. */
const GRANT_MS = 1_000

/** Most signals that wait until it is known which tab reports them. */
const MOST_WAITING = 100

/**
 * Reports the steps of a conversation. Every tab of a conversation follows them, and the tab that holds the lock of the session reports
 * them: another one continues when it ends.
 *
 * @param listeners the present listeners
 * @param begun when the first of them was added, and the ids of what the user had written by then, which is not reported
 */
export function createSignals(
  agent: AiAgent,
  { list, save, stored }: ViewStore,
  { locks, now, setTimer }: ViewPlatform,
  listeners: ReadonlySet<SignalListener>,
  begun: { readonly time: number; readonly written: ReadonlySet<string | undefined> },
): { destroy(): void } {
  /** Undefined until what is stored was read. */
  let marks: Marks | undefined
  /** The last hand-over that was seen. */
  let known: ConversationEscalation | undefined
  /** Whether the conversation was cleared, and the next one has not begun. */
  let isCleared = false
  /** Whether the user of the first listener has left. What the next one writes has other ids. */
  let hasLeft = false
  let session: string | undefined
  /** Gives the lock of the session back. */
  let lock = new AbortController()
  let isReporter: boolean | undefined
  let waiting: ConversationSignal[] = []
  /** Ends what waits for a store, of this user. */
  let scope = new AbortController()

  /** A listener may throw, or return a promise that rejects. */
  const call = async (listener: SignalListener, signal: ConversationSignal) => listener(signal)
  const tell = (signal: ConversationSignal) => {
    for (const listener of [...listeners])
      call(listener, signal).catch(error => agent.logger.error('A listener of signals failed.', error))
  }

  const emit = (signal: ConversationSignal) => {
    if (isReporter) tell(Object.freeze(signal))
    else if (isReporter === undefined && waiting.length < MOST_WAITING) waiting.push(Object.freeze(signal))
  }

  const decide = (reports: boolean) => {
    isReporter = reports
    const signals = waiting
    waiting = []
    if (reports) signals.forEach(tell)
  }

  /** Asks for the lock of the session, wherever that has changed. */
  const follow = () => {
    const next = agent.getSessionId() ?? undefined
    if (next === undefined || next === session) return
    session = next
    lock.abort()
    lock = new AbortController()
    const { signal } = lock
    isReporter = undefined
    const stop = setTimer(() => {
      if (isReporter === undefined) decide(false)
    }, GRANT_MS)
    signal.addEventListener('abort', stop)
    void holdLock(locks, tabName('signals', next), signal).then(release => {
      if (!release) return
      if (signal.aborted) return release()
      signal.addEventListener('abort', release)
      stop()
      decide(true)
    })
  }

  const mark = (changes: Marks) => {
    marks = { ...marks, ...changes }
    save({ signals: marks })
  }

  const open = (time: number) => {
    isCleared = false
    mark({ openedAt: time })
    emit({ name: 'opened', time })
  }

  const ask = (id: string, time: number) => {
    if (isCleared) open(time)
    const { hasFirst, openedAt = time, asked } = marks ?? {}
    mark({ hasFirst: true, asked: asked ?? { id, at: time } })
    if (!hasFirst) emit({ name: 'first_message', time, afterMs: Math.max(0, time - openedAt) })
  }

  const escalate = (escalation: ConversationEscalation | undefined, time: number) => {
    if (!escalation || escalation === known) return
    known = escalation
    emit({ name: 'escalated', time, type: escalation.type })
  }

  const answer = ({ escalation }: ConversationMessage, time: number) => {
    const { asked } = marks ?? {}
    if (asked) {
      mark({ asked: undefined })
      emit({ name: 'answered', time, afterMs: Math.max(0, time - asked.at) })
    }
    escalate(escalation, time)
  }

  /** @param time when it happened, where that is not now */
  const follows = (entry: TranscriptEntry, time: number) => {
    const { direction, message, id } = entry
    const item = list.find((direction === 'sent' && message.messageId) || id)
    if (item?.author === 'user') ask(item.id, time)
    else if (item && direction === 'received') answer(item, time)
  }

  /** Reports what the transcript has from an entry on. */
  const reportFrom = (index: number) => {
    if (index < 0) return
    const latest = now()
    for (const entry of agent.getTranscript().slice(index)) follows(entry, Math.min(entry.timestamp, latest))
  }

  const isOfUser = ({ direction, message }: TranscriptEntry) => direction === 'sent' && message.role === HUMAN

  /** Whether the user wrote it on this page, after the first listener was added. Times do not show it: a clock may be set back. */
  const isNew = (entry: TranscriptEntry) => {
    const { messageId = '' } = entry.message
    return isOfUser(entry) && !begun.written.has(messageId) && agent.delivery(messageId) !== undefined
  }

  /** Reports what has become of the last question without an answer. A history may name it by another id. */
  const settle = () => {
    const { asked } = marks ?? {}
    if (!asked) return
    const entries = agent.getTranscript()
    const index = entries.findIndex(entry => isOfUser(entry) && entry.message.messageId === asked.id)
    reportFrom(index < 0 ? entries.findLastIndex(isOfUser) : index)
  }

  /** What is shown and is not new was reported by the page before, or by another tab. */
  const takeOver = () => {
    known = list.escalation()
    if (marks?.hasFirst) return
    if (agent.getTranscript().some(entry => isOfUser(entry) && !isNew(entry))) mark({ hasFirst: true })
  }

  const begin = async () => {
    const { signal } = scope
    follow()
    if (marks) return
    await stored()
    const { signals } = Object(await agent.getSessionData()) as { signals?: unknown }
    if (signal.aborted || marks || agent.status.phase.at !== 'ready') return
    marks = marksOf(signals)
    takeOver()
    if (marks.openedAt === undefined && !marks.hasFirst) open(hasLeft ? now() : begun.time)
    if (marks.asked) settle()
    else reportFrom(agent.getTranscript().findIndex(isNew))
  }

  const end = () => {
    scope.abort()
    lock.abort()
    scope = new AbortController()
    marks = known = session = isReporter = undefined
    isCleared = false
    waiting = []
  }

  const undo = [
    agent.subscribe('phaseChanged', ({ payload: { at } }) => {
      if (at === 'ready') void begin()
      if (at === 'leaving') {
        end()
        hasLeft = true
      }
      if (at === 'destroyed') end()
    }),
    agent.subscribe('stateChanged', () => {
      const before = session
      follow()
      if (marks && isCleared && session !== before) open(now())
    }),
    agent.subscribe('transcriptUpdate', ({ payload: { entry } }) => {
      if (!marks) return
      const rating = list.ratingOf(entry)
      if (rating) emit({ name: 'rated', time: now(), rating })
      else follows(entry, now())
    }),
    agent.subscribe('messagesRecovered', () => {
      if (!marks) return
      settle()
      escalate(list.escalation(), now())
    }),
    agent.subscribe('transcriptRestored', () => {
      if (!marks) return
      settle()
      takeOver()
    }),
    agent.subscribe('deliveryUpdate', ({ payload: { id, state } }) => {
      if (state === 'cancelled' && marks?.asked?.id === id) mark({ asked: undefined })
    }),
    agent.subscribe('transcriptCleared', () => {
      isCleared = true
      known = undefined
      if (marks) mark({ hasFirst: false, asked: undefined })
    }),
  ]
  if (agent.status.phase.at === 'ready') void begin()

  return {
    destroy() {
      for (const stop of undo) stop()
      end()
    },
  }
}

/** Reads stored marks, which another page may have written. */
function marksOf(stored: unknown): Marks {
  const { openedAt, hasFirst, asked } = Object(stored) as Record<string, unknown>
  const { id, at } = Object(asked) as Record<string, unknown>
  return {
    openedAt: typeof openedAt === 'number' ? openedAt : undefined,
    hasFirst: hasFirst === true,
    asked: typeof id === 'string' && typeof at === 'number' ? { id, at } : undefined,
  }
}
