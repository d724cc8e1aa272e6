import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, rejection } from '../../client/test/agent-harness.ts'
import { linesOf, say, setUpView } from '../test/view-harness.ts'

describe('a chat that is closed and opened again', () => {
  it('[REL-195] continues: same session, messages, draft and queue', async () => {
    const { openView, emulator, session, clock } = setUpView()
    const { view, agent } = await openView()
    await say(view, 'hello', 2)
    const before = session()
    for (const round of [1, 2]) {
      view.setDraft(`draft ${round}`)
      await passing(clock, view.leave())
      expect(agent.isConnected()).toBe(false)
      await view.send(`later ${round}`)
      expect(view.getSnapshot()).toMatchObject({ connection: { state: 'closed' }, draft: `draft ${round}` })
      expect(view.getSnapshot().error).toBeUndefined()
      await view.start()
      await eventually(() => view.getSnapshot().messages.length === 2 + 2 * round)
    }
    expect(linesOf(view.getSnapshot().messages)).toEqual([
      'user: hello',
      'agent: You said: hello',
      'user: later 1',
      'agent: You said: later 1',
      'user: later 2',
      'agent: You said: later 2',
    ])
    expect(session()).toBe(before)
    expect(emulator.world.sessions.size).toBe(1)
    await agent.destroy()
  })

  it('[REL-195] shows the answer that was given while it was closed', async () => {
    const { openView, emulator, session, clock } = setUpView()
    const { view, agent } = await openView()
    await say(view, 'hello', 2)
    await passing(clock, view.leave())
    emulator.control.say(session(), { content: 'Meanwhile.' })
    await view.start()
    await eventually(() => view.getSnapshot().messages.length === 3)
    expect(linesOf(view.getSnapshot().messages).at(-1)).toBe('agent: Meanwhile.')
    await agent.destroy()
  })

  it.each([
    ['a request', { kind: 'hang-request', route: 'POST *session' }],
    ['the upgrade', { kind: 'hang-upgrade' }],
  ] as const)('[REL-195] is not opened later by a start() that waited for %s, and starts again', async (_, fault) => {
    const { load, show, emulator, session } = setUpView()
    const { agent } = load()
    const view = show(agent)
    const { id } = emulator.faults.add(fault)
    const started = rejection(view.start())
    await eventually(() => emulator.control.requests().some(({ path }) => path.endsWith('/session')))
    for (let turn = 0; turn < 5; turn++) await turnEventLoop()
    await view.leave()
    expect(await started).toMatchObject({ code: 'ABORTED' })
    expect(view.getSnapshot().error).toBeUndefined()
    emulator.faults.lift({ id })
    for (let turn = 0; turn < 5; turn++) await turnEventLoop()
    expect(agent.isConnected()).toBe(false)
    expect(view.getSnapshot().error).toBeUndefined()
    await view.start()
    await say(view, 'hello', 2)
    expect(session()).not.toBe('')
    await agent.destroy()
  })

  it('[REL-195] starts after the sign-out of the user before, of whom it shows nothing', async () => {
    const { openView, clock } = setUpView()
    const { view, agent } = await openView()
    await say(view, 'secret', 2)
    await passing(clock, view.leave())
    const signedOut = agent.logout()
    expect(agent.status.phase.at).toBe('leaving')
    const started = view.start()
    await passing(clock, Promise.all([signedOut, started]))
    expect(view.getSnapshot()).toMatchObject({ messages: [], connection: { state: 'connected' } })
    await agent.destroy()
  })

  it('[REL-195] is not started after a sign-out, when it was closed meanwhile', async () => {
    const { openView, clock, emulator } = setUpView()
    const { view, agent } = await openView()
    const signedOut = agent.logout()
    const started = rejection(view.start())
    const left = view.leave()
    await passing(clock, Promise.all([signedOut, left]))
    expect(await started).toMatchObject({ code: 'ABORTED' })
    for (let turn = 0; turn < 5; turn++) await turnEventLoop()
    expect(agent.status.phase).toEqual({ at: 'idle' })
    expect(emulator.world.sessions.size).toBe(1)
    await agent.destroy()
  })

  it('[REL-195] ends the wait for a sign-out with the agent', async () => {
    const { openView, clock } = setUpView()
    const { view, agent } = await openView()
    const signedOut = agent.logout()
    const started = rejection(view.start())
    await passing(clock, agent.destroy())
    expect(await started).toMatchObject({ code: 'ABORTED' })
    await passing(clock, signedOut)
  })
})
