/** @jsxImportSource preact */
import type { ConversationMessage } from '@aiagent/view'
import { Component, type ComponentChildren } from 'preact'
import { differ } from '../markdown/differ.ts'
import { type ChatSettings, markText } from './chat-settings.ts'
import { MessageRow } from './message-row.tsx'
import type { Times } from './times.ts'
import { GROUP, type Range } from './use-range.ts'

/** Time after which a message of the same author shows author and time again, in milliseconds. */
const TOGETHER_MS = 5 * 60_000

/** What all rows need. */
interface RowFacts {
  settings: ChatSettings
  times: Times
  agentName: string | undefined
  hasLexer: boolean
  isEnded: boolean
  /** Whether a chat with a colleague is open: the ways to one are not needed then. */
  hasDesk: boolean
  /** Id of the first unread message. */
  divider: string | undefined
  /** Time of the last message that was there when the list was opened. */
  opened: number
}

/** The messages of a range in groups. A message that is added, or differs, renders its group and no other. */
export function messageGroups(
  messages: readonly ConversationMessage[],
  { first, start }: Range,
  facts: RowFacts,
): ComponentChildren[] {
  const groups: ComponentChildren[] = []
  const lastOfUser = messages.findLast(({ author }) => author === 'user')
  const lastOfAgent = messages.findLastIndex(({ author }) => author !== 'user')
  let from = first
  while (from < messages.length) {
    const number = Math.floor((start + from) / GROUP)
    const items = messages.slice(from, (number + 1) * GROUP - start)
    groups.push(
      <MessageGroup
        {...facts}
        key={number}
        items={items}
        before={from > first ? messages[from - 1] : undefined}
        lastOfUser={items.find(item => item === lastOfUser)}
        answered={Math.min(GROUP, lastOfAgent - from)}
      />,
    )
    from += items.length
  }
  return groups
}

interface GroupProps extends RowFacts {
  items: readonly ConversationMessage[]
  /** The message above. */
  before: ConversationMessage | undefined
  /** The last message of the user, where it is in this group. */
  lastOfUser: ConversationMessage | undefined
  /** Number of messages in the group before the last one of the agent. */
  answered: number
}

class MessageGroup extends Component<GroupProps> {
  override shouldComponentUpdate(next: GroupProps): boolean {
    return differ(this.props, next)
  }

  render({ items, before, divider, opened, lastOfUser, answered, ...facts }: GroupProps) {
    const { times, settings } = facts
    let above = before
    const rows = items.flatMap((message, index) => {
      const { id, time, author } = message
      const isNewDay = !above || !times.isSameDay(above.time, time)
      const isFirst =
        isNewDay ||
        above?.author !== author ||
        above.mark !== undefined ||
        time - above.time > TOGETHER_MS ||
        id === divider
      above = message
      return [
        isNewDay && <Divider key={`day ${id}`} text={times.day(time)} />,
        id === divider && <Divider key="unread" text={settings.strings.newMessages} part="unread-divider" />,
        message.mark ? (
          <Divider key={id} text={markText(message, settings.strings)} part="desk-mark" />
        ) : (
          <MessageRow
            {...facts}
            key={id}
            message={message}
            isFirst={isFirst}
            isLastOfUser={message === lastOfUser}
            isNew={time > opened}
            isAnswered={author === 'user' && index < answered}
          />
        ),
      ]
    })
    return <div class={items.length < GROUP ? 'group' : 'group full'}>{rows}</div>
  }
}

function Divider({ text, part = 'day' }: { text: string; part?: 'day' | 'unread-divider' | 'desk-mark' }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: groups are between the list and its items
    <div role="listitem" class={part === 'unread-divider' ? 'divider unread' : 'divider'} part={part}>
      {text}
    </div>
  )
}
