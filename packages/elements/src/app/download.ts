import type { ChatSettings } from './chat-settings.ts'

/** Saves the conversation as a text file, masked as it was sent. */
export async function downloadConversation({ view, strings }: ChatSettings): Promise<void> {
  const text = await view.export('text')
  const address = URL.createObjectURL(new Blob([text, '\n'], { type: 'text/plain;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `${strings.conversation}.txt`
  link.click()
  // The browser has taken the file when the click has been handled.
  setTimeout(() => URL.revokeObjectURL(address))
}
