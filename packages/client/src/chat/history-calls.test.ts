import type { Emulator } from '@aiagent/emulator'
import { describe, expect, it } from 'vitest'
import { payloadsOf, requestsTo, setUp } from '../../test/agent-harness.ts'
import { FakePage } from '../../test/fake-page.ts'
import { linesOf, setUpTab } from '../../test/resume-harness.ts'
import { setUpTabs } from '../../test/set-up-tabs.ts'
import type { WebSocketConstructor, WebSocketLike } from '../platform/environment.ts'

/** Time after which every reconnect and every request of the tests has ended, in milliseconds. */
const SETTLED_MS = 20_000

/** How often the history of a session was requested. */
const historyCalls = (emulator: Emulator): number =>
  [...emulator.world.sessions.keys()].flatMap(id => requestsTo(emulator).filter(each => each === `GET ${id}`)).length

/** Sockets of a browser, which shows no status: as many as told are refused. Counts those that open. */
function refusingSockets(emulator: Emulator, revealsStatus?: boolean) {
  const state = { refused: 0, opened: 0 }
  const Socket = emulator.WebSocket as unknown as WebSocketConstructor
  function openOrRefuse(url: string): WebSocketLike {
    if (state.refused === 0) {
      state.opened++
      return new Socket(url)
    }
    state.refused--
    const socket: WebSocketLike = {
      readyState: 0,
      bufferedAmount: 0,
      onopen: null,
      onmessage: null,
      onclose: null,
      onerror: null,
      send() {},
      close() {},
    }
    queueMicrotask(() => (socket.onclose as ((event: object) => void) | null)?.({ code: 1006, reason: '' }))
    return socket
  }
  return { state, WebSocket: Object.assign(openOrRefuse, { revealsStatus }) as unknown as WebSocketConstructor }
}

const settings = { sendHistory: false, heartbeatBeforeReply: false }
const FAST = { baseReconnectDelay: 100, maxReconnectDelay: 100 }

/** A connected agent whose sockets the test refuses. */
async function connect(revealsStatus?: boolean) {
  const parts = setUp({ settings })
  const { state, WebSocket } = refusingSockets(parts.emulator, revealsStatus)
  const { agent } = parts.make(FAST, { WebSocket })
  await agent.initialize()
  await agent.connect()
  /** Cuts the connection, and refuses the next attempts. Resolves when the chat is open again. */
  const reconnect = async (refused: number) => {
    const opened = state.opened + 1
    state.refused = refused
    parts.emulator.control.dropSockets()
    let elapsedMs = 0
    for (; agent.getState() !== 'CONNECTED' || state.opened < opened; elapsedMs += 50) {
      await parts.clock.advance(50)
      if (elapsedMs > 60_000) throw new Error('The chat has not opened again.')
    }
    return elapsedMs
  }
  return { ...parts, agent, reconnect }
}

describe('[REL-96] one call for the history of an opening', () => {
  it('serves a reconnect whose first attempt was refused without a status', async () => {
    const { emulator, clock, agent, reconnect } = await connect()
    await reconnect(1)
    await clock.advance(SETTLED_MS)
    expect(historyCalls(emulator)).toBe(1)
    await agent.destroy()
  })

  it('serves the reopening of a stored session, beside the one that restores it', async () => {
    const { emulator, clock, load } = setUpTab(FAST, { settings })
    const left = load()
    await left.agent.initialize()
    await left.agent.connect()
    await left.agent.destroy()
    const { state, WebSocket } = refusingSockets(emulator)
    const { agent } = load({}, { WebSocket })
    await agent.initialize()
    expect(historyCalls(emulator)).toBe(1)
    state.refused = 1
    await agent.connect().catch(() => {})
    await clock.advance(SETTLED_MS)
    expect([agent.getState(), historyCalls(emulator)]).toEqual(['CONNECTED', 2])
    await agent.destroy()
  })

  it('shows what the agent says in a restored session between a refused attempt and the next one', async () => {
    const { emulator, clock, load, talkAndLeave } = setUpTab(FAST, { settings })
    const session = await talkAndLeave('one')
    const { state, WebSocket } = refusingSockets(emulator)
    const { agent, told } = load({}, { WebSocket })
    await agent.initialize()
    state.refused = 1
    await agent.connect().catch(() => {})
    emulator.control.say(session, { content: 'Anything else?' })
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(['sent: one', 'received: You said: one', 'received: Anything else?'])
    expect(payloadsOf(told, 'agentMessage')).toMatchObject([
      { recovered: true, message: { content: 'Anything else?' } },
    ])
    await agent.destroy()
  })

  it('serves the end of a doubtful connection, and another one its replacement', async () => {
    const page = new FakePage()
    const { emulator, clock, make } = setUp({ settings }, { page })
    const { state, WebSocket } = refusingSockets(emulator)
    const { agent } = make(FAST, { WebSocket })
    await agent.initialize()
    await agent.connect()
    state.refused = 1
    page.comeBack()
    await clock.advance(SETTLED_MS)
    expect([state.opened, agent.getState(), historyCalls(emulator)]).toEqual([2, 'CONNECTED', 2])
    await agent.destroy()
  })

  it('serves a tab that takes the connection over', async () => {
    const { emulator, clock, connected, passUntil } = setUpTabs({ settings: { ...settings, capabilities: [] } })
    const leader = await connected()
    const follower = await connected()
    await clock.advance(SETTLED_MS)
    const before = historyCalls(emulator)
    const id = await leader.agent.send('one')
    await passUntil(() => follower.agent.delivery(id) !== undefined, 'the message in the follower')
    leader.tab.crash()
    await clock.advance(SETTLED_MS)
    expect(follower.agent.getState()).toBe('CONNECTED')
    expect(historyCalls(emulator) - before).toBe(1)
    await follower.agent.destroy()
  })
})

describe('a connection that is refused before it opens', () => {
  it('[REL-14] costs no history call where a refusal would have a status', async () => {
    const { emulator, agent, reconnect } = await connect(true)
    expect(await reconnect(5)).toBeLessThanOrEqual(1_000)
    expect(historyCalls(emulator)).toBe(0)
    await agent.destroy()
  })

  it('[REL-14] is followed by a check of the session where a refusal has none, which delays no attempt', async () => {
    const { emulator, agent, reconnect } = await connect()
    emulator.faults.add({ kind: 'hang-request', route: 'GET */conversations/sessions/*' })
    expect(await reconnect(5)).toBeLessThanOrEqual(1_000)
    expect(historyCalls(emulator)).toBe(1)
    await agent.destroy()
  })

  it('[REL-14] is followed by a new session at once where the service has forgotten the present one', async () => {
    const { emulator, agent, reconnect } = await connect()
    emulator.world.sessions.clear()
    // Two waits of 100 ms, and none for the third attempt.
    expect(await reconnect(2)).toBeLessThanOrEqual(250)
    expect([agent.getState(), emulator.world.sessions.size]).toEqual(['CONNECTED', 1])
    await agent.destroy()
  })

  it('[REL-14] is followed by a new session with the next connect() where no further attempt was allowed', async () => {
    const { emulator, make } = setUp({ settings })
    const { state, WebSocket } = refusingSockets(emulator)
    const { agent } = make({ maxReconnectAttempts: 0 }, { WebSocket })
    await agent.initialize()
    state.refused = 1
    await expect(agent.connect()).rejects.toMatchObject({ reason: 'refused' })
    const [forgotten] = emulator.world.sessions.keys()
    emulator.world.sessions.clear()
    await agent.connect()
    expect([agent.getState(), emulator.world.sessions.size]).toEqual(['CONNECTED', 1])
    expect(agent.getSessionId()).not.toBe(forgotten)
    await agent.destroy()
  })
})
