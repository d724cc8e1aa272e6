import { describe, expect, it } from 'vitest'
import { linesOf, setUpTabs } from '../test/set-up-tabs.ts'

const settings = { heartbeatBeforeReply: false, capabilities: [] }

describe('the messages of a tab that has ended', () => {
  it('[REL-150] are known to a tab that was opened afterwards, which settles them once the others have ended too', async () => {
    const { connected, passUntil } = setUpTabs({ settings })
    const one = await connected()
    const two = await connected()
    const id = await two.agent.send('sent')
    await passUntil(() => one.agent.delivery(id)?.state === 'sent', 'the message in the leader')
    // The leader looks for tabs that have ended once a second: it does not know yet.
    two.tab.crash()
    const three = await connected()
    await passUntil(() => three.agent.delivery(id)?.state === 'sent', 'the message in the new tab', 200)
    const updates: string[] = []
    three.agent.on('deliveryUpdate', ({ payload }) => void updates.push(`${payload.state} ${payload.reason}`))
    one.tab.crash()
    await passUntil(() => three.agent.delivery(id)?.state === 'unknown', 'the outcome')
    expect(updates).toEqual(['unknown page_ended'])
    await expect(three.agent.delivery(id)?.outcome).resolves.toBe('unknown')
  })

  it('[REL-150] are known to a tab that was opened while the leader was frozen', async () => {
    const { browser, open, connected, passUntil } = setUpTabs({ settings })
    const one = await connected()
    const two = await connected()
    const three = await connected()
    const id = await two.agent.send('sent')
    await passUntil(() => three.agent.delivery(id)?.state === 'sent', 'the message in the third tab')
    one.tab.freeze()
    const opening = open({ autoConnect: true })
    two.tab.crash()
    await passUntil(() => browser.locks.leader !== one.tab, 'another leader')
    const four = await opening
    await passUntil(() => four.agent.delivery(id) !== undefined, 'the message in the new tab')
    three.tab.crash()
    one.tab.crash()
    await passUntil(() => four.agent.delivery(id)?.state !== 'sent', 'the outcome')
    expect(four.agent.delivery(id)?.state).toBe('unknown')
  })

  it('[REL-150] are known as unknown to a tab that was opened when they had been settled', async () => {
    const { emulator, connected, passUntil } = setUpTabs({ settings })
    const one = await connected()
    const two = await connected()
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    const id = await two.agent.send('sent')
    await passUntil(() => one.agent.delivery(id)?.state === 'sent', 'the message in the leader')
    two.tab.crash()
    await passUntil(() => one.agent.delivery(id)?.state === 'unknown', 'the outcome in the leader')
    const three = await connected()
    await passUntil(() => three.agent.delivery(id)?.state === 'unknown', 'the outcome in the new tab')
    expect(three.agent.delivery(id)?.reason).toBe('page_ended')
    expect(linesOf(three)).toContain('sent sent')
  })

  it('[REL-150] are shown once in a tab that has restored the history', async () => {
    const { connected, passUntil, clock } = setUpTabs({ settings })
    const one = await connected({ resume: true })
    const two = await connected({ resume: true })
    const [first, second] = [await two.agent.send('yes'), await two.agent.send('yes')]
    await passUntil(() => linesOf(one).length === 4, 'the answers')
    await clock.advance(100)
    const three = await connected({ resume: true })
    await passUntil(() => three.agent.delivery(second)?.state === 'sent', 'the messages in the third tab')
    two.tab.crash()
    await passUntil(() => three.agent.delivery(first)?.state === 'acknowledged', 'the outcome in the third tab')
    const four = await connected({ resume: true })
    await passUntil(() => linesOf(four).length === 4, 'the messages in the fourth tab')
    for (const tab of [one, three, four])
      expect(linesOf(tab).toSorted()).toEqual([...Array(2).fill('received You said: yes'), 'sent yes', 'sent yes'])
  })
})
