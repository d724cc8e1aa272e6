import type { ConversationMessage } from './conversation-message.ts'
import type { MessageList } from './message-list.ts'

/** Number of items that are stored. */
const STORED = 200

/** Number of items that are kept in memory. */
const KEPT = 1_000

/** Where an item is: so many messages of the transcript behind one that also the next page has. */
interface Anchor {
  /** See `MessageList.keyOf()`; undefined for the start. */
  readonly key?: string | undefined
  readonly skip: number
}

interface DeskItem {
  readonly anchor: Anchor
  readonly message: ConversationMessage
}

/** The fields that an item of a desk has. */
type DeskFields = Pick<ConversationMessage, 'id' | 'author' | 'authorName' | 'time' | 'content'> &
  Partial<Pick<ConversationMessage, 'mark' | 'delivery' | 'messageId' | 'maskedRanges'>>

/** The messages of live desks, which no transcript has. It owns them, and their places in the list. */
export interface DeskItems {
  find(id: string): ConversationMessage | undefined
  /** Adds a message to the end of the list. */
  add(fields: DeskFields): void
  change(id: string, changes: Partial<ConversationMessage>): void
  clear(): void
  /** What to store. */
  toStored(): readonly unknown[]
  /** Reads what an earlier page, of any version, has stored. */
  read(stored: unknown): void
}

export function createDeskItems(list: MessageList): DeskItems {
  let items: readonly DeskItem[] = []

  const place = (transcript: readonly ConversationMessage[]): readonly ConversationMessage[] => {
    const indices = new Map(transcript.map((each, index) => [list.keyOf(each), index]))
    const placed: ConversationMessage[] = []
    let next = 0
    for (const { anchor, message } of items) {
      const index = anchor.key === undefined ? -1 : indices.get(anchor.key)
      const end = index === undefined ? firstAfter(transcript, message.time) : index + 1 + anchor.skip
      while (next < Math.min(end, transcript.length)) placed.push(transcript[next++] as ConversationMessage)
      placed.push(message)
    }
    return [...placed, ...transcript.slice(next)]
  }
  const set = (next: readonly DeskItem[]) => {
    items = next
    list.place(items.length > 0 ? place : undefined)
  }
  const find: DeskItems['find'] = id => items.find(each => each.message.id === id)?.message

  return {
    find,
    add(fields) {
      const transcript = list.get().filter(each => !find(each.id))
      const index = transcript.findLastIndex(each => list.keyOf(each) !== undefined)
      const anchor = { key: transcript[index] && list.keyOf(transcript[index]), skip: transcript.length - 1 - index }
      set([...items, { anchor, message: list.create({ messageId: undefined, ...fields }) }].slice(-KEPT))
    },
    change(id, changes) {
      set(
        items.map(each => (each.message.id === id ? { ...each, message: list.changed(each.message, changes) } : each)),
      )
    },
    clear: () => set([]),
    toStored: () =>
      items.slice(-STORED).map(({ anchor, message: { id, author, authorName, mark, time, content, delivery } }) => ({
        anchor,
        message: { id, author, authorName, mark, time, content, delivery },
      })),
    read(stored) {
      const { masked } = list.kept()
      set(
        (Array.isArray(stored) ? stored : []).flatMap(value => {
          const { anchor, message: fields } = Object(value) as Partial<DeskItem>
          const { id, author, authorName, mark, time, content, delivery } = Object(fields) as Partial<DeskFields>
          if (typeof id !== 'string' || typeof time !== 'number' || typeof content !== 'string') return []
          const { key, skip } = Object(anchor) as Partial<Anchor>
          const isUser = author === 'user'
          return {
            anchor: { key: typeof key === 'string' ? key : undefined, skip: Number(skip) || 0 },
            message: list.create({
              id,
              author: isUser ? 'user' : 'colleague',
              authorName: typeof authorName === 'string' ? authorName : undefined,
              mark: mark === 'desk_opened' || mark === 'desk_closed' ? mark : undefined,
              time,
              content,
              messageId: undefined,
              ...(isUser && {
                maskedRanges: (Object.hasOwn(masked, content) && masked[content]) || [],
                // The page ended before its outcome was known.
                delivery: delivery === 'acknowledged' || delivery === 'failed' ? delivery : 'unknown',
              }),
            }),
          }
        }),
      )
    },
  }
}

/** Index of the first message that is later; the end where none is. */
function firstAfter(transcript: readonly ConversationMessage[], time: number): number {
  const index = transcript.findIndex(each => each.time > time)
  return index < 0 ? transcript.length : index
}
