/** @jsxImportSource preact */
import type { ConversationSnapshot } from '@aiagent/view'
import { useEffect, useRef, useState } from 'preact/hooks'
import { loadedMarkdown, loadMarkdown } from '../markdown/load-markdown.ts'
import { type ChatSettings, isFirstClick, shownByView } from './chat-settings.ts'
import { Icon } from './icons.tsx'
import type { Trouble } from './use-view.ts'

interface HeaderProps {
  settings: ChatSettings
  title: string
  snapshot: ConversationSnapshot
  trouble: Trouble
  isOnline: boolean
  /** Whether a line below the conversation says what is wrong with the connection. */
  hasLine: boolean
}

export function Header({ settings, title, snapshot, trouble, isOnline, hasLine }: HeaderProps) {
  const { strings, subtitle, avatar, isClosable, emit, hasSlotted } = settings
  /** Address of the image that could not be loaded. */
  const [broken, setBroken] = useState<string>()
  const { connection, desk } = snapshot
  const { state } = connection
  const isWithColleague = desk?.isElsewhere === false
  const status = isWithColleague
    ? desk.waitingSince === undefined
      ? (desk.name ?? strings.colleague)
      : ''
    : state === 'closed' || state === 'failed' || state === 'choosing' || snapshot.needsLogin || (trouble && hasLine)
      ? ''
      : isOnline
        ? strings.connected
        : trouble === 'offline'
          ? strings.disconnected
          : strings.connecting
  return (
    <div class="header" part="header">
      <slot name="header">
        <span class="avatar" part="avatar">
          <slot name="avatar">
            {avatar && avatar !== broken ? (
              <img src={avatar} alt="" onError={() => setBroken(avatar)} />
            ) : (
              <Icon name="chat" />
            )}
          </slot>
        </span>
        <div class="heading">
          <h2 id="title" part="title">
            {title}
          </h2>
          {subtitle && (
            <p class="subtitle" part="subtitle">
              {subtitle}
            </p>
          )}
          {status && (
            <p class={isOnline || isWithColleague ? 'status connected' : 'status'} part="status">
              {status}
            </p>
          )}
        </div>
      </slot>
      {hasSlotted('header') && <span class="heading" />}
      {snapshot.messages.length > 0 && <Menu settings={settings} title={title} />}
      {isClosable && (
        <button type="button" class="icon-button" aria-label={strings.close} onClick={() => emit('aiagent-close')}>
          <Icon name="close" />
        </button>
      )}
    </div>
  )
}

/** Actions on the whole conversation: a button that shows and hides a list of buttons. */
function Menu({ settings, title }: { settings: ChatSettings; title: string }) {
  const { strings, view } = settings
  const [isOpen, setOpen] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const menu = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const cancel = useRef<HTMLButtonElement>(null)
  useEffect(() => cancel.current?.focus(), [isAsking])
  useEffect(() => {
    setAsking(false)
    if (!isOpen) return undefined
    const root = menu.current?.getRootNode()
    const closeOutside = (event: Event) => {
      if (!event.composedPath().includes(menu.current as EventTarget)) setOpen(false)
    }
    root?.addEventListener('focusin', closeOutside)
    document.addEventListener('pointerdown', closeOutside)
    return () => {
      root?.removeEventListener('focusin', closeOutside)
      document.removeEventListener('pointerdown', closeOutside)
    }
  }, [isOpen])
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  const act = (action: Promise<unknown>) => {
    setOpen(false)
    shownByView(action)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what its buttons have opened
    <div
      class="menu"
      ref={menu}
      onKeyDown={event => {
        if (event.key !== 'Escape' || !isOpen) return
        event.stopPropagation()
        // It would close a modal dialog around the chat too.
        event.preventDefault()
        close()
      }}
    >
      <button
        type="button"
        class="icon-button"
        ref={button}
        aria-label={strings.menu}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      {isOpen && (
        <div class="menu-list" part="menu">
          {isAsking ? (
            <>
              <p id="restart-ask">{strings.restartAsk}</p>
              <button type="button" onClick={event => isFirstClick(event) && act(view.restart())}>
                <Icon name="restart" />
                {strings.restart}
              </button>
              <button type="button" ref={cancel} aria-describedby="restart-ask" onClick={close}>
                <Icon name="close" />
                {strings.loginCancel}
              </button>
            </>
          ) : (
            <>
              <button
                type="button"
                onClick={() => {
                  act(downloadConversation(settings, title))
                  button.current?.focus()
                }}
              >
                <Icon name="download" />
                {strings.download}
              </button>
              <button type="button" onClick={() => setAsking(true)}>
                <Icon name="restart" />
                {strings.restart}
              </button>
            </>
          )}
        </div>
      )}
    </div>
  )
}

/** Characters that some systems do not allow in file names, and invisible ones. */
const UNFIT = /[\p{C}\p{Zl}\p{Zp}<>:"/\\|?*]+/gu

/** Saves the conversation as a text file, masked as it was sent, in the language and the time zone of the user. */
async function downloadConversation({ view, strings }: ChatSettings, title: string): Promise<void> {
  const { messages } = view.getSnapshot()
  const agent = messages.findLast(({ author }) => author === 'agent')?.authorName || title
  // Without its code the marks of Markdown stay.
  await loadMarkdown()
  const toText = loadedMarkdown()?.plainText
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const text = await view.export('text', { labels: strings, timeZone, toText })
  const address = URL.createObjectURL(new Blob([text, '\n'], { type: 'text/plain;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  // As in the file: the date of the user's zone, in a form that sorts.
  link.download = `${agent.replace(UNFIT, ' ').trim().slice(0, 80)} ${new Date().toLocaleDateString('sv-SE')}.txt`
  link.click()
  // The browser has taken the file when the click has been handled.
  setTimeout(() => URL.revokeObjectURL(address))
}
