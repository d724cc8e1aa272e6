import { sha256 } from '@aiagent/client'
import type { AiAgentChatElement } from '../chat-element.ts'
import { hasMarkdown, loadedMarkdown, loadMarkdown } from '../markdown/load-markdown.ts'
import { adoptStyles } from '../style/adopt-styles.ts'
import { TEASER_STYLE } from '../style/teaser-style.ts'

/** Longest line that is shown and read, in characters. */
const LONGEST = 200

/**
 * Name of the entry of sessionStorage with the last message that was shown, and whether the user has dismissed it. The client
 * removes it with the user.
 */
const SHOWN = 'aiagent_launcher_teaser'

/**
 * Shows the first line of the last unread message beside a launcher, while that is closed. Each message is told once, also over pages of
 * the tab; one that was dismissed is not shown again.
 *
 * @param isLate whether the code of Markdown was waited for
 */
export function showTeaser(launcher: HTMLElement, chat: AiAgentChatElement, isLate = false): void {
  const root = launcher.shadowRoot as ShadowRoot
  const { messages = [], unread = 0 } = chat.view?.getSnapshot() ?? {}
  const message = messages.findLast(({ author, mark }) => author !== 'user' && !mark)
  const shown = root.querySelector('.teaser')
  if (!message || unread === 0 || launcher.hasAttribute('open')) return shown?.remove()
  // A hash: the id of the session opens the conversation, and those of messages may begin at 1 in each.
  const id = sha256(`${message.sessionId} ${message.messageId ?? message.id}`).slice(0, 16)
  const isDismissed = lastShown() === `${id} dismissed`
  const { content } = message
  const markdown = loadedMarkdown()
  // Without its code, which may be missing, the text is shown as it was written.
  if (!isLate && !markdown && hasMarkdown(content))
    return void loadMarkdown().then(() => showTeaser(launcher, chat, true))
  const [first = ''] = (markdown?.plainText(content) ?? content).trim().split('\n')
  const line = first.length > LONGEST ? `${withoutLastWord(first.slice(0, LONGEST))}…` : first
  if (isDismissed || !line) return shown?.remove()
  if (lastShown() !== id) {
    remember(id)
    // The number of messages is there already; what is added is read.
    root.querySelector('.said')?.append(` ${line}`)
  }
  const [open, close] = shown?.querySelectorAll('button') ?? createTeaser(root, launcher)
  if (!open || !close) return
  open.textContent = line
  for (let shorter = line; open.scrollHeight > open.clientHeight && /\s/.test(shorter); ) {
    shorter = withoutLastWord(shorter)
    open.textContent = `${shorter}…`
  }
  close.setAttribute('aria-label', root.querySelector('.close')?.getAttribute('aria-label') ?? '')
  close.onclick = () => {
    remember(`${id} dismissed`)
    close.closest('.teaser')?.remove()
    root.querySelector<HTMLElement>('.launch')?.focus()
  }
}

/** A text up to its last space, without what would stand oddly before an ellipsis; the whole text where it has none. */
function withoutLastWord(text: string): string {
  return text.replace(/[\s,;:–—-]+\S*$/, '')
}

function createTeaser(root: ShadowRoot, launcher: HTMLElement): HTMLButtonElement[] {
  adoptStyles(root, TEASER_STYLE)
  const teaser = document.createElement('div')
  teaser.className = 'teaser'
  teaser.setAttribute('part', 'teaser')
  const buttons = ['line', 'dismiss'].map(className => {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = className
    return button
  })
  const [open, close] = buttons
  if (open) {
    open.dir = 'auto'
    open.onclick = () => {
      launcher.toggleAttribute('open', true)
    }
  }
  const icon = root.querySelector('.close svg')
  if (icon) close?.append(icon.cloneNode(true))
  teaser.append(...buttons)
  root.querySelector('.frame')?.append(teaser)
  return buttons
}

function lastShown(): string | null {
  try {
    return sessionStorage.getItem(SHOWN)
  } catch {
    return null
  }
}

function remember(value: string): void {
  try {
    sessionStorage.setItem(SHOWN, value)
  } catch {
    // The page has no store.
  }
}
