import { describe, expect, it } from 'vitest'
import { linesOf, setUpTabs } from '../../test/set-up-tabs.ts'
import type { AiAgent } from '../ai-agent.ts'

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

describe('the queue of a tab that has ended', () => {
  /** A tab that is connected, and one that is not and has a message to send. */
  const queued = async (say: (agent: AiAgent) => unknown) => {
    const tabs = setUpTabs({ settings })
    const one = await tabs.connected()
    const two = await tabs.open()
    say(two.agent)
    await tabs.passUntil(() => linesOf(one).includes('sent hello'), 'the message in the connected tab')
    const id = one.agent.getTranscript().at(-1)?.message.messageId ?? ''
    const accepted = () => {
      const [session] = tabs.emulator.world.sessions.values()
      return session?.received.entries().filter(({ message }) => message?.content === 'hello').length
    }
    expect(one.agent.delivery(id)?.state).toBe('queued')
    return { ...tabs, one, two, id, accepted }
  }

  it('[REL-64] is sent once by another one, which its host has destroyed', async () => {
    const { one, two, id, accepted, passUntil, connected } = await queued(agent => agent.send('hello'))
    const outcome = two.agent.delivery(id)?.outcome
    await two.agent.destroy()
    await expect(outcome).resolves.toBe('unknown')
    await passUntil(() => linesOf(one).includes('received You said: hello'), 'the answer')
    expect(accepted()).toBe(1)
    expect(one.agent.delivery(id)?.cancel()).toBe(false)
    const three = await connected()
    await one.agent.send('again')
    await passUntil(() => linesOf(three).includes('received You said: again'), 'the answer in a new tab')
    expect(accepted()).toBe(1)
  })

  it('[REL-64] is not sent where it is a question, whose promise has ended with it', async () => {
    const { one, two, id, accepted, passUntil } = await queued(agent => agent.ask('hello').catch(() => {}))
    two.tab.crash()
    await passUntil(() => one.agent.delivery(id)?.state !== 'queued', 'the outcome')
    expect(one.agent.delivery(id)).toMatchObject({ state: 'unknown', reason: 'page_ended' })
    expect(accepted()).toBe(0)
  })

  it('[REL-64] [REL-155] is sent by itself where its page comes back from the back/forward cache', async () => {
    const { one, two, id, accepted, passUntil } = await queued(agent => agent.send('hello'))
    two.tab.hide()
    await passUntil(() => one.agent.delivery(id)?.state === 'unknown', 'the report')
    expect(accepted()).toBe(0)
    two.tab.show()
    await two.agent.connect()
    await passUntil(() => linesOf(one).includes('received You said: hello'), 'the answer')
    expect(accepted()).toBe(1)
    await passUntil(() => one.agent.delivery(id)?.state === 'sent', 'the later report')
  })

  it('[REL-64] is withdrawn when the host of another tab cancels it before', async () => {
    const { one, two, id, accepted, passUntil, clock } = await queued(agent => agent.send('hello'))
    expect(one.agent.delivery(id)?.cancel()).toBe(true)
    await passUntil(() => two.agent.delivery(id)?.state === 'cancelled', 'the withdrawal')
    two.tab.crash()
    await clock.advance(5_000)
    expect(one.agent.delivery(id)?.state).toBe('cancelled')
    expect(accepted()).toBe(0)
  })
})
