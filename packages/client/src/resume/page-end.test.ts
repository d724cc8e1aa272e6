import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { framesArrived, lastSession, passing, sentTo } from '../../test/agent-harness.ts'
import { setUpHost } from '../../test/host-store.ts'

// Loaded before the clock is moved: loading a module takes real time.
await import('./stored-queue.ts')

describe('the end of a page with persistQueue', () => {
  it('[REL-104] waits in destroy() until the queue is stored', async () => {
    const { store, page, send } = setUpHost()
    const { agent } = page()
    await agent.initialize()
    await turnEventLoop(5)
    const proceed = store.hold()
    await send(agent, 'one')
    const destroyed = agent.destroy()
    let isDestroyed = false
    void destroyed.then(() => {
      isDestroyed = true
    })
    await turnEventLoop(5)
    expect(isDestroyed).toBe(false)
    proceed()
    await destroyed
    expect(store.stored).toEqual(['one'])
  })

  it('[REL-104] destroys within bounded time when the store hangs', async () => {
    const { clock, store, page, send } = setUpHost()
    const { agent } = page()
    await agent.initialize()
    await send(agent, 'one')
    store.hangs = true
    await passing(clock, agent.destroy())
    expect(clock.pendingTimers).toBe(0)
    await expect(agent.initialize()).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('[REL-104] destroys within bounded time where a slow store is still changing the session', async () => {
    const { clock, emulator, store, page } = setUpHost()
    const { agent } = page({ resume: true })
    await agent.initialize()
    await turnEventLoop(5)
    store.pause = () => new Promise(resolve => clock.setTimeout(resolve, 1_500))
    // Each of them removes the stored session, and stores the next one.
    await passing(clock, agent.restartConnection())
    await passing(clock, agent.restartConnection())
    let isDestroyed = false
    void agent.destroy().then(() => {
      isDestroyed = true
    })
    await clock.advance(3_000)
    expect(isDestroyed).toBe(true)
    // The store is not left halfway: the next page continues with the last session.
    for (let left = 12; left > 0; left--) await clock.advance(1_500)
    store.pause = undefined
    expect(clock.pendingTimers).toBe(0)
    const next = page({ resume: true })
    await next.agent.initialize()
    expect(emulator.world.sessions.size).toBe(3)
    expect(next.agent.getSessionId()).toBe([...emulator.world.sessions.keys()].at(-1))
    await next.agent.destroy()
  })

  it('[REL-104] does not call a message failed that destroy() leaves to the next page', async () => {
    const { emulator, page, send } = setUpHost()
    const first = page()
    await first.agent.initialize()
    await send(first.agent, 'one')
    const delivery = first.agent.delivery('one')
    await first.agent.destroy()
    expect([await delivery?.outcome, delivery?.reason]).toEqual(['unknown', 'destroyed'])
    const { agent } = page()
    await agent.initialize()
    await agent.connect()
    await framesArrived(emulator, 1)
    await agent.destroy()
  })

  it('[REL-104] leaves what destroy() found unsent in an open chat to the next page', async () => {
    const { emulator, page, send } = setUpHost()
    const first = page()
    await first.agent.initialize()
    await send(first.agent, ...Array.from({ length: 20 }, (_, n) => `message ${n}`))
    await first.agent.connect()
    await framesArrived(emulator, 16)
    await first.agent.destroy()
    const { agent } = page()
    await agent.initialize()
    expect(['message 16', 'message 19'].map(id => agent.delivery(id)?.state)).toEqual(['queued', 'queued'])
    await agent.destroy()
  })

  it('[REL-104] marks what has left without a receipt before destroy()', async () => {
    const { emulator, store, page, send } = setUpHost({ capabilities: ['receipts'] })
    const { agent } = page()
    await agent.initialize()
    await agent.connect()
    emulator.faults.add({ kind: 'lose-receipts' })
    await send(agent, 'one')
    await framesArrived(emulator, 1)
    await agent.destroy()
    expect([store.stored, store.marks]).toEqual([['one'], [true]])
  })

  it('[REL-109] is left to nobody else by a logout before initialize()', async () => {
    const { clock, emulator, store, page, send } = setUpHost()
    const first = page({ resume: true })
    await first.agent.initialize()
    await first.agent.connect()
    await send(first.agent, 'arrived')
    await framesArrived(emulator, 1)
    await passing(clock, first.agent.disconnect())
    await send(first.agent, 'waits')
    await first.agent.destroy()
    expect(store.stored).toEqual(['waits'])
    const { agent } = page({ resume: true })
    await passing(clock, agent.logout())
    expect(store.stored).toEqual([])
    await agent.initialize()
    expect([agent.getQueueSize(), agent.getTranscript()]).toEqual([0, []])
    expect(emulator.world.sessions.size).toBe(2)
    await agent.destroy()
  })

  it('[REL-105] writes nothing before a slow store, which is still writing it, has marked it', async () => {
    const { clock, emulator, store, page, send } = setUpHost()
    const first = page()
    await first.agent.initialize()
    const proceed = store.hold()
    // Is being stored as unsent when the chat opens.
    await send(first.agent, 'one')
    await first.agent.connect()
    await turnEventLoop(5)
    expect(sentTo(emulator)).toEqual([])
    proceed()
    await framesArrived(emulator, 1)
    // The process ends here.
    const { agent } = page({}, store.copy())
    await agent.initialize()
    await agent.connect()
    await turnEventLoop(10)
    const all = [...emulator.world.sessions.keys()].flatMap(id => sentTo(emulator, id))
    expect(all).toEqual(['one'])
    await passing(clock, Promise.all([first.agent.destroy(), agent.destroy()]))
  })

  it('[REL-105] with receipts marks what leaves too: it is not sent again in another session', async () => {
    const { clock, emulator, store, page, send } = setUpHost({ capabilities: ['receipts'] })
    const first = page()
    await first.agent.initialize()
    await send(first.agent, 'one', 'two')
    await first.agent.connect()
    // The process ends in the moment in which the first frames have left.
    const crashed = store.copy()
    await framesArrived(emulator, 2)
    const { agent } = page({}, crashed)
    await agent.initialize()
    await agent.connect()
    await turnEventLoop(10)
    expect(sentTo(emulator, lastSession(emulator))).toEqual([])
    expect(agent.delivery('one')?.state).toBe('unknown')
    await passing(clock, Promise.all([first.agent.destroy(), agent.destroy()]))
  })

  it('[REL-105] marks what a slow store delivers after the chat has opened, before it leaves', async () => {
    const { clock, emulator, store, page, send } = setUpHost()
    const first = page()
    await first.agent.initialize()
    await send(first.agent, 'one')
    await first.agent.destroy()
    const slow = store.copy()
    slow.pause = () => new Promise(resolve => clock.setTimeout(resolve, 900))
    const second = page({}, slow)
    await passing(clock, second.agent.initialize())
    await second.agent.connect()
    const marks: boolean[][] = []
    second.agent.on('deliveryUpdate', ({ payload }) => {
      if (payload.state === 'sending') marks.push(slow.marks)
    })
    await clock.advance(5_000)
    expect([sentTo(emulator), marks]).toEqual([['one'], [[true]]])
    await passing(clock, second.agent.destroy())
  })

  it('[REL-106] shows a message that it sends again for the page before in the transcript', async () => {
    const { clock, emulator, store, page, send } = setUpHost({ capabilities: ['receipts', 'resume'] })
    const first = page({ resume: true })
    await first.agent.initialize()
    await first.agent.connect()
    await send(first.agent, 'one')
    await framesArrived(emulator, 1)
    await turnEventLoop(10)
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    await send(first.agent, 'two')
    const crashed = store.copy()
    emulator.control.dropSockets()
    emulator.faults.lift()
    const { agent } = page({ resume: true }, crashed)
    await agent.initialize()
    await agent.connect()
    await framesArrived(emulator, 2)
    await turnEventLoop(10)
    const sent = agent.getTranscript({ direction: 'sent' }).map(({ message }) => message.content)
    expect(sent).toEqual(['one', 'two'])
    await passing(clock, Promise.all([first.agent.destroy(), agent.destroy()]))
  })

  it('[REL-106] shows a message that retry() sends into another conversation in its transcript', async () => {
    const { clock, emulator, page, send } = setUpHost()
    const { agent } = page()
    await agent.initialize()
    await agent.connect()
    await send(agent, 'one')
    await passing(clock, agent.restartConnection())
    expect(agent.getTranscript()).toEqual([])
    expect(agent.delivery('one')?.retry()).toBe(true)
    await framesArrived(emulator, 1)
    expect(agent.getTranscript({ direction: 'sent' }).map(({ message }) => message.content)).toEqual(['one'])
    expect(agent.delivery('one')?.message.sessionId).toBe(lastSession(emulator))
    // In the same conversation it is there already.
    await agent.disconnect({ skipGracefulDisconnect: true })
    expect(agent.delivery('one')?.retry()).toBe(true)
    expect(agent.getTranscript({ direction: 'sent' })).toHaveLength(1)
    await passing(clock, agent.destroy())
  })

  it('[REL-106] places an answer that it has missed behind the message that retry() sent again', async () => {
    const { clock, emulator, page, send } = setUpHost({ replyDelayMs: 300 })
    const { agent } = page()
    await agent.initialize()
    await agent.connect()
    await send(agent, 'one')
    await passing(clock, agent.restartConnection())
    expect(agent.delivery('one')?.retry()).toBe(true)
    await framesArrived(emulator, 1)
    emulator.control.dropSockets()
    const lines = () => agent.getTranscript({ persona: 'agent' }).map(({ recovered }) => recovered)
    await passing(
      clock,
      eventually(() => lines().length > 0, 'the missed answer'),
    )
    expect(lines()).toEqual([true])
    const said = agent.getTranscript().filter(({ message }) => message.persona !== 'system')
    expect(said.map(({ direction }) => direction)).toEqual(['sent', 'received'])
    await passing(clock, agent.destroy())
  })
})
