import { describe, expect, it } from 'vitest'
import { linesOf, setUpTabs } from '../../test/set-up-tabs.ts'

/** The plain wire has no receipts, so that a history is the only evidence. */
const settings = { heartbeatBeforeReply: false, capabilities: [] }

describe('a text that was said before, and is lost when it is said again', () => {
  const setUp = async () => {
    const parts = setUpTabs({ settings })
    const leader = await parts.connected({ resume: true })
    const follower = await parts.connected({ resume: true })
    const { clock, emulator, passUntil } = parts
    /** Loses a message on the way to the service. */
    const lose = async ({ agent }: typeof leader, text: string) => {
      emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
      const id = await agent.send(text)
      await clock.advance(100)
      emulator.faults.lift()
      return id
    }
    const say = async (tab: typeof leader, text: string) => {
      const lines = linesOf(tab).length
      const id = await tab.agent.send(text)
      await passUntil(() => linesOf(tab).length === lines + 2, 'the answer')
      return id
    }
    return { ...parts, leader, follower, lose, say }
  }

  it('[REL-64] is not acknowledged by the first one, which a history for an ended tab has shown', async () => {
    const { clock, emulator, leader, follower, lose, say } = await setUp()
    await say(follower, 'hello')
    const first = await say(leader, 'yes')
    await clock.advance(90_000)
    await lose(follower, 'lost')
    follower.tab.crash()
    await clock.advance(10_000)
    expect(leader.agent.delivery(first)?.state).toBe('acknowledged')
    const second = await lose(leader, 'yes')
    emulator.control.dropSockets()
    await clock.advance(40_000)
    expect(leader.agent.isConnected()).toBe(true)
    expect(leader.agent.delivery(second)?.state).toBe('unknown')
  })

  it('[REL-64] is not acknowledged by the one that another tab has said', async () => {
    const { clock, emulator, leader, follower, lose, say } = await setUp()
    await say(follower, 'hello')
    const id = await lose(leader, 'yes')
    await say(follower, 'yes')
    emulator.control.dropSockets()
    await clock.advance(40_000)
    expect(leader.agent.isConnected()).toBe(true)
    expect(leader.agent.delivery(id)?.state).not.toBe('acknowledged')
  })

  it('[REL-64] is not acknowledged by the first one after the host has emptied the transcript', async () => {
    const { clock, emulator, leader, lose, say } = await setUp()
    await say(leader, 'hello')
    await say(leader, 'yes')
    leader.agent.clearTranscript()
    const second = await lose(leader, 'yes')
    emulator.control.dropSockets()
    await clock.advance(40_000)
    expect(leader.agent.delivery(second)?.state).toBe('unknown')
  })
})

it('[REL-180] a history acknowledges what it shows in tabs without a transcript', async () => {
  const { clock, emulator, connected } = setUpTabs({ settings })
  const config = { resume: true, transcriptConfig: { enabled: false } }
  const tabs = [await connected(config), await connected(config)] as const
  const ids = [await tabs[0].agent.send('of the leader'), await tabs[1].agent.send('of the follower')]
  await clock.advance(100)
  emulator.control.dropSockets()
  await clock.advance(40_000)
  expect(tabs.map(({ agent }, index) => agent.delivery(ids[index] ?? '')?.state)).toEqual([
    'acknowledged',
    'acknowledged',
  ])
})

it('[REL-64] tabs show what a host sends during the event of a message of another tab', async () => {
  const { clock, connected, passUntil } = setUpTabs({ settings })
  const tabs = [await connected(), await connected(), await connected()] as const
  const [one, two, three] = tabs
  two.agent.on('transcriptUpdate', ({ payload }) => {
    if (payload.message.content !== 'first') return
    void two.agent.setContext({ seen: true })
    void two.agent.send('second')
  })
  await one.agent.send('first')
  await passUntil(() => linesOf(two).length === 4, 'both answers')
  await clock.advance(1_000)
  for (const tab of tabs) expect(linesOf(tab)).toContain('sent second')
  for (const { agent } of [one, three]) expect(agent.getContext()).toEqual({ seen: true })
})
