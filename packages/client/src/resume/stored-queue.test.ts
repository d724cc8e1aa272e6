import { paths } from '@aiagent/protocol'
import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { framesArrived, passing, rejection, sentTo } from '../../test/agent-harness.ts'
import { HostStore, setUpHost } from '../../test/host-store.ts'
import type { AiAgentConfig } from '../config.ts'

/** Longest wait for the mark before messages leave, in milliseconds, as docs/guide/delivery.md promises. */
const CLAIM_LIMIT_MS = 1_000

// Loaded before the clock is moved: loading a module takes real time.
await import('./stored-queue.ts')

describe('persistQueue', () => {
  it('[REL-88] lets the next page send queued messages: first, in order, once and with the same ids', async () => {
    const { emulator, store, page, send } = setUpHost()
    const first = page()
    await first.agent.initialize()
    await send(first.agent, 'one', 'two', 'three')
    await first.agent.destroy()
    expect(store.stored).toEqual(['one', 'two', 'three'])

    const { agent, updates } = page()
    void agent.send('four', { id: 'four' })
    await agent.initialize()
    expect(agent.getQueueSize()).toBe(4)
    expect(agent.delivery('two')?.state).toBe('queued')
    expect(agent.getTranscript().map(({ message }) => message.messageId)).toEqual(['one', 'two', 'three', 'four'])
    await agent.connect()
    await framesArrived(emulator, 4)
    expect(sentTo(emulator)).toEqual(['one', 'two', 'three', 'four'])
    expect(updates.filter(({ state }) => state === 'sent').map(({ id }) => id)).toEqual(['one', 'two', 'three', 'four'])
    await turnEventLoop(5)
    expect(store.stored).toEqual([])
    await agent.destroy()
  })

  it('[REL-88] protects the data of restored messages from changes by the host', async () => {
    const { page } = setUpHost()
    const first = page()
    await first.agent.initialize()
    await first.agent.send({ persona: 'customer', role: 'human', messageData: { order: { id: 7 } } })
    await first.agent.destroy()
    const { agent } = page()
    await agent.initialize()
    const data = agent.getTranscript()[0]?.message.messageData
    expect(data).toEqual({ order: { id: 7 } })
    expect([data, data?.['order']].every(Object.isFrozen)).toBe(true)
    await agent.destroy()
  })

  it.each([false, true])(
    '[REL-88] [REL-91] stores nothing that the agent said, and no message that has arrived (receipts: %s)',
    async hasReceipts => {
      const { clock, store, page, send } = setUpHost({ capabilities: hasReceipts ? ['receipts'] : [] })
      const { agent } = page({ resume: true })
      const left: string[] = []
      agent.on('transcriptUpdate', () => void left.push(JSON.stringify([...store.entries])))
      await agent.initialize()
      await send(agent, 'one')
      await agent.connect()
      await clock.advance(1_000)
      await passing(clock, agent.disconnect())
      await send(agent, 'two')
      await turnEventLoop(5)
      expect(agent.getTranscript().map(({ message }) => message.content)).toContain('You said: one')
      expect(store.stored).toEqual(['two'])
      left.push(JSON.stringify([...store.entries]))
      expect(left.filter(text => text.includes('You said'))).toEqual([])
      await agent.destroy()
    },
  )

  it('[REL-83] [REL-88] settles a message as unknown at destroy() when the next page may send it, and a question as failed', async () => {
    for (const [persistQueue, state] of [
      [true, 'unknown'],
      [false, 'failed'],
    ] as const) {
      const { page, send } = setUpHost()
      const { agent } = page({ persistQueue })
      await agent.initialize()
      await send(agent, 'one')
      const asked = rejection(agent.ask('two'))
      const deliveries = agent.getTranscript().map(({ message }) => agent.delivery(message.messageId ?? ''))
      await agent.destroy()
      expect(deliveries).toMatchObject([
        { state, reason: 'destroyed' },
        { state: 'failed', reason: 'destroyed' },
      ])
      expect(await asked).toMatchObject({ code: 'ABORTED' })
    }
  })

  it('[REL-88] sends nothing twice after a crash in the middle of a flush: it is reported as unknown', async () => {
    const { clock, emulator, store, page, send } = setUpHost()
    const first = page()
    await first.agent.initialize()
    await send(first.agent, ...Array.from({ length: 20 }, (_, n) => `message ${n}`))
    await first.agent.connect()
    await framesArrived(emulator, 16)
    // The process ends here: the next one reads its store.
    const { agent, updates } = page({}, new HostStore(structuredClone(store.entries)))
    await agent.initialize()
    expect(updates.map(({ id, state, reason }) => [id, state, reason])).toEqual(
      ['message 16', 'message 17', 'message 18', 'message 19'].map(id => [id, 'unknown', 'page_ended']),
    )
    expect([agent.getQueueSize(), agent.delivery('message 19')?.message.content]).toEqual([0, 'message 19'])
    expect(agent.delivery('message 19')?.retry()).toBe(true)
    await passing(clock, Promise.all([first.agent.destroy(), agent.destroy()]))
  })

  it('[REL-88] sends nothing twice after a crash where the store was too full for the mark', async () => {
    const { clock, emulator, store, page, send } = setUpHost()
    const first = page()
    await first.agent.initialize()
    await send(first.agent, ...Array.from({ length: 20 }, (_, n) => `message ${n}`))
    store.refused = 'set'
    await first.agent.connect()
    await framesArrived(emulator, 16)
    const { agent } = page({}, store.copy())
    await agent.initialize()
    expect(agent.getQueueSize()).toBe(0)
    await passing(clock, Promise.all([first.agent.destroy(), agent.destroy()]))
  })

  it('[REL-88] [SEC-52] with receipts keeps a sent message until its receipt, and sends it again in its session', async () => {
    const { emulator, store, page, send } = setUpHost({ capabilities: ['receipts'] })
    const first = page({ sessionId: undefined as never })
    await first.agent.initialize()
    await first.agent.connect()
    await send(first.agent, 'one')
    await framesArrived(emulator, 1)
    await turnEventLoop(10)
    expect(store.stored).toEqual([])
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    await send(first.agent, 'two')
    expect(store.stored).toEqual(['two'])
    emulator.faults.lift()
    const sessionId = [...emulator.world.sessions.keys()].at(-1) as string
    // With it, a reader of the store could open the conversation.
    expect(JSON.stringify([...store.entries])).not.toContain(sessionId)
    const same = page({ sessionId }, new HostStore(structuredClone(store.entries)))
    const other = page({}, new HostStore(structuredClone(store.entries)))
    for (const { agent } of [same, other]) {
      await agent.initialize()
      await agent.connect()
    }
    await framesArrived(emulator, 2, sessionId)
    await turnEventLoop(10)
    expect([same.agent.delivery('two')?.state, other.agent.delivery('two')?.state]).toEqual(['acknowledged', 'unknown'])
    expect(sentTo(emulator, sessionId)).toEqual(['one', 'two'])
    for (const { agent } of [first, same, other]) await agent.destroy()
  })

  it('[SEC-15] [REL-91] is removed by a logout that comes before it was read', async () => {
    const { clock, emulator, page, send, store } = setUpHost()
    const accessToken = emulator.control.issueToken({ subject: 'customer' })
    const config = { id: 'account', auth: { type: 'pre-auth', accessToken }, cache: { adapter: store } } as const
    const first = page(config)
    await first.agent.initialize()
    await send(first.agent, 'one')
    await first.agent.destroy()
    expect(store.stored).toHaveLength(1)
    // Without the cached details of the agent, which `initialize()` then waits for.
    for (const key of store.entries.keys()) if (!key.includes('queue_')) store.entries.delete(key)
    emulator.faults.add({ kind: 'hang-request', route: paths.agentDetails('account') })
    const { agent } = page(config)
    const started = rejection(agent.initialize())
    await turnEventLoop(20)
    expect(agent.status.phase).toEqual({ at: 'preparing' })
    await passing(clock, agent.logout())
    expect(await started).toMatchObject({ code: 'ABORTED' })
    expect(store.stored).toEqual([])
    emulator.faults.lift()
    await passing(clock, agent.destroy())
  })

  it('[REL-88] sends nothing twice after a crash where the store was not used for the mark, since it had hung', async () => {
    const { clock, emulator, store, page, send } = setUpHost()
    const first = page()
    await first.agent.initialize()
    await send(first.agent, ...Array.from({ length: 20 }, (_, n) => `message ${n}`))
    store.hangs = true
    void first.agent.setContext({ plan: 'gold' })
    await clock.advance(2_000)
    store.hangs = false
    await first.agent.connect()
    await framesArrived(emulator, 16)
    const { agent } = page({}, store.copy())
    await agent.initialize()
    expect(agent.getQueueSize()).toBe(0)
    await passing(clock, Promise.all([first.agent.destroy(), agent.destroy()]))
  })

  it('[SEC-15] [REL-91] delays a logout by ten seconds at most where the store hangs while the queue is written', async () => {
    const { clock, page, send, store } = setUpHost()
    const { agent } = page()
    await agent.initialize()
    store.hangs = true
    await send(agent, 'one')
    let isOut = false
    const left = agent.logout().then(() => {
      isOut = true
    })
    await clock.advance(10_000)
    expect(isOut).toBe(true)
    await left
    store.hangs = false
    await passing(clock, agent.destroy())
  })

  it('[REL-88] [SEC-15] keeps the queue of the next user from a logout that the store answers late', async () => {
    const { clock, page, send, store } = setUpHost()
    const { agent } = page()
    await agent.initialize()
    let proceed = () => {}
    const answer = new Promise<void>(resolve => (proceed = resolve))
    store.pause = () => answer
    const left = agent.logout()
    await clock.advance(15_000)
    await left
    store.pause = undefined
    await passing(clock, agent.initialize())
    // The store is used again half a minute after the last request without an answer.
    await clock.advance(60_000)
    await send(agent, 'next')
    expect(store.stored).toEqual(['next'])
    proceed()
    await turnEventLoop(20)
    expect(store.stored).toEqual(['next'])
    await passing(clock, agent.destroy())
  })

  it('[REL-89] lets one of two agents on the same entry store its queue, and warns the other', async () => {
    const { store, page, send, printed } = setUpHost()
    const [first, second] = [page(), page()]
    await first.agent.initialize()
    await second.agent.initialize()
    await send(first.agent, 'one')
    await send(second.agent, 'two')
    expect(store.stored).toEqual(['one'])
    expect(printed.flat().filter(text => String(text).includes('under the same key'))).toHaveLength(1)
    await first.agent.destroy()
    await second.agent.destroy()
  })

  it('[REL-90] never lets a store that hangs block the conversation', async () => {
    const { clock, emulator, store, page, send, printed } = setUpHost()
    store.hangs = true
    const { agent } = page()
    const start = clock.monotonic()
    await passing(clock, agent.initialize())
    // Two seconds for the store of the context, two for that of the queue, as docs/guide/delivery.md promises.
    expect(clock.monotonic() - start).toBeLessThanOrEqual(4_000)
    await send(agent, 'one')
    await agent.connect()
    await clock.advance(CLAIM_LIMIT_MS)
    await framesArrived(emulator, 1)
    await send(agent, 'two')
    await framesArrived(emulator, 2)
    const warnings = printed.flat().filter(text => String(text).includes('may be lost on reload'))
    expect(warnings).toHaveLength(1)
    await passing(clock, agent.destroy())
  })

  it('[REL-90] waits no longer than a second for the mark of messages that leave', async () => {
    const { clock, emulator, store, page, send } = setUpHost()
    const { agent } = page()
    await agent.initialize()
    await send(agent, 'one')
    store.hangs = true
    await agent.connect()
    await clock.advance(CLAIM_LIMIT_MS - 1)
    await turnEventLoop(5)
    expect(sentTo(emulator)).toEqual([])
    await clock.advance(1)
    await framesArrived(emulator, 1)
    await passing(clock, agent.destroy())
  })

  it('[REL-90] warns once about a failing store, and sends as usual', async () => {
    const { emulator, store, page, send, printed } = setUpHost()
    const { agent } = page()
    await agent.initialize()
    store.fails = true
    await send(agent, 'one', 'two')
    await agent.connect()
    await framesArrived(emulator, 2)
    expect(sentTo(emulator)).toEqual(['one', 'two'])
    const warnings = printed.flat().filter(text => String(text).includes('The cache adapter failed'))
    expect(warnings).toHaveLength(1)
    await agent.destroy()
  })

  it('[REL-91] sends no message that is older than the limit', async () => {
    const { clock, page, send, store } = setUpHost()
    const config = { persistQueue: { expiresAfterMs: 60_000 } }
    const first = page(config)
    await first.agent.initialize()
    await send(first.agent, 'old')
    await clock.advance(40_000)
    await send(first.agent, 'new')
    await first.agent.destroy()
    await clock.advance(20_000)
    const second = page(config)
    await second.agent.initialize()
    expect([second.agent.delivery('old'), second.agent.delivery('new')?.state]).toEqual([undefined, 'queued'])
    expect(store.stored).toEqual(['new'])
    await second.agent.destroy()
  })

  it('[REL-91] is emptied by logout(), and when the user changes', async () => {
    for (const leave of ['logout', 'change'] as const) {
      const { clock, emulator, page, send, store } = setUpHost()
      const tokenOf = (subject: string) => emulator.control.issueToken({ subject })
      const auth = { type: 'pre-auth', accessToken: tokenOf('customer') } as const
      const { agent } = page({ id: 'account', auth })
      await agent.initialize()
      await send(agent, 'secret')
      expect(store.stored).toHaveLength(1)
      await passing(clock, leave === 'logout' ? agent.logout() : agent.updateAccessToken(tokenOf('new-customer')))
      expect(store.stored).toEqual([])
      await agent.initialize().catch(() => {})
      expect([agent.getQueueSize(), agent.delivery('secret')]).toEqual([0, undefined])
      await agent.destroy()
    }
  })

  it('[REL-91] keeps queued messages of one user from another', async () => {
    const { emulator, page, send } = setUpHost()
    const authOf = (subject: string) => ({
      id: 'account',
      auth: { type: 'pre-auth', accessToken: emulator.control.issueToken({ subject }) } as const,
    })
    const first = page(authOf('customer'))
    await first.agent.initialize()
    await send(first.agent, 'secret')
    await first.agent.destroy()
    const other = page(authOf('new-customer'))
    await other.agent.initialize()
    expect(other.agent.getQueueSize()).toBe(0)
    const same = page(authOf('customer'))
    await same.agent.initialize()
    expect(same.agent.getQueueSize()).toBe(1)
    await other.agent.destroy()
    await same.agent.destroy()
  })

  it.each<[string, Partial<AiAgentConfig>]>([
    ['by default', {}],
    ['where `tabs` has no effect', { tabs: 'share' }],
  ])('[REL-91] is off %s', async (_case, config) => {
    const { page, send, store } = setUpHost()
    const { agent } = page({ persistQueue: false, ...config })
    await agent.initialize()
    await send(agent, 'one')
    expect([...store.entries.keys()].filter(key => key.includes('queue'))).toEqual([])
    await agent.destroy()
  })

  it('[REL-91] warns where it has no effect', async () => {
    const { printed, make } = setUpHost()
    const without = make({ persistQueue: true }).agent
    await without.initialize()
    expect(printed.flat().filter(text => String(text).includes('`persistQueue` has no effect'))).toHaveLength(1)
    await without.destroy()
  })
})
