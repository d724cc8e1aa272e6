import type { ConversationMessage } from './conversation-message.ts'

/** Forms in which a conversation can be exported. */
export type ConversationFormat = 'text' | 'markdown' | 'json'

/** Words of an export. The texts of a language, which `loadChatStrings()` of `@aiagent/elements/strings` loads, are such labels. */
export interface ExportLabels {
  /** Author of the user's messages. @default 'You' */
  readonly you: string
  /** What the agent is. @default 'Assistant' */
  readonly agent: string
  /** What a colleague is. @default 'Colleague' */
  readonly colleague: string
  /** Heading of the sources of an answer. @default 'Sources' */
  readonly sources: string
  /** The agent's part ends here. @default 'The assistant has handed over to a colleague.' */
  readonly deskOpened: string
  /** The same, with the name of the colleague who has joined. @default '… has joined' */
  readonly deskJoined: (name: string) => string
  /** A colleague has left, and the user waits for another one. @default '… has left' */
  readonly deskLeft: (name: string) => string
  /** The colleague has left. @default 'The colleague has left. The assistant continues.' */
  readonly deskClosed: string
  /** The chat with colleagues has ended in another way. @default 'The chat with the colleague has ended. The assistant continues.' */
  readonly deskEnded: string
  /** The present session begins, see `newSession` of the snapshot. @default 'A new conversation begins. The assistant no longer knows what is above.' */
  readonly sessionBegins: string
}

/** How a conversation is exported as text or Markdown. JSON has neither labels nor a time zone. */
export interface ExportOptions {
  /** Words in the language of the user. @default English */
  readonly labels?: Partial<ExportLabels> | undefined
  /** IANA name of the time zone of the times, which is printed with each of them. @default 'UTC' */
  readonly timeZone?: string | undefined
  /**
   * Turns the Markdown of others into plain text, for the format `text`.
   *
   * @default its marks stay as they are
   */
  readonly toText?: ((markdown: string) => string) | undefined
}

const LABELS: ExportLabels = {
  you: 'You',
  agent: 'Assistant',
  colleague: 'Colleague',
  sources: 'Sources',
  deskOpened: 'The assistant has handed over to a colleague.',
  deskJoined: name => `${name} has joined`,
  deskLeft: name => `${name} has left`,
  deskClosed: 'The colleague has left. The assistant continues.',
  deskEnded: 'The chat with the colleague has ended. The assistant continues.',
  sessionBegins: 'A new conversation begins. The assistant no longer knows what is above.',
}

const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/

/**
 * The conversation as text to take away: masked as it was sent, with times and sources, and without ids of sessions, which open a
 * conversation. Only what the user wrote begins a line as the user's: the lines of others are indented or quoted, and their heads name
 * the role first.
 *
 * @param begun id of the message below which the present session begins
 * @throws {RangeError} when the time zone is unknown
 */
export function exportConversation(
  messages: readonly ConversationMessage[],
  format: ConversationFormat,
  { labels, timeZone = 'UTC', toText = text => text }: ExportOptions = {},
  begun?: string,
): string {
  if (format === 'json') return JSON.stringify(messages, (key, value) => (key === 'sessionId' ? undefined : value), 2)
  const isMarkdown = format === 'markdown'
  const words = { ...LABELS, ...labels }
  const timeOf = createTimes(timeZone)
  const formatted = (message: ConversationMessage) => {
    const { author, authorName, time, sources } = message
    const at = `${timeOf(time)} ${timeZone}`
    const isUser = author === 'user'
    const given = isUser ? '' : oneLine(authorName ?? '')
    const name = isMarkdown ? escaped(given) : given
    if (message.mark) return `[${markOf(message.mark, name, words)}] (${at})`
    const role = isUser ? words.you : words[author]
    const who = name && name !== role ? `${role} – ${name}` : role
    const lines = sources.map(({ title, url }) => {
      const text = oneLine(title)
      if (!url) return `- ${isMarkdown ? escaped(text) : text}`
      return isMarkdown ? `- [${escaped(text)}](${url.replace(/[()]/g, '\\$&')})` : `- ${text}: ${url}`
    })
    const head = isMarkdown ? `**${who}** (${at})\n` : `${who} (${at}):`
    const text = bodyOf(message, isMarkdown, toText)
    const further = lines.length ? [isMarkdown ? '' : `${words.sources}:`, ...lines] : []
    const prefix = isUser ? '' : isMarkdown ? '> ' : '  '
    return [head, ...[...text.split(LINE_BREAK), ...further].map(line => `${prefix}${line}`.trimEnd())].join('\n')
  }
  return messages
    .flatMap(message => [
      formatted(message),
      ...(begun !== undefined && message.id === begun ? [`[${words.sessionBegins}]`] : []),
    ])
    .join('\n\n')
}

/** What the user has written is text, and what others have written is Markdown. */
function bodyOf({ author, content }: ConversationMessage, isMarkdown: boolean, toText: (text: string) => string) {
  if (author === 'user') return isMarkdown ? escapedText(content) : content
  return isMarkdown ? content : toText(content)
}

function markOf(
  mark: NonNullable<ConversationMessage['mark']>,
  name: string,
  { deskOpened, deskJoined, deskLeft, deskClosed, deskEnded, colleague }: ExportLabels,
): string {
  if (mark === 'desk_left') return deskLeft(name || colleague)
  if (mark !== 'desk_closed') return name ? deskJoined(name) : deskOpened
  return name ? deskClosed : deskEnded
}

/** Times as `2026-01-15 10:00:00`, which is read alike in all languages. */
function createTimes(timeZone: string): (time: number) => string {
  const two = '2-digit'
  const format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
  })
  return time => {
    const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]))
    return `${parts['year']}-${parts['month']}-${parts['day']} ${parts['hour']}:${parts['minute']}:${parts['second']}`
  }
}

const oneLine = (text: string) => text.trim().replace(/[\s\u0085]+/g, ' ')

/** Text with the characters escaped that would be marks of Markdown. */
const escaped = (text: string) => text.replace(/[[\]\\*_`<>~]/g, '\\$&')

/** A text of several lines with what would be marks of Markdown escaped, also at the beginning of a line. */
const escapedText = (text: string) =>
  escaped(text).replace(/^([ \t]*)([-+=#|]|\d+(?=[.)]))/gm, (_, space: string, mark: string) =>
    /\d/.test(mark) ? `${space}${mark}\\` : `${space}\\${mark}`,
  )
