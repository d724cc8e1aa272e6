import { type ConversationView, createConversationView } from '@aiagent/view'
import { describe, expect, it } from 'vitest'
import { viewPlatform } from '../../../view/test/view-harness.ts'
import type { FakeTab } from '../../test/fake-browser.ts'
import { CAPABILITIES, setUpTabs } from '../../test/set-up-tabs.ts'
import type { AiAgent } from '../ai-agent.ts'

/** An answer that can be rated, and a question with options. */
const reply = () => [
  { content: 'Here it is.', role: 'customer support agent' },
  { content: 'What next?', role: 'follow up question agent', messageData: { options: ['Lights', 'Heating'] } },
]

/** What the user has marked in the present conversation, as a tab shows it. */
const marksOf = ({ view }: { view: ConversationView }) => {
  const { messages: all, newSession, unread } = view.getSnapshot()
  const messages = all.slice(1 + all.findIndex(({ id }) => id === newSession?.after))
  return {
    ratings: messages.flatMap(({ rating }) => rating ?? []),
    chosen: messages.flatMap(({ chosenOption }) => chosenOption ?? []),
    canChoose: messages.some(({ canChoose }) => canChoose),
    unread,
  }
}

/** The marks, each with what the user does in one tab, and what all tabs show then. */
const MARKS: readonly (readonly [string, (view: ConversationView) => unknown, Partial<ReturnType<typeof marksOf>>])[] =
  [
    [
      'a rating',
      view => view.rate(view.getSnapshot().messages.find(({ canRate }) => canRate)?.id ?? '', 'up'),
      { ratings: ['up'], canChoose: true, unread: 2 },
    ],
    [
      'a chosen option',
      view => view.choose(view.getSnapshot().messages.find(({ canChoose }) => canChoose)?.id ?? '', 'Lights'),
      { ratings: [], chosen: ['Lights'], unread: 4 },
    ],
    ['a read mark', view => view.markRead(), { ratings: [], canChoose: true, unread: 0 }],
  ]

/** What happens to the tab in which the user has marked something. */
const ENDS: readonly (readonly [string, ((tab: FakeTab) => void) | undefined])[] = [
  ['stays', undefined],
  ['is closed', tab => tab.close()],
  ['crashes', tab => tab.crash()],
]

describe.each([
  ['receipts, resume and fencing', CAPABILITIES],
  ['the plain wire', []],
])('over %s, tabs of one conversation', (_name, capabilities) => {
  const settings = { heartbeatBeforeReply: false, capabilities: [...capabilities] }
  const setUp = (config: { resume?: boolean } = {}) => {
    const tabs = setUpTabs({ settings, reply })
    const { platform } = viewPlatform(tabs.clock)
    const show = (made: { agent: AiAgent; tab: FakeTab }) => ({
      ...made,
      view: createConversationView(made.agent, { platform }),
    })
    const open = async () => {
      const made = show(await tabs.made(config))
      await made.view.start()
      return made
    }
    return { ...tabs, open }
  }

  it.each(MARKS)('[REL-66] show %s of one tab in all', async (_mark, mark, expected) => {
    const { clock, open, passUntil } = setUp()
    const tabs = [await open(), await open(), await open()] as const
    await tabs[0].view.send('one')
    await passUntil(() => tabs.every(tab => marksOf(tab).unread === 2), 'the answer')
    await mark(tabs[1].view)
    await clock.advance(2_000)
    for (const tab of tabs) expect(marksOf(tab)).toMatchObject(expected)
  })

  it.each(MARKS.flatMap(mark => ENDS.map(end => [mark[0], end[0], mark, end[1]] as const)))(
    '[REL-66] show %s in a tab that is opened later, where the tab that made it %s',
    async (_mark, _end, [, mark, expected], end) => {
      const { clock, open, passUntil } = setUp({ resume: true })
      const tabs = [await open(), await open()] as const
      await tabs[0].view.send('one')
      await passUntil(() => tabs.every(tab => marksOf(tab).unread === 2), 'the answer')
      await mark(tabs[0].view)
      await clock.advance(2_000)
      end?.(tabs[0].tab)
      await clock.advance(2_000)
      const late = await open()
      await clock.advance(4_000)
      expect(marksOf(tabs[1])).toMatchObject(expected)
      // Without a read mark it counts what was said before as read.
      expect(marksOf(late)).toMatchObject({ ...expected, unread: 0 })
    },
  )

  it.each(ENDS)(
    '[REL-66] count in a tab that is opened later from the last read message on, where the tab that read it %s',
    async (_end, end) => {
      const { clock, open, passUntil } = setUp({ resume: true })
      const tabs = [await open(), await open()] as const
      await tabs[0].view.send('one')
      await passUntil(() => tabs.every(tab => marksOf(tab).unread === 2), 'the answer')
      tabs[0].view.markRead()
      await clock.advance(100)
      end?.(tabs[0].tab)
      await clock.advance(2_000)
      await tabs[1].view.send('two')
      await passUntil(() => marksOf(tabs[1]).unread === 2, 'the next answer')
      const late = await open()
      await passUntil(() => marksOf(late).unread === 2, 'the answers that are unread')
      late.view.markRead()
      await clock.advance(100)
      expect(marksOf(tabs[1]).unread).toBe(0)
      expect(marksOf(late).unread).toBe(0)
    },
  )

  it.each(['logout', 'restartConnection'] as const)('[REL-66] [REL-151] keep no mark beyond %s()', async end => {
    const { clock, open, passUntil } = setUp()
    const tabs = [await open(), await open()] as const
    await tabs[0].view.send('one')
    await passUntil(() => tabs.every(tab => marksOf(tab).unread === 2), 'the answer')
    await MARKS[0]?.[1](tabs[0].view)
    tabs[0].view.markRead()
    await clock.advance(100)
    await tabs[1].agent[end]()
    await clock.advance(2_000)
    await Promise.all(tabs.map(tab => tab.view.start()))
    await passUntil(() => tabs.every(({ agent }) => agent.isConnected()), 'the connections')
    await tabs[1].view.send('two')
    await passUntil(() => marksOf(tabs[1]).unread === 2, 'the next answer')
    const late = await open()
    await clock.advance(4_000)
    for (const tab of [tabs[0], tabs[1]])
      expect(marksOf(tab)).toMatchObject({ ratings: [], canChoose: true, unread: 2 })
    expect(marksOf(late)).toMatchObject({ ratings: [], unread: 0 })
  })
})
