import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, payloadsOf } from '../../client/test/agent-harness.ts'
import { ASK, handingOver, ScriptedDesk } from '../test/scripted-desk.ts'
import { linesOf, say, setUpView } from '../test/view-harness.ts'
import type { ConversationView } from './conversation-snapshot.ts'
import { createConversationView } from './conversation-view.ts'

type Options = Parameters<typeof setUpView>[0]

function setUpForgetful(options: Options = {}) {
  const parts = setUpView(options)
  const { emulator, clock, session } = parts
  const page = async (more: Parameters<typeof parts.show>[1] = {}, id?: string) => {
    const { agent, told } = parts.load(id === undefined ? {} : { id })
    const view = parts.show(agent, more)
    await view.start()
    const leave = async () => {
      await turnEventLoop()
      await view.destroy()
      await agent.destroy()
    }
    return { agent, told, view, leave }
  }
  /** The service forgets the session, and the chat opens in another one. */
  const forget = async ({ agent }: Awaited<ReturnType<typeof page>>) => {
    const before = session()
    emulator.faults.add({ kind: 'forget-session', sessionId: before })
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await clock.advance(10)
    await eventually(() => agent.isConnected() && session() !== before, 'another session')
    await turnEventLoop()
  }
  return { ...parts, page, forget }
}

const deliveries = (view: ConversationView) =>
  view
    .getSnapshot()
    .messages.flatMap(({ author, content, delivery }) => (author === 'user' ? [`${content}: ${delivery}`] : []))
/** Content of the last message above the beginning of the session. */
const above = (view: ConversationView) => {
  const { messages, newSession } = view.getSnapshot()
  return newSession && messages.find(({ id }) => id === newSession.after)?.content
}

describe('a conversation whose session the service has forgotten', () => {
  it('[VIEW-75] leaves no doubt about the first message before an answer, and keeps it for further ones', async () => {
    const { page, forget, emulator, session } = setUpForgetful({ reply: () => [] })
    const opened = await page()
    const { view, agent, told } = opened
    const ids = [await view.send('one'), await view.send('two')]
    await eventually(() => emulator.world.sessions.get(session())?.history.entries().length === 2)
    emulator.control.say(session(), { content: 'An answer.' })
    await eventually(() => view.getSnapshot().messages.length === 3)
    await view.send('three')
    const [first, second] = view.getSnapshot().messages
    await forget(opened)
    expect(deliveries(view)).toEqual(['one: sent', 'two: unknown', 'three: unknown'])
    expect(view.getSnapshot().messages[0]).toEqual(first)
    expect(view.getSnapshot().messages[0]).toBe(view.getSnapshot().messages[0])
    expect(second?.delivery).toBe('sent')
    // What the next session says does not answer it.
    emulator.control.say(session(), { content: 'How can I help?' })
    await eventually(() => view.getSnapshot().messages.length === 5)
    expect(deliveries(view)).toEqual(['one: sent', 'two: unknown', 'three: unknown'])
    // The ledger is as it was.
    expect(ids.map(id => agent.delivery(id)?.state)).toEqual(['unknown', 'unknown'])
    expect(payloadsOf(told, 'deliveryUpdate').map(({ state }) => state)).not.toContain('acknowledged')
    await view.retry(ids[0])
    await eventually(() => emulator.world.sessions.get(session())?.history.entries().at(-1)?.content === 'one')
    await opened.leave()
  })

  it('[VIEW-77] says once where the next session begins, above what waits for it, until it is cleared', async () => {
    const { page, forget, emulator, clock, session } = setUpForgetful()
    const opened = await page()
    const { view, agent } = opened
    expect(view.getSnapshot().newSession).toBeUndefined()
    await say(view, 'hello', 2)
    const before = session()
    emulator.faults.add({ kind: 'forget-session', sessionId: before })
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await view.send('in the outage')
    expect(view.getSnapshot().newSession).toBeUndefined()
    await passing(
      clock,
      eventually(() => view.getSnapshot().messages.length === 4),
    )
    expect(above(view)).toBe('You said: hello')
    expect(view.getSnapshot().newSession?.hasExpired).toBe(false)
    const { newSession } = view.getSnapshot()
    await say(view, 'again', 6)
    expect(view.getSnapshot().newSession).toBe(newSession)
    // Another view of the agent, as after a chat was removed and added.
    const second = createConversationView(agent)
    expect(second.getSnapshot().newSession?.hasExpired).toBe(false)
    await second.destroy()
    await forget(opened)
    expect(above(view)).toBe('You said: again')
    await passing(clock, view.restart())
    expect(above(view)).toBe('You said: again')
    agent.clearTranscript()
    expect(view.getSnapshot().newSession).toBeUndefined()
    await say(view, 'once more', 2)
    expect(view.getSnapshot().newSession).toBeUndefined()
    await opened.leave()
  })

  it('[VIEW-77] says so after a conversation that has ended is continued', async () => {
    const { page, emulator, session, clock } = setUpForgetful()
    const opened = await page()
    const { view, agent } = opened
    await say(view, 'hello', 2)
    emulator.control.endSession(session())
    emulator.control.dropSockets(1000)
    await eventually(() => view.getSnapshot().connection.state === 'closed')
    await view.retry().catch(() => view.retry())
    await eventually(() => agent.isConnected())
    expect(above(view)).toBe('You said: hello')
    await passing(clock, agent.logout())
    expect(view.getSnapshot().newSession).toBeUndefined()
    await opened.leave()
  })

  it('[VIEW-76] says after a reload that it has expired, keeps the draft, and resets the rest', async () => {
    const { page, emulator, session, sessionStorage } = setUpForgetful()
    const first = await page({ keepsUnread: true })
    await say(first.view, 'hello', 2)
    first.view.markRead()
    first.view.setDraft('half a sentence')
    await first.leave()
    emulator.faults.add({ kind: 'forget-session', sessionId: session() })

    const second = await page({ keepsUnread: true })
    const { view } = second
    await eventually(() => view.getSnapshot().draft === 'half a sentence')
    expect(view.getSnapshot()).toMatchObject({
      messages: [],
      newSession: { after: undefined, hasExpired: true },
      error: undefined,
    })
    // Its first message has the id of the last one that was read.
    emulator.control.say(session(), { content: 'Welcome.' })
    await eventually(() => view.getSnapshot().messages.length === 1)
    expect(view.getSnapshot()).toMatchObject({ unread: 1, newSession: { after: undefined } })
    await second.leave()
    expect([...sessionStorage.items].join()).not.toMatch(/hello|expired/i)

    const third = await page()
    expect(third.view.getSnapshot()).toMatchObject({ messages: [{ content: 'Welcome.' }], newSession: undefined })
    await third.leave()
  })

  it('[VIEW-76] still shows what was stored of a chat with a colleague, above the next session, and to the same user only', async () => {
    const { page, emulator, session, clock } = setUpForgetful({ reply: handingOver })
    const desk = new ScriptedDesk()
    const options = { escalate: desk.escalate }
    const first = await page(options)
    await first.view.send(ASK)
    await eventually(() => first.view.getSnapshot().desk, 'a desk')
    desk.say('Good day.')
    await eventually(() => linesOf(first.view.getSnapshot().messages).includes('colleague: Good day.'))
    desk.leave()
    await eventually(() => !first.view.getSnapshot().desk)
    await first.leave()
    emulator.faults.add({ kind: 'forget-session', sessionId: session() })

    await clock.advance(1_000)
    const second = await page(options)
    const marks = ['colleague: ', 'colleague: Good day.', 'colleague: ']
    await eventually(() => second.view.getSnapshot().messages.length === 3)
    expect(linesOf(second.view.getSnapshot().messages)).toEqual(marks)
    await say(second.view, 'hello', 5)
    const { messages, newSession } = second.view.getSnapshot()
    expect(linesOf(messages).slice(0, 3)).toEqual(marks)
    expect(newSession).toEqual({ after: messages[2]?.id, hasExpired: true })
    await passing(clock, second.agent.logout())
    expect(second.view.getSnapshot()).toMatchObject({ messages: [], newSession: undefined })
    await second.view.start()
    await turnEventLoop()
    expect(second.view.getSnapshot()).toMatchObject({ messages: [], newSession: undefined })
    await second.leave()
  })
})
