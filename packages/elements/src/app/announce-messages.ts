import type { ConversationMessage, ConversationSnapshot } from '@aiagent/view'
import { hasMarkdown, loadedMarkdown, loadMarkdown } from '../markdown/load-markdown.ts'
import { type ChatSettings, markText, sessionText } from './chat-settings.ts'

/**
 * Announces each message of the agent once, and that it is working. Messages that were there before, and those that come back
 * after a reload, are not announced: the view does not count them as unread.
 */
export function createMessageAnnouncements(): (
  snapshot: ConversationSnapshot,
  settings: ChatSettings,
  agentName: string,
) => void {
  const known = new Set<string>()
  let wasWorking = false
  /** Marks that were announced, with the name: that of a colleague who joins may come later. */
  const marks = new Set<string>()
  /** The beginning of a session that was announced. */
  let begun: string | undefined
  let isFirst = true
  /** Keeps the order while the lexer is loaded. */
  let queue: Promise<unknown> = Promise.resolve()

  return (snapshot, settings, agentName) => {
    const { messages, unread, isWorking, newSession } = snapshot
    const { announcer, strings } = settings
    const fresh: ConversationMessage[] = []
    for (let index = messages.length - 1; index >= 0; index--) {
      const message = messages[index] as ConversationMessage
      if (message.author !== 'user' && !message.mark && !known.has(message.id) && fresh.length < unread)
        fresh.unshift(message)
      known.add(message.id)
    }
    if (fresh.length > 0)
      queue = queue
        .then(() => (fresh.some(({ content }) => hasMarkdown(content)) ? loadMarkdown() : undefined))
        .then(() => {
          for (const message of fresh) announcer.say(spoken(message, settings))
        })
    const marked = messages.filter(message => message.mark)
    const keyOf = ({ id, authorName = '' }: ConversationMessage) => `${id} ${authorName}`
    // Of those that come back after a reload, the last one says what holds.
    const from = Math.min(
      marked.findLastIndex(each => marks.has(keyOf(each))) + 1 || Number.POSITIVE_INFINITY,
      marked.length - 1,
    )
    for (const [index, each] of marked.entries()) {
      if (!isFirst && index >= from && !marks.has(keyOf(each))) announcer.say(markText(each, strings))
      marks.add(keyOf(each))
    }
    const begins = newSession?.hasExpired ? 'expired' : newSession?.after
    // What has expired is said by the first rendering too: it was found out while the page was loaded.
    if (newSession && begins !== begun && (!isFirst || newSession.hasExpired))
      announcer.say(sessionText(newSession, strings))
    begun = begins
    isFirst = false
    if (isWorking && !wasWorking) announcer.say(strings.working(agentName))
    wasWorking = isWorking
  }
}

/** What is read of a message: author, text, and the number of what can be opened or chosen. */
function spoken(
  { author, authorName, content, options, escalation }: ConversationMessage,
  { strings }: ChatSettings,
): string {
  const parts = [
    `${authorName ?? strings[author === 'colleague' ? author : 'agent']}: ${loadedMarkdown()?.plainText(content) ?? content.trim()}`,
  ]
  if (options.length > 0) parts.push(`${strings.options}: ${options.join(', ')}`)
  if (escalation) parts.push(strings.escalation)
  return parts.join('\n')
}
