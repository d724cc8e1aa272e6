import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { setUpDeskTabs } from '../test/desk-tabs.ts'
import { ASK, shown } from '../test/scripted-desk.ts'

const MAX_TABS = 3

/** What happens, in the tab with a number. */
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...[
        'ask',
        'ask',
        'say',
        'say',
        'colleague',
        'colleague',
        'left',
        'end',
        'cut',
        'reload',
        'reload',
        'open',
        'close',
        'logout',
      ],
    ),
    tab: fc.nat(MAX_TABS - 1),
  }),
  { minLength: 4, maxLength: 14 },
)

type Tab = Awaited<ReturnType<ReturnType<typeof setUpDeskTabs>['openTab']>>

/** A tab with the texts of its desks that it must show, in order. */
interface Watched extends Tab {
  ofDesk: string[]
}

async function play(list: readonly { kind: string; tab: number }[]): Promise<number> {
  const { openTab, desk, browser, clock, emulator, pass } = setUpDeskTabs()
  const tabs: Watched[] = []
  let user = 0
  let count = 0
  /** Texts for the desk that were accepted. */
  const accepted: string[] = []
  const settle = async () => {
    for (let step = 0; step < 60; step++) await clock.advance(50)
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
      // Nothing is lost.
      expect(lines.filter(line => tab.ofDesk.includes(line))).toEqual(tab.ofDesk)
      if (here.length > 0 && !isHere(tab)) expect(tab.view.getSnapshot().desk?.isElsewhere).toBe(true)
      if (here.length === 0) expect(tab.view.getSnapshot().desk).toBeUndefined()
    }
    expect(desk.heard).toEqual(accepted)
  }
  tabs.push({ ...(await openTab()), ofDesk: [] })
  for (const { kind, tab: number } of list) {
    const tab = tabs[number % tabs.length] as Watched
    const { view, agent } = tab
    const open = tabs.find(isHere)
    const text = `${++count} of user ${user}`
    if (kind === 'ask' || kind === 'say') {
      const { desk: state } = view.getSnapshot()
      const sent = kind === 'ask' && !state ? ASK : text
      const work = view.send(sent)
      if (state?.isElsewhere) await expect(work).rejects.toMatchObject({ reason: 'invalid' })
      else await pass(work)
      if (state && !state.isElsewhere) {
        accepted.push(sent)
        tab.ofDesk.push(`user: ${sent}`)
      }
    }
    if (kind === 'colleague' && open) {
      desk.say(text)
      open.ofDesk.push(`colleague: ${text}`)
    }
    if (kind === 'left' && open) desk.leave()
    if (kind === 'end') view.endDesk()
    if (kind === 'cut') emulator.control.dropSockets()
    if (kind === 'open' && tabs.length < MAX_TABS) tabs.push({ ...(await openTab()), ofDesk: [] })
    if (kind === 'reload' || (kind === 'close' && tabs.length > 1)) {
      if (isHere(tab)) desk.disconnect()
      tab.tab.close()
      if (kind === 'close') tabs.splice(tabs.indexOf(tab), 1)
      else {
        if (open === tab) {
          // Said while no page is there.
          desk.say(text)
          tab.ofDesk.push(`colleague: ${text}`)
        }
        Object.assign(tab, await openTab(browser.open(tab.tab.sessionStorage)))
      }
    }
    if (kind === 'logout') {
      const left = agent.logout()
      user++
      for (const each of tabs) each.ofDesk = []
      await settle()
      await pass(left)
      desk.say('too late')
      for (const each of tabs) await pass(each.view.start())
    }
    await settle()
    check()
  }
  return desk.opened.length
}

describe('a live desk in any history', () => {
  it('[VIEW-46] loses, doubles and shows nothing to the next user', async () => {
    let opened = 0
    await fc.assert(
      fc.asyncProperty(steps, async list => {
        opened += await play(list)
      }),
      { numRuns: propertyRuns(25), timeout: 15_000 },
    )
    expect(opened).toBeGreaterThan(0)
  })
})
