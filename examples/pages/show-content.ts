// Showing answers in a page without a framework. `pages/chat.ts` uses it.
import type { ConversationMessage, ConversationView } from '@aiagent/view'

// #region links
/** A link that leads to a website, or its title as text. */
function linkTo(address: string, title: string): Node {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const isSafe = url && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (!isSafe) return document.createTextNode(title)
  const link = document.createElement('a')
  link.href = url.href
  link.textContent = `${title} (${url.host})`
  link.target = '_blank'
  link.rel = 'noopener noreferrer'
  return link
}
// #endregion

// #region plain
/** A message as plain text, and its sources as links. */
function bubbleOf({ content, sources }: ConversationMessage): HTMLElement {
  const bubble = document.createElement('p')
  bubble.style.whiteSpace = 'pre-line'
  bubble.textContent = content
  bubble.append(...sources.map(({ url, title }) => linkTo(url ?? '', title)))
  return bubble
}
// #endregion

/** Shows the messages of a view, now and after each change. */
export function showMessages(view: ConversationView, log: HTMLElement): void {
  const show = () => log.replaceChildren(...view.getSnapshot().messages.map(bubbleOf))
  view.subscribe(show)
  show()
}
