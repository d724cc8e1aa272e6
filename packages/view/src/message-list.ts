import type { AiAgent, DeliveryState, FeedbackRating, MaskingPreview, TranscriptEntry } from '@aiagent/client'
import {
  type ConversationEscalation,
  type ConversationMessage,
  changed,
  conversationMessage,
  message as create,
  escalationOf,
  feedbackOf,
  maskedRanges,
  NONE,
  type TextRange,
} from './conversation-message.ts'
import type { ConversationSession } from './conversation-snapshot.ts'
import { keepSame } from './keep-same.ts'

type Changes = Partial<ConversationMessage>

/** What the list knows beside the entries, to be stored with the session. */
export interface KeptFacts {
  /** Ratings by message, see `ratingKey()`. */
  readonly ratings: Readonly<Record<string, FeedbackRating>>
  /** Masked parts by text: the history of a session tells messages of the user apart by nothing else. */
  readonly masked: Readonly<Record<string, readonly TextRange[]>>
}

/**
 * The visible messages: a fold over the entries of the transcript. It owns the messages, the ratings and the masked parts. A message that does
 * not change stays the same object, also when all entries are read again.
 */
export interface MessageList {
  /** The messages in order; the same frozen list until one changes. */
  get(): readonly ConversationMessage[]
  /** The messages without those that `place()` adds; the same frozen list until one changes. */
  transcript(): readonly ConversationMessage[]
  find(id: string): ConversationMessage | undefined
  /** The last hand-over. */
  escalation(): ConversationEscalation | undefined
  /** Where the present session begins, if something is above it. */
  newSession(): ConversationSession | undefined
  /** The messages of the present session, with those that `place()` adds. */
  present(): readonly ConversationMessage[]
  /** The session of an earlier page has expired: nothing of it comes back from the service. */
  expire(): void
  /** The rating that the user has sent with an entry. */
  ratingOf(entry: TranscriptEntry): FeedbackRating | undefined
  /** Adds the message of a new entry, and returns it where it is shown. */
  add(entry: TranscriptEntry): ConversationMessage | undefined
  /** Reads all entries again. Kept facts stay: the history of a session may bring its messages back. */
  read(entries: readonly TranscriptEntry[]): void
  /** Removes all messages: nothing of them may be shown any more. */
  clear(): void
  /** The transcript was emptied: its messages are no longer shown, unless `settle()` finds that another session follows. */
  leave(): void
  /**
   * Shows the messages that were left above those of the session that the user has begun, if there is one.
   *
   * @param isFinal whether to forget them otherwise
   */
  settle(isFinal?: boolean): void
  /** Removes the messages of the entries that the transcript has dropped from its start. */
  trim(entries: readonly TranscriptEntry[]): void
  /** Messages that were written before `initialize()`, and that no entry holds yet. */
  held(): readonly ConversationMessage[]
  /** Shows such messages, in place of those shown so far. */
  hold(messages: readonly ConversationMessage[]): void
  /**
   * A message of the user is in another state. Returns it where it is shown.
   *
   * @param delivery the state; default: the one that the agent knows
   */
  updateDelivery(id: string, delivery?: DeliveryState): ConversationMessage | undefined
  /** Begins a session: ratings reach it alone, and another of its answers may have the same id. It knows nothing of the others. */
  enter(sessionId: string | null | undefined): void
  rate(message: Pick<ConversationMessage, 'sessionId' | 'messageId'>, rating: FeedbackRating): void
  /** Masking replaced parts of a text that is about to be shown. Returns where. */
  mask(preview: MaskingPreview): readonly TextRange[]
  /** A message that no transcript has. */
  readonly create: typeof create
  /** An escalation that no transcript has. */
  readonly escalationOf: typeof escalationOf
  /** A message with other values. */
  readonly changed: typeof changed
  /** Sets what adds messages that no transcript has to the list. */
  place(place?: (items: readonly ConversationMessage[]) => readonly ConversationMessage[]): void
  kept(): KeptFacts
  keep(facts: KeptFacts): void
}

/** Number of messages of earlier conversations that are kept. */
const EARLIER = 1_000

/** No kept facts. */
export const NOTHING_KEPT: KeptFacts = { ratings: {}, masked: {} }

export function createMessageList(agent: Pick<AiAgent, 'delivery' | 'maskContent' | 'getSessionId'>): MessageList {
  let items: ConversationMessage[] = []
  let held: readonly ConversationMessage[] = NONE
  /** Messages of conversations that the user has left for the present one. No transcript has them. */
  let earlier: readonly ConversationMessage[] = NONE
  /** What was shown when the transcript was emptied, until it is known why. */
  let left: readonly ConversationMessage[] | undefined
  let kept = NOTHING_KEPT
  let escalation: ConversationEscalation | undefined
  /** Whether options wait for the user: to look for them takes a walk through all messages. */
  let hasQuestion = false
  /** Whether messages may be in doubt. */
  let hasDoubt = false
  /** The present session. */
  let session: string | undefined
  /** The last message that the present session does not know; undefined in it for those of an earlier page. */
  let begun: Pick<ConversationSession, 'after' | 'hasExpired'> | undefined
  let snapshot: readonly ConversationMessage[] | undefined
  let transcript: readonly ConversationMessage[] | undefined
  let placed: Parameters<MessageList['place']>[0]
  /** Messages as their entries alone make them, so that reading an entry again makes the same. */
  const plain = new WeakMap<TranscriptEntry, ConversationMessage>()
  /** Messages in doubt as they are shown below an answer. */
  const answered = new WeakMap<ConversationMessage, ConversationMessage>()

  const touch = () => {
    snapshot = transcript = undefined
  }

  const plainOf = (entry: TranscriptEntry) => {
    let message = plain.get(entry)
    if (!message) {
      message = conversationMessage(entry)
      if (message) plain.set(entry, message)
    }
    return message
  }

  const replaced = (item: ConversationMessage, changes: Changes) => {
    const next = changed(item, changes)
    hasDoubt ||= next.delivery === 'unknown'
    // As it was, it is shown again below an answer.
    if (item.delivery === 'sent' && next !== item) answered.set(next, item)
    return next
  }

  /** Changes the last message that matches, and returns it. */
  const change = (isMatch: (item: ConversationMessage) => boolean, changes: (item: ConversationMessage) => Changes) => {
    const index = lastIndex(items, isMatch)
    const item = items[index]
    if (!item) return undefined
    touch()
    return (items[index] = replaced(item, changes(item)))
  }

  /** The ledger forgets old messages that were settled: the service has them, as it has those of another page. */
  const deliveryOf = (id: string | undefined) => agent.delivery(id ?? '')?.state ?? 'acknowledged'

  const rate: MessageList['rate'] = (message, rating) => {
    const key = ratingKey(message)
    kept = { ...kept, ratings: { ...kept.ratings, [key]: rating } }
    change(
      item => item.author === 'agent' && ratingKey(item) === key,
      () => ({ rating }),
    )
  }

  const enter: MessageList['enter'] = id => {
    if (!id || id === session) return
    if (session && left?.length) {
      earlier = closed(left).slice(-EARLIER).map(over)
      begun = { after: earlier.at(-1)?.id, hasExpired: false }
      left = undefined
    }
    // What waits to be sent reaches the new session.
    const above = session && items[lastIndex(items, item => item.delivery !== 'queued')]
    if (above) begun = { after: above.id, hasExpired: false }
    session = id
    items = items.map(item => (item.author === 'agent' && item.sessionId !== id ? past(item) : item))
    hasQuestion &&= items.some(item => item.canChoose)
    touch()
  }

  const fold = (entry: TranscriptEntry, old?: ConversationMessage) => {
    const feedback = feedbackOf(entry)
    if (feedback) rate({ sessionId: entry.sessionId, messageId: feedback.answerMessageId }, feedback.rating)
    const shown = plainOf(entry)
    if (!shown) return undefined
    const { author, content, options, id, messageId } = shown
    const isUser = author === 'user'
    const delivery = isUser ? (old?.delivery ?? deliveryOf(messageId)) : undefined
    const isTaken = (option: string) => isUser && (option === content || agent.maskContent(option) === content)
    // A message of the user answers the last options that wait unless it was taken back, and newer options replace them.
    if (hasQuestion && (isUser ? delivery !== 'cancelled' : options.length)) {
      hasQuestion = false
      change(
        item => item.canChoose,
        item => ({ canChoose: false, chosenOption: item.options.find(isTaken) }),
      )
    }
    const item = changed(
      shown,
      isUser
        ? {
            delivery,
            maskedRanges: (Object.hasOwn(kept.masked, content) && kept.masked[content]) || NONE,
          }
        : { rating: kept.ratings[ratingKey(shown)] },
    )
    items.push(item)
    hasQuestion ||= item.canChoose
    hasDoubt ||= delivery === 'unknown'
    escalation = item.escalation ?? escalation
    if (held.length) held = held.filter(waiting => waiting.id !== id)
    // It is sent again, in the present session.
    if (isUser && earlier.length) {
      earlier = earlier.filter(before => before.id !== id)
      if (begun?.after === id) begun = { ...begun, after: earlier.at(-1)?.id }
    }
    touch()
    return item
  }

  /** An answer is evidence for the user, though not for the ledger: the first of the messages that it follows is not in doubt. */
  const withoutDoubt = () => {
    const shown = earlier.length > 0 ? [...earlier, ...items] : items.slice()
    if (!hasDoubt) return shown
    /** Index of the first message of the user since the last answer. */
    let first = -1
    for (const [index, item] of shown.entries()) {
      if (isOfDesk(item)) continue
      if (item.author === 'user') {
        if (first < 0 && item.delivery !== 'cancelled' && item.delivery !== 'failed') first = index
        continue
      }
      const asked = shown[first]
      if (asked?.delivery === 'unknown' && (asked.sessionId ?? item.sessionId) === item.sessionId) {
        const sent = answered.get(asked) ?? changed(asked, { delivery: 'sent' })
        answered.set(asked, sent)
        shown[first] = sent
      }
      first = -1
    }
    return shown
  }

  const withoutPlaced = () => (transcript ??= Object.freeze([...withoutDoubt().slice(earlier.length), ...held]))
  const get = () => {
    if (snapshot) return snapshot
    let shown = withoutDoubt()
    if (placed) shown = [...shown.slice(0, earlier.length), ...placed(shown.slice(earlier.length))]
    return (snapshot = Object.freeze(held.length > 0 ? [...shown, ...held] : shown))
  }

  /** Index of the last message above the present session; -1 where nothing is above. */
  const end = () => {
    if (!begun) return -1
    const { after, hasExpired } = begun
    const shown = get()
    let index = after === undefined ? -1 : lastIndex(shown, item => item.id === after)
    if ((index < 0 && !hasExpired) || (index >= 0 && index < earlier.length)) return index
    // Messages of a desk have no session: those that follow are of the earlier one.
    for (let next = shown[index + 1]; next && isOfDesk(next); next = shown[index + 1]) index++
    return index
  }

  const read: MessageList['read'] = entries => {
    const before = new Map(items.map(item => [item.id, item]))
    items = []
    escalation = undefined
    touch()
    hasQuestion = false
    for (const entry of entries) fold(entry, before.get(plainOf(entry)?.id ?? ''))
    const present = session ?? entries.at(-1)?.sessionId
    const above = items[lastIndex(items, item => item.sessionId !== undefined && item.sessionId !== present)]
    if (!session && present && above) begun = { after: above.id, hasExpired: false }
    session = undefined
    enter(present)
    items = items.map(item => keepSame(before.get(item.id), item))
  }

  return {
    get,
    transcript: withoutPlaced,
    rate,
    enter,
    find: id => get()[lastIndex(get(), item => item.id === id)],
    escalation: () => escalation,
    newSession() {
      if (!begun) return undefined
      const index = end()
      return index < 0 && !begun.hasExpired ? undefined : { after: get()[index]?.id, hasExpired: begun.hasExpired }
    },
    present: () => get().slice(end() + 1),
    expire() {
      begun = { after: undefined, hasExpired: true }
    },
    ratingOf: entry => feedbackOf(entry)?.rating,
    add: entry => fold(entry),
    read,
    clear() {
      earlier = NONE
      left = begun = undefined
      read([])
    },
    leave() {
      left ??= [...earlier, ...(placed?.(items) ?? items), ...held.filter(({ delivery }) => delivery === 'failed')]
      earlier = NONE
      begun = undefined
      read([])
    },
    settle(isFinal) {
      if (left) enter(agent.getSessionId())
      if (isFinal) left = undefined
    },
    trim(entries) {
      // They are older than what was dropped.
      earlier = NONE
      const first = entries.find(plainOf)
      const id = first && plainOf(first)?.id
      const index = items.findIndex(item => item.id === id)
      items = index < 0 ? [] : items.slice(index)
      touch()
    },
    held: () => held,
    hold(messages) {
      held = messages
      touch()
    },
    updateDelivery(id, delivery = deliveryOf(id)) {
      const update = (item: ConversationMessage) => (item.id === id ? replaced(item, { delivery }) : item)
      held = held.map(update)
      earlier = earlier.map(update)
      touch()
      return change(
        item => item.author === 'user' && item.id === id,
        () => ({ delivery }),
      )
    },
    mask(preview) {
      const ranges = maskedRanges(preview)
      if (ranges.length > 0) kept = { ...kept, masked: { ...kept.masked, [preview.content]: ranges } }
      return ranges
    },
    create,
    escalationOf,
    changed,
    place(place) {
      placed = place
      snapshot = undefined
    },
    kept: () => kept,
    keep(facts) {
      kept = facts
    },
  }
}

/** Identifies a message in the service, which may count its ids from 1 in each session. */
function ratingKey({ sessionId, messageId }: Pick<ConversationMessage, 'sessionId' | 'messageId'>): string {
  return `${sessionId} ${messageId}`
}

/** The messages of the previous conversation. A chat with colleagues that was still open ends there. */
function closed(items: readonly ConversationMessage[]): readonly ConversationMessage[] {
  const last = items.at(-1)
  const isOpen = (items.findLast(({ mark }) => mark)?.mark ?? 'desk_closed') !== 'desk_closed'
  const mark = {
    author: 'colleague',
    authorName: undefined,
    mark: 'desk_closed',
    content: '',
    messageId: undefined,
  } as const
  return isOpen && last ? [...items, create({ ...mark, id: `${last.id} closed`, time: last.time })] : items
}

/** A message of the agent in a session that is over: it cannot be rated or answered any more. */
const past = (item: ConversationMessage) => changed(item, { canRate: false, canChoose: false, input: undefined })

/**
 * A message of a conversation that the user has left. Of a hand-over, what leads to a person without it stays. Only messages to
 * a desk remain in `sending` for a while, and no confirmation follows once the user has left.
 */
function over(item: ConversationMessage): ConversationMessage {
  const { escalation, delivery } = item
  const ways = escalation?.options[0] && escalationOf('alternate', { options: [...escalation.options] })
  return changed(past(item), { escalation: ways, delivery: delivery === 'sending' ? 'unknown' : delivery })
}

const isOfDesk = ({ author, messageId }: ConversationMessage) =>
  author === 'colleague' || (author === 'user' && messageId === undefined)

/** As `findLastIndex()`, which takes twenty times as long on some platforms; -1 where nothing matches. */
function lastIndex(items: readonly ConversationMessage[], isMatch: (item: ConversationMessage) => boolean): number {
  let index = items.length - 1
  for (let item = items[index]; item && !isMatch(item); item = items[--index]);
  return index
}
