import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { lastSession, passing, rejection, setUp } from '../../test/agent-harness.ts'
import { setUpTab } from '../../test/resume-harness.ts'
import { setUpTabs } from '../../test/set-up-tabs.ts'

describe('getSessionId()', () => {
  it('[REL-196] names the session from initialize() until the user leaves, also while the chat is closed', async () => {
    const { clock, emulator, make } = setUp()
    const { agent } = make()
    expect(agent.getSessionId()).toBeNull()
    await agent.initialize()
    const first = lastSession(emulator)
    expect(agent.getSessionId()).toBe(first)
    await agent.connect()
    expect(agent.getSessionId()).toBe(first)
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    expect(agent.getSessionId()).toBe(first)
    await passing(clock, agent.connect())
    await passing(clock, agent.disconnect())
    expect(agent.getSessionId()).toBe(first)
    await agent.connect()
    await passing(clock, agent.restartConnection())
    const second = lastSession(emulator)
    expect(second).not.toBe(first)
    expect(agent.getSessionId()).toBe(second)
    const left = agent.logout()
    expect(agent.getSessionId()).toBeNull()
    await passing(clock, left)
    expect(agent.getSessionId()).toBeNull()
    await agent.initialize()
    expect(agent.getSessionId()).toBe(lastSession(emulator))
    await agent.destroy()
    expect(agent.getSessionId()).toBe(lastSession(emulator))
  })

  it('[REL-196] names the session of the open chat, while the host has set another for the next one', async () => {
    const { clock, emulator, make } = setUp()
    const other = make().agent
    await other.initialize()
    const supplied = lastSession(emulator)
    const { agent } = make({ sessionId: supplied })
    expect(agent.getSessionId()).toBe(supplied)
    agent.setSessionId('early')
    expect(agent.getSessionId()).toBe('early')
    agent.setSessionId(supplied)
    await agent.initialize()
    await agent.connect()
    agent.setSessionId('another')
    expect(agent.getSessionId()).toBe(supplied)
    await passing(clock, agent.disconnect())
    expect(agent.getSessionId()).toBe('another')
    await Promise.all([agent.destroy(), other.destroy()])
  })

  it('[REL-196] is the same in the next page with `resume`', async () => {
    const { talkAndLeave, load } = setUpTab()
    const before = await talkAndLeave('hello')
    const { agent } = load()
    await agent.initialize()
    expect(agent.getSessionId()).toBe(before)
    await agent.destroy()
  })

  it('[REL-196] is the same in tabs that share the conversation', async () => {
    const { connected, emulator } = setUpTabs()
    const [one, two] = [await connected(), await connected()]
    expect([one.agent.getSessionId(), two.agent.getSessionId()]).toEqual(Array(2).fill(lastSession(emulator)))
  })
})

describe('an operation during a change of the user', () => {
  it('[REL-197] names `userChanged` as the way on, and logout() only to the host that called it', async () => {
    const { clock, emulator, make } = setUp()
    let token = emulator.control.issueToken({ subject: 'customer' })
    const auth = { getToken: async () => token }
    const { agent } = make({ id: 'account', auth })
    await agent.initialize()
    await agent.connect()
    token = emulator.control.issueToken({ subject: 'new-customer' })
    const changed = agent.updateAccessToken(token)
    await eventually(() => agent.status.phase.at === 'leaving')
    const refused = await rejection(agent.send('hello'))
    expect(refused).toMatchObject({ code: 'ABORTED' })
    expect(refused.message).toContain('`userChanged`')
    expect(refused.message).not.toContain('logout()')
    await passing(clock, changed)
    await agent.initialize()
    const left = agent.logout()
    expect((await rejection(agent.send('hello'))).message).toContain('Await logout() first.')
    await passing(clock, left)
    await agent.destroy()
  })
})
