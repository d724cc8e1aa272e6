import { createConversationView } from '@aiagent/view'
import { describe, expect, it } from 'vitest'
import { type FakeBrowser, FakeChannel, type FakeTab } from '../../test/fake-browser.ts'
import { CAPABILITIES, linesOf, setUpTabs } from '../../test/set-up-tabs.ts'

const settings = { heartbeatBeforeReply: false, capabilities: [] }

describe('an anonymous tab whose host supplies the token of a user', () => {
  /** Everything that is posted between anonymous tabs. */
  const overhear = (browser: FakeBrowser) => {
    const heard: string[] = []
    const [{ name } = { name: '' }] = [...browser.tabs].flatMap(tab => [...tab.channels])
    const channel = new FakeChannel(name, browser.open())
    channel.onmessage = ({ data }: { readonly data: unknown }) => void heard.push(JSON.stringify(data))
    return heard
  }
  const setUpThree = async (settingsOf: object) => {
    const parts = setUpTabs({ settings: { ...settings, ...settingsOf } })
    const { browser, clock, emulator, connected, passUntil } = parts
    const tokenOf = (subject: string) => emulator.control.issueToken({ subject })
    /** Supplies a user's token, and lets the time pass that this may take. */
    const update = async ({ agent }: Tab, accessToken: string) => {
      const updated = agent.updateAccessToken(accessToken)
      await clock.advance(2_000)
      await updated
    }
    /** What the users have said in each session, in order. */
    const received = () =>
      [...emulator.world.sessions.values()].map(({ accepted }) =>
        accepted.entries().flatMap(({ message }) => (message.persona === 'customer' ? [message.content] : [])),
      )
    const tabs = [
      await connected({ resume: true }),
      await connected({ resume: true }),
      await connected({ resume: true }),
    ]
    await tabs[1]?.agent.send('before')
    await passUntil(() => tabs.every(tab => linesOf(tab).length === 2), 'the answer in all tabs')
    return {
      ...parts,
      tabs: tabs as [Tab, Tab, Tab],
      received,
      update,
      tokenOf,
      heard: overhear(browser),
      token: tokenOf('customer'),
    }
  }
  type Tab = Awaited<ReturnType<ReturnType<typeof setUpTabs>['connected']>>
  const WIRES = [
    ['the plain wire', {}],
    ['receipts, resume and fencing', { capabilities: [...CAPABILITIES] }],
  ] as const

  it.each(WIRES.flatMap(([wire, more]) => (['leader', 'follower'] as const).map(role => [role, wire, more] as const)))(
    '[SEC-61] takes the session with it, as the %s over %s; the others begin another one and keep what they show',
    async (role, _wire, more) => {
      const { emulator, tabs, heard, token, passUntil, update } = await setUpThree(more)
      const [session] = emulator.world.sessions.keys()
      const user = tabs[role === 'leader' ? 0 : 1]
      const others = tabs.filter(tab => tab !== user)
      await update(user, token)
      await user.agent.send('of the user')
      await passUntil(() => linesOf(user).length === 4, 'the answer for the user')
      for (const other of others) expect(linesOf(other)).toEqual(['sent before', 'received You said: before'])
      await others[0]?.agent.send('of an anonymous one')
      await passUntil(() => others.every(other => linesOf(other).length === 4), 'the answer for the others')
      const received = [...emulator.world.sessions].map(([id, { accepted }]) => [
        id === session,
        accepted.entries().flatMap(({ message }) => (message.persona === 'customer' ? [message.content] : [])),
      ])
      expect(received).toEqual([
        [true, ['before', 'of the user']],
        [false, ['of an anonymous one']],
      ])
      expect(linesOf(user)).not.toContain('sent of an anonymous one')
      expect(heard.join()).not.toContain(token)
      for (const { agent } of others) expect(await agent.getAccessToken()).not.toBe(token)
    },
  )

  it('[SEC-61] leaves nothing of the user in the others when the user signs out', async () => {
    const { clock, emulator, tabs, heard, token, update } = await setUpThree({})
    const [user, other] = tabs
    await update(user, token)
    const signedOut = user.agent.logout()
    await clock.advance(2_000)
    await signedOut
    await user.agent.initialize()
    await clock.advance(2_000)
    expect(await other.agent.getAccessToken()).not.toBe(token)
    expect(other.agent.getIsInitialized()).toBe(true)
    expect(heard.join()).not.toContain(token)
    const sent = emulator.control.requests().filter(({ headers }) => JSON.stringify(headers ?? {}).includes(token))
    expect(sent.every(({ path }) => !path.includes('/session'))).toBe(true)
  })

  it('[SEC-61] joins the conversation of the same user, if there is one', async () => {
    const { clock, tabs, token, connected, passUntil } = await setUpThree({})
    const [first, second] = tabs
    await first.agent.updateAccessToken(token)
    await clock.advance(2_000)
    await second.agent.updateAccessToken(token)
    await clock.advance(2_000)
    await first.agent.send('for both')
    await passUntil(() => linesOf(second).includes('received You said: for both'), 'the answer in the second tab')
    const third = await connected({ resume: true })
    expect(linesOf(third)).not.toContain('sent for both')
  })

  const ROLES = ['leader', 'follower'] as const
  const CASES = WIRES.flatMap(([wire, more]) => ROLES.map(role => [role, wire, more] as const))
  const sort = (role: (typeof ROLES)[number], [one, two, three]: readonly [Tab, Tab, Tab]) =>
    role === 'leader' ? ([one, two, three] as const) : ([two, one, three] as const)

  it.each(CASES)(
    '[SEC-61] takes the session as the %s over %s; the others request none before their next message, and answered messages stay as they were',
    async (role, _wire, more) => {
      const { clock, emulator, tabs, token, passUntil, received, update } = await setUpThree(more)
      const [user, other, third] = sort(role, tabs)
      const ids: string[] = []
      for (const tab of [user, other]) ids.push(await tab.agent.send('short before'))
      await passUntil(() => linesOf(third).length === 6, 'the answers in all tabs')
      const states = () => [other, third].flatMap(({ agent }) => ids.map(id => agent.delivery(id)?.state))
      const before = states()
      const events: string[] = []
      for (const { agent } of [other, third]) {
        agent.on('stateChanged', ({ payload }) => void events.push(payload.state))
        agent.on('deliveryUpdate', ({ payload }) => void events.push(payload.state))
      }
      await update(user, token)
      await clock.advance(60_000)
      expect(emulator.world.sessions.size).toBe(1)
      expect(events).toEqual([])
      for (const { agent } of [other, third]) {
        expect(agent.isConnected()).toBe(true)
        expect(agent.getSessionId()).toBeNull()
      }
      await user.agent.send('of the user')
      await passUntil(() => linesOf(user).length === 8, 'the answer for the user')
      expect(linesOf(other)).toHaveLength(6)
      await third.agent.send('of an anonymous one')
      await passUntil(() => linesOf(other).length === 8, 'the answer in both anonymous tabs')
      await clock.advance(20_000)
      expect(states()).toEqual(before)
      expect(received()).toEqual([['before', 'short before', 'short before', 'of the user'], ['of an anonymous one']])
      expect(third.agent.getSessionId()).toBe(other.agent.getSessionId())
    },
  )

  it.each(CASES)(
    '[SEC-61] takes the session as the %s over %s while all tabs connect; the others request none before their next message',
    async (role, _wire, more) => {
      const { clock, emulator, tabs, token, passUntil, received, update } = await setUpThree(more)
      const [user, other, third] = sort(role, tabs)
      const { faults } = emulator
      faults.add({ kind: 'hang-upgrade' })
      faults.add({ kind: 'drop' })
      await passUntil(() => tabs.every(({ agent }) => agent.getState() === 'CONNECTING'), 'tabs that connect', 3_000)
      const events: string[] = []
      for (const { agent } of [other, third])
        agent.on('deliveryUpdate', ({ payload }) => void events.push(payload.state))
      await update(user, token)
      faults.lift()
      await clock.advance(60_000)
      expect(emulator.world.sessions.size).toBe(1)
      for (const { agent } of [other, third]) expect([agent.isConnected(), agent.getSessionId()]).toEqual([true, null])
      expect(events).toEqual([])
      await user.agent.send('of the user')
      await passUntil(() => linesOf(user).length === 4, 'the answer for the user')
      await third.agent.send('of an anonymous one')
      await passUntil(() => linesOf(other).length === 4, 'the answer in both anonymous tabs')
      expect(received()).toEqual([['before', 'of the user'], ['of an anonymous one']])
    },
  )

  it('[SEC-61] reports as unknown what has no answer in the session that is taken, and sends it nowhere else', async () => {
    const { tabs, token, received, passUntil, emulator, update } = await setUpThree({})
    const [user, other] = tabs
    Object.assign(emulator.settings, { replyDelayMs: 60_000 })
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-client' })
    const id = await other.agent.send('without an answer')
    await passUntil(() => received()[0]?.length === 2, 'the message in the service')
    await update(user, token)
    expect(other.agent.delivery(id)).toMatchObject({ state: 'unknown', reason: 'session_ended' })
    emulator.faults.lift()
    await other.agent.send('next')
    await passUntil(() => received().length === 2 && received()[1]?.length === 1, 'the next message')
    expect(received()[1]).toEqual(['next'])
  })

  it('[SEC-61] rejects a question in another tab whose answer will not come, and answers the next one', async () => {
    const { clock, tabs, token, passUntil, received, emulator, update } = await setUpThree({})
    const [user, other, third] = tabs
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-client' })
    const asked = other.agent.ask('first').catch(error => error.reason)
    await passUntil(() => received()[0]?.length === 2, 'the question in the service')
    await update(user, token)
    emulator.faults.lift()
    expect(await asked).toBe('closed')
    const answers = Promise.all([third.agent.ask('second'), other.agent.ask('third')])
    await clock.advance(20_000)
    expect((await answers).map(({ content }) => content)).toEqual(['You said: second', 'You said: third'])
    expect(received()[1]).toEqual(['second', 'third'])
  })

  it.each(ROLES)('[SEC-61] as the %s, uses the token only when the others have let go', async role => {
    const { clock, browser, tabs, token } = await setUpThree({})
    const [user, other, third] = sort(role, tabs)
    for (const { tab } of [other, third]) tab.freeze()
    const before = browser.written.length
    let isUsed = false
    const used = user.agent.updateAccessToken(token).then(() => (isUsed = true))
    await clock.advance(500)
    other.tab.thaw()
    await clock.advance(100)
    expect(isUsed).toBe(false)
    expect(browser.written.slice(before)).toEqual([])
    third.tab.thaw()
    await clock.advance(100)
    expect(isUsed).toBe(true)
    await used
  })

  it.each(ROLES)('[SEC-61] as the %s, waits a second for one that is frozen', async role => {
    const { clock, tabs, token, passUntil } = await setUpThree({})
    const [user, other] = sort(role, tabs)
    other.tab.freeze()
    let isUsed = false
    const used = user.agent.updateAccessToken(token).then(() => (isUsed = true))
    await clock.advance(900)
    expect(isUsed).toBe(false)
    await clock.advance(200)
    expect(isUsed).toBe(true)
    await used
    await user.agent.send('on')
    await passUntil(() => linesOf(user).includes('received You said: on'), 'an answer for the user')
  })

  /** Ways in which a browser stops a page without keeping what the other tabs post to it. */
  const STOPS: readonly (readonly [string, (tab: FakeTab) => void, (tab: FakeTab) => void])[] = [
    ['was frozen', tab => tab.freeze({ isDeaf: true }), tab => tab.thaw()],
    ['was in the back/forward cache', tab => tab.hide(), tab => tab.show()],
  ]

  it.each(
    STOPS.flatMap(([stop, ...how]) => CASES.map(([role, wire, more]) => [role, stop, wire, more, ...how] as const)),
  )(
    '[SEC-61] the %s that %s meanwhile finds out when it runs again, over %s, and writes nothing into the session',
    async (role, _stop, _wire, more, stop, start) => {
      const { clock, browser, emulator, tabs, token, passUntil, received, update } = await setUpThree(more)
      const [stopped, user, third] = sort(role, tabs)
      third.tab.close()
      stop(stopped.tab)
      await passUntil(() => user.agent.isConnected() && browser.locks.leader === user.tab, 'the other tab leads')
      await update(user, token)
      await user.agent.send('of the user')
      await passUntil(() => linesOf(user).length === 4, 'the answer for the user')
      const [session] = emulator.world.sessions.keys()
      user.tab.close()
      const dialled = () => emulator.control.requests().filter(({ query }) => query['sessionId'] === session).length
      const before = dialled()
      start(stopped.tab)
      await stopped.agent.send('of an anonymous one').catch(() => {})
      await passUntil(() => linesOf(stopped).length === 4, 'an answer in another session')
      await clock.advance(6_000)
      expect(dialled()).toBe(before)
      expect(received()).toEqual([['before', 'of the user'], ['of an anonymous one']])
      expect(linesOf(stopped)).toEqual([
        'sent before',
        'received You said: before',
        'sent of an anonymous one',
        'received You said: of an anonymous one',
      ])
    },
  )

  it.each(STOPS)('[SEC-61] a tab that %s meanwhile requests no session by itself', async (_stop, stop, start) => {
    const { clock, emulator, tabs, token, update } = await setUpThree({})
    const [stopped, user] = tabs
    stop(stopped.tab)
    await clock.advance(5_000)
    await update(user, token)
    start(stopped.tab)
    await clock.advance(20_000)
    expect(emulator.world.sessions.size).toBe(1)
    expect(stopped.agent.isConnected()).toBe(true)
    expect(linesOf(stopped)).toEqual(['sent before', 'received You said: before'])
  })

  it('[SEC-61] a tab that is loaded again after it was frozen meanwhile begins another session', async () => {
    const { clock, emulator, tabs, token, connected, browser, update } = await setUpThree({})
    const [frozen, user] = tabs
    frozen.tab.freeze()
    await clock.advance(5_000)
    await update(user, token)
    frozen.tab.crash()
    const again = await connected({ resume: true }, browser.open(frozen.tab.sessionStorage))
    expect(linesOf(again)).toEqual([])
    expect(again.agent.getSessionId()).not.toBe([...emulator.world.sessions.keys()][0])
  })

  it('[SEC-61] keeps a message that waits at that moment, which no anonymous tab sends', async () => {
    const { clock, browser, tabs, token, received, connected, update } = await setUpThree({})
    const [other, user, third] = tabs
    await user.agent.disconnect()
    await user.agent.send('waits')
    await clock.advance(100)
    await update(user, token)
    await user.agent.connect()
    await clock.advance(2_000)
    expect(received()).toEqual([['before', 'waits']])
    await user.agent.disconnect()
    await user.agent.send('waits too')
    await clock.advance(2_000)
    user.tab.crash()
    await other.agent.send('next')
    await clock.advance(10_000)
    expect(received()).toEqual([['before', 'waits'], ['next']])
    third.tab.crash()
    await connected()
    await clock.advance(10_000)
    expect(received()).toEqual([['before', 'waits'], ['next']])
    expect(browser.tabs.size).toBeGreaterThan(0)
  })

  it.each(ROLES)('[SEC-61] as the %s, loses nothing silently that another tab sends at that moment', async role => {
    const { clock, tabs, token, received, update } = await setUpThree({})
    const [user, other] = sort(role, tabs)
    const updating = update(user, token)
    const id = await other.agent.send('in between')
    await clock.advance(1_000)
    await updating
    await clock.advance(10_000)
    const isThere = received().flat().includes('in between')
    expect(isThere || other.agent.delivery(id)?.state === 'unknown').toBe(true)
    expect(received()).toHaveLength(1)
  })

  it.each(WIRES)(
    '[SEC-61] lets only one of two tabs take the session, whose users are different, over %s',
    async (_wire, more) => {
      const { clock, tabs, tokenOf, received, passUntil, emulator } = await setUpThree(more)
      const [one, two, third] = tabs
      const updates = [one.agent.updateAccessToken(tokenOf('user-1')), two.agent.updateAccessToken(tokenOf('user-2'))]
      await clock.advance(3_000)
      await Promise.all(updates)
      for (const [tab, text] of [
        [one, 'of one'],
        [two, 'of two'],
        [third, 'of none'],
      ] as const) {
        await tab.agent.send(text)
        await passUntil(() => linesOf(tab).includes(`received You said: ${text}`), `the answer to ${text}`)
      }
      expect(emulator.world.sessions.size).toBe(3)
      expect(
        received()
          .toSorted((a, b) => b.length - a.length)
          .slice(1)
          .flat(),
      ).toHaveLength(2)
    },
  )

  it.each(WIRES)('[SEC-61] keeps two tabs together whose user is the same, over %s', async (_wire, more) => {
    const { clock, tabs, token, received, passUntil } = await setUpThree(more)
    const [one, two, third] = tabs
    const updates = [one.agent.updateAccessToken(token), two.agent.updateAccessToken(token)]
    await clock.advance(3_000)
    await Promise.all(updates)
    await two.agent.send('of two')
    await passUntil(() => linesOf(one).includes('received You said: of two'), 'the answer in the first tab')
    await third.agent.send('of none')
    await passUntil(() => linesOf(third).includes('received You said: of none'), 'the answer for the third tab')
    expect(received()).toEqual([['before', 'of two'], ['of none']])
    expect(linesOf(two)).toEqual([
      'sent before',
      'received You said: before',
      'sent of two',
      'received You said: of two',
    ])
  })

  it.each(['close', 'crash', 'reload'] as const)('[SEC-61] takes the session while the leader ends: %s', async end => {
    const { clock, browser, tabs, token, received, passUntil, connected } = await setUpThree({
      capabilities: [...CAPABILITIES],
    })
    const [leader, user, third] = tabs
    const used = user.agent.updateAccessToken(token)
    if (end === 'crash') leader.tab.crash()
    else leader.tab.close()
    const again = end === 'reload' ? connected({ resume: true }, browser.open(leader.tab.sessionStorage)) : undefined
    await clock.advance(3_000)
    await used
    await user.agent.send('of the user')
    await passUntil(() => linesOf(user).includes('received You said: of the user'), 'the answer for the user')
    await third.agent.send('of none')
    await passUntil(() => linesOf(third).includes('received You said: of none'), 'the answer for the third tab')
    const reloaded = await again
    if (reloaded)
      await passUntil(() => linesOf(reloaded).includes('received You said: of none'), 'the answer for the reloaded tab')
    expect(received()).toEqual([['before', 'of the user'], ['of none']])
  })

  it('[SEC-61] begins another session when a tab is opened, which the others join', async () => {
    const { emulator, tabs, token, connected, passUntil, update } = await setUpThree({})
    const [user, other, third] = tabs
    await update(user, token)
    const added = await connected()
    await added.agent.send('of a new tab')
    await passUntil(() => [other, third].every(tab => linesOf(tab).length === 4), 'the answer in all anonymous tabs')
    expect(emulator.world.sessions.size).toBe(2)
    expect(linesOf(user)).toHaveLength(2)
  })

  it('[SEC-61] a view that is left and started again meanwhile shows what it showed, and continues elsewhere', async () => {
    const { clock, emulator, tabs, token, passUntil, update } = await setUpThree({})
    const [user, other] = tabs
    const view = createConversationView(other.agent)
    await update(user, token)
    await view.leave()
    await clock.advance(1_000)
    const started = view.start()
    await clock.advance(2_000)
    await started
    const texts = () => view.getSnapshot().messages.map(({ content }) => content)
    expect(texts()).toEqual(['before', 'You said: before'])
    await view.send('again')
    await passUntil(() => texts().length === 4, 'an answer in the view')
    expect(emulator.world.sessions.size).toBe(2)
    expect(linesOf(user)).toHaveLength(2)
    await view.destroy()
  })

  it('[SEC-61] a sign-out while the others let go leaves the tab anonymous', async () => {
    const { clock, tabs, token, emulator, passUntil } = await setUpThree({})
    const [user, other] = tabs
    const used = user.agent.updateAccessToken(token).catch(error => error.reason ?? error.code)
    await user.agent.logout()
    await clock.advance(3_000)
    expect(await used).toBe('token_missing')
    await user.agent.initialize()
    await user.agent.connect()
    await user.agent.send('again')
    await passUntil(() => linesOf(user).includes('received You said: again'), 'an answer')
    expect(other.agent.getIsInitialized()).toBe(false)
    const sent = JSON.stringify(emulator.control.requests().map(({ headers }) => headers))
    expect(sent).not.toContain(token)
  })
})
