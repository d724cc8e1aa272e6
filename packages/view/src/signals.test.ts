import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing } from '../../client/test/agent-harness.ts'
import { setUpDeskTabs } from '../test/desk-tabs.ts'
import { ASK, handingOver } from '../test/scripted-desk.ts'
import { lastOf, say, setUpView } from '../test/view-harness.ts'
import type { ConversationSignal, ConversationView } from './conversation-snapshot.ts'

const FUNNEL = ['opened', 'first_message', 'answered']

/** Records the signals of a view. */
function record(view: ConversationView): ConversationSignal[] {
  const signals: ConversationSignal[] = []
  view.onSignal(signal => signals.push(signal))
  return signals
}

const namesOf = (signals: readonly ConversationSignal[]) => signals.map(({ name }) => name)

/** Pages of a tab, each with a view whose signals are recorded. */
function setUp() {
  const parts = setUpView({ reply: handingOver })
  const page = async () => {
    // A page is loaded after what the one before has sent.
    await parts.clock.advance(1)
    const { agent } = parts.load()
    const view = parts.show(agent)
    const signals = record(view)
    await view.start()
    const leave = async () => {
      await turnEventLoop()
      await view.destroy()
      await agent.destroy()
    }
    return { agent, view, signals, leave }
  }
  return { ...parts, page }
}

describe('the signals of a view', () => {
  it('[VIEW-47] report as a rating only a thumb that the user has sent', async () => {
    const { page, emulator, session } = setUp()
    const { view, signals, leave } = await page()
    await eventually(() => signals.length > 0, 'the first signal')
    await say(view, 'hello', 2)
    const { id, messageId } = lastOf(view)
    for (const rating of ['a secret', 'up', { text: 'a secret' }, 5])
      emulator.control.pushFrame(session(), {
        persona: 'agent',
        role: 'feedback',
        messageData: { feedback: { answerMessageId: messageId, rating } },
      })
    await eventually(() => view.getSnapshot().messages.length === 6)
    expect(namesOf(signals)).not.toContain('rated')
    expect(view.getSnapshot().messages.find(message => message.id === id)?.rating).toBeUndefined()
    await view.rate(id, 'down')
    await eventually(() => namesOf(signals).includes('rated'))
    expect(signals.filter(({ name }) => name === 'rated')).toMatchObject([{ rating: 'down' }])
    expect(JSON.stringify(signals)).not.toContain('secret')
    await leave()
  })

  it('[VIEW-47] are the steps of a conversation, with times and without texts or ids', async () => {
    const { page, clock } = setUp()
    const { view, signals, agent, leave } = await page()
    await eventually(() => signals.length > 0, 'the first signal')
    await clock.advance(2_000)
    await say(view, 'a secret', 2)
    await say(view, 'more', 4)
    await view.rate(lastOf(view).id, 'down')
    await say(view, ASK, 6)
    const session = String(agent.getSessionId())
    await leave()
    expect(namesOf(signals)).toEqual([...FUNNEL, 'answered', 'rated', 'answered', 'escalated'])
    const [opened, first, answered] = signals as [ConversationSignal, { afterMs: number }, { afterMs: number }]
    expect(first.afterMs).toBeGreaterThanOrEqual(2_000)
    expect(answered.afterMs).toBeGreaterThanOrEqual(0)
    expect(opened.time).toBeGreaterThan(0)
    expect(signals.find(({ name }) => name === 'rated')).toMatchObject({ rating: 'down' })
    expect(signals.at(-1)).toMatchObject({ type: 'live' })
    const keys = new Set(signals.flatMap(signal => Object.keys(signal)))
    expect([...keys].sort()).toEqual(['afterMs', 'name', 'rating', 'time', 'type'])
    expect(JSON.stringify(signals)).not.toMatch(new RegExp(`secret|more|${session}`))
    expect(signals.every(signal => Object.isFrozen(signal))).toBe(true)
  })

  it('[VIEW-47] measure the time until the first answer from the first message without one', async () => {
    const { page, clock, emulator } = setUp()
    emulator.settings.replyDelayMs = 5_000
    const { view, signals, leave } = await page()
    await eventually(() => signals.length === 1, 'the first signal')
    await view.send('one')
    await clock.advance(1_000)
    await view.send('two')
    await clock.advance(10_000)
    await eventually(() => view.getSnapshot().messages.length === 4, 'the answers')
    await leave()
    expect(namesOf(signals)).toEqual(FUNNEL)
    const { afterMs } = signals.at(-1) as { afterMs: number }
    expect(afterMs).toBeGreaterThanOrEqual(5_000)
    expect(afterMs).toBeLessThan(6_500)
  })

  it('[VIEW-48] are not repeated by a reload, which reports the answer to a message of the page before', async () => {
    const { page, emulator } = setUp()
    const first = await page()
    await say(first.view, 'hello', 2)
    await say(first.view, ASK, 4)
    await eventually(() => first.signals.length === 5, 'signals')
    await first.leave()
    const second = await page()
    await eventually(() => second.view.getSnapshot().messages.length === 4, 'the conversation')
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-client' })
    await second.view.send('late')
    await eventually(() => second.view.getSnapshot().messages.length === 5, 'the message')
    await second.leave()
    emulator.faults.lift()
    const third = await page()
    await eventually(() => third.view.getSnapshot().messages.length === 6, 'its answer')
    await third.leave()
    expect(namesOf(first.signals)).toEqual([...FUNNEL, 'answered', 'escalated'])
    expect(namesOf(second.signals)).toEqual([])
    expect(namesOf(third.signals)).toEqual(['answered'])
  })

  it('[VIEW-48] begin again with a new conversation, and with another user', async () => {
    const { page, clock } = setUp()
    const { view, signals, agent, leave } = await page()
    await say(view, 'hello', 2)
    await passing(clock, view.restart())
    await say(view, 'hello again', 2)
    await eventually(() => signals.length === 6, 'signals')
    expect(namesOf(signals)).toEqual([...FUNNEL, ...FUNNEL])
    await passing(clock, agent.logout())
    await view.start()
    await say(view, 'another user', 2)
    await eventually(() => signals.length === 9, 'signals')
    expect(namesOf(signals.slice(6))).toEqual(FUNNEL)
    const [openedFirst, , , , , , openedLast] = signals
    expect(openedLast?.time).toBeGreaterThanOrEqual(openedFirst?.time ?? Number.NaN)
    await leave()
  })

  it('[VIEW-48] are of what is written after the first listener was added', async () => {
    const { load, show, clock } = setUpView()
    const { agent } = load()
    const view = show(agent)
    await view.start()
    await say(view, 'hello', 2)
    await clock.advance(1)
    const signals = record(view)
    await turnEventLoop()
    await say(view, 'again', 4)
    await eventually(() => signals.length > 0, 'a signal')
    expect(namesOf(signals).filter(name => name !== 'answered')).toEqual([])
    await view.destroy()
    await agent.destroy()
  })

  it('[VIEW-48] miss nothing that is written after the clock of the device was set back, and repeat nothing', async () => {
    const { load, show, clock } = setUpView()
    const { agent } = load()
    const view = show(agent)
    const signals = record(view)
    clock.shiftWallClock(-3_600_000)
    const sent = view.send('hello')
    await view.start()
    await sent
    await eventually(() => signals.length === 3, 'the answer')
    expect(namesOf(signals)).toEqual(FUNNEL)
    await say(view, 'again', 4)
    expect(namesOf(signals)).toEqual([...FUNNEL, 'answered'])
    await view.destroy()
    await agent.destroy()
  })

  it('[VIEW-48] are reported by one of the tabs of a conversation, and by another one when that ends', async () => {
    const { openTab, until, clock } = setUpDeskTabs()
    const all: string[] = []
    const prepare = (tab: string) => (view: ConversationView) => {
      view.onSignal(({ name }) => all.push(`${tab} ${name}`))
    }
    // It holds the connection, and has no listener.
    await openTab()
    const first = await openTab(undefined, {}, prepare('first'))
    await until(() => all.length > 0, 'a signal')
    const second = await openTab(undefined, {}, prepare('second'))
    await second.view.send('hello')
    await until(() => all.length === 3, 'signals')
    await second.view.rate(lastOf(second.view).id, 'up')
    await until(() => all.length === 4, 'the rating')
    expect(all).toEqual([...FUNNEL.map(name => `first ${name}`), 'first rated'])
    // A tab without the lock knows by then that another one reports.
    await clock.advance(1_000)
    first.tab.crash()
    await second.view.send('again')
    await until(() => all.length > 4, 'an answer')
    expect(all.slice(4)).toEqual(['second answered'])
  })

  it('[VIEW-49] harm nothing where a listener fails, and none reaches one that was removed, or a view that has ended', async () => {
    const { load, show } = setUpView()
    const { agent, told } = load()
    const view = show(agent)
    view.onSignal(() => {
      throw new Error('broken')
    })
    view.onSignal((async () => {
      throw new Error('rejected')
    }) as () => void)
    const removed: string[] = []
    const stop = view.onSignal(({ name }) => void removed.push(name))
    const signals = record(view)
    await view.start()
    await eventually(() => signals.length > 0, 'a signal')
    stop()
    await say(view, 'hello', 2)
    await eventually(() => signals.length === 3, 'signals')
    expect(removed).toEqual(['opened'])
    await view.destroy()
    const count = told.length
    await agent.send('unseen')
    await eventually(() => told.length > count + 2, 'an answer')
    await turnEventLoop()
    expect(namesOf(signals)).toEqual(FUNNEL)
    await agent.destroy()
  })
})
