import type { ConversationMessage } from './conversation-message.ts'

/** Forms in which a conversation can be exported. */
export type ConversationFormat = 'text' | 'markdown' | 'json'

const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/

/**
 * The conversation as text to take away: masked as it was sent, with times (UTC) and sources, and without ids of sessions, which
 * open a conversation. Only what the user wrote begins a line as the user's: the lines of others are indented or quoted, and
 * their heads name the role first.
 */
export function exportConversation(messages: readonly ConversationMessage[], format: ConversationFormat): string {
  if (format === 'json') return JSON.stringify(messages, (key, value) => (key === 'sessionId' ? undefined : value), 2)
  const isMarkdown = format === 'markdown'
  return messages
    .map(({ author, authorName, mark, time, content, sources }) => {
      const at = new Date(time).toISOString().replace('T', ' ').slice(0, 19)
      const isUser = author === 'user'
      const given = isUser ? '' : oneLine(authorName ?? '')
      const name = isMarkdown ? escaped(given) : given
      if (mark) return `[${name || author} ${mark === 'desk_opened' ? 'continues' : 'has left'}] (${at})`
      const who = name ? `${author} ${name}` : author
      const lines = sources.map(({ title, url }) => {
        const text = oneLine(title)
        if (!url) return `- ${isMarkdown ? escaped(text) : text}`
        return isMarkdown ? `- [${escaped(text)}](${url.replace(/[()]/g, '\\$&')})` : `- ${text}: ${url}`
      })
      const head = isMarkdown ? `**${who}** (${at})\n` : `${who} (${at}):`
      const body = [...content.split(LINE_BREAK), ...(lines.length ? [isMarkdown ? '' : 'Sources:', ...lines] : [])]
      const prefix = isUser ? '' : isMarkdown ? '> ' : '  '
      return [head, ...body.map(line => `${prefix}${line}`.trimEnd())].join('\n')
    })
    .join('\n\n')
}

const oneLine = (text: string) => text.trim().replace(/[\s\u0085]+/g, ' ')

/** Text with the characters escaped that would be marks of Markdown. */
const escaped = (text: string) => text.replace(/[[\]\\*_`<>~]/g, '\\$&')
