import { inspect } from 'node:util'
import { countVisitedElements, eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it, vi } from 'vitest'
import { passing, rejection, sentTo } from '../../client/test/agent-harness.ts'
import { HostStore } from '../../client/test/host-store.ts'
import { setUpDeskTabs } from '../test/desk-tabs.ts'
import { ASK, handingOver, ScriptedDesk, shown } from '../test/scripted-desk.ts'
import { say, setUpView } from '../test/view-harness.ts'
import type { ConversationView } from './conversation-snapshot.ts'

/** Agent of the emulator that masks card numbers. */
const MASKING_AGENT = 'billing'

const HANDED_OVER = [`user: ${ASK}`, 'agent: A colleague takes over.', '-- desk_opened']

/** A page with an agent that hands over, and a desk. With `isCustom` the store of the host is used. */
function setUp({
  id,
  isCustom = false,
  keepsUnread = false,
}: {
  id?: string
  isCustom?: boolean
  keepsUnread?: boolean
} = {}) {
  const desk = new ScriptedDesk()
  const parts = setUpView({ reply: handingOver })
  const store = new HostStore()
  const page = async () => {
    const { agent, told } = parts.load({
      ...(id !== undefined && { id }),
      ...(isCustom && { cache: { adapter: store, contextPrefix: 'tab:' } }),
    })
    const view = parts.show(agent, { escalate: desk.escalate, keepsUnread })
    await view.start()
    const leave = async () => {
      await view.destroy()
      await agent.destroy()
    }
    return { agent, told, view, leave }
  }
  const handedOver = async () => {
    const opened = await page()
    await opened.view.send(ASK)
    await eventually(() => opened.view.getSnapshot().desk, 'a desk')
    return opened
  }
  /** Changes what the page before has stored with the session. */
  const rewrite = (change: (data: StoredDesk) => unknown) => {
    const { sessionStorage } = parts
    for (const [key, text] of sessionStorage.items) {
      if (!key.startsWith('aiagent_session_')) continue
      const stored = JSON.parse(text)
      stored.value.left.data.desk = change(stored.value.left.data.desk)
      sessionStorage.setItem(key, JSON.stringify(stored))
    }
  }
  return { ...parts, desk, store, page, handedOver, rewrite }
}

/** What is stored of a desk. */
interface StoredDesk {
  readonly escalation: object
  readonly items: readonly { readonly message: object }[]
}

/** Waits until a page shows these messages. */
async function toShow(view: ConversationView, lines: readonly string[]): Promise<void> {
  await eventually(() => shown(view).length >= lines.length, JSON.stringify(lines)).catch(() => {})
  expect(shown(view)).toEqual(lines)
}

describe('a live desk', () => {
  it('[VIEW-40] continues in the same list, shows who writes, and returns to the agent', async () => {
    const { handedOver, desk, emulator } = setUp()
    const { view, leave } = await handedOver()
    expect(shown(view)).toEqual(HANDED_OVER)
    desk.set({ name: 'Support', typing: true })
    await eventually(() => view.getSnapshot().desk?.isTyping)
    expect(view.getSnapshot().desk).toEqual({ isElsewhere: false, name: 'Support', isTyping: true })
    desk.typing = false
    desk.say('Good day, this is Support.')
    await eventually(() => view.getSnapshot().messages.length === 4)
    expect(view.getSnapshot()).toMatchObject({ desk: { isTyping: false }, unread: 2 })
    expect(view.getSnapshot().messages.at(-1)).toMatchObject({ author: 'colleague', authorName: 'Support' })
    view.setDraft('my router is broken')
    const id = await view.send()
    expect(view.getSnapshot().draft).toBe('')
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'acknowledged')
    expect(view.getSnapshot().messages.at(-1)).toMatchObject({ id, author: 'user', content: 'my router is broken' })
    expect(desk.heard).toEqual(['my router is broken'])
    desk.say('A new one is on its way.', 'Good bye.')
    desk.leave()
    await eventually(() => !view.getSnapshot().desk)
    await say(view, 'thanks', 9)
    expect(shown(view)).toEqual([
      ...HANDED_OVER,
      'colleague: Good day, this is Support.',
      'user: my router is broken',
      'colleague: A new one is on its way.',
      'colleague: Good bye.',
      '-- desk_closed',
      'user: thanks',
      'agent: You said: thanks',
    ])
    expect(sentTo(emulator)).toEqual([ASK, 'thanks'])
    expect(desk.isOpen).toBe(false)
    const text = await view.export('text')
    expect(text).toMatch(
      /\[Support has joined\][\s\S]*Colleague – Support \(.*\):\n {2}Good day, this is Support\.[\s\S]*\[The colleague has left\./,
    )
    await leave()
  })

  it('[VIEW-40] returns to the agent when the user wants it', async () => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    view.endDesk()
    await eventually(() => !view.getSnapshot().desk)
    expect(desk).toMatchObject({ ends: 1, isOpen: false })
    await say(view, 'hello', 6)
    expect(shown(view)).toEqual([...HANDED_OVER, '-- desk_closed', 'user: hello', 'agent: You said: hello'])
    await leave()
  })

  it('[VIEW-40] is not opened where the host has none, and the conversation continues', async () => {
    const { load, show } = setUp()
    const { agent } = load()
    const signals: AbortSignal[] = []
    const view = show(agent, { escalate: (_, { signal }) => void signals.push(signal) })
    await view.start()
    await say(view, ASK, 2)
    await eventually(() => signals[0]?.aborted, 'an aborted signal')
    await say(view, 'hello', 4)
    expect(view.getSnapshot()).toMatchObject({ desk: undefined, escalation: { type: 'live' } })
    expect(shown(view)).toHaveLength(4)
    expect(signals).toHaveLength(1)
    await view.destroy()
    await agent.destroy()
  })

  it('[VIEW-41] gets text as masked as the service', async () => {
    const { handedOver, desk } = setUp({ id: MASKING_AGENT })
    const { view, leave } = await handedOver()
    await view.send('Card 4111 1111 1111 1111, please')
    expect(desk.heard.join()).not.toContain('4111 1111')
    const last = view.getSnapshot().messages.at(-1)
    expect(last).toMatchObject({ content: desk.heard[0] })
    expect(last?.maskedRanges).toHaveLength(1)
    await leave()
  })

  it('[VIEW-41] gets nothing where masking is required and there are no rules', async () => {
    const { load, show, desk, emulator } = setUp()
    const { agent } = load()
    const view = show(agent, { escalate: desk.escalate })
    await view.start()
    await view.send(ASK)
    await eventually(() => view.getSnapshot().desk)
    const blocked = { ...agent.previewMasking('x'), isBlocked: true as const }
    Object.defineProperty(agent, 'previewMasking', { value: () => blocked })
    expect(await rejection(view.send('secret'))).toMatchObject({ reason: 'masking_unavailable' })
    expect(view.getSnapshot().error?.code).toBe('action_failed')
    expect(desk.heard).toEqual([])
    expect(shown(view)).toEqual(HANDED_OVER)
    expect(sentTo(emulator)).toEqual([ASK])
    await view.destroy()
    await agent.destroy()
  })
})

describe('a live desk that fails', () => {
  it('[VIEW-42] is reported when it cannot be opened', async () => {
    const { load, show } = setUp()
    const { agent } = load()
    const view = show(agent, {
      escalate: () => {
        throw new Error('no line')
      },
    })
    await view.start()
    await say(view, ASK, 2)
    await eventually(() => view.getSnapshot().error)
    expect(view.getSnapshot()).toMatchObject({ desk: undefined, error: { code: 'desk_failed', remedy: 'none' } })
    await say(view, 'hello', 4)
    expect(shown(view).at(-1)).toBe('agent: You said: hello')
    await view.destroy()
    await agent.destroy()
  })

  const failures: [string, (desk: ScriptedDesk) => void][] = [
    ['its messages throw', desk => desk.failMessages(new Error('cut'))],
    ['`ended` rejects', desk => desk.failEnded(new Error('cut'))],
  ]
  it.each(failures)('[VIEW-42] closes when %s, and the agent continues', async (_, fail) => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    fail(desk)
    await eventually(() => !view.getSnapshot().desk)
    expect(view.getSnapshot().error?.code).toBe('desk_failed')
    expect(desk.isOpen).toBe(false)
    await say(view, 'hello', 6)
    expect(shown(view)).toEqual([...HANDED_OVER, '-- desk_closed', 'user: hello', 'agent: You said: hello'])
    await leave()
  })

  it('[SEC-97] is logged by the name of its error, whatever of the conversation the message repeats', async () => {
    const secret = 'My card is 4111111111111111'
    const failure = Object.assign(new RangeError(`POST failed: ${secret}`), { body: secret })
    const { load, show, desk } = setUp()
    const logged: unknown[] = []
    const { agent } = load()
    agent.logger.on('log', entry => void logged.push(entry))
    const view = show(agent, { escalate: desk.escalate })
    await view.start()
    await view.send(ASK)
    await eventually(() => view.getSnapshot().desk)
    desk.onSend = () => Promise.reject(failure)
    await view.send('hello?')
    await eventually(() => view.getSnapshot().error)
    // The host itself gets the error.
    expect(view.getSnapshot().error?.error).toMatchObject({ cause: failure })
    desk.onEnd = () => Promise.reject(failure)
    view.endDesk()
    await eventually(() => inspect(logged).includes('could not be ended'))
    const text = inspect(logged, { depth: 10 })
    expect(text).toContain('RangeError')
    expect(text).not.toContain('4111')
    await view.destroy()
    await agent.destroy()
  })

  const throwing = () => {
    throw new Error('cut')
  }
  it.each([
    ['throws', throwing],
    ['rejects', () => Promise.reject(new Error('cut'))],
  ])('[VIEW-42] marks the message when send() %s, and sends it again', async (_, onSend) => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    desk.onSend = onSend
    const id = await view.send('hello?')
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'unknown')
    expect(view.getSnapshot()).toMatchObject({ error: { code: 'desk_message_failed' }, desk: { isElsewhere: false } })
    desk.onSend = () => {}
    await view.retry(id)
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'acknowledged')
    expect(desk.heard).toEqual(['hello?', 'hello?'])
    expect(shown(view)).toEqual([...HANDED_OVER, 'user: hello?'])
    await leave()
  })

  it('[VIEW-42] keeps a message acknowledged that was sent again when the first attempt fails late', async () => {
    const { handedOver, desk, clock } = setUp()
    const { view, leave } = await handedOver()
    let fail = (_: Error) => {}
    desk.onSend = () =>
      new Promise((_, reject) => {
        fail = reject
      })
    const id = await view.send('hello?')
    await clock.advance(30_000)
    desk.onSend = () => {}
    await view.retry(id)
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'acknowledged')
    fail(new Error('cut'))
    await turnEventLoop()
    expect(view.getSnapshot().messages.at(-1)?.delivery).toBe('acknowledged')
    await leave()
  })

  it('[VIEW-42] waits for the last attempt when the first one fails late', async () => {
    const { handedOver, desk, clock } = setUp()
    const { view, leave } = await handedOver()
    const settle: { resolve(): void; reject(error: Error): void }[] = []
    desk.onSend = () => new Promise((resolve, reject) => void settle.push({ resolve, reject }))
    const id = await view.send('hello?')
    await clock.advance(30_000)
    await view.retry(id)
    settle[0]?.reject(new Error('cut'))
    await turnEventLoop()
    expect(view.getSnapshot().messages.at(-1)?.delivery).toBe('sending')
    settle[1]?.resolve()
    await turnEventLoop()
    expect(view.getSnapshot().messages.at(-1)?.delivery).toBe('acknowledged')
    await leave()
  })

  it('[VIEW-42] refuses to send again what failed at a desk that has closed, and says what to do', async () => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    desk.onSend = throwing
    const id = await view.send('hello?')
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'unknown')
    desk.onSend = () => {}
    view.endDesk()
    const closed = { reason: 'invalid', message: expect.stringContaining('The chat with this colleague has ended.') }
    expect(await rejection(view.retry(id))).toMatchObject(closed)
    await view.send(ASK)
    await eventually(() => view.getSnapshot().desk, 'another desk')
    expect(await rejection(view.retry(id))).toMatchObject(closed)
    expect(desk.heard).toEqual(['hello?'])
    await leave()
  })

  it.each([NaN, 1e300, '2026-01-01' as never])('[VIEW-42] shows a message whose time is %s', async time => {
    const { handedOver, desk, clock } = setUp()
    const { view, leave } = await handedOver()
    desk.say({ text: 'Good day.', time })
    await eventually(() => view.getSnapshot().messages.length === 4)
    expect(view.getSnapshot().messages.at(-1)?.time).toBe(clock.now())
    await leave()
  })

  it('[VIEW-42] marks the message as unknown when send() hangs, and lets the user return to the agent', async () => {
    const { handedOver, desk, clock } = setUp()
    const { view, leave } = await handedOver()
    desk.onSend = () => new Promise(() => {})
    await view.send('hello?')
    expect(view.getSnapshot().messages.at(-1)?.delivery).toBe('sending')
    await clock.advance(30_000)
    expect(view.getSnapshot().messages.at(-1)?.delivery).toBe('unknown')
    expect(view.getSnapshot().error?.code).toBe('desk_message_failed')
    view.endDesk()
    await say(view, 'hello', 7)
    expect(shown(view).at(-1)).toBe('agent: You said: hello')
    await leave()
  })
})

describe('a live desk that says who is there', () => {
  it('[VIEW-65] says since when the user waits, and then who has joined', async () => {
    const { handedOver, desk, clock } = setUp()
    const { view, leave } = await handedOver()
    const since = clock.now()
    await clock.advance(60_000)
    await view.send('hello?')
    expect(view.getSnapshot().desk).toEqual({
      isElsewhere: false,
      waitingSince: since,
      name: undefined,
      isTyping: false,
    })
    expect(view.getSnapshot().messages[2]).toMatchObject({ mark: 'desk_opened', authorName: undefined })
    desk.set({ name: 'Anna' })
    await eventually(() => view.getSnapshot().desk?.name === 'Anna')
    expect(view.getSnapshot().desk?.waitingSince).toBeUndefined()
    expect(view.getSnapshot().messages[2]).toMatchObject({ mark: 'desk_opened', authorName: 'Anna' })
    desk.leave()
    await eventually(() => !view.getSnapshot().desk)
    expect(view.getSnapshot().messages.at(-1)).toMatchObject({ mark: 'desk_closed', authorName: 'Anna' })
    await leave()
  })

  it.each<[string, (desk: ScriptedDesk) => void]>([
    ['writes', desk => desk.say('Good day.')],
    ['is writing', desk => desk.set({ typing: true })],
  ])('[VIEW-65] waits no longer when a colleague without a name %s', async (_, act) => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    expect(view.getSnapshot().desk?.waitingSince).toBeDefined()
    act(desk)
    await eventually(() => view.getSnapshot().desk?.waitingSince === undefined)
    await leave()
  })

  it('[VIEW-79] marks when each colleague joins, and when one leaves if the desk reports it', async () => {
    const { handedOver, desk, page } = setUp()
    const { view, leave } = await handedOver()
    const marks = (each: ConversationView) =>
      each
        .getSnapshot()
        .messages.flatMap(({ mark, authorName, content, author }) =>
          mark ? [`${mark} ${authorName}`] : author === 'colleague' ? [content] : [],
        )
    const expected = ['desk_opened Anna', 'Good day.', 'desk_joined Ben', 'Hello.']
    for (const [index, name] of ['Anna', 'Ben'].entries()) {
      desk.set({ name })
      await eventually(() => view.getSnapshot().desk?.name === name)
      desk.say(expected[2 * index + 1] ?? '')
      await eventually(() => marks(view).length === 2 * index + 2)
    }
    expect(marks(view)).toEqual(expected)
    expect(view.getSnapshot().desk).toMatchObject({ name: 'Ben', waitingSince: undefined })
    desk.say('I ask a colleague.')
    await eventually(() => marks(view).length === 5)
    desk.set({ name: null })
    expected.push('I ask a colleague.', 'desk_left Ben')
    await eventually(() => view.getSnapshot().desk?.waitingSince !== undefined, 'another wait')
    expect(marks(view)).toEqual(expected)
    expect(view.getSnapshot().desk?.name).toBeUndefined()
    await turnEventLoop()
    desk.disconnect()
    await leave()
    const next = await page()
    await eventually(() => next.view.getSnapshot().desk, 'the desk of the previous page')
    await turnEventLoop()
    expect(marks(next.view)).toEqual(expected)
    expect(next.view.getSnapshot().desk?.waitingSince).toBe(next.view.getSnapshot().messages.at(-1)?.time)
    desk.set({ name: 'Cleo' })
    await eventually(() => next.view.getSnapshot().desk?.name === 'Cleo')
    expect(marks(next.view)).toEqual([...expected, 'desk_joined Cleo'])
    const text = await next.view.export('text')
    expect(text.match(/\[\w+ has (joined|left)\]/g)).toEqual([
      '[Anna has joined]',
      '[Ben has joined]',
      '[Ben has left]',
      '[Cleo has joined]',
    ])
    desk.leave()
    await eventually(() => !next.view.getSnapshot().desk)
    expect(marks(next.view).at(-1)).toBe('desk_closed Cleo')
    await next.leave()
  })

  it('[VIEW-65] keeps both over a reload, and names nobody who has not left', async () => {
    const { page, handedOver, desk, clock } = setUp()
    const first = await handedOver()
    const since = clock.now()
    await clock.advance(5_000)
    await turnEventLoop()
    await first.leave()
    const second = await page()
    await eventually(() => second.view.getSnapshot().desk)
    expect(second.view.getSnapshot().desk?.waitingSince).toBe(since)
    desk.set({ name: 'Anna' })
    await eventually(() => second.view.getSnapshot().desk?.name === 'Anna')
    await turnEventLoop()
    await second.leave()
    // The SDK of a vendor knows the name only once it has connected.
    desk.name = undefined
    const third = await page()
    await eventually(() => third.view.getSnapshot().desk)
    expect(third.view.getSnapshot().desk).toMatchObject({ name: 'Anna', waitingSince: undefined })
    third.view.endDesk()
    await eventually(() => !third.view.getSnapshot().desk)
    expect(third.view.getSnapshot().messages.at(-1)).toMatchObject({ mark: 'desk_closed', authorName: undefined })
    await third.leave()
  })

  it('[VIEW-66] removes the error of a message once it has arrived, or the desk has closed', async () => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    const fail = async (text: string) => {
      desk.onSend = () => Promise.reject(new Error('cut'))
      const id = await view.send(text)
      await eventually(() => view.getSnapshot().error?.code === 'desk_message_failed')
      desk.onSend = () => {}
      return id
    }
    const first = await fail('one')
    const second = await fail('two')
    await view.retry(first)
    await eventually(() => view.getSnapshot().messages.at(-2)?.delivery === 'acknowledged')
    // The other one has not arrived.
    expect(view.getSnapshot().error?.code).toBe('desk_message_failed')
    await view.retry(second)
    await eventually(() => !view.getSnapshot().error)
    await fail('three')
    desk.leave()
    await eventually(() => !view.getSnapshot().desk)
    expect(view.getSnapshot().error).toBeUndefined()
    await leave()
  })

  it('[VIEW-66] keeps the error of a desk that has failed until the user goes on, or another desk opens', async () => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    const [, { id = '' } = {}] = view.getSnapshot().messages
    desk.failEnded(new Error('cut'))
    await eventually(() => view.getSnapshot().error?.code === 'desk_failed')
    expect(await view.openDesk(id)).toBe(true)
    expect(view.getSnapshot().error).toBeUndefined()
    desk.failEnded(new Error('cut'))
    await eventually(() => view.getSnapshot().error?.code === 'desk_failed')
    await view.send('hello')
    expect(view.getSnapshot().error).toBeUndefined()
    await leave()
  })

  it('[VIEW-66] leaves an error of the agent in place when a message has arrived', async () => {
    const { handedOver, desk, emulator, session } = setUp()
    const { view, leave } = await handedOver()
    desk.onSend = () => Promise.reject(new Error('cut'))
    const id = await view.send('one')
    await eventually(() => view.getSnapshot().error?.code === 'desk_message_failed')
    emulator.control.pushFrame(session(), { persona: 'metadata', role: 'error', content: 'The agent is tired.' })
    await eventually(() => view.getSnapshot().error?.code !== 'desk_message_failed')
    desk.onSend = () => {}
    await view.retry(id)
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'acknowledged')
    expect(view.getSnapshot().error).toBeDefined()
    await leave()
  })
})

describe('a live desk that is asked for again', () => {
  /** A page whose desk has closed, with the id of the message that hands over. */
  const left = async (parts: ReturnType<typeof setUp>) => {
    const opened = await parts.handedOver()
    parts.desk.leave()
    await eventually(() => !opened.view.getSnapshot().desk)
    return { ...opened, id: opened.view.getSnapshot().messages[1]?.id ?? '' }
  }

  it('[VIEW-68] opens in place, once for any number of calls', async () => {
    const parts = setUp()
    const { view, leave, id } = await left(parts)
    expect(await Promise.all([view.openDesk(id), view.openDesk(id)])).toEqual([true, true])
    expect(parts.desk.asked).toBe(2)
    expect(await view.openDesk(id)).toBe(true)
    expect(parts.desk.asked).toBe(2)
    await view.send('me again')
    expect(parts.desk.heard).toEqual(['me again'])
    expect(shown(view)).toEqual([...HANDED_OVER, '-- desk_closed', '-- desk_opened', 'user: me again'])
    await leave()
  })

  it('[VIEW-68] stays closed where the host has none now, and is free for the next time', async () => {
    const parts = setUp()
    const { view, leave, id } = await left(parts)
    parts.desk.isClosed = true
    expect(await view.openDesk(id)).toBe(false)
    expect(view.getSnapshot()).toMatchObject({ desk: undefined, error: undefined })
    parts.desk.isClosed = false
    expect(await view.openDesk(id)).toBe(true)
    await leave()
  })

  it('[VIEW-68] is refused for a message without a hand-over, and without the option', async () => {
    const parts = setUp()
    const { view, agent, leave, id } = await left(parts)
    expect(await rejection(view.openDesk('other'))).toMatchObject({ reason: 'invalid' })
    expect(await rejection(view.openDesk(view.getSnapshot().messages[0]?.id ?? ''))).toMatchObject({
      reason: 'invalid',
    })
    const other = parts.show(agent)
    expect(await rejection(other.openDesk(id))).toMatchObject({ reason: 'invalid' })
    await other.destroy()
    await leave()
  })

  it('[VIEW-68] does not open for the next user', async () => {
    const parts = setUp()
    const { view, agent, leave, id } = await left(parts)
    const asked = rejection(view.openDesk(id))
    await passing(parts.clock, agent.logout())
    expect(await asked).toMatchObject({ code: 'ABORTED' })
    expect(parts.desk.asked).toBe(1)
    await leave()
  })
})

describe('a live desk that is given the conversation', () => {
  it('[VIEW-67] gets the messages of the session as they are shown: masked, and without ids of sessions', async () => {
    const { page, desk, session } = setUp({ id: MASKING_AGENT })
    const { view, leave } = await page()
    await say(view, 'Card 4111 1111 1111 1111, please', 2)
    await view.send(ASK)
    await eventually(() => view.getSnapshot().desk, 'a desk')
    const conversation = desk.opened[0]?.conversation ?? []
    const messages = view.getSnapshot().messages.slice(0, 4)
    expect(conversation).toEqual(messages.map(({ sessionId: _, data: __, ...message }) => message))
    expect(conversation.map(({ author }) => author)).toEqual(['user', 'agent', 'user', 'agent'])
    expect(JSON.stringify(conversation)).not.toContain('4111')
    expect(JSON.stringify(conversation)).not.toContain(session())
    expect(Object.isFrozen(conversation) && Object.isFrozen(conversation[0])).toBe(true)
    await leave()
  })

  it('[VIEW-67] gets it after a reload too, with what was said at the desk', async () => {
    const { page, handedOver, desk } = setUp()
    const first = await handedOver()
    desk.say('Good day.')
    await toShow(first.view, [...HANDED_OVER, 'colleague: Good day.'])
    await turnEventLoop()
    await first.leave()
    const second = await page()
    await eventually(() => second.view.getSnapshot().desk)
    expect(desk.opened[1]?.conversation?.map(({ content, mark }) => mark ?? content)).toEqual([
      ASK,
      'A colleague takes over.',
      'desk_opened',
      'Good day.',
    ])
    await second.leave()
  })

  it('[VIEW-67] gets nothing of an earlier session, nor what the user took back', async () => {
    const { page, desk, emulator, session, clock } = setUp()
    const { view, agent, leave } = await page()
    await say(view, 'in the first session', 2)
    emulator.control.forgetSession(session())
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    const withdrawn = await view.send('taken back')
    expect(view.cancel(withdrawn)).toBe(true)
    await clock.advance(5_000)
    await eventually(() => agent.isConnected())
    await view.send(ASK)
    await eventually(() => view.getSnapshot().desk, 'a desk')
    expect(view.getSnapshot().messages[0]?.content).toBe('in the first session')
    expect(desk.opened[0]?.conversation?.map(({ content }) => content)).toEqual([ASK, 'A colleague takes over.'])
    await leave()
  })

  it('[VIEW-67] gets nothing with the option that leaves it out', async () => {
    const { desk, load, show } = setUp()
    const { agent } = load()
    const view = show(agent, { escalate: desk.escalate, passesConversation: false })
    await view.start()
    await view.send(ASK)
    await eventually(() => view.getSnapshot().desk, 'a desk')
    expect(desk.opened[0]).not.toHaveProperty('conversation')
    await view.destroy()
    await agent.destroy()
  })
})

describe('a live desk that delivers all that was missed', () => {
  /** What a view does for so many messages that a desk delivers at once, while its snapshots are read. */
  const deliver = async (count: number) => {
    const { load, show } = setUp()
    const { agent } = load()
    let begin = () => {}
    const texts = Array.from({ length: count }, (_, index) => ({ text: `text ${index}`, id: `${index}` }))
    async function* messages() {
      await new Promise<void>(resolve => {
        begin = resolve
      })
      yield* texts
      await new Promise(() => {})
    }
    const escalate = () => ({ send() {}, end() {}, messages: messages(), ended: new Promise<void>(() => {}) })
    const view = show(agent, { escalate })
    await view.start()
    await view.send(ASK)
    await eventually(() => view.getSnapshot().desk, 'a desk')
    let notified = 0
    view.subscribe(() => {
      notified++
      view.getSnapshot()
    })
    let tasks = 0
    const visited = await countVisitedElements(async () => {
      begin()
      while (view.getSnapshot().messages.at(-1)?.content !== texts.at(-1)?.text) {
        tasks++
        await turnEventLoop(1)
      }
    })
    expect(shown(view).slice(-2)).toEqual(texts.slice(-2).map(({ text }) => `colleague: ${text}`))
    expect(view.getSnapshot().unread).toBe(count + 1)
    await view.destroy()
    await agent.destroy()
    return { visited, notified, tasks }
  }

  it('[VIEW-69] works in proportion to the messages, and gives the page time for other work', async () => {
    const many = await deliver(8_000)
    expect(many.visited / 8_000).toBeLessThan(60)
    expect(many.notified).toBeLessThan(100)
    // One between any two of the eighty batches.
    expect(many.tasks).toBeGreaterThanOrEqual(79)
  })

  it('[VIEW-69] shows all before it closes', async () => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    desk.say(...Array.from({ length: 450 }, (_, index) => `text ${index}`))
    desk.leave()
    await eventually(() => !view.getSnapshot().desk)
    expect(shown(view).slice(-2)).toEqual(['colleague: text 449', '-- desk_closed'])
    expect(shown(view)).toHaveLength(454)
    await leave()
  })

  it('[VIEW-69] keeps the order of what was said and written, and of each text so many characters', async () => {
    const { handedOver, desk } = setUp()
    const { view, leave } = await handedOver()
    desk.say('one', 'x'.repeat(200_000))
    for (let turn = 0; turn < 15; turn++) await undefined
    await view.send('mine')
    desk.say('two')
    await eventually(() => shown(view).at(-1) === 'colleague: two')
    expect(
      view
        .getSnapshot()
        .messages.slice(3)
        .map(({ author, content }) => [author, content.length]),
    ).toEqual([
      ['colleague', 3],
      ['colleague', 100_001],
      ['user', 4],
      ['colleague', 3],
    ])
    await leave()
  })

  it('[VIEW-69] reads no more stored messages than it keeps', async () => {
    const { page, handedOver, rewrite } = setUp()
    const first = await handedOver()
    await first.leave()
    rewrite(stored => ({
      ...stored,
      items: Array.from({ length: 3_000 }, (_, index) => ({
        ...stored.items[0],
        message: { ...stored.items[0]?.message, id: `other ${index}` },
      })),
    }))
    const second = await page()
    await eventually(() => second.view.getSnapshot().desk)
    expect(second.view.getSnapshot().messages.length).toBe(1_002)
    await second.leave()
  })
})

describe('a live desk and a reload', () => {
  it('[VIEW-43] is opened again with its handle, with all messages at their places', async () => {
    const { page, handedOver, desk } = setUp()
    const first = await handedOver()
    desk.say('Good day.')
    await first.view.send('hello Support')
    await eventually(() => first.view.getSnapshot().messages.length === 5)
    const before = shown(first.view)
    await turnEventLoop()
    await first.leave()
    expect(desk).toMatchObject({ isOpen: false, ends: 0 })

    const second = await page()
    await eventually(() => second.view.getSnapshot().desk, 'the desk')
    expect(desk.opened.map(({ handle }) => handle)).toEqual([undefined, 'chat 1'])
    await toShow(second.view, before)
    await second.view.send('I am back')
    desk.say('Welcome back.')
    await eventually(() => second.view.getSnapshot().messages.length === 7)
    desk.leave()
    await eventually(() => !second.view.getSnapshot().desk)
    await say(second.view, 'thanks', 10)
    await turnEventLoop()
    await second.leave()

    const third = await page()
    await toShow(third.view, [
      ...before.slice(0, 3),
      ...before.slice(3),
      'user: I am back',
      'colleague: Welcome back.',
      '-- desk_closed',
      'user: thanks',
      'agent: You said: thanks',
    ])
    expect(desk.opened).toHaveLength(2)
    await third.leave()
  })

  it('[VIEW-43] shows a message once whose id it repeats', async () => {
    const { page, handedOver, desk } = setUp()
    const first = await handedOver()
    desk.say({ text: 'Good day.', id: '1' })
    await eventually(() => first.view.getSnapshot().messages.length === 4)
    await turnEventLoop()
    await first.leave()
    const second = await page()
    await eventually(() => second.view.getSnapshot().desk)
    desk.say({ text: 'Good day.', id: '1' }, { text: 'Still here?', id: '2' })
    await toShow(second.view, [...HANDED_OVER, 'colleague: Good day.', 'colleague: Still here?'])
    await second.leave()
  })

  it('[VIEW-43] has ended after a reload where it has no handle', async () => {
    const { page, handedOver, desk } = setUp()
    desk.handle = undefined
    const first = await handedOver()
    await first.leave()
    const second = await page()
    await toShow(second.view, [...HANDED_OVER, '-- desk_closed'])
    expect(desk.opened).toHaveLength(1)
    await second.leave()
  })

  it('[VIEW-43] is not offered again after a reload while the hand-over is unread, also where its code loads late', async () => {
    const { page, handedOver, desk, clock } = setUp({ keepsUnread: true })
    const first = await handedOver()
    desk.leave()
    await toShow(first.view, [...HANDED_OVER, '-- desk_closed'])
    await first.leave()
    let loadCode = () => {}
    const asked = new Promise<void>(resolve => {
      loadCode = resolve
    })
    vi.doMock('./desk.ts', async importOriginal => {
      await asked
      return importOriginal()
    })
    const second = await page()
    await eventually(() => second.view.getSnapshot().unread === 1, 'the unread hand-over')
    loadCode()
    await toShow(second.view, [...HANDED_OVER, '-- desk_closed'])
    await clock.advance(2_000)
    await turnEventLoop()
    expect(desk.asked).toBe(1)
    vi.doUnmock('./desk.ts')
    await second.leave()
  })

  const broken: [string, object | undefined][] = [
    ['another type', { type: 'other', options: [] }],
    ['an address that runs code', { type: 'live', url: 'javascript:alert(1)', options: [] }],
    ['an address that is none', { type: 'live', url: 7, options: [] }],
    ['no options', { type: 'live' }],
    ['options of another form', { type: 'live', options: [{ type: 'phone', value: {} }] }],
    ['no form at all', undefined],
  ]
  it.each(broken)('[VIEW-43] has ended where the stored escalation has %s', async (_, escalation) => {
    const { page, handedOver, desk, rewrite } = setUp()
    const first = await handedOver()
    await first.leave()
    rewrite(stored => ({ ...stored, escalation }))
    const second = await page()
    await toShow(second.view, [...HANDED_OVER, '-- desk_closed'])
    expect(desk.opened).toHaveLength(1)
    await second.leave()
  })

  it('[VIEW-43] keeps its handle while it has not connected again', async () => {
    const { page, handedOver, desk } = setUp()
    const first = await handedOver()
    await first.leave()
    desk.handle = undefined
    const second = await page()
    await eventually(() => second.view.getSnapshot().desk)
    await second.view.send('still there?')
    await turnEventLoop()
    await second.leave()
    const third = await page()
    await eventually(() => third.view.getSnapshot().desk)
    expect(desk.opened.map(({ handle }) => handle)).toEqual([undefined, 'chat 1', 'chat 1'])
    await third.leave()
  })

  it('[VIEW-43] drops stored items whose time is none', async () => {
    const { page, handedOver, rewrite } = setUp()
    const first = await handedOver()
    await first.leave()
    rewrite(({ items, ...stored }) => ({
      ...stored,
      items: [...items, { ...items[0], message: { ...items[0]?.message, id: 'other', time: 1e300 } }],
    }))
    const second = await page()
    await toShow(second.view, HANDED_OVER)
    await second.leave()
  })

  it('[VIEW-43] keeps all messages at their places when the wall clock is set back', async () => {
    const { page, handedOver, desk, clock } = setUp()
    const first = await handedOver()
    desk.say('Good day.')
    await toShow(first.view, [...HANDED_OVER, 'colleague: Good day.'])
    clock.shiftWallClock(-3_600_000)
    await first.view.send('hello Support')
    desk.say('What is wrong?')
    const lines = [...HANDED_OVER, 'colleague: Good day.', 'user: hello Support', 'colleague: What is wrong?']
    await toShow(first.view, lines)
    await turnEventLoop()
    await first.leave()
    const second = await page()
    await eventually(() => second.view.getSnapshot().desk)
    await toShow(second.view, lines)
    await second.leave()
  })

  it('[VIEW-43] stays open while the connection to the service is lost', async () => {
    const { handedOver, desk, emulator, clock } = setUp()
    const { view, agent, leave } = await handedOver()
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await view.send('still there?')
    desk.say('Yes.')
    await toShow(view, [...HANDED_OVER, 'user: still there?', 'colleague: Yes.'])
    await clock.advance(10)
    await eventually(() => agent.isConnected())
    expect(shown(view)).toHaveLength(5)
    await leave()
  })
})

describe('a live desk and its user', () => {
  it('[VIEW-44] ends at a logout: nothing is shown or stored any more, and what arrives later is dropped', async () => {
    const { handedOver, desk, page, sessionStorage, clock } = setUp()
    const { view, agent, leave } = await handedOver()
    desk.say('Your secret is 42.')
    await eventually(() => view.getSnapshot().messages.length === 4)
    let resolveSend = () => {}
    desk.onSend = () =>
      new Promise(resolve => {
        resolveSend = resolve
      })
    await view.send('my secret')
    const left = agent.logout()
    expect(desk).toMatchObject({ ends: 1, isOpen: false })
    expect(view.getSnapshot()).toMatchObject({ messages: [], desk: undefined })
    desk.say('Too late.')
    resolveSend()
    await passing(clock, left)
    await turnEventLoop()
    expect(view.getSnapshot()).toMatchObject({ messages: [], desk: undefined, error: undefined })
    expect(JSON.stringify([...sessionStorage.items])).not.toMatch(/secret|chat 1/)
    await leave()
    const next = await page()
    await turnEventLoop()
    expect(shown(next.view)).toEqual([])
    expect(desk.opened).toHaveLength(1)
    await next.leave()
  })

  it('[VIEW-44] leaves nothing to the next user when its data are read while the user signs out', async () => {
    const { page, handedOver, desk, store, clock } = setUp({ id: MASKING_AGENT, isCustom: true })
    const first = await handedOver()
    await first.view.send('Card 4111 1111 1111 1111, please')
    desk.say('Your secret is 42.')
    await eventually(() => first.view.getSnapshot().unread === 2)
    await turnEventLoop()
    await first.leave()
    const { view, agent, leave } = await page()
    await eventually(() => view.getSnapshot().desk)
    const work = store.hold()
    // The host stores what it has read, and the store is slow.
    void agent.setSessionData(await agent.getSessionData())
    view.setDraft('hello')
    const left = agent.logout()
    work()
    await passing(clock, left)
    await view.start()
    view.setDraft('of the next user')
    await turnEventLoop()
    const stored = JSON.stringify([...store.entries])
    expect(stored.match(/of the next user|please|secret/g)).toEqual(['of the next user'])
    await leave()
  })

  it('[VIEW-44] ends with the conversation that is restarted', async () => {
    const { handedOver, desk, page, clock } = setUp()
    const { view, leave } = await handedOver()
    desk.say('Good day.')
    await eventually(() => view.getSnapshot().messages.length === 4)
    await passing(clock, view.restart())
    expect(desk).toMatchObject({ ends: 1, isOpen: false })
    expect(view.getSnapshot()).toMatchObject({ desk: undefined })
    await say(view, 'hello', 6)
    await turnEventLoop()
    await leave()
    const next = await page()
    await toShow(next.view, ['user: hello', 'agent: You said: hello'])
    await next.leave()
  })

  it('[VIEW-44] is released with the agent', async () => {
    const { handedOver, desk } = setUp()
    const { view, agent } = await handedOver()
    await agent.destroy()
    expect(desk).toMatchObject({ ends: 0, isOpen: false })
    expect(view.getSnapshot().desk).toBeUndefined()
    await view.destroy()
  })
})

describe('a live desk and several views of its agent', () => {
  it('[VIEW-40] is opened once, and is the same in all of them', async () => {
    const { handedOver, desk, show, page } = setUp()
    const { view, agent, leave } = await handedOver()
    desk.say('Good day.')
    await toShow(view, [...HANDED_OVER, 'colleague: Good day.'])
    const other = show(agent, { escalate: desk.escalate })
    await eventually(() => other.getSnapshot().desk, 'the desk')
    expect(other.getSnapshot().desk?.isElsewhere).toBe(false)
    await other.send('hello Support')
    desk.say('What is wrong?')
    const lines = [...HANDED_OVER, 'colleague: Good day.', 'user: hello Support', 'colleague: What is wrong?']
    await toShow(view, lines)
    await toShow(other, lines)
    expect(view.getSnapshot().messages.at(-2)?.delivery).toBe('acknowledged')
    expect([view, other].map(each => each.getSnapshot().unread)).toEqual([3, 1])
    expect(desk).toMatchObject({ heard: ['hello Support'], opened: { length: 1 } })
    await view.destroy()
    expect(desk.isOpen).toBe(true)
    await other.send('my router is broken')
    await toShow(other, [...lines, 'user: my router is broken'])
    await turnEventLoop()
    await other.destroy()
    expect(desk).toMatchObject({ isOpen: false, ends: 0 })
    await leave()
    const next = await page()
    await eventually(() => next.view.getSnapshot().desk, 'the desk of the previous page')
    await toShow(next.view, [...lines, 'user: my router is broken'])
    await next.leave()
  })

  it('[VIEW-40] is opened once when the agent hands over to two of them', async () => {
    const { page, desk, show, clock } = setUp()
    const { view, agent, leave } = await page()
    const other = show(agent, { escalate: desk.escalate })
    await other.send(ASK)
    await eventually(() => view.getSnapshot().desk && other.getSnapshot().desk, 'the desk')
    other.endDesk()
    await eventually(() => !view.getSnapshot().desk, 'the end')
    await view.destroy()
    await say(other, 'hello', 6)
    await clock.advance(10_000)
    expect(desk.opened).toHaveLength(1)
    expect(shown(other)).toEqual([...HANDED_OVER, '-- desk_closed', 'user: hello', 'agent: You said: hello'])
    await other.destroy()
    await leave()
  })

  it('[VIEW-43] is stored whatever a view without a desk stores at the same time', async () => {
    const { handedOver, desk, show, page } = setUp()
    const { view, agent, leave } = await handedOver()
    const plain = show(agent)
    await turnEventLoop()
    plain.setDraft('hello')
    desk.say('Good day.')
    plain.setDraft('hello there')
    await toShow(view, [...HANDED_OVER, 'colleague: Good day.'])
    await turnEventLoop()
    await plain.destroy()
    await leave()
    const next = await page()
    await toShow(next.view, [...HANDED_OVER, 'colleague: Good day.'])
    expect(next.view.getSnapshot().draft).toBe('hello there')
    await next.leave()
  })

  it('[VIEW-43] is stored as open when a message of a view that has ended settles', async () => {
    const { handedOver, desk, show, page } = setUp()
    const { view, agent, leave } = await handedOver()
    let resolveSend = () => {}
    desk.onSend = () =>
      new Promise(resolve => {
        resolveSend = resolve
      })
    await view.send('hello?')
    await turnEventLoop()
    await view.destroy()
    const next = show(agent, { escalate: desk.escalate })
    await eventually(() => next.getSnapshot().desk, 'the desk')
    resolveSend()
    await turnEventLoop()
    await next.destroy()
    await leave()
    const third = await page()
    await eventually(() => third.view.getSnapshot().desk, 'the desk')
    expect(shown(third.view)).toEqual([...HANDED_OVER, 'user: hello?'])
    await third.leave()
  })
})

describe('a live desk and other tabs', () => {
  it('[VIEW-45] keeps messages of the colleague unread when the agent was read in a tab that does not show them', async () => {
    const { openTab, desk, until, clock } = setUpDeskTabs()
    const first = await openTab()
    const second = await openTab()
    await second.view.send(ASK)
    await until(() => first.view.getSnapshot().desk?.isElsewhere, 'the notice')
    desk.say('Good day.', 'How can I help?')
    await until(() => second.view.getSnapshot().unread === 3, 'unread messages')
    first.view.markRead()
    await clock.advance(1_000)
    expect([first, second].map(({ view }) => view.getSnapshot().unread)).toEqual([0, 2])
    second.view.markRead()
    expect(second.view.getSnapshot().unread).toBe(0)
  })

  it('[VIEW-45] is open in the tab in which the user wrote, and the others say so and send nothing', async () => {
    const { openTab, desk, until, emulator } = setUpDeskTabs()
    const first = await openTab()
    const second = await openTab()
    await second.view.send(ASK)
    await until(() => second.view.getSnapshot().desk, 'the desk')
    await until(() => first.view.getSnapshot().desk, 'the notice')
    expect(second.view.getSnapshot().desk?.isElsewhere).toBe(false)
    expect(first.view.getSnapshot().desk?.isElsewhere).toBe(true)
    expect(await rejection(first.view.send('hello'))).toMatchObject({ reason: 'invalid' })
    const third = await openTab()
    await until(() => third.view.getSnapshot().desk?.isElsewhere, 'the notice in a new tab')
    await second.view.send('to Support')
    expect(desk).toMatchObject({ heard: ['to Support'], opened: { length: 1 } })
    desk.leave()
    await until(() => !first.view.getSnapshot().desk && !third.view.getSnapshot().desk, 'the end')
    await first.view.send('hello')
    await until(() => shown(first.view).at(-1) === 'agent: You said: hello', 'an answer')
    expect(desk.heard).toEqual(['to Support'])
    expect(sentTo(emulator)).toEqual([ASK, 'hello'])
  })

  it('[VIEW-45] opens with the lock of the session to which the conversation has moved while it waited', async () => {
    const { load, show, desk, platform, emulator, clock } = setUp()
    const requests: { name: string; grant(): Promise<void> }[] = []
    const locks = {
      request: (name: string, _: object, grant: () => Promise<void>) =>
        new Promise(resolve => void requests.push({ name, grant: () => Promise.resolve(resolve(grant())) })),
      query: async () => ({ held: [] }),
    }
    const { agent } = load()
    const view = show(agent, { escalate: desk.escalate, platform: { ...platform, locks } })
    await view.start()
    await view.send(ASK)
    await eventually(() => requests.length === 1)
    const before = agent.getSessionId()
    emulator.control.forgetSession(before ?? '')
    emulator.control.dropSockets()
    while (agent.getSessionId() === before || !agent.isConnected()) await clock.advance(100)
    await requests[0]?.grant()
    await eventually(() => requests.length === 2)
    expect(desk.opened).toHaveLength(0)
    await requests[1]?.grant()
    await eventually(() => desk.opened.length === 1)
    const names = requests.map(({ name }) => name)
    expect(new Set(names).size).toBe(2)
    for (const id of [before, agent.getSessionId()]) expect(names.join()).not.toContain(String(id))
    await view.destroy()
    await agent.destroy()
  })

  it('[VIEW-45] is free for the others when its tab crashes', async () => {
    const { openTab, until } = setUpDeskTabs()
    const first = await openTab()
    const second = await openTab()
    await second.view.send(ASK)
    await until(() => first.view.getSnapshot().desk?.isElsewhere, 'the notice')
    second.tab.crash()
    await until(() => !first.view.getSnapshot().desk, 'the end')
    await first.view.send('hello')
    await until(() => shown(first.view).at(-1) === 'agent: You said: hello', 'an answer')
    expect(shown(first.view)).toHaveLength(4)
  })

  it('[VIEW-45] is opened again by its tab after a reload, while another tab is open', async () => {
    const { openTab, until, desk, browser } = setUpDeskTabs()
    const first = await openTab()
    const second = await openTab()
    await second.view.send(ASK)
    await until(() => second.view.getSnapshot().desk, 'the desk')
    desk.say('Good day.')
    await until(() => shown(second.view).length === 4, 'a message')
    second.tab.close()
    const third = await openTab(browser.open(second.tab.sessionStorage))
    await until(() => third.view.getSnapshot().desk, 'the desk')
    expect(third.view.getSnapshot().desk?.isElsewhere).toBe(false)
    expect(desk.opened.at(-1)?.handle).toBe('chat 1')
    await until(() => first.view.getSnapshot().desk?.isElsewhere, 'the notice')
    await until(() => shown(third.view).length === 4, 'all messages')
    expect(shown(third.view)).toEqual([...HANDED_OVER, 'colleague: Good day.'])
  })

  it('[VIEW-45] ends when the user signs out in another tab', async () => {
    const { openTab, until, desk } = setUpDeskTabs()
    const first = await openTab()
    const second = await openTab()
    await second.view.send(ASK)
    await until(() => first.view.getSnapshot().desk?.isElsewhere, 'the notice')
    void first.agent.logout()
    await until(() => !desk.isOpen, 'the end')
    expect(shown(second.view)).toEqual([])
    expect(first.view.getSnapshot().desk).toBeUndefined()
  })
})
