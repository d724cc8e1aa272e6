import type { ConversationMessage } from '@aiagent/view'

/** Distance from the end that still counts as the end for what follows, in pixels. */
const NEAR_PX = 48
/** Distance from the end in which nothing but empty space is cut, in pixels. */
const SPACE_PX = 8
/** Time in which a further message of the agent belongs to the same answer, in milliseconds. */
const TURN_MS = 10_000

/** The beginning of a message. */
export interface Beginning {
  readonly id: string
  /** Id of the message of the user directly above. */
  readonly question: string | undefined
}

/** What a list follows, and what the user sees of it. */
export interface ListPlace {
  /** Where the list stays while messages arrive: at its end, at the beginning of a message that does not fit, or where the user has moved it. */
  readonly follows: 'end' | 'user' | Beginning
  /** How far the end of the list is below the view. */
  readonly end: 'shown' | 'near' | 'far'
  /** Whether the list has moved to the last answer in front of the user. */
  readonly isMoved: boolean
  /** The last message that was rendered. */
  readonly last: ConversationMessage | undefined
  readonly unread: number
}

export type ListEvent =
  | {
      readonly type: 'rendered'
      readonly messages: readonly ConversationMessage[]
      readonly unread: number
      /** Whether the list has a height: the chat is open. */
      readonly isShown: boolean
    }
  /** The list has moved itself to its place. `below`: pixels below the view. */
  | { readonly type: 'placed'; readonly below: number }
  /** The list has been scrolled. */
  | { readonly type: 'scrolled'; readonly below: number; readonly isByUser: boolean }
  /** The user wants to see the end, or earlier messages. */
  | { readonly type: 'to-end' | 'to-earlier' }

/** The place of a list before anything was rendered. */
export const FIRST_PLACE: ListPlace = { follows: 'end', end: 'shown', isMoved: false, last: undefined, unread: 0 }

/** The place of a list after an event; the same object where nothing changes. */
export function nextPlace(place: ListPlace, event: ListEvent): ListPlace {
  const { follows } = place
  switch (event.type) {
    case 'rendered':
      return rendered(place, event)
    case 'placed':
      return changed(place, { end: endOf(event.below) })
    case 'scrolled': {
      const end = endOf(event.below)
      const isLeft = event.isByUser || follows === 'user'
      return changed(place, { end, follows: !isLeft ? follows : end === 'far' ? 'user' : 'end' })
    }
    case 'to-end':
      return changed(place, { follows: 'end' })
    case 'to-earlier':
      return changed(place, { follows: 'user', end: 'far' })
  }
}

function rendered(place: ListPlace, { messages, unread, isShown }: ListEvent & { type: 'rendered' }): ListPlace {
  const { last: known, end } = place
  const last = messages.at(-1)
  const isNew = last?.id !== known?.id
  // The messages of an earlier page may be there before it is known which of them are unread.
  if (!isNew && unread <= place.unread) return changed(place, { unread })
  const index = known ? messages.findLastIndex(({ id }) => id === known.id) : -1
  const added = messages.slice(index + 1)
  const answers = added.slice(added.findLastIndex(({ author }) => author === 'user') + 1)
  const [answer] = answers
  // A message of the user leads to the end. Of another conversation, `unread` alone says what is new.
  const before = index < 0 || answers.length < added.length ? 'end' : place.follows
  const next = { ...place, last, unread, follows: before, isMoved: false }
  const first = findFirstUnread(messages, unread)
  if (!first || before === 'user' || (isNew && !answer)) return next
  const isSameTurn = isShown && answer && known && answer.time - known.time < TURN_MS
  // What the user reads stays in view.
  if (before !== 'end' && isShown && (isSameTurn || end === 'far')) return { ...next, isMoved: isSameTurn === true }
  const above = messages[messages.indexOf(first) - 1]
  return {
    ...next,
    follows: { id: first.id, question: above?.author === 'user' ? above.id : undefined },
    isMoved: isShown && first === answer,
  }
}

/** The first unread message; undefined without one. */
export function findFirstUnread(
  messages: readonly ConversationMessage[],
  unread: number,
): ConversationMessage | undefined {
  if (unread === 0) return undefined
  const received = messages.filter(({ author, mark }) => author !== 'user' && !mark)
  return received[Math.max(0, received.length - unread)]
}

function endOf(below: number): ListPlace['end'] {
  return below < SPACE_PX ? 'shown' : below < NEAR_PX ? 'near' : 'far'
}

function changed(place: ListPlace, changes: Partial<ListPlace>): ListPlace {
  const keys = Object.keys(changes) as (keyof ListPlace)[]
  return keys.every(key => place[key] === changes[key]) ? place : { ...place, ...changes }
}
