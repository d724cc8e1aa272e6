import type { Emulator } from '@aiagent/emulator'
import { eventually, turnEventLoop } from '@aiagent/test-support'
import { createConversationView } from '@aiagent/view'
import { describe, expect, it } from 'vitest'
import { passing, sentTo } from '../../test/agent-harness.ts'
import { type HostStore, setUpHost } from '../../test/host-store.ts'
import { linesOf } from '../../test/resume-harness.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { AiAgentConfig } from '../config.ts'

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([
  import('../agent/portal-lifecycle.ts'),
  import('../resume/stored-queue.ts'),
  import('../resume/session-resume.ts'),
])

/** Pages of a user with resumable conversations, and a crash between the write of messages and the next write to the store. */
function setUpPages(settings: object = {}) {
  const host = setUpHost({ heartbeatBeforeReply: false, ...settings })
  const { emulator, store, page } = host
  const load = (config: Partial<AiAgentConfig> = {}, from: HostStore = store) => page({ resume: true, ...config }, from)
  const open = async (...given: Parameters<typeof load>) => {
    const made = load(...given)
    await made.agent.initialize()
    await made.agent.connect()
    return made
  }
  /** Sends a message and waits for its answer. */
  const talk = async (agent: AiAgent, id: string, text: string) => {
    const count = linesOf(agent).length
    await agent.send(text, { id })
    await eventually(() => linesOf(agent).length === count + 2, 'an answer')
  }
  /** The page queues texts, sends them and crashes: returns its store of that moment. */
  const crash = async (agent: AiAgent, texts: Record<string, string>, isLost: boolean): Promise<HostStore> => {
    await agent.disconnect({ skipGracefulDisconnect: true })
    for (const [id, text] of Object.entries(texts)) await agent.send(text, { id })
    await turnEventLoop(5)
    let left: HostStore | undefined
    agent.on('deliveryUpdate', ({ payload }) => {
      if (payload.state === 'sent') left ??= store.copy()
    })
    if (isLost) emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    await agent.connect()
    await eventually(() => left !== undefined, 'a written message')
    await turnEventLoop(10)
    await agent.destroy()
    emulator.faults.lift()
    return left as HostStore
  }
  return { ...host, load, open, talk, crash }
}

/** An agent with a portal. */
const deskOf = ({ control }: Emulator) => ({
  id: 'desk',
  auth: { type: 'pre-auth', accessToken: control.issueToken({ subject: 'desk-agent' }) } as const,
  context: { vendor_portal_id: '1002' },
})

describe('a message that a crashed page may have sent', () => {
  it('[REL-171] appears in transcript and view of the next page as unknown, and is sent again on request', async () => {
    const { emulator, open, talk, crash, load } = setUpPages()
    const first = await open()
    await talk(first.agent, 'one', 'hello')
    const left = await crash(first.agent, { two: 'lost' }, true)
    const { agent } = load({}, left)
    const view = createConversationView(agent)
    await view.start()
    expect(linesOf(agent)).toEqual(['sent: hello', 'received: You said: hello', 'sent: lost'])
    expect(view.getSnapshot().messages.at(-1)).toMatchObject({ id: 'two', content: 'lost', delivery: 'unknown' })
    await view.retry('two')
    await eventually(() => linesOf(agent).length === 4, 'an answer')
    expect(linesOf(agent).slice(-2)).toEqual(['sent: lost', 'received: You said: lost'])
    expect(sentTo(emulator)).toEqual(['hello', 'lost'])
    await view.destroy()
    await agent.destroy()
  })

  it('[REL-171] appears once where the history shows it, before and after the store returns it', async () => {
    const { emulator, open, crash, load } = setUpPages()
    const left = await crash((await open()).agent, { one: 'hello', two: 'hello' }, false)
    expect(sentTo(emulator)).toEqual(['hello', 'hello'])
    const lines = ['sent: hello', 'received: You said: hello', 'sent: hello', 'received: You said: hello']
    const restored = load({}, left.copy())
    await restored.agent.initialize()
    expect(restored.updates.map(({ id, state }) => `${id}: ${state}`)).toEqual(['one: unknown', 'two: unknown'])
    expect(linesOf(restored.agent)).toEqual(lines)
    await restored.agent.connect()
    await turnEventLoop(10)
    expect(linesOf(restored.agent)).toEqual(lines)
    await restored.agent.destroy()

    // Without the previous transcript, the history arrives with the chat.
    emulator.faults.add({ kind: 'answer', route: 'GET */conversations/sessions/*', status: 500 })
    const late = load({}, left.copy())
    await late.agent.initialize()
    expect(linesOf(late.agent)).toEqual(['sent: hello', 'sent: hello'])
    emulator.faults.lift()
    await late.agent.connect()
    await eventually(() => linesOf(late.agent).length >= 4, 'the history')
    expect(linesOf(late.agent)).toEqual(lines)
    await late.agent.destroy()
  })

  it('[REL-171] appears beside an earlier message with the same text', async () => {
    const { clock, open, talk, crash, load } = setUpPages()
    const first = await open()
    await talk(first.agent, 'one', 'hello')
    await clock.advance(120_000)
    const left = await crash(first.agent, { two: 'hello' }, true)
    const { agent } = load({}, left)
    await agent.initialize()
    expect(linesOf(agent)).toEqual(['sent: hello', 'received: You said: hello', 'sent: hello'])
    await agent.destroy()
  })

  it('[REL-171] appears in a portal once its session is known', async () => {
    const { emulator, open, crash, load } = setUpPages()
    const desk = deskOf(emulator)
    const left = await crash((await open(desk)).agent, { one: 'lost' }, true)
    const { agent, updates } = load(desk, left.copy())
    await agent.initialize()
    expect(updates).toMatchObject([{ id: 'one', state: 'unknown', reason: 'page_ended' }])
    await agent.connect()
    expect(linesOf(agent)).toContain('sent: lost')
    const restarted = load({ ...desk, resume: false }, left.copy()).agent
    await restarted.initialize()
    await restarted.connect()
    expect([linesOf(restarted), restarted.delivery('one')?.state]).toEqual([[], 'unknown'])
    for (const each of [agent, restarted]) await each.destroy()
  })

  it('[REL-88] [REL-171] is sent again in the session of a portal, with receipts', async () => {
    const { emulator, open, crash, load } = setUpPages({ capabilities: ['receipts'] })
    const desk = deskOf(emulator)
    const left = await crash((await open(desk)).agent, { one: 'lost' }, true)
    const { agent } = load(desk, left)
    await agent.initialize()
    await agent.connect()
    expect(await agent.delivery('one')?.outcome).toBe('acknowledged')
    expect(linesOf(agent).filter(line => line === 'sent: lost')).toHaveLength(1)
    await agent.destroy()
  })

  it('[REL-171] appears masked, as it was stored', async () => {
    const { open, crash, load } = setUpPages()
    const left = await crash((await open({ id: 'billing' })).agent, { one: 'Card 4111 1111 1111 1111' }, true)
    const { agent } = load({ id: 'billing' }, left)
    await agent.initialize()
    expect(JSON.stringify([...left.entries])).not.toContain('4111 1111')
    expect(linesOf(agent)).toEqual([`sent: ${agent.maskContent('Card 4111 1111 1111 1111')}`])
    await agent.destroy()
  })

  it('[REL-171] is not shown to another user, nor in another session', async () => {
    const { emulator, open, crash, load } = setUpPages()
    const authOf = (subject: string) => ({
      id: 'account',
      auth: { type: 'pre-auth', accessToken: emulator.control.issueToken({ subject }) } as const,
    })
    const left = await crash((await open(authOf('customer'))).agent, { one: 'secret' }, true)
    const other = load(authOf('new-customer'), left.copy())
    await other.agent.initialize()
    expect([linesOf(other.agent), other.agent.delivery('one')]).toEqual([[], undefined])
    const restarted = load({ ...authOf('customer'), resume: false }, left.copy())
    await restarted.agent.initialize()
    await restarted.agent.connect()
    expect([linesOf(restarted.agent), restarted.agent.delivery('one')?.state]).toEqual([[], 'unknown'])
    const same = load(authOf('customer'), left.copy())
    await same.agent.initialize()
    expect(linesOf(same.agent)).toEqual(['sent: secret'])
    for (const { agent } of [other, restarted, same]) await agent.destroy()
  })

  it('[REL-171] is not shown once a listener has signed the user out', async () => {
    const { clock, open, crash, load } = setUpPages()
    const left = await crash((await open()).agent, { one: 'secret', two: 'too' }, true)
    const { agent, updates } = load({}, left)
    const signedOut = new Promise<void>(resolve => {
      agent.once('deliveryUpdate', () => resolve(agent.logout()))
    })
    await passing(clock, Promise.allSettled([agent.initialize(), signedOut]))
    expect([linesOf(agent), agent.getQueueSize(), agent.delivery('two')]).toEqual([[], 0, undefined])
    expect(updates.map(({ id, reason }) => `${id}: ${reason}`)).toEqual(['one: page_ended', 'two: session_ended'])
    await agent.destroy()
  })
})
