import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { say, setUpView } from '../test/view-harness.ts'
import { createConversationView } from './conversation-view.ts'
import { defaultPlatform } from './view-platform.ts'

/** A visible page that paints when a test says so. */
function visiblePage() {
  const frames: (() => void)[] = []
  const page = { isVisible: true }
  return {
    page,
    frames,
    platform: { isVisible: () => page.isVisible, requestFrame: (callback: () => void) => void frames.push(callback) },
  }
}

describe('the notifications of a view', () => {
  it('[VIEW-05] are one for all changes of a microtask where no frame is painted', async () => {
    const { openView } = setUpView()
    const { view, agent } = await openView()
    await turnEventLoop()
    let calls = 0
    view.subscribe(() => calls++)
    await Promise.all([agent.send('one'), agent.send('two'), agent.send('three')])
    expect(calls).toBe(1)
    expect(view.getSnapshot().messages.filter(({ author }) => author === 'user')).toHaveLength(3)
  })

  it('[VIEW-05] are one for each frame of a visible page', async () => {
    const { load, platform: device, clock } = setUpView()
    const { frames, platform } = visiblePage()
    const { agent } = load()
    const view = createConversationView(agent, { platform: { ...device, ...platform } })
    let calls = 0
    view.subscribe(() => calls++)
    await view.start()
    await say(view, 'one', 2)
    expect([calls, frames.length]).toEqual([0, 1])
    frames.pop()?.()
    expect(calls).toBe(1)
    expect(clock.pendingDelays).not.toContain(100)
    await say(view, 'two', 4)
    expect(frames).toHaveLength(1)
    frames.pop()?.()
    frames.pop()?.()
    expect(calls).toBe(2)
  })

  it('[VIEW-05] come without a frame after 100 ms, as in a page that was hidden meanwhile', async () => {
    const { load, platform: device, clock } = setUpView()
    const { frames, page, platform } = visiblePage()
    const { agent } = load()
    const view = createConversationView(agent, { platform: { ...device, ...platform } })
    let calls = 0
    view.subscribe(() => calls++)
    await agent.send('one')
    view.markRead()
    page.isVisible = false
    await clock.advance(99)
    expect(calls).toBe(0)
    await clock.advance(1)
    expect(calls).toBe(1)
    // The frame of a page that is shown again notifies nobody a second time.
    frames.pop()?.()
    expect(calls).toBe(1)
  })

  it('[VIEW-05] are at once for the draft', async () => {
    const { load, show } = setUpView()
    const view = show(load().agent)
    const drafts: string[] = []
    view.subscribe(() => drafts.push(view.getSnapshot().draft))
    view.setDraft('h')
    view.setDraft('he')
    expect(drafts).toEqual(['h', 'he'])
    await turnEventLoop()
    expect(drafts).toEqual(['h', 'he'])
  })

  it('[VIEW-05] reach every listener, also when one throws, and none after its undo', async () => {
    const { load, show, printed } = setUpView()
    const view = show(load().agent)
    const calls: string[] = []
    const undo = view.subscribe(() => calls.push('first'))
    view.subscribe(() => {
      throw new Error('A bug of the host.')
    })
    view.subscribe(() => calls.push('last'))
    view.setDraft('a')
    undo()
    view.setDraft('b')
    expect(calls).toEqual(['first', 'last', 'last'])
    expect(printed.flat().join('\n')).toContain('A listener of a view failed')
  })

  it('[VIEW-06] leave no listener and no timer behind after destroy()', async () => {
    const { load, show, clock, emulator } = setUpView()
    const { agent } = load()
    const names = ['transcriptUpdate', 'stateChanged', 'phaseChanged', 'message', 'workingChanged'] as const
    const listeners = () => names.map(name => agent.listenerCount(name))
    const before = listeners()
    const view = show(agent)
    expect(listeners()).toEqual(before.map(count => count + 1))
    await view.start()
    emulator.settings.replyDelayMs = 60_000
    const timers = clock.pendingTimers
    await view.send('one')
    let calls = 0
    view.subscribe(() => calls++)
    view.markRead()
    void view.destroy()
    expect(listeners()).toEqual(before)
    expect(clock.pendingDelays).not.toContain(15_000)
    expect(clock.pendingTimers).toBeLessThanOrEqual(timers + 2)
    await agent.send('two')
    await turnEventLoop()
    expect(calls).toBe(0)
  })
})

describe('the snapshot of a view', () => {
  it('[VIEW-05] is frozen, and the same object until something changes', async () => {
    const { openView, emulator, session } = setUpView()
    const { view } = await openView()
    await say(view, 'one', 2)
    const snapshot = view.getSnapshot()
    expect(view.getSnapshot()).toBe(snapshot)
    for (const value of [snapshot, snapshot.messages, snapshot.connection, ...snapshot.messages])
      expect(Object.isFrozen(value)).toBe(true)
    let calls = 0
    view.subscribe(() => calls++)
    emulator.control.pushFrame(session(), { persona: 'system', role: 'something new', content: '' })
    view.setDraft('')
    expect(view.getSnapshot()).toBe(snapshot)
    view.setDraft('a')
    const next = view.getSnapshot()
    expect(next).not.toBe(snapshot)
    expect(next.messages).toBe(snapshot.messages)
    expect(next.connection).toBe(snapshot.connection)
    expect(calls).toBeGreaterThan(0)
  })

  it('[VIEW-05] keeps every message that did not change, also when all are read again', async () => {
    const { openView, clock, emulator } = setUpView()
    const { view, agent } = await openView()
    await say(view, 'one', 2)
    await say(view, 'two', 4)
    const before = view.getSnapshot().messages
    await view.rate(before[3]?.id ?? '', 'up')
    const rated = view.getSnapshot().messages
    expect(rated.map((item, index) => item === before[index])).toEqual([true, true, true, false])
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await clock.advance(1)
    await eventually(() => agent.isConnected())
    await say(view, 'three', 6)
    // The history of the reopened session shows that the service has the messages of the user.
    await eventually(() => view.getSnapshot().messages[0]?.delivery === 'acknowledged')
    const after = view.getSnapshot().messages
    expect(rated.map((item, index) => item === after[index])).toEqual([false, true, false, true])
  })

  it('[VIEW-06] is empty and always the same on a server', async () => {
    const { openView, load, show } = setUpView()
    const { view } = await openView()
    await say(view, 'one', 2)
    expect(view.getServerSnapshot()).toMatchObject({ messages: [], connection: { state: 'idle' }, draft: '' })
    expect(show(load({ resume: false }).agent).getServerSnapshot()).toBe(view.getServerSnapshot())
  })

  it('[VIEW-06] listens to the network only while something is subscribed, and knows its state nevertheless', () => {
    const { load, platform: device, setOnline } = setUpView()
    let listeners = 0
    const onOnlineChange = (callback: () => void) => {
      listeners++
      const undo = device.onOnlineChange(callback)
      return () => {
        listeners--
        undo()
      }
    }
    const view = createConversationView(load().agent, { platform: { ...device, onOnlineChange } })
    const isOffline = () => view.getSnapshot().connection.isOffline
    expect(listeners).toBe(0)
    setOnline(false)
    expect(isOffline()).toBe(true)
    const undo = [view.subscribe(() => {}), view.subscribe(() => {})]
    expect(listeners).toBe(1)
    setOnline(true)
    expect(isOffline()).toBe(false)
    undo[0]?.()
    undo[0]?.()
    expect(listeners).toBe(1)
    undo[1]?.()
    expect(listeners).toBe(0)
    view.subscribe(() => {})
    void view.destroy()
    expect(listeners).toBe(0)
  })

  it('[VIEW-06] needs no page: on Node it is hidden and online, and its timers run', async () => {
    expect([defaultPlatform.isVisible(), defaultPlatform.isOnline()]).toEqual([false, true])
    defaultPlatform.onOnlineChange(() => {})()
    await new Promise<void>(resolve => void defaultPlatform.setTimer(resolve, 0))
    expect(defaultPlatform.now()).toBeGreaterThan(0)
  })
})
