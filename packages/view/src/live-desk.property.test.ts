import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FakeTab } from '../../client/test/fake-browser.ts'
import { HostStore } from '../../client/test/host-store.ts'
import { type OpenedDeskTab, setUpDeskTabs } from '../test/desk-tabs.ts'
import { ASK, shown } from '../test/scripted-desk.ts'

const MAX_TABS = 3

/** How long each operation of the stores takes, in milliseconds. */
const STORE_MS = [0, 0, 0, 300, 900]

/** What happens, in the tab with a number. */
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...['ask', 'ask', 'say', 'say', 'colleague', 'colleague', 'left', 'end', 'leave while sending'],
      ...[
        'send hangs',
        'send fails',
        'send settles',
        'send fails late',
        'retry',
        'hand over',
        'nobody there',
        'second view',
      ],
      ...['cut', 'session ends', 'restart', 'read', 'reload', 'reload', 'open', 'close', 'logout'],
    ),
    tab: fc.nat(MAX_TABS - 1),
  }),
  { minLength: 4, maxLength: 14 },
)

/** A tab with the texts of its desks that it must show, in order. */
interface Watched extends OpenedDeskTab {
  ofDesk: string[]
  /** Number of those of earlier conversations. */
  above: number
  /** Whether the user has begun a new conversation on its page. */
  isRestarted: boolean
  /** Number of messages of the colleague since the user has read this tab. */
  unread: number
  store: HostStore
}

type Outcome = { resolve(): void; reject(error: Error): void }

async function play(list: readonly { kind: string; tab: number }[], storeMs: number): Promise<number> {
  const { openTab, desk, clock, emulator, browser, pass } = setUpDeskTabs()
  const tabs: Watched[] = []
  let user = 0
  let count = 0
  /** Number of escalations of the agent. */
  let escalations = 0
  /** Texts for the desk that were accepted. */
  const accepted: string[] = []
  /** Calls of `send()` of the desk that have not settled. */
  let pending: Outcome[] = []
  const settle = async () => {
    for (let step = 0; step < 60; step++) await clock.advance(50 + storeMs / 5)
  }
  const openWatched = async (store: HostStore, tab?: FakeTab): Promise<Watched> => {
    const pause = () => new Promise<void>(resolve => void clock.setTimeout(resolve, storeMs))
    // The first page loads the code, in real time.
    if (storeMs > 0 && tabs.length > 0) store.pause = pause
    const opened = await openTab(tab, { cache: { adapter: store, contextPrefix: 'tab:' } })
    if (storeMs > 0) store.pause = pause
    return { ...opened, ofDesk: [], above: 0, isRestarted: false, unread: 0, store }
  }
  const isHere = ({ view }: Watched) => view.getSnapshot().desk?.isElsewhere === false
  const check = () => {
    const here = tabs.filter(isHere)
    expect(here.length).toBeLessThanOrEqual(1)
    for (const tab of tabs) {
      const lines = shown(tab.view)
      const texts = lines.filter(line => !line.startsWith('--') && !line.includes(ASK) && !line.includes('takes over'))
      // Nothing is doubled, and nothing is of another user.
      expect(new Set(texts).size).toBe(texts.length)
      expect(texts.filter(line => !line.includes(`of user ${user}`))).toEqual([])
      // Nothing is lost, and each chat begins and ends once.
      expect(lines.filter(line => tab.ofDesk.includes(line))).toEqual(tab.ofDesk)
      const marks = lines.filter(line => line.startsWith('--'))
      expect(marks).toEqual(marks.map((_, index) => (index % 2 ? '-- desk_closed' : '-- desk_opened')))
      expect(marks.length % 2).toBe(Number(isHere(tab)))
      for (const view of tab.others) {
        expect(shown(view)).toEqual(lines)
        expect(view.getSnapshot().desk).toEqual(tab.view.getSnapshot().desk)
      }
      expect(tab.view.getSnapshot().unread).toBeGreaterThanOrEqual(tab.unread)
      if (here.length > 0 && !isHere(tab)) expect(tab.view.getSnapshot().desk?.isElsewhere).toBe(true)
      if (here.length === 0) expect(tab.view.getSnapshot().desk).toBeUndefined()
    }
    expect(desk.heard).toEqual(accepted)
    expect(desk.asked).toBeLessThanOrEqual(escalations)
    expect(desk.opened.filter(({ signal }) => !signal.aborted).length).toBe(here.length)
  }
  /** Ends the conversation in all tabs. */
  const forget = () => {
    for (const each of tabs) Object.assign(each, { ofDesk: [], above: 0, isRestarted: false, unread: 0 })
  }
  tabs.push(await openWatched(new HostStore()))
  for (const { kind, tab: number } of list) {
    const tab = tabs[number % tabs.length] as Watched
    const { view, agent } = tab
    const open = tabs.find(isHere)
    const text = `${++count} of user ${user}`
    desk.isClosed = kind === 'nobody there'
    if (kind.startsWith('send') || kind === 'leave while sending') {
      if (kind === 'send hangs' || kind === 'leave while sending')
        desk.onSend = () => new Promise((resolve, reject) => void pending.push({ resolve, reject }))
      if (kind === 'send fails') desk.onSend = () => Promise.reject(new Error('cut'))
      if (kind === 'send settles') for (const { resolve } of pending) resolve()
      if (kind === 'send fails late') for (const { reject } of pending) reject(new Error('cut'))
      if (kind === 'send settles' || kind === 'send fails late') pending = []
    }
    if (['ask', 'nobody there', 'say', 'send hangs', 'send fails', 'leave while sending'].includes(kind)) {
      const { desk: state } = view.getSnapshot()
      const sent = (kind === 'ask' || kind === 'nobody there') && !state ? ASK : text
      escalations += Number(sent === ASK)
      const work = [view, ...tab.others][count % (tab.others.length + 1)]?.send(sent) ?? view.send(sent)
      if (state?.isElsewhere) await expect(work).rejects.toMatchObject({ reason: 'invalid' })
      else await pass(work)
      if (state && !state.isElsewhere) {
        accepted.push(sent)
        tab.ofDesk.push(`user: ${sent}`)
      }
      desk.onSend = () => {}
    }
    if (kind === 'retry') {
      const item = view.getSnapshot().messages.findLast(({ delivery }) => delivery === 'unknown')
      const isOfDesk = item && tab.ofDesk.includes(`user: ${item.content}`)
      if (item && isOfDesk)
        await view.retry(item.id).then(
          () => accepted.push(item.content),
          error => expect(String(error)).toMatch(/has ended|cannot be sent again/),
        )
    }
    if (kind === 'colleague' && open) {
      desk.say(text)
      open.ofDesk.push(`colleague: ${text}`)
      open.unread++
    }
    if (kind === 'hand over') {
      const sessionId = agent.getSessionId()
      const messageData = {
        escalation: true,
        escalationData: { live: true, entrypointUrl: 'https://live.example.test/chat' },
      }
      escalations++
      if (sessionId && agent.isConnected())
        emulator.control.say(sessionId, { content: `${text} takes over`, messageData })
    }
    if (kind === 'read') {
      view.markRead()
      tab.unread = 0
    }
    // A view that begins after a restart shows what the agent still has.
    if (kind === 'second view' && tab.others.length < 2 && !tab.isRestarted) tab.addView()
    if ((kind === 'left' || kind === 'leave while sending') && open) desk.leave()
    if (kind === 'end') view.endDesk()
    if (kind === 'cut') emulator.control.dropSockets()
    if (kind === 'session ends') emulator.control.forgetSession(agent.getSessionId() ?? '')
    if (kind === 'restart') {
      // What a page still has stays to read.
      for (const each of tabs) Object.assign(each, { above: each.ofDesk.length, isRestarted: true, unread: 0 })
      await pass(view.restart())
    }
    if (kind === 'open' && tabs.length < MAX_TABS) tabs.push(await openWatched(new HostStore()))
    if (kind === 'reload' || (kind === 'close' && tabs.length > 1)) {
      if (isHere(tab)) desk.disconnect()
      tab.tab.close()
      if (kind === 'close') tabs.splice(tabs.indexOf(tab), 1)
      else {
        const ofDesk = tab.ofDesk.slice(tab.above)
        if (open === tab) {
          // Said while no page is there.
          desk.say(text)
          ofDesk.push(`colleague: ${text}`)
        }
        const next = await openWatched(tab.store.copy(), browser.open(tab.tab.sessionStorage))
        Object.assign(tab, next, { ofDesk, unread: Number(open === tab) })
      }
    }
    if (kind === 'logout') {
      const left = agent.logout()
      user++
      forget()
      await settle()
      await pass(left)
      desk.say('too late')
      for (const each of tabs) await pass(each.view.start())
    }
    await settle()
    check()
  }
  // No message waits for longer than 30 s.
  for (const { resolve } of pending.slice(1)) resolve()
  await clock.advance(31_000)
  for (const { view } of tabs)
    expect(view.getSnapshot().messages.filter(({ delivery }) => delivery === 'sending')).toEqual([])
  return desk.opened.length
}

describe('a live desk in any history', () => {
  it('[VIEW-46] loses, doubles and shows nothing to the next user', async () => {
    let opened = 0
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(...STORE_MS), async (list, storeMs) => {
        opened += await play(list, storeMs)
      }),
      { numRuns: propertyRuns(25), timeout: 15_000 },
    )
    expect(opened).toBeGreaterThan(0)
  })
})
