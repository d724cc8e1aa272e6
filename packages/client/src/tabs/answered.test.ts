import { describe, expect, it } from 'vitest'
import type { FakeTab } from '../../test/fake-browser.ts'
import { CAPABILITIES, linesOf, setUpTabs } from '../../test/set-up-tabs.ts'
import type { AiAgent } from '../ai-agent.ts'

const PLAIN = { heartbeatBeforeReply: false, capabilities: [] }

interface Opened {
  readonly agent: AiAgent
  readonly tab: FakeTab
}

/** Two tabs, in each of which a question was asked and answered. */
async function setUpAnswered(settings: object = PLAIN, text = (name: string) => `question of the ${name}`) {
  const parts = setUpTabs({ settings })
  const leader: Opened = await parts.connected({ resume: true })
  const follower: Opened = await parts.connected({ resume: true })
  const ids: string[] = []
  for (const [name, { agent }] of Object.entries({ follower, leader })) {
    ids.push(await agent.send(text(name)))
    await parts.passUntil(() => linesOf(leader).length === 2 * ids.length, 'the answer')
  }
  await parts.passUntil(() => linesOf(follower).length === 4, 'the answers in the follower')
  const statesIn = ({ agent }: Opened) => ids.map(id => agent.delivery(id)?.state)
  /** Every state that was reported to the host of a tab. */
  const watch = ({ agent }: Opened) => {
    const told: string[] = []
    agent.on('deliveryUpdate', ({ payload }) => void told.push(payload.state))
    return told
  }
  return { ...parts, leader, follower, ids, statesIn, watch }
}

/** What happens to a tab, and whether it goes on afterwards. */
const ENDS: Readonly<Record<string, (tab: FakeTab) => void>> = {
  closed: tab => tab.close(),
  reloaded: tab => tab.close(),
  killed: tab => tab.crash(),
  frozen: tab => tab.freeze(),
  'stopped by a debugger': tab => tab.freeze({ isDeaf: true }),
  'put into the back/forward cache': tab => tab.hide(),
}

describe.each([
  ['receipts, resume and fencing', { ...PLAIN, capabilities: [...CAPABILITIES] }],
  ['the plain wire', PLAIN],
])('questions that were answered over %s', (_name, settings) => {
  it.each(
    Object.keys(ENDS).flatMap(end =>
      (['leader', 'follower'] as const).flatMap(name => [0, 25_000].map(afterMs => [name, end, afterMs] as const)),
    ),
  )('[REL-180] are never in doubt in any tab when the %s is %s, %i ms after the answer', async (name, end, afterMs) => {
    const { clock, connected, passUntil, statesIn, watch, ids, ...tabs } = await setUpAnswered(settings)
    const left = tabs[name === 'leader' ? 'follower' : 'leader']
    const { tab, agent } = tabs[name]
    await clock.advance(afterMs)
    const told = [left, { tab, agent }].map(watch)
    ENDS[end]?.(tab)
    const again =
      end === 'reloaded' ? await connected({ resume: true }, tab.browser.open(tab.sessionStorage)) : undefined
    if (again) told.push(watch(again))
    await clock.advance(40_000)
    if (end === 'put into the back/forward cache') tab.show()
    else tab.thaw()
    await clock.advance(40_000)
    const running = [left, ...(again ? [again] : []), ...(tab.isRunning ? [{ tab, agent }] : [])]
    await passUntil(() => running.every(each => each.agent.isConnected()), 'the connections')
    expect(told.flat()).not.toContain('unknown')
    const known = running.filter(each => each !== again).flatMap(statesIn)
    for (const state of known) expect(['sent', 'acknowledged']).toContain(state)
    if (again) for (const id of ids) expect(again.agent.delivery(id)?.state).not.toBe('unknown')
    for (const each of running) expect(linesOf(each)).toHaveLength(4)
  })
})

describe('questions that were answered on the plain wire', () => {
  it('[REL-180] are acknowledged also where both tabs said the same', async () => {
    const { clock, follower, leader, statesIn, watch } = await setUpAnswered(PLAIN, () => 'yes')
    const told = watch(follower)
    leader.tab.close()
    await clock.advance(40_000)
    expect(told).not.toContain('unknown')
    expect(statesIn(follower)).toEqual(['acknowledged', 'acknowledged'])
  })

  it('[REL-180] are acknowledged where a history shows them after the tab had ended', async () => {
    const { clock, emulator, follower, leader, statesIn } = await setUpAnswered()
    emulator.faults.add({ kind: 'answer', route: 'GET *', status: 503 })
    await clock.advance(20_000)
    follower.tab.close()
    await clock.advance(10_000)
    expect(statesIn(leader)).toEqual(['sent', 'sent'])
    emulator.faults.lift()
    emulator.control.dropSockets()
    await clock.advance(40_000)
    expect(statesIn(leader)).toEqual(['acknowledged', 'acknowledged'])
  })
})

describe('a message of a tab that has ended', () => {
  it('[REL-180] is unknown in the other tab if the history does not show it', async () => {
    const { clock, emulator, follower, leader, statesIn } = await setUpAnswered()
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    const lost = await follower.agent.send('lost')
    const same = await follower.agent.send('question of the leader')
    await clock.advance(100)
    emulator.faults.lift()
    follower.tab.crash()
    await clock.advance(5_000)
    expect([lost, same].map(id => leader.agent.delivery(id)?.state)).toEqual(['unknown', 'unknown'])
    expect(leader.agent.delivery(lost)?.reason).toBe('page_ended')
    expect(statesIn(leader)[0]).not.toBe('unknown')
  })

  it('[REL-180] is unknown as long as no history can be read, and acknowledged once one shows it', async () => {
    const { clock, emulator, follower, leader, ids } = await setUpAnswered()
    const [id = ''] = ids
    emulator.faults.add({ kind: 'answer', route: 'GET *', status: 503 })
    follower.tab.close()
    await clock.advance(10_000)
    expect(leader.agent.delivery(id)?.state).toBe('unknown')
    emulator.faults.lift()
    emulator.control.dropSockets()
    await clock.advance(40_000)
    expect(leader.agent.delivery(id)?.state).toBe('acknowledged')
  })

  it('[REL-180] is unknown once a history has not arrived for four seconds', async () => {
    const { clock, emulator, follower, leader, ids } = await setUpAnswered()
    const state = () => leader.agent.delivery(ids[0] ?? '')?.state
    emulator.faults.add({ kind: 'delay-requests', ms: 60_000 })
    follower.tab.close()
    await clock.advance(4_000)
    expect(state()).toBe('sent')
    // The tab was missed within a second.
    await clock.advance(1_000)
    expect(state()).toBe('unknown')
  })

  it('[REL-180] settles when the conversation ends', async () => {
    const { clock, follower, leader, ids } = await setUpAnswered()
    await clock.advance(25_000)
    const [id = ''] = ids
    const outcome = leader.agent.delivery(id)?.outcome
    follower.tab.close()
    await clock.advance(5_000)
    expect(leader.agent.delivery(id)?.state).toBe('sent')
    const restarted = leader.agent.restartConnection()
    await clock.advance(5_000)
    await restarted
    expect(await outcome).toBe('unknown')
  })

  it('[REL-180] stays acknowledged where the service has confirmed it', async () => {
    const settings = { ...PLAIN, capabilities: [...CAPABILITIES] }
    const { clock, follower, leader, statesIn, watch } = await setUpAnswered(settings)
    const told = watch(leader)
    expect(statesIn(leader)).toEqual(['acknowledged', 'acknowledged'])
    follower.tab.close()
    await clock.advance(5_000)
    expect(statesIn(leader)).toEqual(['acknowledged', 'acknowledged'])
    expect(told).toEqual([])
    const restarted = leader.agent.restartConnection()
    await clock.advance(5_000)
    await restarted
    expect(statesIn(leader)).toEqual(['acknowledged', 'acknowledged'])
  })
})
