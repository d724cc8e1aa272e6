import type { AiAgentLauncherElement } from '../launcher-element.ts'
import { adoptStyles } from '../style/adopt-styles.ts'
import { TEASER_STYLE } from '../style/teaser-style.ts'

/** Longest line that is shown and read, in characters. */
const LONGEST = 200

/** Name of the entry of sessionStorage with the last message that was shown, and whether the user has dismissed it. */
const SHOWN = 'aiagent_teaser'

/**
 * Shows the first line of the last unread message beside a launcher, while that is closed. Each message is told once, also over pages of
 * the tab; one that was dismissed is not shown again.
 */
export function showTeaser(launcher: AiAgentLauncherElement): void {
  const root = launcher.shadowRoot as ShadowRoot
  const chat = launcher.chat
  const { messages = [], unread = 0 } = chat?.view?.getSnapshot() ?? {}
  const message = messages.findLast(({ author, mark }) => author !== 'user' && !mark)
  const shown = root.querySelector('.teaser')
  if (!message || unread === 0 || launcher.open) return shown?.remove()
  const id = message.messageId ?? message.id
  const isDismissed = lastShown() === `${id} dismissed`
  const text = chat?.shadowRoot?.querySelector(`[data-id="${CSS.escape(message.id)}"] .text`)
  const rendered = text?.firstElementChild
  if (text && rendered?.matches('.plain')) {
    // Its Markdown is shown soon.
    const observer = new MutationObserver(() => {
      observer.disconnect()
      showTeaser(launcher)
    })
    return observer.observe(text, { childList: true })
  }
  const [first = ''] = (rendered?.textContent ?? message.content).trim().split('\n')
  const line = first.length > LONGEST ? `${first.slice(0, LONGEST)}…` : first
  if (isDismissed || !line) return shown?.remove()
  if (lastShown() !== id) {
    remember(id)
    // The number of messages is there already; what is added is read.
    root.querySelector('.said')?.append(` ${line}`)
  }
  const [open, close] = shown?.querySelectorAll('button') ?? createTeaser(root, launcher)
  if (!open || !close) return
  open.textContent = line
  close.setAttribute('aria-label', root.querySelector('.close')?.getAttribute('aria-label') ?? '')
  close.onclick = () => {
    remember(`${id} dismissed`)
    close.closest('.teaser')?.remove()
    root.querySelector<HTMLElement>('.launch')?.focus()
  }
}

function createTeaser(root: ShadowRoot, launcher: AiAgentLauncherElement): HTMLButtonElement[] {
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
      launcher.open = true
    }
  }
  const icon = root.querySelector('.close svg')
  if (icon) close?.append(icon.cloneNode(true))
  teaser.append(...buttons)
  root.append(teaser)
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
