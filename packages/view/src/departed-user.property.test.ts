import { type AiAgent, preload } from '@aiagent/client'
import { eventually, propertyRuns, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { passing, rejection, sentTo } from '../../client/test/agent-harness.ts'
import { HostStore } from '../../client/test/host-store.ts'
import { ASK, handingOver, ScriptedDesk } from '../test/scripted-desk.ts'
import { lastOf, say, setUpView } from '../test/view-harness.ts'
import type { ConversationView } from './conversation-snapshot.ts'

// Loaded before the clock is moved: loading a module takes real time.
await preload({ resume: true, persistQueue: true })

const CODE = {
  './desk.ts': await import('./desk.ts'),
  './export-conversation.ts': await import('./export-conversation.ts'),
}

/** Waits for the code that a view loads, in real time. */
const code = () => Promise.all([import('./desk.ts'), import('./export-conversation.ts')])

const PRIVATE = 'My secret'
const OPTION = 'A private option'

const reply = (message: { text: string }) =>
  message.text === 'ask'
    ? { content: 'Which?', role: 'follow up question agent', messageData: { options: [OPTION] } }
    : handingOver(message)

/** Actions of a view, with ids of the messages of the user who begins them. */
const ACTIONS: Record<
  string,
  (view: ConversationView, ids: Readonly<Record<'answer' | 'question' | 'own' | 'handOver', string>>) => unknown
> = {
  send: view => view.send(PRIVATE),
  choose: (view, { question }) => view.choose(question, OPTION),
  retry: (view, { own }) => view.retry(own),
  export: view => view.export('text'),
  rate: (view, { answer }) => view.rate(answer, 'down'),
  login: view => view.login(),
  openDesk: (view, { handOver }) => view.openDesk(handOver),
}

/** How a user leaves. Each one resolves when the agent is free for the next user. */
const DEPARTURES: Record<string, (agent: AiAgent, token: string) => Promise<unknown>> = {
  logout: async (agent, token) => {
    await agent.logout()
    await agent.updateAccessToken(token)
  },
  'another token': (agent, token) => agent.updateAccessToken(token),
}

afterEach(() => {
  vi.doUnmock('./desk.ts')
  vi.doUnmock('./export-conversation.ts')
})

function setUp() {
  const parts = setUpView({ reply })
  const store = new HostStore()
  let release = () => {}
  const late = new Promise<void>(resolve => {
    release = resolve
  })
  const issue = (subject: string) => parts.emulator.control.issueToken({ subject, lifeSeconds: 3_600 })
  const { agent } = parts.load({
    id: 'account',
    auth: { type: 'pre-auth', accessToken: issue('customer') },
    persistQueue: true,
    cache: { adapter: store, contextPrefix: 'tab:' },
  })
  return { ...parts, store, late, release, issue, agent }
}

describe('an action of a user who has left', () => {
  it('[SEC-100] rejects, and has no effect for the next user, whatever settles late', {
    timeout: 120_000,
  }, async () => {
    const scene = fc.record({
      action: fc.constantFrom(...Object.keys(ACTIONS)),
      departure: fc.constantFrom(...Object.keys(DEPARTURES)),
      withDesk: fc.boolean(),
      slowStore: fc.boolean(),
      settles: fc.constantFrom('while leaving', 'when the next user is connected'),
    })
    const play = async ({
      action,
      departure,
      withDesk,
      slowStore,
      settles,
    }: {
      action: string
      departure: string
      withDesk: boolean
      slowStore: boolean
      settles: string
    }) => {
      const { agent, show, store, late, release, issue, clock, emulator } = setUp()
      for (const [name, code] of Object.entries(CODE))
        vi.doMock(name, async () => {
          await late
          return code
        })
      const desk = new ScriptedDesk()
      const talking = show(agent)
      const view = show(agent, { onLogin: () => late, ...(withDesk && { escalate: desk.escalate }) })
      await view.start()
      const own = await agent.send('hello')
      await say(talking, ASK, 4)
      await say(talking, 'ask', 6)
      const messages = view.getSnapshot().messages
      const ids = {
        own,
        question: lastOf(view).id,
        answer: messages.find(({ canRate }) => canRate)?.id ?? '',
        handOver: messages.find(({ escalation }) => escalation)?.id ?? '',
      }
      await eventually(() => view.getSnapshot().messages.at(-1)?.canChoose)
      const sessions = emulator.world.sessions.size
      const unhold = slowStore ? store.hold() : () => {}
      const begun = Promise.resolve(ACTIONS[action]?.(view, ids)).then(
        () => undefined,
        each => each,
      )
      const left = DEPARTURES[departure]?.(agent, issue('new-customer')) as Promise<unknown>
      if (settles === 'while leaving') release()
      unhold()
      await passing(clock, left)
      if (settles === 'while leaving') await code()
      await passing(clock, talking.start())
      view.setDraft(PRIVATE)
      release()
      await code()
      // A change of the user does not end a login, which may have made it.
      const survives = action === 'login' && departure === 'another token'
      const error = await passing(clock, begun)
      for (let turn = 0; turn < 10; turn++) await turnEventLoop()
      if (survives) expect(error).toBeUndefined()
      else expect(error).toMatchObject({ code: 'ABORTED' })
      expect(view.getSnapshot()).toMatchObject({ messages: [], error: undefined, draft: PRIVATE, needsLogin: false })
      const ofNext = [...emulator.world.sessions.keys()].slice(sessions)
      expect(ofNext).not.toEqual([])
      expect(ofNext.flatMap(each => sentTo(emulator, each)).filter(each => each !== 'token')).toEqual([])
      await view.destroy()
      await talking.destroy()
      await passing(clock, agent.destroy())
    }
    await fc.assert(fc.asyncProperty(scene, play), { numRuns: propertyRuns(40), endOnFailure: true })
  })

  it('[SEC-100] shows no error of a login that a logout has ended, though the host never answers', async () => {
    const { agent, show, issue, clock } = setUp()
    const view = show(agent, { onLogin: () => new Promise(() => {}) })
    await view.start()
    const begun = rejection(view.login())
    await passing(clock, agent.logout())
    expect(await begun).toMatchObject({ code: 'ABORTED' })
    await agent.updateAccessToken(issue('new-customer'))
    await passing(clock, view.start())
    await passing(clock, view.leave())
    expect(view.getSnapshot()).toMatchObject({ needsLogin: false, error: undefined })
    await agent.destroy()
  })

  it.each([true, false])('[SEC-100] lets a login sign in another user, awaited by the host: %s', async isAwaited => {
    const { agent, show, issue, clock, emulator } = setUp()
    const view = show(agent, {
      onLogin: () => {
        const changed = agent.updateAccessToken(issue('new-customer'))
        return isAwaited ? changed : undefined
      },
    })
    await view.start()
    await say(view, 'hello', 2)
    await passing(clock, view.login())
    expect(view.getSnapshot()).toMatchObject({ messages: [], needsLogin: false, connection: { state: 'connected' } })
    expect(emulator.world.sessions.size).toBe(2)
    await agent.destroy()
  })

  it.each(['ready', 'failed'])('[SEC-100] lets a login of a %s agent sign in another user', async state => {
    const { load, show, issue, clock, emulator } = setUp()
    let token = issue('customer')
    const { agent } = load({ id: 'account', auth: { getToken: async () => token } })
    const view = show(agent)
    if (state === 'failed') {
      await agent.getAccessToken()
      emulator.faults.add({ kind: 'answer', route: 'GET */deploymentInfo', status: 503 })
      await rejection(view.start())
      emulator.faults.lift()
    } else await view.start()
    await clock.advance(4_000_000)
    token = issue('new-customer')
    await passing(clock, view.login())
    expect(view.getSnapshot()).toMatchObject({ needsLogin: false, connection: { state: 'connected' } })
    await agent.destroy()
  })

  it('[SEC-100] lets the action of a visitor continue who signs in', async () => {
    const { show, make, late, release, issue, clock, emulator } = setUp()
    const { agent } = make({ id: 'help' })
    vi.doMock('./desk.ts', () => late.then(() => CODE['./desk.ts']))
    const view = show(agent, { escalate: new ScriptedDesk().escalate })
    await view.start()
    const sent = view.send('hello')
    await agent.updateAccessToken(issue('customer'))
    release()
    await code()
    await passing(clock, sent)
    await eventually(() => view.getSnapshot().messages.length === 2)
    expect(sentTo(emulator)).toContain('hello')
    await view.destroy()
    await agent.destroy()
  })
})
