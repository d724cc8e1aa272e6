import { describe, expect, it } from 'vitest'
import type { FakeTab } from '../../test/fake-browser.ts'
import { CAPABILITIES, linesOf, setUpTabs } from '../../test/set-up-tabs.ts'

/** Ways in which a browser stops a page without keeping what the other tabs post to it. */
const STOPS: readonly (readonly [string, (tab: FakeTab) => void, (tab: FakeTab) => void])[] = [
  ['was frozen', tab => tab.freeze({ isDeaf: true }), tab => tab.thaw()],
  ['was in the back/forward cache', tab => tab.hide(), tab => tab.show()],
]

it('[REL-155] a tab that opens its socket again after more frames than the leader keeps shows them all', async () => {
  const count = 600
  const reply = ({ text }: { text: string }) =>
    text === 'many' ? Array.from({ length: count }, (_, index) => ({ content: `answer ${index}` })) : { content: text }
  const settings = { heartbeatBeforeReply: false, capabilities: [...CAPABILITIES], historyLimit: 2 * count }
  const { clock, emulator, connected, passUntil } = setUpTabs({ settings, reply })
  const delays = (ms: number) => ({ baseReconnectDelay: ms, maxReconnectDelay: ms })
  const leader = await connected(delays(1))
  const late = await connected(delays(60_000))
  await late.agent.send('one')
  await passUntil(() => linesOf(late).length === 2, 'the first answer')
  emulator.control.dropSockets()
  await passUntil(() => leader.agent.isConnected(), 'the next connection of the leader')
  await leader.agent.send('many')
  await passUntil(() => linesOf(leader).length === 3 + count, 'the answers')
  expect(late.agent.isConnected()).toBe(false)
  await clock.advance(60_000)
  await passUntil(() => late.agent.isConnected() && linesOf(late).length >= 3 + count, 'the answers in the other tab')
  expect(linesOf(late)).toEqual(linesOf(leader))
})

describe.each([
  ['receipts, resume and fencing', CAPABILITIES],
  ['the plain wire', []],
])('over %s, a tab that has missed what the others said', (_name, capabilities) => {
  const settings = { heartbeatBeforeReply: false, capabilities: [...capabilities] }

  it.each(
    STOPS.flatMap(stop =>
      [true, false].map(isLeader => [isLeader ? 'leader' : 'follower', stop[0], stop, isLeader] as const),
    ),
  )('[REL-155] as the %s that %s, shows it once', async (_role, _stop, [, stop, start], isLeader) => {
    const { browser, clock, connected, passUntil } = setUpTabs({ settings })
    const tabs = [
      await connected({ resume: true }),
      await connected({ resume: true }),
      await connected({ resume: true }),
    ] as const
    const [stopped, speaker] = isLeader ? [tabs[0], tabs[1]] : [tabs[1], tabs[0]]
    await speaker.agent.send('before')
    await passUntil(() => tabs.every(tab => linesOf(tab).length === 2), 'the first answer')
    stop(stopped.tab)
    const isLed = () => browser.locks.leader !== stopped.tab && speaker.agent.isConnected()
    await passUntil(isLed, 'a leader that runs')
    const id = await speaker.agent.send('meanwhile')
    await passUntil(() => linesOf(speaker).includes('received You said: meanwhile'), 'the answer')
    await speaker.agent.setContext({ plan: 'gold' })
    await clock.advance(6_000)
    start(stopped.tab)
    const expected = [...linesOf(speaker)].sort()
    await passUntil(() => stopped.agent.isConnected() && linesOf(stopped).length >= expected.length, 'what was missed')
    await clock.advance(3_000)
    expect([...linesOf(stopped)].sort()).toEqual(expected)
    expect(stopped.agent.getContext()).toEqual({ plan: 'gold' })
    expect(stopped.agent.delivery(id)?.state).toBe(speaker.agent.delivery(id)?.state)
    const own = await stopped.agent.send('again')
    await passUntil(() => linesOf(speaker).includes('received You said: again'), 'the answer to the tab')
    expect(linesOf(speaker).filter(line => line === 'sent again')).toHaveLength(1)
    expect(speaker.agent.delivery(own)).toBeDefined()
  })

  it.each(
    STOPS.flatMap(stop =>
      (['close', 'crash'] as const).flatMap(end =>
        [true, false].map(isLeader => [isLeader ? 'leader' : 'follower', stop[0], end, stop, isLeader] as const),
      ),
    ),
  )(
    '[REL-155] as the %s that %s, shows it where the only tab that knows it ends in that moment: %s',
    async (_role, _stop, end, [, stop, start], isLeader) => {
      const { browser, clock, connected, passUntil } = setUpTabs({ settings })
      const tabs = [await connected({ resume: true }), await connected({ resume: true })] as const
      const [stopped, speaker] = isLeader ? tabs : ([tabs[1], tabs[0]] as const)
      await speaker.agent.send('before')
      await passUntil(() => tabs.every(tab => linesOf(tab).length === 2), 'the first answer')
      stop(stopped.tab)
      const isLed = () => browser.locks.leader !== stopped.tab && speaker.agent.isConnected()
      await passUntil(isLed, 'a leader that runs')
      await speaker.agent.send('meanwhile')
      await passUntil(() => linesOf(speaker).includes('received You said: meanwhile'), 'the answer')
      await clock.advance(6_000)
      const expected = linesOf(speaker)
      start(stopped.tab)
      speaker.tab[end]()
      await passUntil(
        () => stopped.agent.isConnected() && linesOf(stopped).length === expected.length,
        'what was missed',
      )
      expect(linesOf(stopped)).toEqual(expected)
    },
  )

  it('[REL-155] and has shown nothing before, shows it once', async () => {
    const { connected, passUntil } = setUpTabs({ settings })
    const [one, two] = [await connected({ resume: true }), await connected({ resume: true })]
    two.tab.freeze({ isDeaf: true })
    await one.agent.send('first')
    await passUntil(() => linesOf(one).length === 2, 'the answer')
    two.tab.thaw()
    await passUntil(() => linesOf(two).length === 2, 'what was missed')
    expect(linesOf(two)).toEqual(linesOf(one))
  })

  it('[REL-155] and whose host has emptied its transcript meanwhile, shows nothing of before', async () => {
    const { clock, connected, passUntil } = setUpTabs({ settings })
    const tabs = [await connected(), await connected()] as const
    const [one, two] = tabs
    await one.agent.send('before')
    await passUntil(() => tabs.every(tab => linesOf(tab).length === 2), 'the first answer')
    two.agent.clearTranscript()
    two.tab.freeze({ isDeaf: true })
    await clock.advance(6_000)
    two.tab.thaw()
    await clock.advance(6_000)
    expect(linesOf(two)).toEqual([])
  })
})
