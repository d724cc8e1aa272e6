import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, rejection, sentTo } from '../../client/test/agent-harness.ts'
import { setUpDeskTabs } from '../test/desk-tabs.ts'
import { ASK, handingOver, ScriptedDesk, shown } from '../test/scripted-desk.ts'
import { lastOf, linesOf, say, setUpView } from '../test/view-harness.ts'
import type { ConversationView } from './conversation-snapshot.ts'

/** Content of the last message above the beginning of the session. */
const above = (view: ConversationView) => {
  const { messages, newSession } = view.getSnapshot()
  return newSession && messages.find(({ id }) => id === newSession.after)?.content
}

const HELLO = ['user: hello', 'agent: You said: hello']

const ESCALATION = {
  live: true,
  entrypointUrl: 'https://live.example.test/chat',
  options: [{ type: 'phone', value: '+1 555 0100' }],
}

const ASKING = () => [
  { content: 'Which one?', role: 'follow up question agent', messageData: { options: ['yes', 'no'] } },
  { content: 'Your address?', messageData: { inputType: 'email' } },
  { content: 'Call us.', messageData: { escalation: true, escalationData: ESCALATION } },
]

describe('a new conversation of the user', () => {
  it('[VIEW-78] begins below the previous conversation, with one line, and keeps that until it is cleared', async () => {
    const { openView, clock, session } = setUpView()
    const { view, agent } = await openView()
    await say(view, 'hello', 2)
    const [first] = view.getSnapshot().messages
    const before = session()
    const seen: (readonly string[])[] = []
    view.subscribe(() => seen.push(linesOf(view.getSnapshot().messages)))
    await passing(clock, view.restart())
    await turnEventLoop()
    expect(session()).not.toBe(before)
    expect(linesOf(view.getSnapshot().messages)).toEqual(HELLO)
    expect(view.getSnapshot().messages[0]).toEqual(first)
    // The list is never empty meanwhile.
    expect(seen.filter(lines => lines.length < 2)).toEqual([])
    expect(above(view)).toBe('You said: hello')
    expect(view.getSnapshot()).toMatchObject({ unread: 0, newSession: { hasExpired: false } })
    await say(view, 'again', 4)
    expect(linesOf(view.getSnapshot().messages)).toEqual([...HELLO, 'user: again', 'agent: You said: again'])
    expect(above(view)).toBe('You said: hello')
    await passing(clock, view.restart())
    await say(view, 'once more', 6)
    expect(above(view)).toBe('You said: again')
    // A host that removes the messages removes all of them.
    agent.clearTranscript()
    expect(view.getSnapshot()).toMatchObject({ messages: [], newSession: undefined })
    await passing(clock, view.restart())
    await say(view, 'last', 2)
    expect(view.getSnapshot().newSession).toBeUndefined()
    await view.destroy()
    await agent.destroy()
  })

  it('[VIEW-78] lets nothing of the former be answered, rated or taken for a hand-over of the present one', async () => {
    const { openView, clock, emulator } = setUpView({ reply: ASKING })
    const { view, agent } = await openView()
    await say(view, 'hello', 4)
    expect(view.getSnapshot().messages[2]?.input).toEqual({ type: 'email' })
    const { id } = lastOf(view)
    await view.rate(id, 'up')
    await passing(clock, view.restart())
    expect(lastOf(view)).toMatchObject({ id, canRate: false, rating: 'up' })
    expect(view.getSnapshot().messages[1]).toMatchObject({ canChoose: false, options: ['yes', 'no'] })
    expect(view.getSnapshot().messages[2]?.input).toBeUndefined()
    const ways = { type: 'alternate', url: undefined, options: ESCALATION.options }
    expect(view.getSnapshot().messages[3]?.escalation).toEqual(ways)
    expect(view.getSnapshot().escalation).toBeUndefined()
    const { id: question = '' } = view.getSnapshot().messages[1] ?? {}
    for (const work of [view.rate(id, 'down'), view.choose(question, 'yes')])
      expect(await rejection(work)).toMatchObject({ reason: 'invalid' })
    expect(sentTo(emulator)).toEqual([])
    await view.destroy()
    await agent.destroy()
  })

  it('[VIEW-78] sends a text of the former that has not arrived in the present one, once, and shows it there', async () => {
    const { openView, show, clock, emulator } = setUpView()
    const { view, agent } = await openView()
    const other = show(agent)
    await say(view, 'hello', 2)
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    const id = await view.send('lost in the outage')
    await passing(clock, view.restart())
    expect(lastOf(view)).toMatchObject({ id, delivery: 'failed' })
    expect(above(view)).toBe('lost in the outage')
    await Promise.allSettled([view.retry(id), view.retry(id)])
    await eventually(() => view.getSnapshot().messages.length === 4)
    for (const each of [view, other]) {
      const lines = [...HELLO, 'user: lost in the outage', 'agent: You said: lost in the outage']
      expect(linesOf(each.getSnapshot().messages)).toEqual(lines)
      expect(above(each)).toBe('You said: hello')
    }
    expect(sentTo(emulator).slice(-1)).toEqual(['lost in the outage'])
    expect(await rejection(view.retry(id))).toMatchObject({ reason: 'invalid' })
    await other.destroy()
    await view.destroy()
    await agent.destroy()
  })

  it('[VIEW-78] shows the same in each view, stores nothing of it, and nothing to another user', async () => {
    const { openView, show, load, clock, sessionStorage } = setUpView()
    const { view, agent } = await openView()
    const other = show(agent, { keepsUnread: true })
    await say(view, 'hello', 2)
    await passing(clock, view.restart())
    expect(linesOf(other.getSnapshot().messages)).toEqual(HELLO)
    expect([above(other), other.getSnapshot().unread]).toEqual(['You said: hello', 0])
    // It has the id that an answer of the next session may have too.
    other.markRead()
    await turnEventLoop()
    expect([...sessionStorage.items].join()).not.toMatch(/hello|"readUpTo":"m-/)
    await other.destroy()
    await view.destroy()
    await agent.destroy()
    const next = load().agent
    const later = show(next)
    await later.start()
    await say(later, 'again', 2)
    expect(later.getSnapshot()).toMatchObject({ messages: { length: 2 }, newSession: undefined })
    await passing(clock, later.restart())
    expect(above(later)).toBe('You said: again')
    const left = next.logout()
    expect(later.getSnapshot()).toMatchObject({ messages: [], newSession: undefined })
    await passing(clock, left)
    await later.start()
    await say(later, 'of another user', 2)
    expect(later.getSnapshot().newSession).toBeUndefined()
    await later.destroy()
    await next.destroy()
  })

  it('[VIEW-78] keeps no more than the transcript may hold', async () => {
    const { load, show, clock } = setUpView()
    const { agent } = load({ transcriptConfig: { maxEntries: 3 } })
    const view = show(agent)
    await view.start()
    await say(view, 'hello', 2)
    await passing(clock, view.restart())
    await say(view, 'again', 4)
    await view.send('more')
    await eventually(() => lastOf(view).content === 'You said: more')
    expect(linesOf(view.getSnapshot().messages)).toEqual([
      'agent: You said: again',
      'user: more',
      'agent: You said: more',
    ])
    expect(view.getSnapshot().newSession).toBeUndefined()
    await view.destroy()
    await agent.destroy()
  })

  it('[VIEW-78] keeps the chat with a colleague readable in each view, and neither reopens its desk nor passes the chat on to a new one', async () => {
    const { openView, show, clock, emulator, session } = setUpView({ reply: handingOver })
    const desk = new ScriptedDesk()
    const { agent, view: plain } = await openView()
    const views = [show(agent, { escalate: desk.escalate }), show(agent, { escalate: desk.escalate })]
    const [view, other] = views as [ConversationView, ConversationView]
    await view.send(ASK)
    await eventually(() => other.getSnapshot().desk, 'a desk')
    desk.say('Good day.')
    const lines = [
      `user: ${ASK}`,
      'agent: A colleague takes over.',
      '-- desk_opened',
      'colleague: Good day.',
      'user: Not confirmed',
      '-- desk_closed',
    ]
    await eventually(() => shown(other).length === 4)
    desk.onSend = () => new Promise(() => {})
    await view.send('Not confirmed')
    await passing(clock, view.restart())
    for (const each of views) {
      expect(shown(each)).toEqual(lines)
      expect(each.getSnapshot().messages.at(-2)?.delivery).toBe('unknown')
      expect(each.getSnapshot()).toMatchObject({ desk: undefined, newSession: { after: lastOf(view).id } })
    }
    expect(desk).toMatchObject({ ends: 1, isOpen: false })
    emulator.control.say(session(), { content: 'How can I help?' })
    await eventually(() => view.getSnapshot().messages.length === 7)
    await clock.advance(2_000)
    expect(desk.asked).toBe(1)
    await view.send(ASK)
    await eventually(() => desk.opened.length === 2)
    expect(desk.opened[1]?.conversation?.map(({ content }) => content)).toEqual([
      'How can I help?',
      ASK,
      'A colleague takes over.',
    ])
    for (const each of [plain, ...views]) await each.destroy()
    await agent.destroy()
  })

  it('[VIEW-78] keeps the former to read in the other tabs of the conversation too', async () => {
    const { openTab, until, pass } = setUpDeskTabs()
    const first = await openTab()
    const second = await openTab()
    await first.view.send('hello')
    await until(() => second.view.getSnapshot().messages.length === 2, 'the messages')
    await pass(first.view.restart())
    await until(() => second.agent.getSessionId() === first.agent.getSessionId(), 'the same session')
    for (const { view } of [first, second]) {
      expect(linesOf(view.getSnapshot().messages)).toEqual(HELLO)
      expect(above(view)).toBe('You said: hello')
    }
    await second.view.send('again')
    await until(() => first.view.getSnapshot().messages.length === 4, 'the next messages')
    expect(above(first.view)).toBe('You said: hello')
    await pass(first.agent.logout())
    await until(() => second.view.getSnapshot().messages.length === 0, 'the sign-out')
    expect([first, second].map(({ view }) => view.getSnapshot().newSession)).toEqual([undefined, undefined])
    await Promise.all([first, second].map(({ view }) => view.destroy()))
    await Promise.all([first, second].map(({ agent }) => agent.destroy()))
  })

  it('[VIEW-78] is divided from the former in an export', async () => {
    const { openView, clock } = setUpView()
    const { view, agent } = await openView()
    await say(view, 'hello', 2)
    await passing(clock, view.restart())
    await say(view, 'again', 4)
    for (const format of ['text', 'markdown'] as const)
      expect((await view.export(format)).split('\n').filter(line => /hello|again|conversation/.test(line))).toEqual([
        'hello',
        expect.stringContaining('You said: hello'),
        '[A new conversation begins. The assistant no longer knows what is above.]',
        'again',
        expect.stringContaining('You said: again'),
      ])
    expect(await view.export('text', { labels: { sessionBegins: 'Von vorn.' } })).toContain('\n\n[Von vorn.]\n\n')
    expect(JSON.parse(await view.export('json'))).toHaveLength(4)
    await view.destroy()
    await agent.destroy()
  })
})
