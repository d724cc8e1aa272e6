/** @jsxImportSource preact */
import type { ConversationMessage, ConversationSnapshot } from '@aiagent/view'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { hasMarkdown, loadedMarkdown, loadMarkdown } from '../markdown/load-markdown.ts'
import { createDeliveryAnnouncements } from './announce-deliveries.ts'
import { createMessageAnnouncements } from './announce-messages.ts'
import { type ChatSettings, sessionText } from './chat-settings.ts'
import { Icon } from './icons.tsx'
import { Divider, messageGroups } from './message-groups.tsx'
import { Options } from './message-row.tsx'
import { useTimes } from './times.ts'
import { useEndOfList } from './use-end-of-list.ts'
import { useRange } from './use-range.ts'
import { useUnreadDivider } from './use-unread-divider.ts'
import { whenIdle } from './when-idle.ts'

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
  const { messages, isWorking, unread, desk, newSession } = snapshot
  const begins = newSession && sessionText(newSession, strings)
  const isTyping = desk?.isTyping === true
  const isOpening = useOpening()
  const times = useTimes(strings, isOpening)
  const hasLexer = useLexer(messages)
  const announce = useMemo(createMessageAnnouncements, [])
  const name = agentName ?? settings.heading ?? strings.agent
  useEffect(() => announce(snapshot, settings, name), [announce, snapshot, settings, name])
  const deliveries = useMemo(createDeliveryAnnouncements, [])
  useEffect(() => deliveries.update(messages, settings, isEnded), [deliveries, messages, settings, isEnded])
  useEffect(() => deliveries.stop, [deliveries])

  const list = useEndOfList(messages, unread)
  const { log, hasEnd, isSeen, toEnd } = list
  const range = useRange(messages, isOpening, list)
  useSkipping(log)
  const divider = useUnreadDivider(settings, snapshot, log, isSeen)
  const opened = useRef(messages.at(-1)?.time ?? Date.now())
  return (
    <div class="body">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls by keyboard */}
      <div class="log" part="log" ref={log} role="log" aria-live="off" aria-label={strings.conversation} tabIndex={0}>
        {messages.length === 0 && !isWorking ? (
          <div class={hasSlotted('empty') ? 'rows' : 'rows blank'}>
            {begins && (
              <p class="divider" part="session-mark">
                {begins}
              </p>
            )}
            <Empty settings={settings} isSlotted={hasSlotted('empty')} />
          </div>
        ) : (
          // biome-ignore lint/a11y/useSemanticElements: an HTML list has no groups
          <div class="rows" role="list">
            {range.hasMore && (
              // biome-ignore lint/a11y/useSemanticElements: as above
              <div class="earlier" role="listitem">
                <button type="button" class="button plain" onClick={range.showEarlier}>
                  {strings.showEarlier}
                </button>
              </div>
            )}
            {begins && newSession?.after === undefined && <Divider text={begins} part="session-mark" />}
            {messageGroups(messages, range, {
              settings,
              times,
              agentName,
              hasLexer,
              divider,
              isEnded,
              hasDesk: desk !== undefined,
              hadDesk: messages
                .slice(1 + messages.findLastIndex(({ id }) => id === newSession?.after))
                .some(({ mark }) => mark),
              opened: opened.current,
              sessionText: begins,
              sessionAfter: newSession?.after,
            })}
            {(isWorking || isTyping) && (
              // biome-ignore lint/a11y/useSemanticElements: as above
              <div class={isTyping ? 'row colleague first' : 'row agent first'} role="listitem">
                <div class="bubble working" part="bubble working">
                  <span class="sr">{strings.working(isTyping ? (desk.name ?? strings.colleague) : name)}</span>
                  <i />
                  <i />
                  <i />
                </div>
              </div>
            )}
          </div>
        )}
      </div>
      {!hasEnd && (
        <button
          type="button"
          class="to-end"
          part="to-end"
          aria-label={unread > 0 ? undefined : strings.toEnd}
          onClick={toEnd}
        >
          <Icon name="send" />
          {unread > 0 && strings.unread(unread)}
        </button>
      )}
    </div>
  )
}

/**
 * Lets the browser skip complete groups that are out of view. Each keeps the height that it had last, so that nothing moves when it
 * comes into view; one that is rendered again, or has another width or font, is laid out once more.
 */
function useSkipping(log: RefObject<HTMLElement | null>): void {
  const observer = useRef<ResizeObserver>(undefined)
  const measure = () => {
    for (const group of log.current?.querySelectorAll('.full:not(.skipped)') ?? []) {
      observer.current?.unobserve(group)
      observer.current?.observe(group)
    }
  }
  useLayoutEffect(() => {
    const widths = new WeakMap<Element, number>()
    const sizes = new ResizeObserver(entries => {
      for (const { target, borderBoxSize } of entries) {
        const [size] = borderBoxSize
        // A chat that is hidden has no heights.
        if (!size?.blockSize) continue
        const { style, classList } = target as HTMLElement
        const isStale = classList.contains('skipped') && widths.get(target) !== size.inlineSize
        classList.toggle('skipped', !isStale)
        widths.set(target, size.inlineSize)
        if (!isStale) style.containIntrinsicBlockSize = `${size.blockSize}px`
      }
      measure()
    })
    const loaded = () => {
      for (const group of log.current?.querySelectorAll('.skipped') ?? []) group.classList.remove('skipped')
      measure()
    }
    observer.current = sizes
    document.fonts.addEventListener('loadingdone', loaded)
    return () => {
      sizes.disconnect()
      document.fonts.removeEventListener('loadingdone', loaded)
    }
  }, [])
  useEffect(measure)
}

function Empty({
  settings: { strings, suggestions = [], view },
  isSlotted,
}: {
  settings: ChatSettings
  isSlotted: boolean
}) {
  return (
    <div class={isSlotted ? '' : 'empty'} part="empty">
      <slot name="empty">
        <span class="panel-icon">
          <Icon name="chat" />
        </span>
        <h3 class="panel-title">{strings.emptyTitle}</h3>
        <p class="panel-text">{strings.emptyText}</p>
      </slot>
      {suggestions.length > 0 && <Options strings={strings} options={suggestions} onTake={text => view.send(text)} />}
    </div>
  )
}

/** Whether the lexer is loaded, as soon as a message may need it; renders again when it is. */
function useLexer(messages: readonly ConversationMessage[]): boolean {
  const [hasLexer, setHasLexer] = useState(() => loadedMarkdown() !== undefined)
  // The user has asked something: while the agent works on the answer there is time to load what it may need.
  const isNeeded = messages.some(({ author, content }) => author === 'user' || hasMarkdown(content))
  useEffect(() => {
    if (!isNeeded || hasLexer) return undefined
    let isCurrent = true
    void loadMarkdown().then(() => {
      if (isCurrent) setHasLexer(loadedMarkdown() !== undefined)
    })
    return () => {
      isCurrent = false
    }
  }, [isNeeded, hasLexer])
  return hasLexer
}

/** Longest wait for a frame, in milliseconds: a hidden page paints none. */
const LIMIT_MS = 300

/** Whether the first messages are about to be painted: what can wait is done after that, when the browser has time for it. */
function useOpening(): boolean {
  const [isOpening, setOpening] = useState(true)
  useEffect(() => {
    const end = () => setOpening(false)
    const timer = setTimeout(end, LIMIT_MS)
    let cancel = () => {}
    // There are idle moments before the frame with the messages too.
    const frame = requestAnimationFrame(() => {
      cancel = whenIdle(end)
    })
    return () => {
      clearTimeout(timer)
      cancelAnimationFrame(frame)
      cancel()
    }
  }, [])
  return isOpening
}
