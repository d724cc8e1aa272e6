import type { ConversationMessage } from './conversation-message.ts'

/** Forms in which a conversation can be exported. */
export type ConversationFormat = 'text' | 'markdown' | 'json'

/** The conversation as text to take away: masked as it was sent, with times (UTC) and sources. */
export function exportConversation(messages: readonly ConversationMessage[], format: ConversationFormat): string {
  if (format === 'json') return JSON.stringify(messages, undefined, 2)
  const isMarkdown = format === 'markdown'
  return messages
    .map(({ author, authorName, mark, time, content, sources }) => {
      const at = new Date(time).toISOString().replace('T', ' ').slice(0, 19)
      const name = (author !== 'user' && authorName) || author
      const lines = sources.map(({ title, url }) =>
        !url
          ? `- ${title}`
          : isMarkdown
            ? `- [${title.replace(/[[\]\\]/g, '\\$&')}](${url.replace(/[()]/g, '\\$&')})`
            : `- ${title}: ${url}`,
      )
      const head = isMarkdown ? `**${name}** (${at})\n` : `${name} (${at}):`
      if (mark) return `[${mark === 'desk_opened' ? `${name} continues` : `${name} has left`}] (${at})`
      return [head, content, ...(lines.length ? [isMarkdown ? '' : 'Sources:', ...lines] : [])].join('\n')
    })
    .join('\n\n')
}
