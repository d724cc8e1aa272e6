import { describe, expect, it } from 'vitest'
import type { FakeTab } from '../test/fake-browser.ts'
import { CAPABILITIES, linesOf, setUpTabs } from '../test/set-up-tabs.ts'
import type { AiAgent } from './ai-agent.ts'

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

describe('questions that were answered on the plain wire', () => {
  it.each([
    ['the follower is closed', 'follower', 0],
    ['the leader is closed', 'leader', 0],
    ['the leader is closed 25 s after the answer', 'leader', 25_000],
    ['the follower is closed 25 s after the answer', 'follower', 25_000],
  ] as const)('[REL-180] are never in doubt in the other tab when %s', async (_case, name, afterMs) => {
    const { clock, statesIn, watch, ...tabs } = await setUpAnswered()
    const left = tabs[name === 'leader' ? 'follower' : 'leader']
    await clock.advance(afterMs)
    const told = watch(left)
    tabs[name].tab.close()
    await clock.advance(40_000)
    expect(left.agent.isConnected()).toBe(true)
    expect(told).not.toContain('unknown')
    for (const state of statesIn(left)) expect(['sent', 'acknowledged']).toContain(state)
  })

  it('[REL-180] are never in doubt in any tab when the leader is reloaded', async () => {
    const { clock, connected, leader, follower, ids, statesIn, watch } = await setUpAnswered()
    const told = watch(follower)
    leader.tab.close()
    const again = await connected({ resume: true }, leader.tab.browser.open(leader.tab.sessionStorage))
    told.push(...watch(again))
    await clock.advance(40_000)
    expect(told).not.toContain('unknown')
    for (const state of statesIn(follower)) expect(['sent', 'acknowledged']).toContain(state)
    for (const id of ids) expect(again.agent.delivery(id)?.state).not.toBe('unknown')
    expect(linesOf(again)).toHaveLength(4)
  })

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
