import { eventually, turnEventLoop } from '@aiagent/test-support'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ask, chunksOf, open } from '../test/open-conversation.ts'
import { createChatTransport, toChatMessage } from './ai-sdk.ts'
import { type Activity, createDirectLine, type DirectLineLike, type PostedActivity } from './direct-line.ts'

const typesOf = async (stream: Parameters<typeof chunksOf>[0]) => (await chunksOf(stream)).map(({ type }) => type)

describe('a stream of the chat transport', () => {
  it('[VIEW-34] ends with `abort` when the user leaves, the transcript is cleared or the transport is closed', async () => {
    for (const end of ['logout', 'clear', 'close'] as const) {
      const { agent, emulator, close } = await open()
      emulator.settings.replyDelayMs = 60_000
      const transport = createChatTransport(agent)
      const stream = await transport.sendMessages(ask('one'))
      if (end === 'logout') await agent.logout()
      else if (end === 'clear') agent.clearTranscript()
      else transport.close()
      expect(await typesOf(stream)).toEqual(['start', 'abort'])
      transport.close()
      await expect(transport.sendMessages(ask('two'))).rejects.toThrow('closed')
      await close()
    }
  })

  it('[VIEW-34] ends with an error when the chat is closed or restarted', async () => {
    for (const end of ['disconnect', 'restartConnection', 'destroy'] as const) {
      const { agent, emulator, close } = await open()
      emulator.settings.replyDelayMs = 60_000
      const transport = createChatTransport(agent)
      const stream = await transport.sendMessages(ask('one'))
      await agent[end]()
      expect((await chunksOf(stream)).at(-1)).toEqual({ type: 'error', errorText: 'The chat has ended.' })
      transport.close()
      await close()
    }
  })

  it('[VIEW-34] ends with an error when the service reports one', async () => {
    const { agent, emulator, session, close } = await open()
    emulator.settings.replyDelayMs = 60_000
    const transport = createChatTransport(agent)
    const stream = await transport.sendMessages(ask('one'))
    emulator.control.pushFrame(session(), { persona: 'metadata', role: 'error', content: 'The agent is tired.' })
    expect(await chunksOf(stream)).toEqual([{ type: 'start' }, { type: 'error', errorText: 'The agent is tired.' }])
    transport.close()
    await close()
  })

  it('[VIEW-34] ends when its message is taken back, or is dropped before it was sent', async () => {
    const { agent, emulator, view, close } = await open({ baseReconnectDelay: 60_000, maxReconnectDelay: 60_000 })
    const lost = new Promise(resolve => agent.once('closed', resolve))
    emulator.control.dropSockets()
    await lost
    const transport = createChatTransport(agent)
    const withdrawn = await transport.sendMessages(ask('one'))
    view.cancel(view.getSnapshot().messages[0]?.id ?? '')
    expect(await typesOf(withdrawn)).toEqual(['start', 'abort'])
    const dropped = await transport.sendMessages(ask('two'))
    agent.clearQueue()
    expect(await typesOf(dropped)).toEqual(['start', 'error'])
    transport.close()
    await close()
  })

  it('[VIEW-34] ends when another message is sent, which gets both answers', async () => {
    const { agent, emulator, view, close } = await open()
    emulator.settings.replyDelayMs = 200
    const transport = createChatTransport(agent, { quietMs: 1_000 })
    const first = await transport.sendMessages(ask('one'))
    const second = await transport.sendMessages(ask('two'))
    expect(await typesOf(first)).toEqual(['start', 'finish'])
    expect((await typesOf(second)).filter(type => type === 'text-delta')).toHaveLength(2)
    expect(view.getSnapshot().messages.filter(({ author }) => author === 'user')).toHaveLength(2)
    transport.close()
    await close()
  })

  it('[VIEW-34] that its reader has cancelled leaves the answer to `onUnasked`, also if that throws', async () => {
    const { agent, close } = await open({ enableLogging: false })
    const unasked: string[] = []
    const transport = createChatTransport(agent, {
      quietMs: 20,
      onUnasked: ({ content }) => {
        unasked.push(content)
        throw new Error('A bug of the host.')
      },
    })
    const stream = await transport.sendMessages(ask('options'))
    await stream.cancel()
    await eventually(() => unasked.length === 2)
    expect(unasked).toEqual(['One moment.', 'Which one?'])
    expect(await typesOf(await transport.sendMessages(ask('again')))).toContain('text-delta')
    transport.close()
    await close()
  })

  it('[VIEW-34] has what was answered during an outage, and a message of the user in another stream', async () => {
    const { agent, emulator, session, close } = await open()
    emulator.settings.replyDelayMs = 60_000
    const transport = createChatTransport(agent, { quietMs: 30 })
    const stream = await transport.sendMessages(ask('one'))
    const lost = new Promise(resolve => agent.once('closed', resolve))
    emulator.control.dropSockets()
    await lost
    emulator.control.say(session(), { content: 'Here is the answer' })
    expect(await chunksOf(stream)).toContainEqual(expect.objectContaining({ delta: 'Here is the answer' }))
    transport.close()
    await close()
  })

  it('[VIEW-34] is refused for a message that would replace another', async () => {
    const { agent, close } = await open()
    const transport = createChatTransport(agent)
    await expect(transport.sendMessages({ ...ask('x'), messageId: 'm-1' })).rejects.toMatchObject({
      code: 'not_supported',
    })
    transport.close()
    await close()
  })

  it('[VIEW-34] is not needed for messages from before a reload: they are not unasked, and toChatMessage() converts them', async () => {
    const sessionStorage = tabStorage()
    const before = await open({ resume: true }, { sessionStorage })
    await before.view.send('options')
    await eventually(() => before.view.getSnapshot().messages.length === 3)
    await before.view.destroy()
    await before.agent.destroy()

    const { emulator } = before
    const { agent, view, close } = await open({ resume: true }, { sessionStorage }, emulator, false)
    const unasked: string[] = []
    const transport = createChatTransport(agent, { onUnasked: ({ content }) => unasked.push(content) })
    await view.start()
    await eventually(() => view.getSnapshot().messages.length === 3)
    await turnEventLoop()
    expect(unasked).toEqual([])
    const [question, , answer] = view.getSnapshot().messages.map(toChatMessage)
    expect(question).toMatchObject({ role: 'user', parts: [{ type: 'text', text: 'options' }] })
    expect(answer).toMatchObject({ role: 'assistant', metadata: { canChoose: true } })
    expect(answer?.parts.map(({ type }) => type)).toEqual(['text', 'data-options', 'data-message'])
    transport.close()
    await close()
  })
})

/** The session storage of a tab. */
function tabStorage() {
  const items = new Map<string, string>()
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
    key: (index: number) => [...items.keys()][index] ?? null,
    get length() {
      return items.size
    },
    clear: () => items.clear(),
  }
}

/** Posts an activity, and resolves with its id. */
const post = (directLine: DirectLineLike, activity: PostedActivity) =>
  new Promise<string>((next, error) => directLine.postActivity(activity).subscribe({ next, error }))

const message = (text: string): PostedActivity => ({
  type: 'message',
  text,
  channelData: { clientActivityID: `mine-${text}` },
})

describe('the DirectLine object', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('[VIEW-35] reports a message as sent when it has left, and one that is withdrawn or lost with the user as failed', async () => {
    const { agent, view, emulator, close } = await open({ baseReconnectDelay: 60_000, maxReconnectDelay: 60_000 })
    const directLine = createDirectLine(view)
    const shown: Activity[] = []
    directLine.activity$.subscribe(activity => shown.push(activity))
    await post(directLine, message('one'))
    const lost = new Promise(resolve => agent.once('closed', resolve))
    emulator.control.dropSockets()
    await lost
    const outcomes: string[] = []
    const watch = (text: string) =>
      post(directLine, message(text)).then(
        () => outcomes.push(`${text} sent`),
        () => outcomes.push(`${text} failed`),
      )
    const [withdrawn, kept] = [watch('withdrawn'), watch('kept')]
    await eventually(() => shown.filter(({ text }) => text === 'kept').length)
    await turnEventLoop()
    expect(outcomes).toEqual([])
    expect(shown.findLast(({ text }) => text === 'kept')?.channelData).toMatchObject({
      'webchat:send-status': 'sending',
      clientActivityID: 'mine-kept',
    })
    view.cancel(view.getSnapshot().messages.find(({ content }) => content === 'withdrawn')?.id ?? '')
    await withdrawn
    await agent.logout()
    await kept
    expect(outcomes).toEqual(['withdrawn failed', 'kept failed'])
    await close()
  })

  it('[VIEW-35] shows nothing of a user who has left to a later subscriber, and has ended', async () => {
    const { agent, view, close } = await open()
    const directLine = createDirectLine(view)
    const statuses: number[] = []
    directLine.connectionStatus$.subscribe(status => statuses.push(status))
    await post(directLine, message('a secret'))
    await eventually(() => view.getSnapshot().messages.length === 2)
    await agent.logout()
    await turnEventLoop()
    expect(statuses.at(-1)).toBe(5)
    const later: Activity[] = []
    directLine.activity$.subscribe(activity => later.push(activity))
    expect(later).toEqual([])
    await close()
  })

  it('[VIEW-35] serves all observers, also when one throws', async () => {
    const { view, close } = await open()
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {})
    const directLine = createDirectLine(view)
    directLine.activity$.subscribe(() => {
      throw new Error('A bug of the host.')
    })
    const texts: (string | undefined)[] = []
    directLine.activity$.subscribe(({ type, text }) => type === 'message' && texts.push(text))
    await post(directLine, message('options'))
    await eventually(() => view.getSnapshot().messages.length === 3)
    await turnEventLoop()
    expect([...new Set(texts)]).toEqual(['options', expect.stringContaining('One moment.'), 'Which one?'])
    expect(reported).toHaveBeenCalled()
    await close()
  })

  it('[VIEW-35] ends once: pending messages fail, nothing is emitted any more, and later subscribers are completed', async () => {
    const { agent, view, emulator, close } = await open({ baseReconnectDelay: 60_000, maxReconnectDelay: 60_000 })
    const directLine = createDirectLine(view)
    const statuses: number[] = []
    directLine.connectionStatus$.subscribe(status => statuses.push(status))
    const lost = new Promise(resolve => agent.once('closed', resolve))
    emulator.control.dropSockets()
    await lost
    const pending = post(directLine, message('pending'))
    await eventually(() => view.getSnapshot().messages.length === 1)
    directLine.end()
    directLine.end()
    await expect(pending).rejects.toThrow('ended')
    await expect(post(directLine, message('late'))).rejects.toThrow('ended')
    expect(statuses.filter(status => status === 5)).toHaveLength(1)
    const seen: unknown[] = []
    directLine.activity$.subscribe({ next: () => seen.push('value'), complete: () => seen.push('complete') })
    directLine.connectionStatus$.subscribe({ next: value => seen.push(value), complete: () => seen.push('complete') })
    expect(seen).toEqual(['complete', 5, 'complete'])
    expect(view.getSnapshot().messages).toHaveLength(1)
    await close()
  })

  it('[VIEW-35] gives a message that was missed its place before those that were shown already', async () => {
    const { agent, view, emulator, session, history, close } = await open({
      baseReconnectDelay: 20,
      maxReconnectDelay: 20,
    })
    const directLine = createDirectLine(view)
    const places = new Map<string, number>()
    directLine.activity$.subscribe(({ type, text = '', channelData }) => {
      if (type === 'message') places.set(text, Number(channelData?.['webchat:sequence-id']))
    })
    await post(directLine, message('one'))
    await eventually(() => places.size === 2)
    const lost = new Promise(resolve => agent.once('closed', resolve))
    emulator.control.dropSockets()
    await lost
    emulator.control.say(session(), { content: 'By the way' })
    await post(directLine, message('two'))
    await eventually(() => places.size === 5)
    expect([...places].sort(([, a], [, b]) => a - b).map(([text]) => text)).toEqual(history())
    await close()
  })

  it('[VIEW-35] places the typing indicator before the answer, which ends it', async () => {
    const { view, emulator, close } = await open()
    emulator.settings.heartbeatBeforeReply = true
    emulator.settings.replyDelayMs = 50
    const directLine = createDirectLine(view)
    const places: [string, number][] = []
    directLine.activity$.subscribe(({ type, from, channelData }) =>
      places.push([type === 'typing' ? type : from.role, Number(channelData?.['webchat:sequence-id'])]),
    )
    await post(directLine, message('one'))
    await eventually(() => places.some(([name]) => name === 'bot'))
    const last = new Map(places)
    expect([...last].sort(([, a], [, b]) => a - b).map(([name]) => name)).toEqual(['user', 'typing', 'bot'])
    await close()
  })

  it('[VIEW-35] lists sources as links that lead where they say', async () => {
    const { view, emulator, session, close } = await open()
    const directLine = createDirectLine(view)
    const texts: (string | undefined)[] = []
    directLine.activity$.subscribe(({ text }) => texts.push(text))
    const sources = [{ title: 'a [b]', url: 'https://docs.example.test/a)(b' }]
    emulator.control.say(session(), { content: 'See there.', messageData: { sources } })
    await eventually(() => texts.length)
    expect(texts.at(-1)).toBe('See there.\n\n- [a \\[b\\]](https://docs.example.test/a\\)\\(b)')
    await close()
  })

  it('[VIEW-35] takes ratings of WebChat, and refuses attachments', async () => {
    const { view, emulator, session, close } = await open()
    const directLine = createDirectLine(view)
    const shown: Activity[] = []
    directLine.activity$.subscribe(activity => shown.push(activity))
    await post(directLine, message('one'))
    await eventually(() => shown.some(({ entities }) => entities))
    const [{ potentialAction: [, dislike] = [] } = {}] = (shown.findLast(({ entities }) => entities)?.entities ??
      []) as { potentialAction?: object[] }[]
    const rating = { type: 'event', name: 'webchat:activity-status/feedback', entities: [dislike] }
    const id = await post(directLine, { ...rating, channelData: { clientActivityID: 'mine' } })
    expect(shown.find(activity => activity.id === id)).toMatchObject({ channelData: { clientActivityID: 'mine' } })
    await eventually(() => emulator.world.sessions.get(session())?.feedback.length)
    expect(emulator.world.sessions.get(session())?.feedback).toMatchObject([{ rating: 'down' }])
    expect(view.getSnapshot().messages[1]?.rating).toBe('down')
    const rateable = shown.flatMap(({ entities = [] }) => entities)
    expect(rateable.length).toBeGreaterThan(1)
    expect(new Set(rateable).size).toBe(1)
    const withFile = { ...message('see there'), attachments: [{ contentType: 'image/png' }] }
    await expect(post(directLine, withFile)).rejects.toThrow('with attachments')
    await close()
  })
})
