import { describe, expect, it } from 'vitest'
import { CAPABILITIES, linesOf, setUpTabs } from '../../test/set-up-tabs.ts'
import type { AiAgent } from '../ai-agent.ts'

const settings = { heartbeatBeforeReply: false, capabilities: [] }

/** A leader, a tab whose message was lost before that tab ended, and another follower. */
async function setUpUnknown(say: (agent: AiAgent) => unknown = agent => agent.send('lost')) {
  const tabs = setUpTabs({ settings })
  const leader = await tabs.connected()
  const owner = await tabs.connected()
  const follower = await tabs.connected()
  tabs.emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
  void say(owner.agent)
  await tabs.passUntil(() => [leader, follower].every(tab => linesOf(tab).includes('sent lost')), 'the message')
  const id = leader.agent.getTranscript().at(-1)?.message.messageId ?? ''
  const stateIn = ({ agent }: { agent: AiAgent }) => agent.delivery(id)?.state
  await tabs.passUntil(() => [leader, follower].every(tab => stateIn(tab) === 'sent'), 'the write')
  tabs.emulator.faults.lift()
  owner.tab.crash()
  await tabs.passUntil(() => [leader, follower].every(tab => stateIn(tab) === 'unknown'), 'the outcome')
  const accepted = () => {
    const [session] = tabs.emulator.world.sessions.values()
    return session?.received.entries().filter(({ message }) => message?.content === 'lost').length
  }
  return { ...tabs, leader, follower, id, stateIn, accepted }
}

describe('retry() of a message whose tab has ended', () => {
  it.each([
    ['the leader', 'a message', 'leader', undefined],
    ['a follower', 'a message', 'follower', undefined],
    ['a follower', 'a question', 'follower', (agent: AiAgent) => agent.ask('lost').catch(() => {})],
  ] as const)('[REL-64] in %s sends %s once, and all tabs show what becomes of it', async (_tab, _kind, name, say) => {
    const { clock, passUntil, connected, id, stateIn, accepted, ...tabs } = await setUpUnknown(say)
    const { leader, follower } = tabs
    const updates: string[] = []
    leader.agent.on('deliveryUpdate', ({ payload }) => void updates.push(payload.state))
    expect(tabs[name].agent.delivery(id)?.retry()).toBe(true)
    await passUntil(() => [leader, follower].every(tab => linesOf(tab).length === 2), 'the answer')
    expect([leader, follower].map(stateIn)).toEqual(['sent', 'sent'])
    expect(updates).toEqual(['queued', 'sending', 'sent'])
    const late = await connected()
    await clock.advance(5_000)
    expect(accepted()).toBe(1)
    expect([leader, follower, late].map(stateIn)).toEqual(['sent', 'sent', 'sent'])
    expect(tabs[name].agent.delivery(id)?.retry()).toBe(false)
  })

  it('[REL-64] sends it once the chat is connected again', async () => {
    const { emulator, passUntil, leader, follower, id, stateIn, accepted } = await setUpUnknown()
    emulator.control.dropSockets()
    await passUntil(() => !follower.agent.isConnected(), 'the end of the connection')
    expect(follower.agent.delivery(id)?.retry()).toBe(true)
    await passUntil(() => [leader, follower].every(tab => linesOf(tab).length === 2), 'the answer')
    expect([leader, follower].map(stateIn)).toEqual(['acknowledged', 'acknowledged'])
    expect(accepted()).toBe(1)
  })

  it('[REL-64] returns false once the user has signed out', async () => {
    const { clock, leader, follower, id, accepted } = await setUpUnknown()
    const deliveries = [leader, follower].map(({ agent }) => agent.delivery(id))
    await follower.agent.logout()
    await clock.advance(1_000)
    expect(deliveries.map(delivery => delivery?.retry())).toEqual([false, false])
    expect(accepted()).toBe(0)
  })
})

describe('retry() of a message of another tab', () => {
  it('[REL-64] is that of the tab which has sent it', async () => {
    const { clock, connected, emulator, passUntil } = setUpTabs({ settings })
    const [one, two] = [await connected(), await connected()]
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    const id = await two.agent.send('lost')
    await clock.advance(100)
    emulator.faults.lift()
    emulator.control.dropSockets()
    await passUntil(() => one.agent.delivery(id)?.state === 'unknown', 'the outcome')
    const outcomes: string[] = []
    two.agent.on('deliveryUpdate', ({ payload }) => void outcomes.push(payload.state))
    expect(one.agent.delivery(id)?.cancel()).toBe(false)
    expect(one.agent.delivery(id)?.retry()).toBe(true)
    await passUntil(() => linesOf(one).includes('received You said: lost'), 'the answer')
    expect(outcomes).toEqual(['queued', 'sending', 'sent'])
    expect(one.agent.delivery(id)?.state).toBe('sent')
    expect(one.agent.delivery(id)?.retry()).toBe(false)
  })

  it('[REL-64] reports in that tab that it could not be sent', async () => {
    const { clock, connected, emulator, passUntil } = setUpTabs({
      settings: { ...settings, capabilities: [...CAPABILITIES] },
    })
    const one = await connected()
    const two = await connected({ maxQueueSize: 1 })
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    const id = await two.agent.send('lost')
    await clock.advance(100)
    await two.agent.disconnect()
    await passUntil(() => one.agent.delivery(id)?.state === 'unknown', 'the outcome')
    const reported: string[] = []
    two.agent.on('error', ({ payload }) => void reported.push(payload.error.message))
    await two.agent.send('waits')
    expect(one.agent.delivery(id)?.retry()).toBe(true)
    await clock.advance(100)
    expect(reported).toHaveLength(1)
    expect([one, two].map(({ agent }) => agent.delivery(id)?.state)).toEqual(['unknown', 'unknown'])
  })
})
