import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { lastSession, namesOf, passing, payloadsOf, rejection, sentTo, setUp } from '../../test/agent-harness.ts'
import type { Message } from '../log/message.ts'

/** Does not answer "Silence", and repeats any other message. */
const reply = ({ text }: { text: string }) => (text === 'Silence' ? [] : { content: `You said: ${text}` })

async function connected(config: object = {}, settings: object = {}) {
  const all = setUp({ reply, settings })
  const made = all.make(config)
  await made.agent.initialize()
  await made.agent.connect()
  const push = (frame: object) => all.emulator.control.pushFrame(lastSession(all.emulator), JSON.stringify(frame))
  return { ...all, ...made, push }
}

const contents = async (answers: readonly Promise<Message>[]) =>
  (await Promise.all(answers)).map(({ content }) => content)

describe('ask()', () => {
  it('resolves with the answer, one question after the other', async () => {
    const { agent, clock, emulator } = await connected({ transcriptConfig: { excludeRoles: ['heartbeat'] } })
    const asked = ['one', 'two', 'three'].map(text => agent.ask(text))
    expect(agent.getQueueSize()).toBe(2)
    expect(await passing(clock, contents(asked))).toEqual(['You said: one', 'You said: two', 'You said: three'])
    expect(sentTo(emulator)).toEqual(['one', 'two', 'three'])
    expect(agent.getTranscript().map(({ message }) => message.content)).toEqual(
      ['one', 'two', 'three'].flatMap(text => [text, `You said: ${text}`]),
    )
    expect(agent.getQueueSize()).toBe(0)
  })

  it('resolves after the events of its answer', async () => {
    const { agent, told } = await connected()
    const before = told.length
    const answer = await agent.ask('one')
    expect(namesOf(told.slice(before))).toContain('agentMessage')
    expect(payloadsOf(told, 'message').at(-1)?.data).toBe(answer)
  })

  it('waits for the agent and the connection, and ignores messages that arrive before it is written', async () => {
    const { clock, emulator, make } = setUp({ reply })
    const { agent } = make()
    const asked = [agent.ask('one'), agent.ask('two')]
    expect(agent.getQueueSize()).toBe(2)
    await agent.initialize()
    await agent.connect()
    expect(await passing(clock, contents(asked))).toEqual(['You said: one', 'You said: two'])
    expect(sentTo(emulator)).toEqual(['one', 'two'])
  })

  it('stays open over a lost connection', async () => {
    const { agent, clock, emulator, push, told } = await connected()
    const asked = agent.ask('Silence')
    await eventually(() => sentTo(emulator).length === 1)
    emulator.control.dropSockets(1012)
    await eventually(() => agent.getState() === 'RECONNECTING')
    await clock.advance(2_000)
    await eventually(() => agent.isConnected())
    push({ persona: 'agent', role: 'customer support agent', content: 'Now' })
    expect((await asked).content).toBe('Now')
    expect(payloadsOf(told, 'error')).toEqual([])
  })

  describe('[REL-13] never resolves with the answer to the same words of before', () => {
    const user = (content: string) => ({ persona: 'customer', role: 'human', content })
    const agentSaid = (content: string) => ({ persona: 'agent', role: 'customer support agent', content })

    /** Loses what `ask()` writes, with the connection, and sends a history to the reopened chat. */
    async function askInVain(all: Awaited<ReturnType<typeof connected>>, history: object[]) {
      const { agent, clock, emulator, push } = all
      emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
      const asked = rejection(agent.ask('Where?'))
      await clock.advance(100)
      emulator.control.dropSockets(1012)
      await eventually(() => agent.getState() === 'RECONNECTING')
      emulator.faults.lift()
      await clock.advance(2_000)
      await eventually(() => agent.isConnected())
      // Without ids and times, as the shape of these elements is up to the service.
      push({ persona: 'system', role: 'chat history', messageData: { chat_history: history } })
      expect(await asked).toMatchObject({ reason: 'closed' })
      await agent.destroy()
    }

    it('in a question that was answered', async () => {
      const all = await connected({}, { sendHistory: false })
      await all.agent.ask('Where?')
      await all.clock.advance(100)
      await askInVain(all, [user('Where?'), agentSaid('You said: Where?')])
    })

    it('in a message without an answer yet', async () => {
      const all = await connected({}, { sendHistory: false, replyDelayMs: 60_000 })
      await all.agent.send('Where?')
      await all.clock.advance(10)
      await askInVain(all, [user('Where?'), agentSaid('There.')])
    })

    it('in a conversation that the service has shown at the opening', async () => {
      const all = await connected({}, { sendHistory: false })
      const history = [user('Where?'), agentSaid('There.')]
      all.push({ persona: 'system', role: 'chat history', messageData: { chat_history: history } })
      await eventually(() => payloadsOf(all.told, 'chatHistory').length > 0)
      await askInVain(all, history)
    })
  })

  it.each<[string, (all: Awaited<ReturnType<typeof connected>>) => Promise<unknown>, object]>([
    ['disconnect()', ({ agent }) => agent.disconnect(), { reason: 'closed' }],
    ['restartConnection()', ({ agent }) => agent.restartConnection(), { reason: 'closed' }],
    ['logout()', ({ agent }) => agent.logout(), { reason: 'closed' }],
    ['destroy()', ({ agent }) => agent.destroy(), { code: 'ABORTED' }],
    [
      'the normal end of the session',
      async ({ agent, emulator }) => {
        emulator.control.dropSockets(1000)
        await eventually(() => agent.getState() === 'CLOSED')
      },
      { reason: 'closed' },
    ],
    [
      'a session that the service no longer knows',
      async ({ agent, clock, emulator }) => {
        emulator.control.forgetSession(lastSession(emulator))
        await eventually(() => agent.getState() === 'RECONNECTING')
        await clock.advance(2_000)
        await eventually(() => agent.isConnected())
      },
      { reason: 'closed' },
    ],
    [
      'an error of the service',
      async ({ push, told }) => {
        push({ persona: 'metadata', role: 'error', content: 'Too many.', messageData: { error_code: '429-001' } })
        await eventually(() => payloadsOf(told, 'errorMessage').length)
      },
      { reason: 'refused', message: 'The service reports an error: Too many.' },
    ],
  ])('is rejected by %s', async (_what, happen, failure) => {
    const all = await connected()
    const asked = rejection(all.agent.ask('Silence'))
    await eventually(() => sentTo(all.emulator).length === 1)
    await passing(all.clock, happen(all))
    expect(await asked).toMatchObject(failure)
  })

  it('is rejected when the queue is cleared, without an event', async () => {
    const { agent, clock, told } = await connected()
    await passing(clock, agent.disconnect())
    const asked = [agent.ask('one'), agent.ask('two')].map(rejection)
    const id = await agent.send('three')
    expect(agent.getQueueSize()).toBe(3)
    agent.clearQueue()
    expect(await Promise.all(asked)).toMatchObject([{ reason: 'cleared' }, { reason: 'cleared' }])
    expect(agent.getQueueSize()).toBe(0)
    expect(payloadsOf(told, 'error').map(({ error }) => error)).toMatchObject([{ reason: 'cleared', messageId: id }])
  })

  it('is withdrawn when it is aborted before it was written, and leaves no listener', async () => {
    const { agent, emulator, clock, make } = await connected()
    await passing(clock, agent.disconnect())
    const controller = new AbortController()
    const asked = rejection(agent.ask('one', { signal: controller.signal }))
    const late = rejection(agent.ask('two', { timeoutMs: 10 }))
    const kept = agent.ask('three')
    controller.abort()
    expect(await asked).toMatchObject({ code: 'ABORTED' })
    await clock.advance(10)
    expect(await late).toMatchObject({ reason: 'timeout' })
    await passing(clock, agent.connect())
    expect((await kept).content).toBe('You said: three')
    expect(sentTo(emulator)).toEqual(['graceful disconnect', 'three'])

    const early = make().agent
    const held = rejection(early.ask('one', { timeoutMs: 10 }))
    await clock.advance(10)
    expect(await held).toMatchObject({ reason: 'timeout' })
    expect(early.getQueueSize()).toBe(0)
  })

  it('is rejected beyond maxQueueSize, and by an agent that was destroyed', async () => {
    const { make } = setUp({ reply })
    const { agent } = make({ maxQueueSize: 2 })
    const asked = [agent.ask('one'), agent.ask('two')].map(rejection)
    expect(await rejection(agent.ask('three'))).toMatchObject({ reason: 'queue_full' })
    await agent.destroy()
    expect(await Promise.all(asked)).toMatchObject([{ code: 'ABORTED' }, { code: 'ABORTED' }])
    expect(await rejection(agent.ask('four'))).toMatchObject({ code: 'ABORTED' })
  })
})

describe('ask() without a connection', () => {
  it.each([false, true])('[REL-12] is rejected by disconnect() (initialized: %s)', async isInitialized => {
    const { agent } = setUp({ reply }).make()
    if (isInitialized) await agent.initialize()
    const asked = rejection(agent.ask('one'))
    await agent.disconnect()
    expect(await asked).toMatchObject({ reason: 'closed' })
    expect(agent.getQueueSize()).toBe(0)
  })
})

describe('messages()', () => {
  it('returns the agent’s messages, over a lost connection and a new session, until the agent is destroyed', async () => {
    const { agent, clock, emulator } = await connected()
    const seen: (string | undefined)[] = []
    const read = async () => {
      for await (const { content } of agent.messages()) seen.push(content)
    }
    const reading = read()
    await agent.ask('one')
    emulator.control.dropSockets(1012)
    await eventually(() => agent.getState() === 'RECONNECTING')
    await clock.advance(2_000)
    await eventually(() => agent.isConnected())
    await agent.ask('two')
    await passing(clock, agent.restartConnection())
    await passing(clock, agent.ask('three'))
    await agent.destroy()
    await reading
    expect(seen).toEqual(['You said: one', 'You said: two', 'You said: three'])
    expect(() => agent.messages()).toThrow(expect.objectContaining({ code: 'ABORTED' }))
  })

  it('[SEC-19] drops unread messages at a logout, rejects a new loop during it, and continues with the next session', async () => {
    const { agent, clock } = await connected()
    const stream = agent.messages()
    await passing(clock, agent.ask('said to the first user'))
    const leaving = agent.logout()
    expect(() => agent.messages()).toThrow(expect.objectContaining({ code: 'ABORTED' }))
    await passing(clock, leaving)
    const next = stream.next()
    const later = agent.messages().next()
    await passing(clock, agent.initialize())
    await passing(clock, agent.connect())
    await passing(clock, agent.ask('hello'))
    const answer = { done: false, value: { content: 'You said: hello' } }
    expect([await next, await later]).toMatchObject([answer, answer])
    await agent.destroy()
    expect(await stream.next()).toMatchObject({ done: true })
  })

  it('[SEC-19] [SEC-15] passes nothing on when a listener of the message itself signs out', async () => {
    const { agent, clock } = await connected()
    const stream = agent.messages()
    let leaving: Promise<void> | undefined
    agent.on('agentMessage', () => {
      leaving ??= agent.logout()
    })
    await agent.send('said to the first user')
    await eventually(() => leaving !== undefined)
    await passing(clock, leaving as Promise<void>)
    const next = stream.next()
    await passing(clock, agent.initialize())
    await passing(clock, agent.connect())
    await passing(clock, agent.ask('hello'))
    expect(await next).toMatchObject({ value: { content: 'You said: hello' } })
    await agent.destroy()
  })

  it('survives a host that removes all its listeners', async () => {
    const { agent } = await connected()
    const stream = agent.messages()
    agent.removeAllListeners()
    await agent.ask('one')
    expect(await stream.next()).toMatchObject({ done: false, value: { content: 'You said: one' } })
  })
})
