/** @jsxImportSource preact */
import type { ConversationMessage } from '@aiagent/view'
import { Component, type ComponentChildren, createRef } from 'preact'
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
  /** Whether one was open in this conversation. */
  hadDesk: boolean
  /** Id of the first unread message. */
  divider: string | undefined
  /** What is said where the present session begins, below the message `sessionAfter`. */
  sessionText: string | undefined
  sessionAfter: string | undefined
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
  const turns = agentTurns(messages, facts.sessionAfter)
  const equipped = new Set(turns.map(({ rated, last }) => rated ?? last))
  const present = messages.at(-1)?.author === 'user' ? undefined : turns.at(-1)
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
        equipped={items.flatMap((item, index) => (equipped.has(item) ? [index] : [])).join()}
        present={items.find(item => item === present?.rated)}
        isHandedOver={present?.isHandedOver === true}
      />,
    )
    from += items.length
  }
  return groups
}

/** The messages of the agent between two of the user. */
interface AgentTurn {
  /** The message that shows the rating: the one that was rated, else the last one that can be. */
  rated: ConversationMessage | undefined
  /** The last message, whose row has the button that copies the turn where no rating is shown. */
  last: ConversationMessage
  /** Whether the agent has named the ways to a human in it. */
  isHandedOver: boolean
}

/**
 * The turns of the agent, also those without a message that can be rated.
 *
 * @param sessionAfter id of the last message of the earlier session, which ends a turn
 */
function agentTurns(messages: readonly ConversationMessage[], sessionAfter: string | undefined): AgentTurn[] {
  const turns: AgentTurn[] = []
  let turn: AgentTurn | undefined
  for (const message of messages) {
    if (message.author === 'user') {
      turn = undefined
      continue
    }
    if (!turn) turns.push((turn = { rated: undefined, last: message, isHandedOver: false }))
    if (!message.mark) turn.last = message
    if (message.canRate && !turn.rated?.rating) turn.rated = message
    turn.isHandedOver ||= message.escalation !== undefined
    if (message.id === sessionAfter) turn = undefined
  }
  return turns
}

interface GroupProps extends RowFacts {
  items: readonly ConversationMessage[]
  /** The message above. */
  before: ConversationMessage | undefined
  /** The last message of the user, where it is in this group. */
  lastOfUser: ConversationMessage | undefined
  /** Number of messages in the group before the last one of the agent. */
  answered: number
  /** Positions of the messages that show what can be done with their turn, separated by commas. */
  equipped: string
  /** The message of them that is of the present turn, where it is in this group. */
  present: ConversationMessage | undefined
  /** Whether the agent has named the ways to a human in the present turn. */
  isHandedOver: boolean
}

class MessageGroup extends Component<GroupProps> {
  readonly #element = createRef<HTMLDivElement>()

  override shouldComponentUpdate(next: GroupProps): boolean {
    return differ(this.props, next)
  }

  override componentDidUpdate(): void {
    // Its height is measured again.
    this.#element.current?.classList.remove('skipped')
  }

  render({
    items,
    before,
    divider,
    opened,
    sessionText,
    sessionAfter,
    lastOfUser,
    answered,
    equipped,
    present,
    isHandedOver,
    ...facts
  }: GroupProps) {
    const { times, settings } = facts
    const tools = equipped.split(',')
    let above = before
    const rows = items.flatMap((message, index) => {
      const { id, time, author } = message
      const isNewDay = !above || !times.isSameDay(above.time, time)
      const isFirst =
        isNewDay ||
        above?.author !== author ||
        above.mark !== undefined ||
        time - above.time > TOGETHER_MS ||
        id === divider ||
        above.id === sessionAfter
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
            hasTools={tools.includes(String(index))}
            isPresent={message === present}
            isHandedOver={message === present && isHandedOver}
          />
        ),
        sessionText && id === sessionAfter && <Divider key="session" text={sessionText} part="session-mark" />,
      ]
    })
    return (
      <div class={items.length < GROUP ? 'group' : 'group full'} ref={this.#element}>
        {rows}
      </div>
    )
  }
}

export function Divider({
  text,
  part = 'day',
}: {
  text: string
  part?: 'day' | 'unread-divider' | 'desk-mark' | 'session-mark'
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: groups are between the list and its items
    <div role="listitem" class={part === 'unread-divider' ? 'divider unread' : 'divider'} part={part}>
      {text}
    </div>
  )
}
