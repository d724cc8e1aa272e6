import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, rejection, sentTo } from '../../client/test/agent-harness.ts'
import { setUpDeskTabs } from '../test/desk-tabs.ts'
import { ASK, handingOver, ScriptedDesk, shown } from '../test/scripted-desk.ts'
import { say, setUpView } from '../test/view-harness.ts'
import type { ConversationView } from './conversation-snapshot.ts'

/** Agent of the emulator that masks card numbers. */
const MASKING_AGENT = 'billing'

const HANDED_OVER = [`user: ${ASK}`, 'agent: A colleague takes over.', '-- desk_opened']

/** A page with an agent that hands over, and a desk. */
function setUp({ id }: { id?: string } = {}) {
  const desk = new ScriptedDesk()
  const parts = setUpView({ reply: handingOver })
  const page = async () => {
    const { agent, told } = parts.load(id === undefined ? {} : { id })
    const view = parts.show(agent, { escalate: desk.escalate })
    await view.start()
    const leave = async () => {
      await view.destroy()
      await agent.destroy()
    }
    return { agent, told, view, leave }
  }
  const handedOver = async () => {
    const opened = await page()
    await opened.view.send(ASK)
    await eventually(() => opened.view.getSnapshot().desk, 'a desk')
    return opened
  }
  return { ...parts, desk, page, handedOver }
}

/** Waits until a page shows these messages. */
async function toShow(view: ConversationView, lines: readonly string[]): Promise<void> {
  await eventually(() => shown(view).length >= lines.length, JSON.stringify(lines)).catch(() => {})
  expect(shown(view)).toEqual(lines)
}

describe('a live desk', () => {
  it('[VIEW-40] continues in the same list, shows who writes, and returns to the agent', async () => {
    const { handedOver, desk, emulator } = setUp()
    const { view, leave } = await handedOver()
    expect(shown(view)).toEqual(HANDED_OVER)
    desk.set({ name: 'Support', typing: true })
    await eventually(() => view.getSnapshot().desk?.isTyping)
    expect(view.getSnapshot().desk).toEqual({ isElsewhere: false, name: 'Support', isTyping: true })
    desk.typing = false
    desk.say('Good day, this is Support.')
    await eventually(() => view.getSnapshot().messages.length === 4)
    expect(view.getSnapshot()).toMatchObject({ desk: { isTyping: false }, unread: 2 })
    expect(view.getSnapshot().messages.at(-1)).toMatchObject({ author: 'colleague', authorName: 'Support' })
    view.setDraft('my router is broken')
    const id = await view.send()
    expect(view.getSnapshot().draft).toBe('')
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'acknowledged')
    expect(view.getSnapshot().messages.at(-1)).toMatchObject({ id, author: 'user', content: 'my router is broken' })
    expect(desk.heard).toEqual(['my router is broken'])
    desk.say('A new one is on its way.', 'Good bye.')
    desk.leave()
    await eventually(() => !view.getSnapshot().desk)
    await say(view, 'thanks', 9)
    expect(shown(view)).toEqual([
      ...HANDED_OVER,
      'colleague: Good day, this is Support.',
      'user: my router is broken',
      'colleague: A new one is on its way.',
      'colleague: Good bye.',
      '-- desk_closed',
      'user: thanks',
      'agent: You said: thanks',
    ])
    expect(sentTo(emulator)).toEqual([ASK, 'thanks'])
    expect(desk.isOpen).toBe(false)
    const text = await view.export('text')
    expect(text).toMatch(
      /\[colleague continues\][\s\S]*Support \(.*\):\nGood day, this is Support\.[\s\S]*\[Support has left\]/,
    )
    await leave()
  })

  it('[VIEW-40] returns to the agent when the user wants it', async () => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    view.endDesk()
    await eventually(() => !view.getSnapshot().desk)
    expect(desk).toMatchObject({ ends: 1, isOpen: false })
    await say(view, 'hello', 6)
    expect(shown(view)).toEqual([...HANDED_OVER, '-- desk_closed', 'user: hello', 'agent: You said: hello'])
    await leave()
  })

  it('[VIEW-40] is not opened where the host has none, and the conversation continues', async () => {
    const { load, show } = setUp()
    const { agent } = load()
    let calls = 0
    const view = show(agent, { escalate: () => void calls++ })
    await view.start()
    await say(view, ASK, 2)
    await eventually(() => calls === 1)
    await say(view, 'hello', 4)
    expect(view.getSnapshot()).toMatchObject({ desk: undefined, escalation: { type: 'live' } })
    expect(shown(view)).toHaveLength(4)
    await view.destroy()
    await agent.destroy()
  })

  it('[VIEW-41] gets text as masked as the service', async () => {
    const { handedOver, desk } = setUp({ id: MASKING_AGENT })
    const { view, leave } = await handedOver()
    await view.send('Card 4111 1111 1111 1111, please')
    expect(desk.heard.join()).not.toContain('4111 1111')
    const last = view.getSnapshot().messages.at(-1)
    expect(last).toMatchObject({ content: desk.heard[0] })
    expect(last?.maskedRanges).toHaveLength(1)
    await leave()
  })

  it('[VIEW-41] gets nothing where masking is required and there are no rules', async () => {
    const { load, show, desk, emulator } = setUp()
    const { agent } = load()
    const view = show(agent, { escalate: desk.escalate })
    await view.start()
    await view.send(ASK)
    await eventually(() => view.getSnapshot().desk)
    const blocked = { ...agent.previewMasking('x'), isBlocked: true as const }
    Object.defineProperty(agent, 'previewMasking', { value: () => blocked })
    expect(await rejection(view.send('secret'))).toMatchObject({ reason: 'masking_unavailable' })
    expect(view.getSnapshot().error?.code).toBe('action_failed')
    expect(desk.heard).toEqual([])
    expect(shown(view)).toEqual(HANDED_OVER)
    expect(sentTo(emulator)).toEqual([ASK])
    await view.destroy()
    await agent.destroy()
  })
})

describe('a live desk that fails', () => {
  it('[VIEW-42] is reported when it cannot be opened', async () => {
    const { load, show } = setUp()
    const { agent } = load()
    const view = show(agent, {
      escalate: () => {
        throw new Error('no line')
      },
    })
    await view.start()
    await say(view, ASK, 2)
    await eventually(() => view.getSnapshot().error)
    expect(view.getSnapshot()).toMatchObject({ desk: undefined, error: { code: 'desk_failed', remedy: 'none' } })
    await say(view, 'hello', 4)
    expect(shown(view).at(-1)).toBe('agent: You said: hello')
    await view.destroy()
    await agent.destroy()
  })

  const failures: [string, (desk: ScriptedDesk) => void][] = [
    ['its messages throw', desk => desk.failMessages(new Error('cut'))],
    ['`ended` rejects', desk => desk.failEnded(new Error('cut'))],
  ]
  it.each(failures)('[VIEW-42] closes when %s, and the agent continues', async (_, fail) => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    fail(desk)
    await eventually(() => !view.getSnapshot().desk)
    expect(view.getSnapshot().error?.code).toBe('desk_failed')
    expect(desk.isOpen).toBe(false)
    await say(view, 'hello', 6)
    expect(shown(view)).toEqual([...HANDED_OVER, '-- desk_closed', 'user: hello', 'agent: You said: hello'])
    await leave()
  })

  const throwing = () => {
    throw new Error('cut')
  }
  it.each([
    ['throws', throwing],
    ['rejects', () => Promise.reject(new Error('cut'))],
  ])('[VIEW-42] marks the message when send() %s, and sends it again', async (_, onSend) => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    desk.onSend = onSend
    const id = await view.send('hello?')
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'failed')
    expect(view.getSnapshot()).toMatchObject({ error: { code: 'desk_failed' }, desk: { isElsewhere: false } })
    desk.onSend = () => {}
    await view.retry(id)
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'acknowledged')
    expect(desk.heard).toEqual(['hello?', 'hello?'])
    expect(shown(view)).toEqual([...HANDED_OVER, 'user: hello?'])
    await leave()
  })

  it('[VIEW-42] keeps a message acknowledged that was sent again when the first attempt fails late', async () => {
    const { handedOver, desk, clock } = setUp()
    const { view, leave } = await handedOver()
    let fail = (_: Error) => {}
    desk.onSend = () =>
      new Promise((_, reject) => {
        fail = reject
      })
    const id = await view.send('hello?')
    await clock.advance(30_000)
    desk.onSend = () => {}
    await view.retry(id)
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'acknowledged')
    fail(new Error('cut'))
    await turnEventLoop()
    expect(view.getSnapshot().messages.at(-1)?.delivery).toBe('acknowledged')
    await leave()
  })

  it('[VIEW-42] marks the message as unknown when send() hangs, and lets the user return to the agent', async () => {
    const { handedOver, desk, clock } = setUp()
    const { view, leave } = await handedOver()
    desk.onSend = () => new Promise(() => {})
    await view.send('hello?')
    expect(view.getSnapshot().messages.at(-1)?.delivery).toBe('sending')
    await clock.advance(30_000)
    expect(view.getSnapshot().messages.at(-1)?.delivery).toBe('unknown')
    expect(view.getSnapshot().error?.code).toBe('desk_failed')
    view.endDesk()
    await say(view, 'hello', 7)
    expect(shown(view).at(-1)).toBe('agent: You said: hello')
    await leave()
  })
})

describe('a live desk and a reload', () => {
  it('[VIEW-43] is opened again with its handle, with all messages at their places', async () => {
    const { page, handedOver, desk } = setUp()
    const first = await handedOver()
    desk.say('Good day.')
    await first.view.send('hello Support')
    await eventually(() => first.view.getSnapshot().messages.length === 5)
    const before = shown(first.view)
    await turnEventLoop()
    await first.leave()
    expect(desk).toMatchObject({ isOpen: false, ends: 0 })

    const second = await page()
    await eventually(() => second.view.getSnapshot().desk, 'the desk')
    expect(desk.opened.map(({ handle }) => handle)).toEqual([undefined, 'chat 1'])
    await toShow(second.view, before)
    await second.view.send('I am back')
    desk.say('Welcome back.')
    await eventually(() => second.view.getSnapshot().messages.length === 7)
    desk.leave()
    await eventually(() => !second.view.getSnapshot().desk)
    await say(second.view, 'thanks', 10)
    await turnEventLoop()
    await second.leave()

    const third = await page()
    await toShow(third.view, [
      ...before.slice(0, 3),
      ...before.slice(3),
      'user: I am back',
      'colleague: Welcome back.',
      '-- desk_closed',
      'user: thanks',
      'agent: You said: thanks',
    ])
    expect(desk.opened).toHaveLength(2)
    await third.leave()
  })

  it('[VIEW-43] shows a message once whose id it repeats', async () => {
    const { page, handedOver, desk } = setUp()
    const first = await handedOver()
    desk.say({ text: 'Good day.', id: '1' })
    await eventually(() => first.view.getSnapshot().messages.length === 4)
    await turnEventLoop()
    await first.leave()
    const second = await page()
    await eventually(() => second.view.getSnapshot().desk)
    desk.say({ text: 'Good day.', id: '1' }, { text: 'Still here?', id: '2' })
    await toShow(second.view, [...HANDED_OVER, 'colleague: Good day.', 'colleague: Still here?'])
    await second.leave()
  })

  it('[VIEW-43] has ended after a reload where it has no handle', async () => {
    const { page, handedOver, desk } = setUp()
    desk.handle = undefined
    const first = await handedOver()
    await first.leave()
    const second = await page()
    await toShow(second.view, [...HANDED_OVER, '-- desk_closed'])
    expect(desk.opened).toHaveLength(1)
    await second.leave()
  })

  it('[VIEW-43] stays open while the connection to the service is lost', async () => {
    const { handedOver, desk, emulator, clock } = setUp()
    const { view, agent, leave } = await handedOver()
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await view.send('still there?')
    desk.say('Yes.')
    await toShow(view, [...HANDED_OVER, 'user: still there?', 'colleague: Yes.'])
    await clock.advance(10)
    await eventually(() => agent.isConnected())
    expect(shown(view)).toHaveLength(5)
    await leave()
  })
})

describe('a live desk and its user', () => {
  it('[VIEW-44] ends at a logout: nothing is shown or stored any more, and what arrives later is dropped', async () => {
    const { handedOver, desk, page, sessionStorage, clock } = setUp()
    const { view, agent, leave } = await handedOver()
    desk.say('Your secret is 42.')
    await eventually(() => view.getSnapshot().messages.length === 4)
    let resolveSend = () => {}
    desk.onSend = () =>
      new Promise(resolve => {
        resolveSend = resolve
      })
    await view.send('my secret')
    const left = agent.logout()
    expect(desk).toMatchObject({ ends: 1, isOpen: false })
    expect(view.getSnapshot()).toMatchObject({ messages: [], desk: undefined })
    desk.say('Too late.')
    resolveSend()
    await passing(clock, left)
    await turnEventLoop()
    expect(view.getSnapshot()).toMatchObject({ messages: [], desk: undefined, error: undefined })
    expect(JSON.stringify([...sessionStorage.items])).not.toMatch(/secret|chat 1/)
    await leave()
    const next = await page()
    await turnEventLoop()
    expect(shown(next.view)).toEqual([])
    expect(desk.opened).toHaveLength(1)
    await next.leave()
  })

  it('[VIEW-44] ends with the conversation that is restarted', async () => {
    const { handedOver, desk, page, clock } = setUp()
    const { view, leave } = await handedOver()
    desk.say('Good day.')
    await eventually(() => view.getSnapshot().messages.length === 4)
    await passing(clock, view.restart())
    expect(desk).toMatchObject({ ends: 1, isOpen: false })
    expect(view.getSnapshot()).toMatchObject({ messages: [], desk: undefined })
    await say(view, 'hello', 2)
    await turnEventLoop()
    await leave()
    const next = await page()
    await toShow(next.view, ['user: hello', 'agent: You said: hello'])
    await next.leave()
  })

  it('[VIEW-44] is released with the agent', async () => {
    const { handedOver, desk } = setUp()
    const { view, agent } = await handedOver()
    await agent.destroy()
    expect(desk).toMatchObject({ ends: 0, isOpen: false })
    expect(view.getSnapshot().desk).toBeUndefined()
    await view.destroy()
  })
})

describe('a live desk and other tabs', () => {
  it('[VIEW-45] is open in the tab in which the user wrote, and the others say so and send nothing', async () => {
    const { openTab, desk, until, emulator } = setUpDeskTabs()
    const first = await openTab()
    const second = await openTab()
    await second.view.send(ASK)
    await until(() => second.view.getSnapshot().desk, 'the desk')
    await until(() => first.view.getSnapshot().desk, 'the notice')
    expect(second.view.getSnapshot().desk?.isElsewhere).toBe(false)
    expect(first.view.getSnapshot().desk?.isElsewhere).toBe(true)
    expect(await rejection(first.view.send('hello'))).toMatchObject({ reason: 'invalid' })
    const third = await openTab()
    await until(() => third.view.getSnapshot().desk?.isElsewhere, 'the notice in a new tab')
    await second.view.send('to Support')
    expect(desk).toMatchObject({ heard: ['to Support'], opened: { length: 1 } })
    desk.leave()
    await until(() => !first.view.getSnapshot().desk && !third.view.getSnapshot().desk, 'the end')
    await first.view.send('hello')
    await until(() => shown(first.view).at(-1) === 'agent: You said: hello', 'an answer')
    expect(desk.heard).toEqual(['to Support'])
    expect(sentTo(emulator)).toEqual([ASK, 'hello'])
  })

  it('[VIEW-45] is free for the others when its tab crashes', async () => {
    const { openTab, until } = setUpDeskTabs()
    const first = await openTab()
    const second = await openTab()
    await second.view.send(ASK)
    await until(() => first.view.getSnapshot().desk?.isElsewhere, 'the notice')
    second.tab.crash()
    await until(() => !first.view.getSnapshot().desk, 'the end')
    await first.view.send('hello')
    await until(() => shown(first.view).at(-1) === 'agent: You said: hello', 'an answer')
    expect(shown(first.view)).toHaveLength(4)
  })

  it('[VIEW-45] is opened again by its tab after a reload, while another tab is open', async () => {
    const { openTab, until, desk, browser } = setUpDeskTabs()
    const first = await openTab()
    const second = await openTab()
    await second.view.send(ASK)
    await until(() => second.view.getSnapshot().desk, 'the desk')
    desk.say('Good day.')
    await until(() => shown(second.view).length === 4, 'a message')
    second.tab.close()
    const third = await openTab(browser.open(second.tab.sessionStorage))
    await until(() => third.view.getSnapshot().desk, 'the desk')
    expect(third.view.getSnapshot().desk?.isElsewhere).toBe(false)
    expect(desk.opened.at(-1)?.handle).toBe('chat 1')
    await until(() => first.view.getSnapshot().desk?.isElsewhere, 'the notice')
    await until(() => shown(third.view).length === 4, 'all messages')
    expect(shown(third.view)).toEqual([...HANDED_OVER, 'colleague: Good day.'])
  })

  it('[VIEW-45] ends when the user signs out in another tab', async () => {
    const { openTab, until, desk } = setUpDeskTabs()
    const first = await openTab()
    const second = await openTab()
    await second.view.send(ASK)
    await until(() => first.view.getSnapshot().desk?.isElsewhere, 'the notice')
    void first.agent.logout()
    await until(() => !desk.isOpen, 'the end')
    expect(shown(second.view)).toEqual([])
    expect(first.view.getSnapshot().desk).toBeUndefined()
  })
})
