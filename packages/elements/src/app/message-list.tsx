/** @jsxImportSource preact */
import type { ConversationMessage, ConversationSnapshot } from '@aiagent/client/view'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { hasMarkdown, loadedLexer, loadLexer } from '../markdown/load-lexer.ts'
import { createMessageAnnouncements } from './announce-messages.ts'
import type { ChatSettings } from './chat-settings.ts'
import { Icon } from './icons.tsx'
import { MessageRow } from './message-row.tsx'
import { createTimes, type Times } from './times.ts'
import { useEndOfList } from './use-end-of-list.ts'
import { useUnreadDivider } from './use-unread-divider.ts'

/** Number of messages that are rendered at first: more than a screen. */
const FIRST = 50
/** Number of messages that each step back adds. */
const PAGE = 100
/** Time after which a message of the same author shows author and time again, in milliseconds. */
const GROUP_MS = 5 * 60_000

interface MessageListProps {
  settings: ChatSettings
  snapshot: ConversationSnapshot
  agentName: string | undefined
  /** Whether the conversation has ended. */
  isEnded: boolean
}

/** The conversation. It is not live: the announcer says what is new. */
export function MessageList({ settings, snapshot, agentName, isEnded }: MessageListProps) {
  const { strings, hasSlotted } = settings
  const { messages, isWorking, unread } = snapshot
  const times = useMemo(() => createTimes(strings), [strings])
  const hasLexer = useLexer(messages)
  const announce = useMemo(createMessageAnnouncements, [])
  const name = agentName ?? settings.heading ?? strings.agent
  useEffect(() => announce(snapshot, settings, name), [announce, snapshot, settings, name])

  const [from, setFrom] = useState(Math.max(0, messages.length - FIRST))
  const { log, isAtEnd, toEnd, leaveEnd } = useEndOfList(messages)
  /** Number of messages that the user asked to see. */
  const wanted = useRef(PAGE)
  // Older messages are left out again when the list has grown much while the user read its end.
  const isTooLong = isAtEnd && messages.length - from > wanted.current + PAGE
  const first = Math.max(0, from > messages.length || isTooLong ? messages.length - FIRST : from)
  if (first > from) wanted.current = PAGE
  useLayoutEffect(() => setFrom(first), [first])

  const divider = useUnreadDivider(settings, snapshot, log, isAtEnd)
  const opened = useRef(messages.at(-1)?.time ?? Date.now())
  const showEarlier = () => {
    leaveEnd()
    wanted.current = messages.length - first + PAGE
    setFrom(Math.max(0, first - PAGE))
  }
  return (
    <div class="body">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls by keyboard */}
      <div class="log" part="log" ref={log} role="log" aria-live="off" aria-label={strings.conversation} tabIndex={0}>
        {messages.length === 0 && !isWorking ? (
          <div class="rows">
            <Empty settings={settings} isSlotted={hasSlotted('empty')} />
          </div>
        ) : (
          <ul class="rows">
            {first > 0 && (
              <li class="earlier">
                <button type="button" class="button plain" onClick={showEarlier}>
                  {strings.showEarlier}
                </button>
              </li>
            )}
            {rows(messages, first, { settings, times, agentName, hasLexer, divider, isEnded, opened: opened.current })}
            {isWorking && (
              <li class="row agent first">
                <div class="bubble working" part="bubble working">
                  <span class="sr">{strings.working(name)}</span>
                  <i />
                  <i />
                  <i />
                </div>
              </li>
            )}
          </ul>
        )}
      </div>
      {!isAtEnd && (
        <button
          type="button"
          class="to-end"
          part="to-end"
          aria-label={unread > 0 ? undefined : strings.toEnd}
          onClick={toEnd}
        >
          <Icon name="down" />
          {unread > 0 && strings.unread(unread)}
        </button>
      )}
    </div>
  )
}

interface RowFacts {
  settings: ChatSettings
  times: Times
  agentName: string | undefined
  hasLexer: boolean
  isEnded: boolean
  /** Id of the first unread message. */
  divider: string | undefined
  /** Time of the last message that was there when the list was opened. */
  opened: number
}

function rows(messages: readonly ConversationMessage[], first: number, facts: RowFacts): ComponentChildren[] {
  const { settings, times, divider, opened } = facts
  const { strings } = settings
  const children: ComponentChildren[] = []
  const lastOfUser = messages.findLast(({ author }) => author === 'user')
  const lastOfAgent = messages.findLastIndex(({ author }) => author === 'agent')
  let before: ConversationMessage | undefined
  for (let index = first; index < messages.length; index++) {
    const message = messages[index] as ConversationMessage
    const { id, time, author } = message
    const isNewDay = !before || !times.isSameDay(before.time, time)
    if (isNewDay) children.push(<Divider key={`day ${id}`} text={times.day(time)} />)
    if (id === divider) children.push(<Divider key="unread" text={strings.newMessages} isUnread />)
    children.push(
      <MessageRow
        key={id}
        settings={settings}
        message={message}
        times={times}
        agentName={facts.agentName}
        hasLexer={facts.hasLexer}
        isEnded={facts.isEnded}
        isFirst={isNewDay || before?.author !== author || time - before.time > GROUP_MS || id === divider}
        isLastOfUser={message === lastOfUser}
        isNew={time > opened}
        isAnswered={author === 'user' && index < lastOfAgent}
      />,
    )
    before = message
  }
  return children
}

function Divider({ text, isUnread = false }: { text: string; isUnread?: boolean }) {
  return (
    <li class={isUnread ? 'divider unread' : 'divider'} part={isUnread ? 'unread-divider' : 'day'}>
      {text}
    </li>
  )
}

function Empty({ settings: { strings }, isSlotted }: { settings: ChatSettings; isSlotted: boolean }) {
  return (
    <div class={isSlotted ? '' : 'empty'} part="empty">
      <slot name="empty">
        <span class="panel-icon">
          <Icon name="chat" />
        </span>
        <h3 class="panel-title">{strings.emptyTitle}</h3>
        <p class="panel-text">{strings.emptyText}</p>
      </slot>
    </div>
  )
}

/** Whether the lexer is loaded, as soon as a message may need it; renders again when it is. */
function useLexer(messages: readonly ConversationMessage[]): boolean {
  const [hasLexer, setHasLexer] = useState(() => loadedLexer() !== undefined)
  // The user has asked something: while the agent works on the answer there is time to load what it may need.
  const isNeeded = messages.some(({ author, content }) => author === 'user' || hasMarkdown(content))
  useEffect(() => {
    if (!isNeeded || hasLexer) return undefined
    let isCurrent = true
    void loadLexer().then(() => {
      if (isCurrent) setHasLexer(loadedLexer() !== undefined)
    })
    return () => {
      isCurrent = false
    }
  }, [isNeeded, hasLexer])
  return hasLexer
}
