import { createMemoryStore, type EmulatorOptions } from '@aiagent/emulator'
import { emulatorDesk } from '@aiagent/emulator/desk'
import { eventually, turnEventLoop } from '@aiagent/test-support'
import type { ConversationView, OpenLiveDesk } from '@aiagent/view'
import { afterEach, describe, expect, it } from 'vitest'
import { passing } from '../../../client/test/agent-harness.ts'
import { ASK, handingOver, shown } from '../../../view/test/scripted-desk.ts'
import { say, setUpView } from '../../../view/test/view-harness.ts'

const HANDED_OVER = [`user: ${ASK}`, 'agent: A colleague takes over.', '-- desk_opened']

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** A page whose view opens chats at the desk of its emulator. */
function setUp({ id, ...options }: EmulatorOptions & { id?: string } = {}) {
  const parts = setUpView({ reply: handingOver, ...options })
  const { emulator } = parts
  const escalate: OpenLiveDesk = emulatorDesk({ url: emulator.origin, fetch: emulator.fetch })
  const page = async () => {
    const { agent } = parts.load(id === undefined ? {} : { id })
    const view = parts.show(agent, { escalate })
    const leave = async () => {
      await view.destroy()
      await agent.destroy()
    }
    undo.push(leave)
    await view.start()
    return { agent, view, leave }
  }
  const handedOver = async () => {
    const opened = await page()
    await opened.view.send(ASK)
    const chat = await emulator.desk.join()
    await eventually(() => opened.view.getSnapshot().desk?.name, 'a colleague')
    return { ...opened, chat }
  }
  return { ...parts, page, handedOver }
}

/** Waits until a page shows these messages. */
async function toShow(view: ConversationView, lines: readonly string[]): Promise<void> {
  await eventually(() => shown(view).length >= lines.length, JSON.stringify(lines)).catch(() => {})
  await turnEventLoop()
  expect(shown(view)).toEqual(lines)
}

describe('the desk of the emulator', () => {
  it('[PLAY-10] continues the conversation until the colleague leaves', async () => {
    const { handedOver, emulator } = setUp()
    const { view, chat } = await handedOver()
    expect(view.getSnapshot().desk).toEqual({ isElsewhere: false, name: 'Support', isTyping: false })
    chat.setTyping(true)
    await eventually(() => view.getSnapshot().desk?.isTyping, 'typing')
    chat.say('Good day.')
    await toShow(view, [...HANDED_OVER, 'colleague: Good day.'])
    expect(view.getSnapshot().desk?.isTyping).toBe(false)
    await view.send('my router is broken')
    expect(await chat.nextMessage()).toBe('my router is broken')
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'acknowledged', 'the confirmation')
    chat.say('A new one is on its way.')
    chat.end()
    await eventually(() => !view.getSnapshot().desk, 'the end')
    await say(view, 'thanks', 8)
    await toShow(view, [
      ...HANDED_OVER,
      'colleague: Good day.',
      'user: my router is broken',
      'colleague: A new one is on its way.',
      '-- desk_closed',
      'user: thanks',
      'agent: You said: thanks',
    ])
    expect(emulator.desk.chats.map(({ state }) => state)).toEqual(['ended'])
    expect(view.getSnapshot().error).toBeUndefined()
  })

  it('[PLAY-10] is opened again after a reload, delivers what was missed, and repeats nothing', async () => {
    const { page, handedOver, emulator } = setUp()
    const first = await handedOver()
    first.chat.say('Good day.')
    await toShow(first.view, [...HANDED_OVER, 'colleague: Good day.'])
    await first.leave()
    first.chat.say('Still here?')
    const second = await page()
    await toShow(second.view, [...HANDED_OVER, 'colleague: Good day.', 'colleague: Still here?'])
    await second.view.send('yes')
    expect(await first.chat.nextMessage()).toBe('yes')
    expect(emulator.desk.chats).toHaveLength(1)
  })

  it('[PLAY-10] ends for the colleague when the user returns to the agent, and when the user signs out', async () => {
    const { handedOver, emulator, clock } = setUp()
    const first = await handedOver()
    first.view.endDesk()
    await eventually(() => first.chat.state === 'ended', 'the end')
    expect(() => first.chat.say('hello?')).toThrow('has ended')
    await expect(first.chat.nextMessage()).rejects.toThrow('has ended')

    await first.view.send(ASK)
    const second = await emulator.desk.join('Support 2')
    await eventually(() => first.view.getSnapshot().desk?.name === 'Support 2', 'the colleague')
    await passing(clock, first.agent.logout())
    await eventually(() => second.state === 'ended', 'the end')
  })

  it('[PLAY-10] gets masked text', async () => {
    const { handedOver } = setUp({ id: 'billing' })
    const { view, chat } = await handedOver()
    await view.send('Card 4111 1111 1111 1111, please')
    expect(await chat.nextMessage()).not.toContain('4111 1111')
  })

  it('[PLAY-10] survives a restart of the service: what was said meanwhile arrives once, in order', async () => {
    const { handedOver, emulator, clock } = setUp()
    const { view, chat } = await handedOver()
    emulator.faults.add({ kind: 'restart', downMs: 1000 })
    await view.send('one')
    await view.send('two')
    chat.say('Good day.')
    await clock.advance(1000)
    await toShow(view, [...HANDED_OVER, 'user: one', 'user: two', 'colleague: Good day.'])
    expect([await chat.nextMessage(), await chat.nextMessage()]).toEqual(['one', 'two'])
    expect(chat.messages).toHaveLength(3)
  })

  it('[PLAY-10] takes a message once whose confirmation was lost', async () => {
    const { handedOver, emulator } = setUp()
    const { view, chat } = await handedOver()
    emulator.faults.add({ kind: 'truncate-body', route: 'POST */messages', times: 2 })
    await view.send('one')
    await eventually(() => view.getSnapshot().messages.at(-1)?.delivery === 'acknowledged', 'the confirmation')
    expect(chat.messages.map(({ text }) => text)).toEqual(['one'])
  })

  it('[PLAY-10] is reported as failed when the service has forgotten it, and the agent continues', async () => {
    const { handedOver, emulator } = setUp()
    const { view } = await handedOver()
    emulator.faults.add({ kind: 'restart', memory: false })
    await eventually(() => !view.getSnapshot().desk, 'the end')
    expect(view.getSnapshot().error).toMatchObject({ code: 'desk_failed' })
    expect(emulator.desk.chats).toEqual([])
  })

  it('[PLAY-10] is kept in a store for the next emulator', async () => {
    const store = createMemoryStore()
    const { handedOver, emulator } = setUp({ store })
    const { view, chat } = await handedOver()
    await view.send('one')
    await chat.nextMessage()
    chat.say('two')
    emulator.close()
    const next = setUp({ store }).emulator.desk
    expect(next.chats.map(({ id, state, name, messages }) => [id, state, name, messages])).toEqual([
      ['chat-1', 'open', 'Support', chat.messages],
    ])
    const joined = next.join('Support 2')
    next.open('x'.repeat(32))
    expect((await joined).id).toBe('chat-2')
  })

  it('[PLAY-10] shows the colleague the conversation, also after a restart', async () => {
    const store = createMemoryStore()
    const { page, emulator } = setUp({ store, id: 'billing' })
    const { view } = await page()
    await say(view, 'Card 4111 1111 1111 1111, please', 2)
    await view.send(ASK)
    const { conversation } = await emulator.desk.join()
    expect(conversation.map(({ from }) => from)).toEqual(['customer', 'agent', 'customer', 'agent'])
    expect(conversation.at(-1)?.text).toBe('A colleague takes over.')
    expect(JSON.stringify(conversation)).not.toContain('4111')
    emulator.close()
    expect(setUp({ store }).emulator.desk.chats[0]?.conversation).toEqual(conversation)
  })

  it('[PLAY-10] keeps of a long conversation the end', () => {
    const { desk } = setUp().emulator
    const messages = (count: number, text: string) =>
      Array.from({ length: count }, (_, at) => ({ from: 'agent', text, at }) as const)
    desk.open('a'.repeat(32), messages(1_000, 'short'))
    desk.open('b'.repeat(32), messages(100, 'x'.repeat(30_000)))
    desk.open('c'.repeat(32), messages(1, 'x'.repeat(200_000)))
    expect(desk.chats.map(({ conversation }) => conversation.map(({ at }) => at)[0])).toEqual([800, 97, undefined])
  })

  it('[PLAY-10] opens no chat while it is closed', async () => {
    const { page, emulator } = setUp({ settings: { desk: 'closed' } })
    const { view } = await page()
    await view.send(ASK)
    await eventually(() => view.getSnapshot().error, 'the error')
    expect(view.getSnapshot()).toMatchObject({ desk: undefined, error: { code: 'desk_failed' } })
    await say(view, 'thanks', 6)
    expect(shown(view).at(-1)).toBe('agent: You said: thanks')
    expect(emulator.desk.chats).toEqual([])
  })

  it('[PLAY-10] leaves escalations other than a live chat to the view', () => {
    const { signal } = new AbortController()
    expect(emulatorDesk({ url: 'http://emulator.test' })({ type: 'alternate' }, { signal })).toBeUndefined()
  })

  it('[PLAY-10] knows a chat by its handle only, which does not follow from the seed', async () => {
    const { emulator } = setUp({ seed: 1 })
    const controller = new AbortController()
    const open = () =>
      emulatorDesk({ url: emulator.origin, fetch: emulator.fetch })({ type: 'live' }, { signal: controller.signal })
    const handles = [open()?.handle, open()?.handle]
    expect(new Set(handles).size).toBe(2)
    await emulator.desk.join()
    const call = (method: string, handle: string) =>
      emulator.fetch(`${emulator.origin}/live-desk/${handle}`, { method }).then(({ status }) => status)
    expect(await call('GET', String(handles[0]))).toBe(200)
    expect(await call('GET', 'chat-1')).toBe(404)
    expect(await call('PUT', 'chat-1')).toBe(400)
    controller.abort()
  })

  it('[PLAY-10] records the calls of the page like all others, without the waiting one before it is answered', async () => {
    const { handedOver, emulator } = setUp()
    const { chat } = await handedOver()
    const calls = () =>
      emulator.control
        .requests()
        .filter(({ path }) => path.startsWith('/live-desk/'))
        .map(({ method, status }) => `${method} ${status}`)
    await eventually(() => calls().at(-1) === 'GET 0', 'a waiting call')
    const before = calls()
    chat.say('Good day.')
    await eventually(() => calls().length > before.length, 'the next call')
    expect(calls()).toEqual([...before.slice(0, -1), 'GET 200', 'GET 0'])
  })
})
