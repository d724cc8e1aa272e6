import { loadedMarkdown, loadMarkdown } from '../markdown/load-markdown.ts'
import type { ChatSettings } from './chat-settings.ts'

/** Characters that some systems do not allow in file names, and invisible ones. */
const UNFIT = /[\p{C}\p{Zl}\p{Zp}<>:"/\\|?*]+/gu

/** Saves the conversation as a text file, masked as it was sent, in the language and the time zone of the user. */
export async function downloadConversation({ view, strings }: ChatSettings, title: string): Promise<void> {
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
