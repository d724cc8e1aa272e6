/** A message of the conversation before a chat with a colleague, as the customer's page has passed it. */
export interface DeskContext {
  /** Who wrote it: `agent` is the automatic one. */
  readonly from: 'customer' | 'agent' | 'colleague'
  /** Name of the agent or the colleague, where it is known. */
  readonly name?: string
  /** The text as the customer's page shows it: masked, where it masks. */
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Most messages before a chat, and most characters of them. */
const MESSAGE_LIMIT = 200
const TEXT_LIMIT = 100_000

/** The last messages that fit into a chat. */
export function fittingContext(messages: readonly DeskContext[]): readonly DeskContext[] {
  let start = messages.length
  for (let length = 0; start > 0 && messages.length - start < MESSAGE_LIMIT; start--) {
    const { text, name = '' } = messages[start - 1] as DeskContext
    length += text.length + name.length
    if (length > TEXT_LIMIT) break
  }
  return messages.slice(start)
}
