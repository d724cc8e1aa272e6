import { describe, expect, it } from 'vitest'
import { CAPABILITIES, linesOf, setUpTabs } from '../../test/set-up-tabs.ts'

// Loaded before the clock is moved: loading a module takes real time.
await import('../resume/stored-queue.ts')

describe.each([
  ['receipts, resume and fencing', CAPABILITIES],
  ['the plain wire', []],
])('tabs that share a conversation over %s', (_name, capabilities) => {
  const settings = { heartbeatBeforeReply: false, capabilities: [...capabilities] }

  it('[REL-64] send what a tab had queued that crashed, also with a persistQueue for which the browser has no store', async () => {
    const { emulator, clock, open, connected, passUntil } = setUpTabs({ settings })
    const config = { persistQueue: true, resume: true }
    const one = await connected(config)
    const two = await open(config)
    await two.agent.send('queued')
    await clock.advance(10)
    two.tab.crash()
    await passUntil(() => linesOf(one).length === 2, 'the answer')
    const [session] = emulator.world.sessions.values()
    expect(session?.received.entries().filter(({ message }) => message?.content === 'queued')).toHaveLength(1)
  })

  it('[REL-143] take no fencing number that is far ahead of the clock, and find their leader after it', async () => {
    const { emulator, clock, connected, passUntil } = setUpTabs({ settings })
    const one = await connected({ resume: true })
    const two = await connected({ resume: true })
    const [session] = emulator.world.sessions.values()
    const { fence = 0 } = session ?? {}
    expect(fence > 0).toBe(capabilities.length > 0)
    // Another client has opened the session with the highest number.
    Object.assign(session ?? {}, { fence: Number.MAX_SAFE_INTEGER })
    emulator.control.dropSockets()
    await clock.advance(3_000)
    Object.assign(session ?? {}, { fence })
    await two.agent.send('still here?')
    await one.agent.send('and here?')
    const answers = ['received You said: still here?', 'received You said: and here?']
    await passUntil(() => answers.every(line => linesOf(two).includes(line)), 'both answers', 130_000)
    const late = await connected({ resume: true })
    expect(late.agent.isConnected()).toBe(true)
    expect(Number(session?.fence)).toBeLessThan(clock.now() + 60_000)
    expect(Number(session?.fence) > fence).toBe(capabilities.length > 0)
  })

  it.each([
    ['is destroyed', (leader: { agent: { destroy(): Promise<void> } }) => void leader.agent.destroy()],
    ['is closed', (leader: { tab: { close(): void } }) => leader.tab.close()],
  ])('[REL-65] answer the question of a follower while their leader %s', async (_end, end) => {
    const { connected, clock, passUntil } = setUpTabs({ settings })
    const leader = await connected({ resume: true })
    const follower = await connected({ resume: true })
    const settled: string[] = []
    const asked = follower.agent.ask('who leads?').then(
      ({ content }) => void settled.push(String(content)),
      (error: { code?: string }) => void settled.push(String(error.code)),
    )
    end(leader)
    await passUntil(() => settled.length > 0, 'the answer or the reason', 130_000)
    await asked
    // Without receipts nobody knows whether a question arrived that a broken connection was carrying.
    const outcomes = ['You said: who leads?', ...(capabilities.length > 0 ? [] : ['MESSAGE_ERROR'])]
    expect(outcomes).toContain(settled[0])
    await follower.agent.send('on')
    await clock.advance(500)
    expect(linesOf(follower).filter(line => line === 'received You said: on')).toHaveLength(1)
  })

  it('[REL-67] cancel the question of each tab when one of them signs out, and let each begin again', async () => {
    const { connected, clock, passUntil } = setUpTabs({ settings: { ...settings, replyDelayMs: 5_000 } })
    const tabs = [await connected(), await connected(), await connected()] as const
    const settled: string[] = []
    for (const { agent } of tabs)
      agent.ask('a question').then(
        () => settled.push('answered'),
        (error: { code?: string; reason?: string }) => settled.push(`${error.code} ${error.reason}`),
      )
    await clock.advance(100)
    await tabs[0].agent.logout()
    await passUntil(() => settled.length === 3, 'an end of each question', 1_000)
    expect(settled).toEqual(Array(3).fill('MESSAGE_ERROR closed'))
    for (const { agent } of tabs) {
      await agent.initialize()
      await agent.connect()
    }
    await tabs[1].agent.send('again')
    await passUntil(
      () => tabs.every(tab => linesOf(tab).includes('received You said: again')),
      'the answer in each tab',
    )
    for (const tab of tabs) expect(linesOf(tab)).toHaveLength(2)
  })

  it.each([2 * 60 * 60_000, -2 * 60 * 60_000])(
    '[REL-63] go on when the wall clock jumps by %i ms while their leader is frozen',
    async jumpMs => {
      const { browser, connected, clock, passUntil, emulator } = setUpTabs({ settings })
      const one = await connected({ resume: true })
      const two = await connected({ resume: true })
      await one.agent.send('before')
      await passUntil(() => linesOf(two).length === 2, 'the answer')
      one.tab.freeze()
      clock.shiftWallClock(jumpMs)
      await passUntil(() => browser.locks.leader === two.tab && two.agent.isConnected(), 'another leader')
      await two.agent.send('meanwhile')
      await passUntil(() => linesOf(two).length === 4, 'the answer')
      one.tab.thaw()
      await passUntil(() => one.agent.isConnected() && linesOf(one).length === 4, 'the frozen tab follows')
      await one.agent.send('after')
      await passUntil(() => [one, two].every(tab => linesOf(tab).length === 6), 'the answer in both')
      expect(browser.locks.leader).toBe(two.tab)
      // Where the clock has gone forward, the service has forgotten the first session.
      const posts = () =>
        emulator.control.requests().filter(({ method, path }) => method === 'POST' && path.endsWith('/session'))
      const sessions = jumpMs > 0 ? 2 : 1
      expect(posts()).toHaveLength(sessions)
      // The next page, where the clock may show less than the number that the service knows.
      one.tab.crash()
      two.tab.close()
      const next = await connected({ resume: true }, browser.open(two.tab.sessionStorage))
      await next.agent.send('next')
      await passUntil(() => linesOf(next).includes('received You said: next'), 'the answer to the next page')
      expect(posts()).toHaveLength(sessions)
    },
  )

  it('[REL-66] continue in one new session when the service has forgotten theirs, and show everything once', async () => {
    const { connected, clock, emulator, passUntil } = setUpTabs({ settings })
    const tabs = [await connected({ resume: true }), await connected(), await connected({ resume: true })] as const
    await tabs[0].agent.send('before')
    await passUntil(() => tabs.every(tab => linesOf(tab).length === 2), 'the answer')
    const [forgotten = ''] = emulator.world.sessions.keys()
    emulator.control.forgetSession(forgotten)
    emulator.faults.add({ kind: 'drop' })
    const isRenewed = () => emulator.world.sessions.size === 1 && tabs.every(({ agent }) => agent.isConnected())
    await passUntil(isRenewed, 'a new session')
    await tabs[1].agent.send('after')
    await clock.advance(1_000)
    const lines = ['sent before', 'received You said: before', 'sent after', 'received You said: after']
    for (const tab of tabs) expect(linesOf(tab)).toEqual(lines)
    expect(emulator.world.sessions.size).toBe(1)
  })

  it.each(['drops what is posted to them', 'keeps it'])(
    '[REL-66] [REL-155] show what was said in the new session of a restart while they were stopped when the browser %s',
    async treatment => {
      const { browser, connected, passUntil } = setUpTabs({ settings })
      const [one, two] = [await connected({ resume: true }), await connected({ resume: true })]
      await one.agent.send('before')
      await passUntil(() => linesOf(two).length === 2, 'the answer')
      one.tab.freeze({ isDeaf: treatment !== 'keeps it' })
      await passUntil(() => browser.locks.leader === two.tab && two.agent.isConnected(), 'another leader')
      await two.agent.restartConnection()
      await two.agent.send('meanwhile')
      await passUntil(() => linesOf(two).length === 2, 'the answer in the new session')
      one.tab.thaw()
      const isSame = () => linesOf(one).join() === linesOf(two).join()
      await passUntil(() => isSame() && one.agent.isConnected(), 'the same in the stopped tab')
      await one.agent.send('after')
      await passUntil(() => linesOf(two).length === 4 && isSame(), 'the answer in both')
      expect(linesOf(one).map(line => line.split(' ')[0])).toEqual(['sent', 'received', 'sent', 'received'])
      expect(linesOf(one).join()).not.toContain('before')
    },
  )

  it('[REL-66] [REL-98] show nothing of a session that is left while a tab that was stopped loads its transcript', async () => {
    const { browser, clock, connected, emulator, passUntil } = setUpTabs({ settings })
    const [one, two] = [await connected({ resume: true }), await connected({ resume: true })]
    one.tab.freeze({ isDeaf: true })
    await passUntil(() => browser.locks.leader === two.tab && two.agent.isConnected(), 'another leader')
    await two.agent.restartConnection()
    await two.agent.send('in the second session')
    await passUntil(() => linesOf(two).length === 2, 'the answer in the second session')
    const second = `/conversations/sessions/${two.agent.getSessionId()}`
    const calls = () => emulator.control.requests().filter(({ path }) => path.endsWith(second)).length
    emulator.faults.add({ kind: 'delay-requests', route: `GET *${second}`, ms: 2_000 })
    one.tab.thaw()
    await passUntil(() => calls() === 1, 'the transcript call of the stopped tab')
    await two.agent.restartConnection()
    await passUntil(() => one.agent.getSessionId() === two.agent.getSessionId(), 'the third session in both')
    expect(emulator.world.sessions.size).toBe(3)
    await clock.advance(4_000)
    expect([linesOf(one), linesOf(two)]).toEqual([[], []])
    await two.agent.send('in the third session')
    await passUntil(() => linesOf(one).length === 2, 'the answer in the third session')
  })

  it.each(['reaches them all', 'reaches the leader alone'])(
    '[REL-63] deliver at once when the claim of a tab without the lock, with a higher number, %s',
    async reach => {
      const { browser, connected, passUntil, claimLead } = setUpTabs({ settings })
      const [one, two] = [await connected(), await connected()]
      await claimLead(reach === 'reaches them all' ? 'all' : 'leader')
      await two.agent.send('hello')
      await passUntil(() => [one, two].every(tab => linesOf(tab).length === 2), 'the answer in both tabs', 1_500)
      expect(browser.locks.leader).toBe(one.tab)
    },
  )

  it('[REL-63] connect a tab at once that the leader dropped when it lost its number and took a higher one', async () => {
    const { browser, emulator, open, clock, passUntil, claimLead } = setUpTabs({ settings })
    const [one, two] = [await open(), await open()]
    emulator.faults.add({ kind: 'hang-upgrade', times: 1 })
    const connecting = two.agent.connect()
    await clock.advance(500)
    expect(two.agent.isConnected()).toBe(false)
    await claimLead('leader')
    await passUntil(() => two.agent.isConnected(), 'the connection', 1_500)
    await connecting
    expect(browser.locks.leader).toBe(one.tab)
  })
})

describe('a message of a tab that is lost while another tab says the same, over the plain wire', () => {
  const settings = { heartbeatBeforeReply: false, capabilities: [], replyDelayMs: 6_000 }

  it('[REL-64] is not taken for that of its leader, which the history shows', async () => {
    const { browser, clock, connected, passUntil } = setUpTabs({ settings })
    const [one, two] = [await connected({ resume: true }), await connected({ resume: true })]
    await one.agent.send('same')
    await passUntil(() => linesOf(two).length === 1, 'the message')
    one.tab.freeze({ isDeaf: true })
    const id = await two.agent.send('same')
    await passUntil(() => browser.locks.leader === two.tab && two.agent.isConnected(), 'another leader')
    await passUntil(() => two.agent.delivery(id)?.state !== 'sent', 'an outcome')
    await clock.advance(10_000)
    expect(two.agent.delivery(id)?.state).toBe('unknown')
  })

  it('[REL-64] is not taken for that of a follower, which the history shows', async () => {
    const { clock, connected, emulator, passUntil } = setUpTabs({ settings })
    const [one, two] = [await connected({ resume: true }), await connected({ resume: true })]
    await two.agent.send('same')
    await passUntil(() => linesOf(one).length === 1, 'the message')
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    const id = await one.agent.send('same')
    await clock.advance(10)
    emulator.faults.lift()
    emulator.control.dropSockets()
    await passUntil(() => one.agent.delivery(id)?.state !== 'sent', 'an outcome')
    await clock.advance(10_000)
    expect(one.agent.delivery(id)?.state).toBe('unknown')
  })
})
