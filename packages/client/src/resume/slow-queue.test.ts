import type { Emulator } from '@aiagent/emulator'
import { type ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { sentTo } from '../../test/agent-harness.ts'
import { setUpHost } from '../../test/host-store.ts'
import type { AiAgentConfig } from '../config.ts'

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([import('./stored-queue.ts'), import('../agent/portal-lifecycle.ts')])

/** One operation of the store; three of them exceed the time that the start waits for the queue. */
const SLOW_MS = 1_500

/** Lets up to a minute pass until a call has settled. */
async function settled<T>(clock: ManualClock, call: Promise<T>): Promise<T> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  call.then(settle, settle)
  for (let left = 1_200; !isSettled && left > 0; left--) await clock.advance(50)
  expect(isSettled).toBe(true)
  return call
}

/** The user messages that the service has, of every session. */
const received = (emulator: Emulator): string[] =>
  [...emulator.world.sessions.keys()].flatMap(id => sentTo(emulator, id)).filter(each => each !== 'token')

/** A page that has left a message, and the next one of the same user, whose store is slow. */
async function setUpSlowRestore(more: Partial<AiAgentConfig> = {}) {
  const parts = setUpHost()
  const { clock, emulator, page, send, store } = parts
  const tokenOf = (subject: string) => emulator.control.issueToken({ subject })
  const config = () => ({ id: 'account', auth: { type: 'pre-auth', accessToken: tokenOf('customer') } as const })
  const first = page(config())
  await first.agent.initialize()
  await send(first.agent, 'secret')
  await first.agent.destroy()
  const { agent, updates } = page({ ...config(), ...more })
  const passing = <T>(call: Promise<T>) => settled(clock, call)
  store.pause = () => new Promise(resolve => clock.setTimeout(resolve, SLOW_MS))
  return { ...parts, agent, updates, passing, received: () => received(emulator), tokenOf }
}

describe('[REL-89] [REL-90] a stored queue that is read slowly', () => {
  it('is sent once it has been read, also after the start', async () => {
    const { agent, clock, passing, received } = await setUpSlowRestore()
    await passing(agent.initialize())
    expect(agent.getQueueSize()).toBe(0)
    await passing(agent.connect())
    await clock.advance(30_000)
    expect(received()).toContain('secret')
    await passing(agent.destroy())
  })

  it('[REL-88] holds what was queued before it had been read', async () => {
    const { agent, clock, passing, store } = await setUpSlowRestore()
    await passing(agent.initialize())
    await agent.send('later')
    await clock.advance(30_000)
    expect(store.stored).toEqual(['secret', 'later'])
    await passing(agent.destroy())
  })

  it('[REL-88] holds what was queued before it was found empty', async () => {
    const { clock, page, store } = setUpHost()
    store.pause = () => new Promise(resolve => clock.setTimeout(resolve, SLOW_MS))
    const { agent } = page()
    await settled(clock, agent.initialize())
    await agent.send('first')
    await clock.advance(30_000)
    expect(store.stored).toEqual(['first'])
    await settled(clock, agent.destroy())
  })

  it('[SEC-52] is sent again with receipts when it is read after the chat has opened, and may not have arrived', async () => {
    const { clock, emulator, page, send, store } = setUpHost({ capabilities: ['receipts'] })
    const first = page({ sessionId: undefined as never })
    await first.agent.initialize()
    await first.agent.connect()
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    await send(first.agent, 'lost')
    emulator.faults.lift()
    const [sessionId = ''] = emulator.world.sessions.keys()
    const copy = store.copy()
    copy.pause = () => new Promise(resolve => clock.setTimeout(resolve, SLOW_MS))
    const { agent } = page({ sessionId }, copy)
    await settled(clock, agent.initialize())
    await agent.connect()
    expect([agent.isConnected(), agent.delivery('lost')]).toEqual([true, undefined])
    await clock.advance(30_000)
    const received = sentTo(emulator, sessionId).filter(each => each === 'lost')
    expect([agent.delivery('lost')?.state, received]).toEqual(['acknowledged', ['lost']])
    await settled(clock, agent.destroy())
    await first.agent.destroy()
  })

  it('[REL-103] opens the chat with `connectOnSend`', async () => {
    const { agent, clock, passing, received } = await setUpSlowRestore({ connectOnSend: true })
    await passing(agent.initialize())
    expect([agent.getQueueSize(), agent.getState()]).toEqual([0, 'IDLE'])
    await clock.advance(30_000)
    expect([received(), agent.getState()]).toEqual([['secret'], 'CONNECTED'])
    await passing(agent.destroy())
  })

  it.each(['logout', 'change of the user'])('[REL-91] never reaches the next user after a %s', async how => {
    const { agent, clock, passing, received, tokenOf, store, updates } = await setUpSlowRestore()
    await passing(agent.initialize())
    const left = how === 'logout' ? agent.logout() : agent.updateAccessToken(tokenOf('new-customer'))
    await passing(left)
    if (how === 'logout') await agent.updateAccessToken(tokenOf('new-customer'))
    await passing(agent.initialize())
    await passing(agent.connect())
    await clock.advance(30_000)
    expect([received().includes('secret'), agent.delivery('secret'), agent.getQueueSize()]).toEqual([
      false,
      undefined,
      0,
    ])
    expect(agent.getTranscript().map(({ message }) => message.content)).not.toContain('secret')
    expect(updates).toEqual([])
    expect(store.stored).toEqual([])
    await passing(agent.destroy())
  })

  it('stays in the store for the next page when the agent is destroyed meanwhile', async () => {
    const { agent, passing, store, page, emulator, clock } = await setUpSlowRestore()
    await passing(agent.initialize())
    await passing(agent.destroy())
    await clock.advance(30_000)
    store.pause = undefined
    const next = page({
      id: 'account',
      auth: { type: 'pre-auth', accessToken: emulator.control.issueToken({ subject: 'customer' }) },
    })
    await next.agent.initialize()
    expect(next.agent.getQueueSize()).toBe(1)
    await next.agent.destroy()
  })

  it('stays with its portal when another one is selected meanwhile', async () => {
    const { clock, emulator, page, send, store } = setUpHost()
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const desk = {
      id: 'desk',
      auth: { type: 'pre-auth', accessToken } as const,
      context: { vendor_portal_id: '1002' },
      initParams: { portalIds: '1002,1001' },
    }
    const first = page(desk)
    await first.agent.initialize()
    await send(first.agent, 'for 1002')
    await first.agent.destroy()
    const second = page(desk)
    store.pause = () => new Promise(resolve => clock.setTimeout(resolve, SLOW_MS))
    await settled(clock, second.agent.initialize())
    await settled(clock, second.agent.selectPortal({ id: 1001 }))
    await settled(clock, second.agent.connect())
    await clock.advance(30_000)
    expect([second.agent.getQueueSize(), second.updates, received(emulator)]).toEqual([0, [], []])
    // The next page in that portal sends it.
    await settled(clock, second.agent.destroy())
    store.pause = undefined
    const third = page(desk)
    await third.agent.initialize()
    expect(third.agent.getQueueSize()).toBe(1)
    await third.agent.destroy()
  })

  it('[REL-104] is left to the next agent whenever the first one is destroyed during its start', async () => {
    const { emulator, make, page, send, store, printed } = setUpHost()
    const first = page()
    await first.agent.initialize()
    await send(first.agent, 'one')
    await first.agent.destroy()
    let mostResponses = 0
    for (let turns = 0; turns < 20; turns++)
      for (let wanted = 1; wanted === 1 || wanted <= mostResponses; wanted++) {
        let responses = 0
        let destroyed: Promise<void> | undefined
        const destroyLater = async () => {
          for (let left = turns; left > 0; left--) await null
          await agent.destroy()
        }
        const fetch: typeof globalThis.fetch = async (input, init) => {
          const response = await emulator.fetch(input, init)
          if (++responses === wanted) destroyed ??= destroyLater()
          return response
        }
        const { agent } = make({ persistQueue: true, cache: { adapter: store, contextPrefix: 'one:' } }, { fetch })
        await agent.initialize().catch(() => {})
        await (destroyed ?? agent.destroy())
        mostResponses = Math.max(mostResponses, responses)
        expect(store.stored, `${turns} turns after response ${wanted}`).toHaveLength(1)
      }
    await turnEventLoop(5)
    const { agent } = page()
    await agent.initialize()
    expect([agent.getQueueSize(), printed.flat().filter(text => String(text).includes('same key'))]).toEqual([1, []])
    await agent.destroy()
  })
})
