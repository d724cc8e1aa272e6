import { createEmulator } from '@aiagent/emulator'
import { eventually, ManualClock, turnEventLoop } from '@aiagent/test-support'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AiAgent } from '../src/ai-agent.ts'
import { requestsTo, sentTo } from './agent-harness.ts'
import { bundleForApp, startApp } from './native-app.ts'
import { NativeDevice } from './native-parts.ts'
import { linesOf } from './resume-harness.ts'

let script: string
beforeAll(async () => void (script = await bundleForApp()))

function setUp() {
  const clock = new ManualClock()
  const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
  const emulator = createEmulator({ clock, reply, settings: { heartbeatBeforeReply: false } })
  const device = new NativeDevice()
  const printed: unknown[][] = []
  const print = (...parts: unknown[]) => void printed.push(parts)
  /** Starts the app, and creates its agent. */
  const start = (): AiAgent => startWithView().agent
  const startWithView = () => {
    const app = startApp(script, emulator, clock)
    const { AiAgent, asyncStorageCacheAdapter, completeAbortSignals, globals, nativeEnvironment } = app
    completeAbortSignals(globals)
    const adapter = asyncStorageCacheAdapter(device.asyncStorage)
    const { appState, netInfo } = device
    const agent = new AiAgent(
      {
        id: 'help',
        endpoint: emulator.origin,
        resume: true,
        persistQueue: true,
        cache: { adapter },
        auth: { type: 'anonymous', config: { cache: { adapter } } },
      },
      nativeEnvironment({
        getRandomValues: bytes => crypto.getRandomValues(bytes),
        appState,
        netInfo,
        clock,
        console: { debug: print, info: print, warn: print, error: print },
      }),
    )
    return { agent, createConversationView: app.createConversationView }
  }
  /** Starts the app with a conversation that is connected. */
  const open = async (): Promise<AiAgent> => {
    const agent = start()
    await agent.initialize()
    await agent.connect()
    return agent
  }
  const talk = async (agent: AiAgent, text: string): Promise<void> => {
    await agent.send(text)
    await eventually(() => linesOf(agent).at(-1) === `received: You said: ${text}`, 'an answer')
  }
  return { clock, emulator, device, printed, start, startWithView, open, talk }
}

describe('an app in React Native', () => {
  it('[VIEW-13] has a conversation without the globals of a page', async () => {
    const { emulator, printed, open, talk } = setUp()
    const agent = await open()
    await talk(agent, 'hällo 👋')
    expect(sentTo(emulator)).toEqual(['hällo 👋'])
    await talk(agent, 'é'.repeat(40_000))
    expect(JSON.stringify(printed)).toContain('larger than 64 KiB')
    expect(await agent.getAccessToken()).toEqual(expect.any(String))
    await agent.destroy()
  })

  it('[VIEW-37] shows its conversation in a view, explains itself and exports, before and after a restart', async () => {
    const { emulator, device, startWithView } = setUp()
    const open = async () => {
      const { agent, createConversationView } = startWithView()
      const { netInfo } = device
      const view = createConversationView(agent, {
        platform: { onOnlineChange: callback => netInfo.addEventListener(callback) },
      })
      let calls = 0
      view.subscribe(() => calls++)
      expect((await view.explain()).code).toBe('not_initialized')
      await view.start()
      return { agent, view, calls: () => calls }
    }
    const first = await open()
    await first.view.send('hällo 👋')
    await eventually(() => first.view.getSnapshot().messages.length === 2)
    const [, answer] = first.view.getSnapshot().messages
    await first.view.rate(answer?.id ?? '', 'up')
    await eventually(() => first.calls() > 3)
    first.view.setDraft('half')
    await turnEventLoop(5)
    await first.view.destroy()
    await first.agent.destroy()

    const { agent, view } = await open()
    await eventually(() => view.getSnapshot().draft)
    expect(view.getSnapshot()).toMatchObject({
      draft: 'half',
      messages: [{ content: 'hällo 👋' }, { rating: 'up' }],
      connection: { state: 'connected', isOffline: false },
    })
    expect((await view.explain()).code).toBe('connected')
    expect(await view.export('markdown')).toContain('hällo 👋')
    expect(sentTo(emulator)).toContain('hällo 👋')
    await view.destroy()
    await agent.destroy()
  })

  it('[VIEW-13] opens a connection that was lost in the background when it comes to the foreground', async () => {
    const { device, emulator, open, talk } = setUp()
    const agent = await open()
    await talk(agent, 'one')
    device.become('inactive')
    device.become('background')
    emulator.control.dropSockets()
    await eventually(() => agent.getState() === 'RECONNECTING')
    await agent.send('two')
    await turnEventLoop()
    expect(sentTo(emulator)).toEqual(['one'])
    device.become('active')
    await eventually(() => linesOf(agent).length === 4, 'the answer')
    expect(linesOf(agent).slice(2)).toEqual(['sent: two', 'received: You said: two'])
    await agent.destroy()
    expect(device.listeners).toBe(0)
  })

  it('[VIEW-13] reconnects when the network returns, and no sooner', async () => {
    const { device, emulator, open, talk } = setUp()
    const agent = await open()
    await talk(agent, 'one')
    device.connectTo('none')
    emulator.control.dropSockets()
    await eventually(() => agent.getState() === 'RECONNECTING')
    await agent.send('two')
    await turnEventLoop()
    expect(agent.getState()).toBe('RECONNECTING')
    device.connectTo('wifi')
    await eventually(() => linesOf(agent).length === 4, 'the answer')
    expect(sentTo(emulator)).toEqual(['one', 'two'])
    expect(emulator.world.sessions.size).toBe(1)
    await agent.destroy()
  })

  it('[VIEW-13] continues after a restart from AsyncStorage: token, context, conversation and queued messages', async () => {
    const { device, emulator, start, open, talk } = setUp()
    const agent = await open()
    await agent.setContext({ page: 'the basket' })
    await talk(agent, 'one')
    emulator.control.dropSockets()
    await eventually(() => agent.getState() === 'RECONNECTING')
    await agent.send('two')
    await eventually(() => [...device.stored.values()].some(text => text.includes('two')), 'the stored message')
    await agent.destroy()
    const asked = requestsTo(emulator).length

    const restarted = start()
    await restarted.initialize()
    expect(restarted.getContext()).toEqual({ page: 'the basket' })
    expect(linesOf(restarted)).toEqual(['sent: one', 'received: You said: one', 'sent: two'])
    await restarted.connect()
    await eventually(() => linesOf(restarted).length === 4, 'the answer')
    expect(linesOf(restarted).slice(2)).toEqual(['sent: two', 'received: You said: two'])
    expect(
      requestsTo(emulator)
        .slice(asked)
        .filter(request => request.startsWith('POST')),
    ).toEqual([])
    expect(emulator.world.sessions.size).toBe(1)
    await restarted.destroy()
  })

  it('[VIEW-13] gives up a request at its time limit, with signals that have no reason', async () => {
    const { clock, emulator, start } = setUp()
    emulator.faults.add({ kind: 'delay-requests', ms: 60_000 })
    const agent = start()
    let failure: unknown
    agent.initialize().catch(error => {
      failure = error
    })
    await clock.advance(29_000)
    expect(failure).toBeUndefined()
    await clock.advance(2_000)
    expect(failure).toMatchObject({ message: expect.stringContaining('within 30 seconds') })
    await agent.destroy()
  })
})
