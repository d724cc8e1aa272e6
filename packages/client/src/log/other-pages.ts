import type { TranscriptEntry } from './entry.ts'
import type { Message } from './message.ts'
import { groupBy, type KnownMessage, knownMessage } from './reconcile.ts'

/*
 * As reconcile.ts, for messages that other pages have written: an earlier page of the tab, which may have left them in a store,
 * and other tabs of the conversation. Apart, since only `persistQueue` and `tabs` need it.
 */

/** By how much the service's clock may be behind, in milliseconds. */
const CLOCK_SKEW_MS = 60_000

/**
 * The ids of the messages that a history of their session shows, where several tabs have written them and may have said the
 * same: a text counts only if the history has it as often as it was sent, from a minute before the message on.
 *
 * @param known what the tabs have of the session, and what was recovered of it
 */
export function findShownOfTabs(history: readonly Message[], known: readonly KnownMessage[]): string[] {
  const wordsOfKnown = ({ fingerprint }: KnownMessage) => fingerprint
  const texts = history.filter(({ content }) => content).map(message => knownMessage(message))
  const shown = groupBy(texts, wordsOfKnown)
  const timeOf = ({ timestamp = 0 }: KnownMessage) => timestamp
  const sent = groupBy(
    known.filter(({ isSent }) => isSent),
    wordsOfKnown,
  )
  return [...sent].flatMap(([words, same]) => {
    const times = (shown.get(words) ?? []).flatMap(({ timestamp }) => timestamp ?? [])
    times.sort((one, other) => one - other)
    same.sort((one, other) => timeOf(one) - timeOf(other))
    let earlierShown = 0
    let earlierSent = 0
    return same.flatMap(each => {
      const since = timeOf(each) - CLOCK_SKEW_MS
      while ((times[earlierShown] ?? since) < since) earlierShown++
      while (timeOf(same[earlierSent] ?? each) < since) earlierSent++
      const isShown = times.length - earlierShown >= same.length - earlierSent
      return isShown && each.messageId !== undefined ? [each.messageId] : []
    })
  })
}

/**
 * The entry that shows a sent message: by its id, else one of its author and text, and about its time.
 *
 * @param mayShow whether an entry may be the message under another id, as one that a history has added
 */
export function findEntry(
  entries: readonly TranscriptEntry[],
  { id, persona, role, content, timestamp = 0 }: Pick<Message, 'persona' | 'role'> & Partial<Message> & { id: string },
  mayShow: (entry: TranscriptEntry) => boolean,
): TranscriptEntry | undefined {
  const isLikely = ({ message, direction, timestamp: time }: TranscriptEntry) =>
    direction === 'sent' &&
    message.persona === persona &&
    message.role === role &&
    message.content === content &&
    time >= timestamp - CLOCK_SKEW_MS
  return (
    entries.find(({ message }) => message.messageId === id) ?? entries.find(entry => isLikely(entry) && mayShow(entry))
  )
}
