import type { ConversationMessage } from '@aiagent/view'
import { describe, expect, it } from 'vitest'
import { FIRST_PLACE, type ListEvent, type ListPlace, nextPlace } from './list-place.ts'

/** Messages by their ids: of the user with `u`, of the agent with `a`, marks with `m`; one each second, or at the time behind `@`. */
const messages = (ids: string) =>
  ids
    .split(' ')
    .filter(Boolean)
    .map((each, index) => {
      const [id = '', seconds = index] = each.split('@')
      const author = id.startsWith('u') ? 'user' : 'agent'
      const mark = id.startsWith('m') ? 'desk_opened' : undefined
      return { id, author, mark, time: Number(seconds) * 1000 } as ConversationMessage
    })

const rendered = (ids: string, unread = 0, isShown = true): ListEvent => ({
  type: 'rendered',
  messages: messages(ids),
  unread,
  isShown,
})
const hidden = (ids: string, unread = 0) => rendered(ids, unread, false)
const placed = (below: number): ListEvent => ({ type: 'placed', below })
const scrolled = (below: number, isByUser = true): ListEvent => ({ type: 'scrolled', below, isByUser })

/** What the place says, as one line: what is followed, how far the end is, and whether the list has moved to the last answer. */
const lineOf = ({ follows, end, isMoved }: ListPlace) =>
  [
    typeof follows === 'string' ? follows : `${follows.id}${follows.question ? ` below ${follows.question}` : ''}`,
    end,
    ...(isMoved ? ['moved'] : []),
  ].join(', ')

describe('what the list follows', () => {
  it.each<[string, string, ...ListEvent[]]>([
    ['begins at the end', 'end, shown', rendered('')],
    ['is the end of a restored conversation', 'end, shown', rendered('u1 a1 u2 a2')],
    [
      'is the end after a message of the user',
      'end, shown',
      rendered('u1 a1'),
      scrolled(900),
      rendered('u1 a1 u2'),
      placed(0),
    ],
    ['is the beginning of a new answer', 'a1 below u1, shown, moved', rendered('u1'), rendered('u1 a1', 1)],
    ['is the first answer of an empty list', 'a1, shown, moved', rendered(''), rendered('a1', 1)],
    ['is the first of two answers', 'a1 below u1, shown, moved', rendered('u1'), rendered('u1 a1 a2', 2)],
    [
      'is the answer to a message that arrives with it',
      'a2 below u2, shown, moved',
      rendered('u1 a1'),
      rendered('u1 a1 u2 a2', 1),
    ],
    [
      'stays while the same turn continues',
      'a1 below u1, shown, moved',
      rendered('u1'),
      rendered('u1 a1', 1),
      rendered('u1 a1 a2', 1),
    ],
    [
      'moves to a later turn, where all is in view',
      'a2, shown, moved',
      rendered('u1'),
      rendered('u1 a1', 1),
      rendered('u1 a1 a2@60', 1),
    ],
    [
      'stays where the answer does not fit',
      'a1 below u1, far',
      rendered('u1'),
      rendered('u1 a1', 1),
      placed(300),
      rendered('u1 a1 a2@60', 1),
    ],
    ['stays where the user has moved it', 'user, far', rendered('u1 a1'), scrolled(900), rendered('u1 a1 a2', 1)],
    [
      'ignores what a browser corrects',
      'a1 below u1, far, moved',
      rendered('u1'),
      rendered('u1 a1', 1),
      scrolled(300, false),
    ],
    ['is the end near the end', 'end, near', rendered('u1 a1'), scrolled(900), scrolled(40)],
    [
      'ends at the beginning that the user leaves',
      'user, far, moved',
      rendered('u1'),
      rendered('u1 a1', 1),
      scrolled(200),
    ],
    ['is the end on request', 'end, shown', rendered('u1 a1'), scrolled(900), { type: 'to-end' }, placed(0)],
    ['is nothing where earlier messages are wanted', 'user, far', rendered('u1 a1'), { type: 'to-earlier' }],
    ['is not moved by restored messages', 'end, shown', rendered('u1'), rendered('u1 a1')],
    [
      'is the first of the unread messages of a closed chat',
      'a2, shown',
      rendered('u1 a1'),
      hidden('u1 a1 a2', 1),
      hidden('u1 a1 a2 a3', 2),
    ],
    [
      'is new in a closed chat, also below an answer that did not fit',
      'a2, far',
      rendered('u1'),
      rendered('u1 a1', 1),
      placed(300),
      hidden('u1 a1 a2', 1),
    ],
    ['is the unread message of a page before, below what was read', 'a2, shown', rendered(''), hidden('u1 a1 a2', 1)],
    ['is the same in an open chat', 'a2, shown', rendered(''), rendered('u1 a1 a2', 1)],
    ['is the same where it is known later', 'a2, shown', rendered('u1 a1 a2'), rendered('u1 a1 a2', 1)],
    [
      'stays where the user has moved it, where it is known later',
      'user, far',
      rendered('u1 a1 a2'),
      scrolled(900),
      rendered('u1 a1 a2', 1),
    ],
    ['is the first unread message of several turns', 'a1 below u1, shown', rendered(''), rendered('u1 a1 u2 a2', 2)],
    [
      'is the end of another conversation',
      'end, shown',
      rendered('u1'),
      rendered('u1 a1', 1),
      rendered(''),
      rendered('u8 a8'),
    ],
    ['skips marks', 'a2, shown', rendered('u1 a1'), hidden('u1 a1 m1 a2', 1)],
  ])('[EL-25] %s: %s', (_, expected, ...events) => {
    expect(lineOf(events.reduce(nextPlace, FIRST_PLACE))).toBe(expected)
  })

  it('[EL-25] is the same object where nothing changes', () => {
    const place = [rendered('u1'), rendered('u1 a1', 1), placed(300)].reduce(nextPlace, FIRST_PLACE)
    for (const event of [rendered('u1 a1', 1), placed(310), scrolled(299, false)])
      expect(nextPlace(place, event)).toBe(place)
  })
})
