import type { ConversationMessage } from '@aiagent/view'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { en } from '../strings/en.ts'
import { createDeliveryAnnouncements } from './announce-deliveries.ts'
import type { ChatSettings } from './chat-settings.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

type Delivery = ConversationMessage['delivery']

/** A list whose messages of the user are in these states, as `name: state`; an answer has none. */
const list = (...items: readonly string[]) =>
  items.map(item => {
    const [id, delivery] = item.split(': ')
    return {
      id,
      author: delivery ? 'user' : 'agent',
      delivery: delivery as Delivery,
      time: Date.now(),
    } as ConversationMessage
  })

function setUp() {
  const said: string[] = []
  const strings = { ...en, manyUnknown: String, manyFailed: String, manySent: (count: number) => `${count} sent` }
  const settings = { strings, announcer: { say: (text: string) => said.push(text) } } as unknown as ChatSettings
  const deliveries = createDeliveryAnnouncements()
  const show = (...items: readonly string[]) => {
    deliveries.update(list(...items), settings, false)
    vi.advanceTimersByTime(1_000)
    return said.splice(0)
  }
  return { deliveries, settings, said, show }
}

it('[EL-84] announces a message that fails here, whatever the clock says', () => {
  const { show } = setUp()
  show('one: sent', 'answer')
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(show('one: sent', 'answer', 'two: failed')).toEqual([en.failed])
  expect(show('one: sent', 'answer', 'two: failed', 'three: unknown')).toEqual([en.unknown])
})

it('[EL-84] announces no state that an earlier page has left, whatever the clock says, and what becomes of it', () => {
  const { show } = setUp()
  expect(show()).toEqual([])
  // They come when the history does, and a clock was set forward before.
  expect(show('one: failed', 'answer', 'two: unknown')).toEqual([])
  expect(show('zero: failed', 'one: failed', 'answer', 'two: unknown')).toEqual([])
  expect(show('zero: failed', 'one: sent', 'answer', 'two: acknowledged')).toEqual(['2 sent'])
})

it('[EL-84] announces the first message of a page that fails before the states are collected', () => {
  const { deliveries, settings, said } = setUp()
  deliveries.update(list(), settings, false)
  deliveries.update(list('one: sending'), settings, false)
  deliveries.update(list('one: failed'), settings, false)
  vi.advanceTimersByTime(1_000)
  expect(said).toEqual([en.failed])
})
