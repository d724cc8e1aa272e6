import { describe, expect, it } from 'vitest'
import type { FakeTab } from '../../test/fake-browser.ts'
import { CAPABILITIES, linesOf, setUpTabs } from '../../test/set-up-tabs.ts'
import { AiAgent } from '../ai-agent.ts'
import type { AiAgentConfig } from '../config.ts'

/** Ways in which a browser stops a page without keeping what the other tabs post to it. */
const STOPS: readonly (readonly [string, (tab: FakeTab) => void, (tab: FakeTab) => void])[] = [
  ['was frozen', tab => tab.freeze({ isDeaf: true }), tab => tab.thaw()],
  ['was in the back/forward cache', tab => tab.hide(), tab => tab.show()],
]

const USERS = ['an anonymous user', 'a signed-in user'] as const

describe.each(USERS)('a tab that was stopped when %s signed out in another one', user => {
  const settings = { heartbeatBeforeReply: false, capabilities: [...CAPABILITIES] }

  /** Two tabs of the user with a conversation: one that is stopped, and one that goes on. */
  const setUpTwo = async ({ isLeader = false, config = {} as Partial<AiAgentConfig> } = {}) => {
    const parts = setUpTabs({ settings })
    const { emulator, connected, passUntil } = parts
    const auth = { type: 'pre-auth' as const, accessToken: emulator.control.issueToken({ subject: 'user-1' }) }
    const used = { resume: true, ...(user === 'a signed-in user' && { id: 'account', auth }), ...config }
    const tabs = [await connected(used), await connected(used)] as const
    const [stopped, other] = isLeader ? tabs : ([tabs[1], tabs[0]] as const)
    await stopped.agent.setContext({ plan: 'gold' })
    await stopped.agent.send('secret')
    await passUntil(() => tabs.every(tab => linesOf(tab).length === 2), 'the answer in both tabs')
    const changes: string[] = []
    stopped.agent.on('userChanged', () => void changes.push('userChanged'))
    const isEmpty = () => !stopped.agent.getIsInitialized() && linesOf(stopped).length === 0
    return { ...parts, stopped, other, changes, isEmpty, used }
  }

  it.each(
    STOPS.flatMap(stop =>
      [true, false].map(isLeader => [isLeader ? 'leader' : 'follower', ...stop, isLeader] as const),
    ),
  )('[REL-156] as the %s that %s, leaves the user when it runs again', async (_role, _stop, stop, start, isLeader) => {
    const { browser, clock, emulator, stopped, other, changes, isEmpty, passUntil } = await setUpTwo({ isLeader })
    stop(stopped.tab)
    await passUntil(() => browser.locks.leader === other.tab && other.agent.isConnected(), 'the other tab leads')
    await other.agent.logout()
    other.tab.close()
    await clock.advance(6_000)
    const frames = browser.written.length
    const sessions = emulator.world.sessions.size
    start(stopped.tab)
    await passUntil(isEmpty, 'the stopped tab is empty', 2_000)
    await clock.advance(6_000)
    expect(stopped.agent.getContext()).toBeNull()
    expect(stopped.agent.isConnected()).toBe(false)
    expect(changes).toEqual(['userChanged'])
    expect(emulator.world.sessions.size).toBe(sessions)
    expect(browser.written.slice(frames).filter(({ text }) => text.includes('secret'))).toEqual([])
    const left = [stopped.tab.sessionStorage, browser.localStorage].flatMap(({ items }) => [...items].flat())
    expect(left.join()).not.toContain('secret')
  })

  it('[REL-156] [SEC-15] keeps what it sends before it notices from the tabs of the next user, and reports it once', async () => {
    const { clock, stopped, other, passUntil } = await setUpTwo()
    stopped.tab.freeze()
    await other.agent.logout()
    void other.agent.initialize().then(() => other.agent.connect())
    await passUntil(() => other.agent.isConnected(), 'the next conversation')
    const updates: string[] = []
    for (const [name, { agent }] of Object.entries({ stopped, other }))
      agent.on('deliveryUpdate', ({ payload }) => void updates.push(`${name} ${payload.state}`))
    stopped.tab.thaw()
    await stopped.agent.send('late secret')
    await clock.advance(6_000)
    expect(linesOf(other)).toEqual([])
    expect(updates).toEqual(['stopped sending', 'stopped sent', 'stopped unknown'])
  })

  it('[REL-156] returns to nothing of a conversation that the same user has begun since', async () => {
    const { browser, clock, stopped, other, changes, isEmpty, passUntil, connected, used } = await setUpTwo()
    stopped.tab.hide()
    await other.agent.logout()
    other.tab.close()
    const next = await connected(used)
    await next.agent.send('of the next conversation')
    await passUntil(() => linesOf(next).length === 2, 'an answer in the next conversation')
    stopped.tab.show()
    expect(isEmpty()).toBe(true)
    await clock.advance(500)
    expect(changes).toEqual(['userChanged'])
    expect(browser.locks.leader).toBe(next.tab)
    expect(linesOf(next)).toHaveLength(2)
  })

  it('[REL-156] goes on when nobody has signed out, also if the storage was cleared or refuses', async () => {
    const { browser, clock, stopped, other, changes, passUntil } = await setUpTwo()
    stopped.tab.hide()
    for (const name of [...browser.localStorage.items.keys()]) browser.localStorage.removeItem(name)
    await clock.advance(6_000)
    stopped.tab.show()
    await passUntil(() => stopped.agent.isConnected(), 'the tab is connected again')
    browser.localStorage.getItem = () => {
      throw new DOMException('The storage is not available.', 'SecurityError')
    }
    browser.localStorage.setItem = browser.localStorage.getItem as never
    await stopped.agent.send('on')
    await passUntil(() => linesOf(other).includes('received You said: on'), 'an answer in both tabs')
    await other.agent.logout()
    await clock.advance(2_000)
    expect(changes).toEqual(['userChanged'])
  })

  it('[REL-156] [SEC-18] remembers a sign-out for thirty days, without the user, until stored data is cleared', async () => {
    const { browser, clock, emulator, other, connected } = await setUpTwo()
    const remembered = () => [...browser.localStorage.items.keys()].filter(name => name.includes('signed-out'))
    await other.agent.logout()
    const [first = ''] = remembered()
    expect(first).not.toContain('user-1')
    await clock.advance(31 * 24 * 60 * 60_000)
    const auth = { type: 'pre-auth' as const, accessToken: emulator.control.issueToken({ subject: 'user-2' }) }
    const another = await connected({ id: 'account', auth })
    await another.agent.logout()
    expect(remembered()).toHaveLength(1)
    expect(remembered()).not.toEqual([first])
    await AiAgent.clearStoredData(emulator.origin, { environment: another.tab.environment })
    expect(remembered()).toEqual([])
  })
})
