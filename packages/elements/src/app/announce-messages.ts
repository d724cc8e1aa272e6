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
  let mark: string | undefined
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
    const last = messages.findLast(message => message.mark)
    // The mark of a colleague who joins gets a name.
    const key = last && `${last.id} ${last.authorName ?? ''}`
    if (last && key !== mark && !isFirst) announcer.say(markText(last, strings))
    mark = key
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
