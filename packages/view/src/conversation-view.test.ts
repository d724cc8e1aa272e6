import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../client/test/agent-harness.ts'
import { watchRejections } from '../../client/test/watch-rejections.ts'
import { lastOf, linesOf, say, setUpView, viewPlatform } from '../test/view-harness.ts'
import type { ConversationMessage } from './conversation-message.ts'
import { createConversationView } from './conversation-view.ts'
import { exportConversation } from './export-conversation.ts'

const QUESTION = {
  content: 'Shall I go on?',
  role: 'follow up question agent',
  messageData: { options: ['Yes', 'No'] },
}

const SOURCES = [
  { title: 'Manual', url: 'https://docs.example.test/manual' },
  { title: 'A trap', url: 'javascript:alert(1)' },
  { url: 'https://docs.example.test/other' },
  'nonsense',
]

/** A service that answers with sources, options or a hand-over, by the text of the question. */
const reply = ({ text }: { text: string }) => {
  if (text === 'ask me') return QUESTION
  if (text === 'sources') return { content: 'See there.', messageData: { sources: SOURCES } as never }
  if (text === 'human')
    return {
      content: 'A colleague takes over.',
      messageData: {
        escalation: true,
        escalationData: { live: true, entrypointUrl: 'https://live.example.test/chat' },
      },
    }
  return { content: `You said: ${text}` }
}

describe('the messages of a view', () => {
  it('[VIEW-01] have author, time and content, in order', async () => {
    const { openView, clock } = setUpView()
    const { view } = await openView()
    await say(view, 'hello', 2)
    const { messages } = view.getSnapshot()
    expect(linesOf(messages)).toEqual(['user: hello', 'agent: You said: hello'])
    expect(messages[0]).toMatchObject({ time: clock.now(), delivery: 'sent', authorName: 'customer' })
    expect(messages[1]).toMatchObject({ time: clock.now(), delivery: undefined, canRate: true })
    expect(new Set(messages.map(({ id }) => id)).size).toBe(2)
  })

  it('[VIEW-01] have sources with web addresses only', async () => {
    const { openView } = setUpView({ reply })
    const { view } = await openView()
    await say(view, 'sources', 2)
    expect(lastOf(view).sources).toEqual([
      { title: 'Manual', url: 'https://docs.example.test/manual' },
      { title: 'A trap', url: undefined },
      { title: 'https://docs.example.test/other', url: 'https://docs.example.test/other' },
    ])
  })

  it('[VIEW-01] have the reasoning, the step of a workflow, the expected input, and all further data, frozen', async () => {
    const messageData = {
      reasoning: 'Matched article 12.',
      workflowType: 'preChatWorkflow',
      workflowNodeType: 'question',
      inputType: 'email',
      sources: [{ title: 'Manual' }],
      parcel: { number: 12, stops: [{ town: 'Ulm' }, null] },
      isUrgent: false,
    }
    const { openView } = setUpView({ reply: () => ({ content: 'Your email?', messageData }) })
    const { view, agent } = await openView()
    await say(view, 'hello', 2)
    const { data, ...message } = lastOf(view)
    expect(message).toMatchObject({
      reasoning: 'Matched article 12.',
      workflow: { type: 'preChatWorkflow', nodeType: 'question' },
      input: { type: 'email' },
    })
    const { parcel } = data as { parcel: { stops: object[] } }
    expect(data).toEqual({ parcel: { number: 12, stops: [{ town: 'Ulm' }, null] }, isUrgent: false })
    for (const part of [data, parcel, parcel.stops, parcel.stops[0], message.workflow, message.input])
      expect(Object.isFrozen(part)).toBe(true)
    // The transcript is that of the host: it is not frozen with it.
    expect(agent.getTranscript().at(-1)?.message.messageData?.['parcel']).not.toBe(parcel)
    const [own] = view.getSnapshot().messages
    expect(own).toMatchObject({ reasoning: undefined, workflow: undefined, input: undefined, data: {} })
  })

  it('[VIEW-01] have no data where that is too large, and none of the members that the service leaves empty', async () => {
    const answers = [
      { list: Array.from({ length: 5_001 }, () => 0) },
      { text: 'x'.repeat(100_001) },
      { text: 'x'.repeat(90_000), reasoning: ' ', workflowType: null, inputType: '' },
    ]
    const { openView } = setUpView({ reply: () => ({ content: 'yes', messageData: answers.shift() as never }) })
    const { view } = await openView()
    for (const at of [2, 4, 6]) await say(view, 'hello', at)
    const [large, long, allowed] = view.getSnapshot().messages.filter(({ author }) => author === 'agent')
    expect([large?.data, long?.data]).toEqual([{}, {}])
    expect(Object.keys(allowed?.data ?? {})).toEqual(['text'])
    expect(allowed).toMatchObject({ reasoning: undefined, workflow: undefined, input: undefined })
  })

  it('[VIEW-01] [VIEW-02] offer options until the next message of the user, and show which was taken', async () => {
    const { openView, emulator, session } = setUpView({ reply })
    const { view } = await openView()
    await say(view, 'ask me', 2)
    const question = lastOf(view)
    expect(question).toMatchObject({ options: ['Yes', 'No'], canChoose: true, chosenOption: undefined })
    expect(await rejection(view.choose(question.id, 'Maybe'))).toMatchObject({ reason: 'invalid' })
    await view.choose(question.id, 'Yes')
    expect(await rejection(view.choose(question.id, 'Yes'))).toMatchObject({ reason: 'invalid' })
    await eventually(() => view.getSnapshot().messages.length === 4)
    expect(view.getSnapshot().messages[1]).toMatchObject({ canChoose: false, chosenOption: 'Yes' })
    expect(emulator.control.frames(session()).map(({ message }) => message?.content)).toEqual(['ask me', 'Yes'])
    await say(view, 'ask me', 6)
    await say(view, 'something else', 8)
    expect(view.getSnapshot().messages[5]).toMatchObject({ canChoose: false, chosenOption: undefined })
  })

  it('[VIEW-01] offer options again when the message that took one is taken back', async () => {
    const { openView, emulator, clock, session } = setUpView({ reply })
    const { view, agent } = await openView()
    await say(view, 'ask me', 2)
    const question = lastOf(view)
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    const taken = await view.choose(question.id, 'Yes')
    expect(view.getSnapshot().messages[1]).toMatchObject({ canChoose: false, chosenOption: 'Yes' })
    expect(view.cancel(taken)).toBe(true)
    expect(view.getSnapshot().messages[1]).toBe(question)
    expect(lastOf(view)).toMatchObject({ content: 'Yes', delivery: 'cancelled' })
    await view.choose(question.id, 'No')
    await clock.advance(1)
    await eventually(() => lastOf(view).content === 'You said: No')
    expect(view.getSnapshot().messages[1]).toMatchObject({ canChoose: false, chosenOption: 'No' })
    expect(emulator.control.frames(session()).map(({ message }) => message?.content)).toEqual(['ask me', 'No'])
  })

  it('[VIEW-01] keep the rating, and the service receives it', async () => {
    const { openView, emulator, session } = setUpView()
    const { view } = await openView()
    await say(view, 'hello', 2)
    const answer = lastOf(view)
    await view.rate(answer.id, 'up')
    expect(lastOf(view).rating).toBe('up')
    await view.rate(answer.id, 'down')
    expect(lastOf(view).rating).toBe('down')
    const { feedback } = emulator.world.sessions.get(session()) ?? { feedback: [] }
    await eventually(() => feedback.length === 2)
    expect(feedback).toEqual([
      { rating: 'up', answerMessageId: answer.messageId },
      { rating: 'down', answerMessageId: answer.messageId },
    ])
    const question = view.getSnapshot().messages[0]?.id ?? ''
    expect(await rejection(view.rate(question, 'up'))).toMatchObject({ reason: 'invalid' })
  })

  it('[VIEW-01] show a hand-over, each and the last', async () => {
    const { openView } = setUpView({ reply })
    const { view } = await openView()
    expect(view.getSnapshot().escalation).toBeUndefined()
    await say(view, 'human', 2)
    const escalation = { type: 'live', url: 'https://live.example.test/chat', options: [] }
    expect(lastOf(view).escalation).toEqual(escalation)
    expect(view.getSnapshot().escalation).toEqual(escalation)
    await say(view, 'hello', 4)
    expect(view.getSnapshot().escalation).toEqual(escalation)
  })

  it('[VIEW-01] tell where masking replaced text, also for a message that waited for initialize()', async () => {
    const { clock, make } = setUp()
    const { platform } = viewPlatform(clock)
    const { agent } = make({ id: 'billing' })
    const view = createConversationView(agent, { platform })
    await view.send('Card 4111 1111 1111 1111, please')
    expect(lastOf(view)).toMatchObject({ content: 'Card 4111 1111 1111 1111, please', delivery: 'queued' })
    await view.start()
    const [message] = view.getSnapshot().messages
    const { content = '', maskedRanges = [] } = message ?? {}
    expect(content).not.toContain('4111 1111')
    expect(maskedRanges).toHaveLength(1)
    const [range] = maskedRanges
    expect(content.slice(0, range?.start)).toBe('Card ')
    expect(content.slice(range?.end)).toBe(', please')
    await view.send('nothing to hide')
    await eventually(() => view.getSnapshot().messages.some(item => item.content === 'nothing to hide'))
    expect(view.getSnapshot().messages.find(item => item.content === 'nothing to hide')?.maskedRanges).toEqual([])
  })

  it('[VIEW-01] wait visibly until they are sent, and keep their id', async () => {
    const { load, show, clock } = setUpView()
    const { agent } = load()
    const view = show(agent)
    const id = await view.send('early')
    expect(lastOf(view)).toMatchObject({ id, content: 'early', delivery: 'queued' })
    await agent.initialize()
    expect(view.getSnapshot().messages).toHaveLength(1)
    expect(lastOf(view)).toMatchObject({ id, content: 'early', delivery: 'queued' })
    await agent.connect()
    await passing(
      clock,
      eventually(() => view.getSnapshot().messages.length === 2),
    )
    expect(view.getSnapshot().messages[0]).toMatchObject({ id, delivery: 'sent' })
  })

  it('[VIEW-01] go with a cleared transcript and a logout, the draft only with the logout', async () => {
    const { openView, clock } = setUpView()
    const { view, agent } = await openView()
    await say(view, 'hello', 2)
    view.setDraft('half a')
    agent.clearTranscript()
    expect(view.getSnapshot()).toMatchObject({ messages: [], unread: 0, draft: 'half a' })
    await say(view, 'hello', 2)
    await passing(clock, view.restart())
    expect(view.getSnapshot()).toMatchObject({ draft: 'half a' })
    await passing(clock, agent.logout())
    expect(view.getSnapshot()).toMatchObject({ messages: [], draft: '', connection: { state: 'idle' } })
  })

  it('[VIEW-01] follow the bound of the transcript', async () => {
    const { load, show } = setUpView()
    const { agent } = load({ transcriptConfig: { maxEntries: 3 } })
    const view = show(agent)
    await view.start()
    await say(view, 'one', 2)
    for (const text of ['two', 'three']) {
      await view.send(text)
      await eventually(() => lastOf(view).content === `You said: ${text}`)
    }
    expect(linesOf(view.getSnapshot().messages)).toEqual([
      'agent: You said: two',
      'user: three',
      'agent: You said: three',
    ])
    expect(agent.getTranscriptSize()).toBe(3)
  })
})

describe('a view after a reload', () => {
  it('[VIEW-03] is the same: text, sources, options, ratings, hand-over, masked draft', async () => {
    const { openView } = setUpView({ reply })
    const first = await openView()
    const { view } = first
    await say(view, 'sources', 2)
    await view.rate(lastOf(view).id, 'up')
    await say(view, 'ask me', 4)
    await view.choose(lastOf(view).id, 'No')
    await eventually(() => view.getSnapshot().messages.length === 6)
    await say(view, 'human', 8)
    await say(view, 'ask me', 10)
    view.setDraft('half a sentence')
    await turnEventLoop()
    const before = view.getSnapshot()
    await view.destroy()
    await first.agent.destroy()

    const second = await openView()
    await eventually(() => second.view.getSnapshot().draft)
    const after = second.view.getSnapshot()
    const facts = (messages: typeof before.messages) =>
      messages.map(({ id: _id, messageId, author, delivery: _delivery, ...rest }) => ({
        ...rest,
        author,
        ...(author === 'agent' && { messageId }),
      }))
    expect(facts(after.messages)).toEqual(facts(before.messages))
    expect(after.messages.filter(({ author }) => author === 'user').map(({ delivery }) => delivery)).toEqual(
      Array.from({ length: 5 }, () => 'acknowledged'),
    )
    expect(after).toMatchObject({ escalation: before.escalation, draft: 'half a sentence', unread: 0 })
    await second.view.choose(lastOf(second.view).id, 'Yes')
    await second.view.destroy()
    await second.agent.destroy()
  })
})

describe('the facts of a view', () => {
  it('[VIEW-04] name the connection: idle, initializing, connected, reconnecting, closed', async () => {
    const { load, show, clock, emulator } = setUpView()
    const { agent } = load({ baseReconnectDelay: 1_000, maxReconnectDelay: 1_000 })
    const view = show(agent)
    const line = () => view.getSnapshot().connection
    expect(line()).toMatchObject({ state: 'idle', remedy: 'none', retryAt: undefined })
    const starting = view.start()
    expect(line()).toMatchObject({ state: 'initializing', remedy: 'wait' })
    await starting
    expect(line()).toMatchObject({ state: 'connected', remedy: 'none' })
    emulator.control.dropSockets()
    await eventually(() => line().state === 'reconnecting')
    expect(line().remedy).toBe('wait')
    const { retryAt = 0 } = line()
    expect(retryAt).toBeGreaterThan(clock.now())
    expect(retryAt).toBeLessThanOrEqual(clock.now() + 1_000)
    await clock.advance(1_000)
    await eventually(() => line().state === 'connected')
    expect(line().retryAt).toBeUndefined()
    await passing(clock, agent.disconnect())
    expect(line()).toMatchObject({ state: 'closed', remedy: 'retry' })
    await view.retry()
    expect(line().state).toBe('connected')
    await agent.destroy()
    expect(line().state).toBe('closed')
  })

  it('[VIEW-04] name a failed start with what helps, and the next start clears it', async () => {
    const { load, show, emulator } = setUpView()
    emulator.faults.add({ kind: 'answer', route: 'GET */deploymentInfo', status: 503 })
    const view = show(load().agent)
    await rejection(view.start())
    expect(view.getSnapshot()).toMatchObject({
      connection: { state: 'failed', remedy: 'retry' },
      error: { remedy: 'retry', error: { code: 'API_ERROR' } },
      needsLogin: false,
    })
    emulator.faults.lift()
    await view.retry()
    expect(view.getSnapshot()).toMatchObject({ connection: { state: 'connected' }, error: undefined })
  })

  it('[VIEW-04] ask for a login where only that helps, and login() calls the host first', async () => {
    const { make, clock, emulator } = setUp()
    const { platform } = viewPlatform(clock)
    const issue = (lifeSeconds: number) => emulator.control.issueToken({ subject: 'customer', lifeSeconds })
    const { agent } = make({ id: 'account', auth: { type: 'pre-auth', accessToken: issue(200) } })
    const onLogin = () => agent.updateAccessToken(issue(3_600))
    const view = createConversationView(agent, { platform, onLogin })
    await rejection(view.start())
    expect(view.getSnapshot()).toMatchObject({ needsLogin: true, connection: { state: 'failed', remedy: 'login' } })
    await view.login()
    expect(view.getSnapshot()).toMatchObject({
      needsLogin: false,
      connection: { state: 'connected' },
      error: undefined,
    })
  })

  it('[VIEW-04] [ADOPT-10] hold the choice at a gate; select() goes through all gates and connects', async () => {
    const { make, clock, emulator } = setUp()
    const { platform } = viewPlatform(clock)
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const { agent } = make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, cache: { enabled: false } })
    const view = createConversationView(agent, { platform })
    await view.start()
    expect(view.getSnapshot()).toMatchObject({ connection: { state: 'choosing' }, gate: { gate: 'portal' } })
    expect(view.getSnapshot().gate).toBe(view.getSnapshot().gate)
    await view.select({ id: 1101 })
    const { gate } = view.getSnapshot()
    expect(gate).toMatchObject({ gate: 'profile' })
    await view.select(gate?.choices[0] ?? { id: 0 })
    expect(view.getSnapshot()).toMatchObject({ connection: { state: 'connected' }, gate: undefined })
    expect(await rejection(view.select({ id: 1 }))).toMatchObject({
      code: 'NOT_INITIALIZED',
      message: expect.stringContaining('not initialized'),
    })
  })

  it('[VIEW-04] say that the device is offline, and that an open connection is silent', async () => {
    const { openView, setOnline, clock, emulator } = setUpView()
    const { view } = await openView()
    setOnline(false)
    expect(view.getSnapshot().connection.isOffline).toBe(true)
    setOnline(true)
    expect(view.getSnapshot().connection.isOffline).toBe(false)
    emulator.settings.replyDelayMs = 60_000
    await view.send('hello')
    await clock.advance(14_999)
    expect(view.getSnapshot().connection.isSilent).toBe(false)
    await clock.advance(1)
    expect(view.getSnapshot().connection.isSilent).toBe(true)
    await clock.advance(45_000)
    expect(view.getSnapshot()).toMatchObject({ connection: { isSilent: false }, messages: { length: 2 } })
  })

  it('[VIEW-04] count unread messages of the agent until they are marked as read', async () => {
    const { openView, emulator, session } = setUpView()
    const { view } = await openView()
    await say(view, 'hello', 2)
    emulator.control.pushFrame(session(), {
      persona: 'agent',
      role: 'customer support agent',
      content: 'One more thing.',
    })
    await eventually(() => view.getSnapshot().unread === 2)
    view.markRead()
    expect(view.getSnapshot().unread).toBe(0)
  })

  it('[VIEW-04] show the error of an action, and not one that was aborted', async () => {
    const { load, show, openView, emulator, session } = setUpView()
    const full = show(load({ maxQueueSize: 1 }).agent)
    full.setDraft('two')
    await full.send('one')
    await rejection(full.send())
    expect(full.getSnapshot()).toMatchObject({
      error: { remedy: 'wait', error: { reason: 'queue_full' } },
      draft: 'two',
    })
    expect(linesOf(full.getSnapshot().messages)).toEqual(['user: one'])
    const { view, agent } = await openView()
    emulator.control.pushFrame(session(), { persona: 'metadata', role: 'error', content: 'The agent is tired.' })
    await eventually(() => view.getSnapshot().error)
    expect(view.getSnapshot().error).toMatchObject({ message: 'The agent is tired.', remedy: 'none' })
    await agent.destroy()
    await rejection(view.send('hello'))
    expect(view.getSnapshot().error).toBeUndefined()
    // Nothing helps but another agent.
    expect(view.getSnapshot().connection).toMatchObject({ state: 'closed', remedy: 'none' })
  })

  it('[VIEW-04] export the conversation', async () => {
    const { openView, clock } = setUpView({ reply })
    const { view } = await openView()
    await say(view, 'sources', 2)
    const time = new Date(clock.now()).toISOString().slice(0, 19).replace('T', ' ')
    expect((await view.export('text')).split('\n').slice(0, 2)).toEqual([`You (${time} UTC):`, 'sources'])
    expect(await view.export('text')).toContain('- Manual: https://docs.example.test/manual')
    expect(await view.export('markdown')).toContain('- [Manual](https://docs.example.test/manual)')
    const { messages } = view.getSnapshot()
    expect(JSON.parse(await view.export('json'))).toEqual(
      JSON.parse(JSON.stringify(messages.map(message => ({ ...message, sessionId: undefined })))),
    )
  })

  it('[VIEW-52] export the conversation without the id of its session', async () => {
    const { openView, session, emulator } = setUpView({ reply })
    const { view } = await openView()
    await say(view, 'sources', 2)
    emulator.control.say(session(), { content: 'Hi', messageData: { preview: { sessionId: session() } } })
    await eventually(() => view.getSnapshot().messages.length === 3)
    expect(view.getSnapshot().messages[0]?.sessionId).toBe(session())
    for (const format of ['json', 'text', 'markdown'] as const)
      expect(await view.export(format)).not.toContain(session())
  })

  it.each(['\n', '\r', '\u2028', '\u0085', '\v'])(
    '[VIEW-53] export no text of others as a line of the user, after %j',
    async end => {
      const { openView, session, emulator } = setUpView({ reply: () => [] })
      const { view } = await openView()
      await view.send('mine')
      const heads = ['You (2026-11-28 13:00:00 UTC):', '**You** (2026-11-28 13:00:00 UTC)']
      const forged = heads.map(head => `${end}${end}${head}${end}I agree.`).join('')
      emulator.control.pushFrame(session(), {
        persona: 'agent',
        role: 'customer support agent',
        content: `Hello${forged}`,
        messageData: { sources: [{ title: `Manual${forged}`, url: 'https://docs.example.test/' }, { title: forged }] },
      })
      await eventually(() => view.getSnapshot().messages.length === 2)
      const lines = async (format: 'text' | 'markdown') =>
        (await view.export(format)).split(/[\n\r\v\u0085\u2028\u2029]/)
      expect((await lines('text')).filter(line => line.startsWith('You'))).toHaveLength(1)
      expect((await lines('markdown')).filter(line => /^\**You/.test(line))).toHaveLength(1)
      const others = (await lines('text')).slice(3)
      expect(others[0]).toMatch(/^Assistant – /)
      expect(others.slice(1).every(line => line === '' || line.startsWith('  '))).toBe(true)
      expect((await lines('markdown')).slice(6).every(line => line.startsWith('>'))).toBe(true)
      const [, answer] = view.getSnapshot().messages
      const named = {
        ...answer,
        author: 'colleague',
        authorName: `You (2026-11-28 13:00:00 UTC): I agree${forged}`,
      } as const
      for (const format of ['text', 'markdown'] as const)
        expect(exportConversation([named as ConversationMessage], format)).not.toMatch(/^\**You/m)
    },
  )

  /** What an export is about: a text of the user, an answer, and a chat with a colleague. */
  const exportable = (() => {
    const at = (author: 'user' | 'agent' | 'colleague', content: string, more: object = {}) =>
      ({
        author,
        authorName: undefined,
        mark: undefined,
        time: Date.UTC(2026, 6, 1, 22, 30),
        content,
        sources: [],
        ...more,
      }) as never
    return [
      at('user', '2. *wichtig* [x]\n# eins'),
      at('agent', 'Das ist **fett**.', { authorName: 'Hilfe', sources: [{ title: 'Handbuch', url: undefined }] }),
      at('colleague', '', { mark: 'desk_opened' }),
      at('colleague', '', { mark: 'desk_opened', authorName: 'Anna' }),
      at('colleague', 'Hallo', { authorName: 'Anna' }),
      at('colleague', '', { mark: 'desk_closed', authorName: 'Anna' }),
      at('colleague', '', { mark: 'desk_closed' }),
    ] as readonly ConversationMessage[]
  })()

  it('[VIEW-70] export the conversation in German, with the time and the name of the zone', () => {
    const labels = {
      you: 'Sie',
      agent: 'Assistenz',
      colleague: 'Unser Team',
      sources: 'Quellen',
      deskOpened: 'Die Assistenz hat übergeben.',
      deskJoined: (name: string) => `${name} ist jetzt dabei`,
      deskClosed: 'Der Mensch hat den Chat verlassen.',
      deskEnded: 'Der Chat ist beendet.',
    }
    const options = { labels, timeZone: 'Europe/Berlin', toText: (text: string) => text.replaceAll('*', '') }
    const at = '2026-07-02 00:30:00 Europe/Berlin'
    expect(exportConversation(exportable, 'text', options).split('\n')).toEqual([
      `Sie (${at}):`,
      '2. *wichtig* [x]',
      '# eins',
      '',
      `Assistenz – Hilfe (${at}):`,
      '  Das ist fett.',
      '  Quellen:',
      '  - Handbuch',
      '',
      `[Die Assistenz hat übergeben.] (${at})`,
      '',
      `[Anna ist jetzt dabei] (${at})`,
      '',
      `Unser Team – Anna (${at}):`,
      '  Hallo',
      '',
      `[Der Mensch hat den Chat verlassen.] (${at})`,
      '',
      `[Der Chat ist beendet.] (${at})`,
    ])
    // Marks of Markdown are those of the agent, and what the user has written stays text.
    expect(exportConversation(exportable, 'markdown', options)).toContain(
      `**Sie** (${at})\n\n2\\. \\*wichtig\\* \\[x\\]\n\\# eins\n\n**Assistenz – Hilfe** (${at})\n\n> Das ist **fett**.`,
    )
  })

  it('[VIEW-70] export the conversation in Arabic', () => {
    const labels = {
      you: 'أنت',
      agent: 'المساعد',
      sources: 'المصادر',
      deskJoined: (name: string) => `انضم ${name} إلى المحادثة`,
    }
    const at = '2026-07-02 01:30:00 Asia/Riyadh'
    const text = exportConversation(exportable, 'text', { labels, timeZone: 'Asia/Riyadh' })
    expect(text.split('\n')[0]).toBe(`أنت (${at}):`)
    expect(text).toContain(`\nالمساعد – Hilfe (${at}):\n  Das ist **fett**.\n  المصادر:\n  - Handbuch`)
    expect(text).toContain(`[انضم Anna إلى المحادثة] (${at})`)
    // Words that the caller has not given are English.
    expect(text).toContain('Colleague – Anna')
  })

  it('[VIEW-70] export in UTC without a time zone, and in no unknown one', async () => {
    expect(exportConversation(exportable, 'text')).toContain('You (2026-07-01 22:30:00 UTC):')
    const { openView } = setUpView({ reply })
    const { view } = await openView()
    await say(view, 'sources', 2)
    expect(await rejection(view.export('text', { timeZone: 'Mars/Olympus' }))).toBeInstanceOf(RangeError)
    expect(await view.export('text', { timeZone: 'Asia/Tokyo' })).toContain('Asia/Tokyo):\nsources')
  })
})

it('[REL-280] start() that nobody awaits leaves no unhandled rejection when the agent is destroyed', async () => {
  const unhandled = watchRejections()
  const { make, clock } = setUp()
  const { agent } = make()
  const view = createConversationView(agent, { platform: viewPlatform(clock).platform })
  void view.start()
  const failure = rejection(view.start())
  await agent.destroy()
  expect(await failure).toMatchObject({ code: 'ABORTED' })
  await turnEventLoop()
  expect(unhandled).toEqual([])
})
