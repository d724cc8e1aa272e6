import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { lastSession, namesOf, passing, payloadsOf, rejection, requestsTo, setUp } from '../../test/agent-harness.ts'
import { exchange, linesOf, SETTLED_MS, setUpOutage } from '../../test/outage-harness.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { TranscriptConfig } from '../log/entry.ts'
import type { Message } from '../log/message.ts'
import {
  AgentMessageHandler,
  type AgentMessageResult,
  BaseMessageHandler,
  type HandlerResult,
} from './message-handler.ts'

function undo(): never {
  throw new Error('no')
}

/** A connected agent, and a service whose transcript calls may fail. */
async function setUpTranscripts({
  sendHistory = true,
  historyLimit = 500,
  isSignedIn = false,
  transcriptConfig = {},
}: {
  sendHistory?: boolean
  historyLimit?: number
  isSignedIn?: boolean
  transcriptConfig?: TranscriptConfig
} = {}) {
  const parts = await setUpOutage({ sendHistory, historyLimit }, ({ emulator }) => {
    const accessToken = emulator.control.issueToken({ subject: 'customer' })
    return { transcriptConfig, ...(isSignedIn && { auth: { type: 'pre-auth' as const, accessToken } }) }
  })
  const { emulator } = parts
  const transcriptCalls = () => requestsTo(emulator).filter(each => each === `GET ${lastSession(emulator)}`).length
  const failTranscript = () =>
    emulator.faults.add({ kind: 'answer', route: paths.previousTranscript('help', lastSession(emulator)), status: 500 })
  const hangTranscript = () =>
    emulator.faults.add({ kind: 'hang-request', route: paths.previousTranscript('help', lastSession(emulator)) })
  return { ...parts, transcriptCalls, failTranscript, hangTranscript }
}

describe('what the agent says while the connection is down', () => {
  it.each([
    ['history', true, 0],
    ['rest', false, 1],
  ] as const)('[REL-96] appears once and in its place, from the source %s', async (source, sendHistory, calls) => {
    const { agent, told, clock, sendAndCut, transcriptCalls } = await setUpTranscripts({ sendHistory })
    await sendAndCut('one')
    await clock.advance(SETTLED_MS)
    await agent.send('two')
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(exchange('one', 'two'))
    const [recovered, ...more] = payloadsOf(told, 'messagesRecovered')
    expect([recovered?.source, recovered?.messages.map(({ content }) => content), more]).toEqual([
      source,
      ['You said: one'],
      [],
    ])
    expect(transcriptCalls()).toBe(calls)
    await agent.destroy()
    expect(clock.pendingTimers).toBe(0)
  })

  it('[REL-96] is reported by the events of its messages, marked as recovered, and then as a whole', async () => {
    const { agent, told, clock, sendAndCut } = await setUpTranscripts()
    const said: (string | undefined)[] = []
    const reading = (async () => {
      for await (const { content } of agent.messages()) said.push(content)
    })()
    await sendAndCut('one')
    told.length = 0
    await clock.advance(SETTLED_MS)
    const names = namesOf(told)
    const first = names.indexOf('chatHistory')
    expect(names.slice(first, first + 4)).toEqual([
      'chatHistory',
      'transcriptUpdate',
      'agentMessage',
      'messagesRecovered',
    ])
    expect(payloadsOf(told, 'agentMessage')).toMatchObject([{ recovered: true, message: { content: 'You said: one' } }])
    const updates = payloadsOf(told, 'transcriptUpdate').filter(({ message }) => message.persona === 'agent')
    expect(updates).toMatchObject([{ recovered: true, direction: 'received', entry: { recovered: true } }])
    await agent.destroy()
    await reading
    expect(said).toEqual(['You said: one'])
  })

  it.each([true, false])('[REL-96] answers a question that was open (history frame: %s)', async sendHistory => {
    const { agent, clock, emulator } = await setUpTranscripts({ sendHistory })
    const answer = agent.ask('one')
    await clock.advance(100)
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    expect((await answer).content).toBe('You said: one')
    await agent.destroy()
  })

  it('[REL-96] answers a question before a message that follows the reconnect', async () => {
    const { agent, clock, emulator } = await setUpTranscripts({ sendHistory: false })
    const answer = agent.ask('one')
    await clock.advance(100)
    emulator.control.dropSockets()
    await clock.advance(600)
    await passing(clock, agent.connect())
    emulator.control.pushFrame(lastSession(emulator), {
      messageId: 'late',
      persona: 'agent',
      role: 'customer support agent',
      content: 'Anything else?',
    })
    await clock.advance(SETTLED_MS)
    expect((await answer).content).toBe('You said: one')
    expect(linesOf(agent)).toEqual([...exchange('one'), 'received: Anything else?'])
    await agent.destroy()
  })

  it('[REL-96] includes what the user wrote on another device', async () => {
    const { agent, told, clock, emulator, make } = await setUpTranscripts()
    const said: (string | undefined)[] = []
    const reading = (async () => {
      for await (const { content } of agent.messages()) said.push(content)
    })()
    const seen = new Set<string>()
    class Seeing extends AgentMessageHandler {
      override canHandle(message: Message): boolean {
        seen.add(message.persona)
        return super.canHandle(message)
      }
    }
    agent.getMessageProcessor().addHandler(new Seeing(), 0)
    await agent.send('one')
    await clock.advance(1_000)
    const other = make({ sessionId: lastSession(emulator) }).agent
    await other.initialize()
    await other.connect()
    await other.send('from the phone')
    await clock.advance(1_000)
    await other.destroy()
    expect(agent.getState()).toBe('CLOSED')
    await agent.connect()
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(exchange('one', 'from the phone'))
    expect(payloadsOf(told, 'messagesRecovered').map(({ messages }) => messages.map(({ persona }) => persona))).toEqual(
      [['customer', 'agent']],
    )
    await agent.destroy()
    await reading
    expect(said).toEqual(['You said: one', 'You said: from the phone'])
    // Handlers are for what the service says.
    expect([...seen].toSorted()).toEqual(['agent', 'system'])
  })

  it('[REL-96] is found by one call in each reopening, also when a message follows the reconnect at once', async () => {
    const { agent, clock, emulator, sendAndCut, transcriptCalls } = await setUpTranscripts({ sendHistory: false })
    await sendAndCut('one')
    await agent.send('two, queued')
    await clock.advance(SETTLED_MS)
    expect(transcriptCalls()).toBe(1)
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    expect(transcriptCalls()).toBe(2)
    expect(linesOf(agent)).toEqual(exchange('one', 'two, queued'))
    await agent.destroy()
  })

  it('[REL-96] is not requested for the first opening of a session', async () => {
    const { agent, clock, transcriptCalls, told } = await setUpTranscripts()
    await clock.advance(SETTLED_MS)
    expect([transcriptCalls(), namesOf(told).includes('messagesRecovered')]).toEqual([0, false])
    await agent.destroy()
  })

  it('[REL-96] leaves out what was said before the host supplied the session', async () => {
    const { agent: first, clock, emulator, make, sendAndCut } = await setUpTranscripts()
    await sendAndCut('before')
    await first.destroy()
    await clock.advance(1_000)
    const { agent, told } = make({ sessionId: lastSession(emulator) })
    await agent.initialize()
    await agent.connect()
    await clock.advance(1_000)
    await agent.send('one')
    await clock.advance(100)
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(exchange('one'))
    expect(payloadsOf(told, 'messagesRecovered')).toHaveLength(1)
    await agent.destroy()
  })

  it('[REL-96] warns once where neither the history nor the transcript is available', async () => {
    const { agent, clock, emulator, printed, sendAndCut, failTranscript, told } = await setUpTranscripts({
      sendHistory: false,
    })
    failTranscript()
    await sendAndCut('one')
    await clock.advance(SETTLED_MS)
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    const warnings = printed.filter(([text]) => String(text).includes('Messages of an outage'))
    expect(warnings).toEqual([[expect.any(String), { error: expect.any(Error) }]])
    expect(namesOf(told)).not.toContain('messagesRecovered')
    await agent.destroy()
  })

  it('[REL-96] is merged in its place when the transcript call is slow', async () => {
    const { agent, clock, emulator, sendAndCut } = await setUpTranscripts({ sendHistory: false })
    await sendAndCut('one')
    emulator.faults.add({
      kind: 'delay-requests',
      route: paths.previousTranscript('help', lastSession(emulator)),
      ms: 3_000,
    })
    await clock.advance(2_000)
    await agent.send('two')
    await clock.advance(800)
    expect(linesOf(agent)).toEqual(['sent: one', ...exchange('two')])
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(exchange('one', 'two'))
    await agent.destroy()
  })

  it('[REL-96] appears once when the transcript call and the chat both bring it', async () => {
    const { agent, told, clock, emulator } = await setUpTranscripts({ sendHistory: false })
    emulator.control.dropSockets()
    await clock.advance(100)
    await passing(clock, agent.connect())
    emulator.faults.add({ kind: 'delay-frames', direction: 'to-client', ms: 2_000 })
    await agent.send('one')
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(exchange('one'))
    expect(payloadsOf(told, 'messagesRecovered')).toHaveLength(1)
    expect(payloadsOf(told, 'agentMessage')).toHaveLength(1)
    await agent.send('one')
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(exchange('one', 'one'))
    await agent.destroy()
  })

  it.each<[string, (parts: Awaited<ReturnType<typeof setUpTranscripts>>) => Promise<unknown>]>([
    ['restartConnection()', ({ agent, clock }) => passing(clock, agent.restartConnection())],
    [
      'the service has forgotten the session',
      ({ emulator, clock }) => {
        emulator.control.forgetSession(lastSession(emulator))
        return clock.advance(SETTLED_MS)
      },
    ],
  ])(
    '[REL-96] hides no message of the next session that has the id and the words of a recovered one: %s',
    async (_case, begin) => {
      const parts = await setUpTranscripts({ sendHistory: false })
      const { agent, told, clock, emulator, sendAndCut } = parts
      await sendAndCut('one')
      await clock.advance(SETTLED_MS)
      expect(payloadsOf(told, 'agentMessage')).toMatchObject([{ recovered: true }])
      const former = lastSession(emulator)
      await begin(parts)
      expect(lastSession(emulator)).not.toBe(former)
      // This service counts its messages from 1 in each session.
      await agent.send('one')
      await clock.advance(1_000)
      expect(linesOf(agent).slice(-2)).toEqual(exchange('one'))
      expect(payloadsOf(told, 'agentMessage').map(({ messageId }) => messageId)).toEqual(['m-1', 'm-1'])
      await agent.destroy()
    },
  )

  it('[REL-96] answers a question with a message that awaited a history when the connection is lost again', async () => {
    const { agent, clock, emulator, hangTranscript } = await setUpTranscripts({ sendHistory: false })
    const answer = agent.ask('one')
    await clock.advance(100)
    emulator.control.dropSockets()
    await clock.advance(0)
    hangTranscript()
    await passing(clock, agent.connect())
    await clock.advance(500)
    expect(linesOf(agent)).toEqual(exchange('one'))
    emulator.control.dropSockets()
    expect((await passing(clock, answer)).content).toBe('You said: one')
    await agent.destroy()
  })

  it.each([true, false])(
    '[REL-96] holds up no later answer once it was found (history frame: %s)',
    async sendHistory => {
      const { agent, clock, sendAndCut } = await setUpTranscripts({ sendHistory })
      await sendAndCut('one')
      await clock.advance(SETTLED_MS)
      const answer = agent.ask('two')
      await clock.advance(SETTLED_MS)
      expect((await answer).content).toBe('You said: two')
      await agent.destroy()
    },
  )

  it('[REL-96] holds up no later answer where it is not found', async () => {
    const { agent, clock, sendAndCut, failTranscript } = await setUpTranscripts({ sendHistory: false })
    failTranscript()
    await sendAndCut('one')
    await clock.advance(SETTLED_MS)
    const answer = agent.ask('two')
    await clock.advance(SETTLED_MS)
    expect((await answer).content).toBe('You said: two')
    await agent.destroy()
  })

  it('[REL-96] leaves an answer that awaited a history to its question before the next connection', async () => {
    const { agent, clock, emulator, hangTranscript } = await setUpTranscripts({ sendHistory: false })
    const answer = agent.ask('one')
    await clock.advance(100)
    emulator.control.dropSockets()
    await clock.advance(0)
    hangTranscript()
    await passing(clock, agent.connect())
    await clock.advance(500)
    emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    emulator.control.dropSockets()
    await clock.advance(0)
    expect([(await answer).content, agent.isConnected()]).toEqual(['You said: one', false])
    await agent.destroy()
  })

  it('[REL-96] appears once when the chat brings it after yet another reconnect', async () => {
    const { agent, clock, emulator, sendAndCut } = await setUpTranscripts({ sendHistory: false })
    await sendAndCut('one')
    await clock.advance(SETTLED_MS)
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    const answer = agent.getTranscript().at(-1)?.message
    const { messageId, persona = '', role = '', content, timestamp } = answer ?? {}
    const push = (text = content) =>
      emulator.control.pushFrame(
        lastSession(emulator),
        JSON.stringify({ messageId, persona, role, content: text, timestamp }),
      )
    push('other words')
    push()
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual([...exchange('one'), 'received: other words'])
    await agent.destroy()
  })

  it.each([
    ['an answer', { persona: 'agent', role: 'customer support agent', content: 'Still there?' }, 1],
    ['a heartbeat', { persona: 'system', role: 'heartbeat' }, 1],
    ['another message of the system', { persona: 'system', role: 'context validation' }, 0],
  ])('[REL-96] is requested at once, or later, where the service sends %s first', async (_case, frame, calls) => {
    const { agent, clock, emulator, sendAndCut, transcriptCalls } = await setUpTranscripts({ sendHistory: false })
    await sendAndCut('one')
    await passing(clock, agent.connect())
    emulator.control.pushFrame(lastSession(emulator), frame)
    await clock.advance(100)
    expect(transcriptCalls()).toBe(calls)
    await clock.advance(SETTLED_MS)
    expect(transcriptCalls()).toBe(1)
    await agent.destroy()
  })

  it('[REL-96] is found by the second reopening when the first one is cut short', async () => {
    const { agent, clock, emulator, sendAndCut, hangTranscript, transcriptCalls, told } = await setUpTranscripts({
      sendHistory: false,
    })
    const [hung] = hangTranscript() ? emulator.faults.inForce() : []
    await sendAndCut('one')
    await eventually(async () => {
      await clock.advance(500)
      return transcriptCalls() === 1
    })
    emulator.control.dropSockets()
    await clock.advance(0)
    emulator.faults.lift(hung && { id: hung.id })
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(exchange('one'))
    expect(payloadsOf(told, 'messagesRecovered')).toHaveLength(1)
    await agent.destroy()
    expect(clock.pendingTimers).toBe(0)
  })

  it.each<[string, TranscriptConfig, string[]]>([
    ['of kinds that are included', { includeMessageTypes: ['agent_message'] }, ['received: You said: one']],
    ['of kinds that are not included', { includeMessageTypes: ['customer_message'] }, ['sent: one']],
    ['of an excluded persona', { excludePersonas: ['agent'] }, ['sent: one']],
  ])('[CFG-08] [REL-96] is reported, and recorded as the filters say: %s', async (_case, transcriptConfig, lines) => {
    const { agent, told, clock, sendAndCut } = await setUpTranscripts({ transcriptConfig })
    await sendAndCut('one')
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(lines)
    expect(payloadsOf(told, 'agentMessage')).toMatchObject([{ recovered: true }])
    expect(payloadsOf(told, 'messagesRecovered')).toHaveLength(1)
    await agent.destroy()
  })

  it.each<[string, () => unknown, boolean]>([
    ['throws', () => undo(), true],
    ['rejects', () => Promise.reject(new Error('no')), true],
    ['never settles', () => new Promise(() => {}), false],
    ['returns nothing of use', () => Promise.resolve({ type: 'mine' }), false],
    ['returns nothing', () => undefined, false],
  ])('[REL-96] answers a question although a handler of the host %s', async (_case, handle, isLogged) => {
    const { agent, told, clock, emulator, printed } = await setUpTranscripts()
    class Odd extends BaseMessageHandler {
      canHandle({ persona }: Message): boolean {
        return persona === 'agent'
      }
      handle(): Promise<HandlerResult> {
        return handle() as Promise<HandlerResult>
      }
    }
    agent.getMessageProcessor().addHandler(new Odd(), 0)
    const answer = agent.ask('one')
    await clock.advance(100)
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    expect((await answer).content).toBe('You said: one')
    expect([namesOf(told).includes('agentMessage'), linesOf(agent)]).toEqual([false, exchange('one')])
    expect(payloadsOf(told, 'messagesRecovered')).toHaveLength(1)
    expect(printed.flat().filter(text => String(text).includes('A message handler failed.'))).toHaveLength(
      isLogged ? 1 : 0,
    )
    await agent.destroy()
  })

  it.each<[string, (then: PromiseLike<never>['then']) => unknown]>([
    ['promise', then => new Promise(then as never)],
    ['promise of another library', then => ({ then })],
  ])(
    '[REL-96] is reported when the %s of a handler of the host has settled, and not after a sign-out',
    async (_case, of) => {
      const { agent, told, clock, sendAndCut } = await setUpTranscripts()
      const pending: (() => void)[] = []
      class Slow extends AgentMessageHandler {
        override handle(message: Message): AgentMessageResult {
          const then = (resolve: (result: AgentMessageResult) => void) =>
            void pending.push(() => resolve(super.handle(message)))
          return of(then as never) as never
        }
      }
      agent.getMessageProcessor().addHandler(new Slow(), 0)
      await sendAndCut('one')
      await clock.advance(SETTLED_MS)
      expect(payloadsOf(told, 'agentMessage')).toEqual([])
      pending.shift()?.()
      await clock.advance(0)
      expect(payloadsOf(told, 'agentMessage')).toMatchObject([
        { recovered: true, message: { content: 'You said: one' } },
      ])
      await sendAndCut('two')
      await clock.advance(SETTLED_MS)
      await passing(clock, agent.logout())
      pending.shift()?.()
      await clock.advance(0)
      expect(payloadsOf(told, 'agentMessage')).toHaveLength(1)
      await agent.destroy()
    },
  )

  it('[REL-96] is reported once, even if the chat repeats messages that a transcript call has returned', async () => {
    const { agent, told, clock, emulator, sendAndCut } = await setUpTranscripts({
      sendHistory: false,
      historyLimit: 600,
    })
    const history = emulator.world.sessions.get(lastSession(emulator))?.history
    const missed = Array.from({ length: 501 }, (_, n) => ({
      messageId: `m-${n}`,
      persona: 'agent',
      role: 'x',
      content: `missed ${n}`,
      timestamp: clock.now() + 1,
    }))
    await sendAndCut('one')
    for (const each of missed) history?.add(each as never)
    await clock.advance(SETTLED_MS)
    expect(payloadsOf(told, 'messagesRecovered')[0]?.messages.length).toBeGreaterThanOrEqual(501)
    const before = payloadsOf(told, 'agentMessage').length
    for (const index of [500, 250, 0]) emulator.control.pushFrame(lastSession(emulator), JSON.stringify(missed[index]))
    await clock.advance(0)
    expect(payloadsOf(told, 'agentMessage')).toHaveLength(before)
    await agent.destroy()
  })

  it('[REL-96] hides no message that follows a history with the id and the words of one that it has shown', async () => {
    const { agent, told, clock, emulator, sendAndCut } = await setUpTranscripts()
    await sendAndCut('one')
    await clock.advance(SETTLED_MS)
    const { messageId, persona, role, content } = payloadsOf(told, 'messagesRecovered')[0]?.messages[0] ?? {}
    emulator.control.pushFrame(lastSession(emulator), JSON.stringify({ messageId, persona, role, content }))
    await clock.advance(0)
    expect(payloadsOf(told, 'agentMessage').map(({ recovered }) => recovered)).toEqual([true, undefined])
    await agent.destroy()
  })

  it('[REL-96] is found after the wall clock was set back or forward', async () => {
    for (const jump of [-1_200_000, 1_200_000]) {
      const { agent, clock, sendAndCut } = await setUpTranscripts()
      await agent.send('zero')
      await clock.advance(1_000)
      await sendAndCut('one')
      clock.shiftWallClock(jump)
      await clock.advance(SETTLED_MS)
      expect(linesOf(agent)).toEqual(exchange('zero', 'one'))
      await agent.destroy()
    }
  })
})

describe('a conversation that was left', () => {
  it.each([true, false])('[REL-98] clearTranscript() is final (history frame: %s)', async sendHistory => {
    const { agent, clock, emulator, sendAndCut } = await setUpTranscripts({ sendHistory })
    await agent.send('secret')
    await clock.advance(1_000)
    agent.clearTranscript()
    await sendAndCut('one')
    await clock.advance(SETTLED_MS)
    emulator.control.dropSockets()
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).toEqual(exchange('one'))
    await agent.destroy()
  })

  it.each<[string, (agent: AiAgent, token: string) => Promise<unknown>]>([
    ['logout()', agent => agent.logout()],
    ['restartConnection()', agent => agent.restartConnection()],
    ['destroy()', agent => agent.destroy()],
    ['a change of the user', (agent, token) => agent.updateAccessToken(token, { userChanged: true })],
  ])('[REL-98] the answer of a transcript call is dropped after %s', async (_name, leave) => {
    const { agent, clock, emulator, told, sendAndCut, hangTranscript, transcriptCalls } = await setUpTranscripts({
      sendHistory: false,
      isSignedIn: true,
    })
    hangTranscript()
    await sendAndCut('secret')
    await eventually(async () => {
      await clock.advance(500)
      return transcriptCalls() === 1
    })
    const token = emulator.control.issueToken({ subject: 'new-customer' })
    const left = leave(agent, token)
    emulator.faults.lift()
    await passing(clock, left)
    await clock.advance(SETTLED_MS)
    expect(linesOf(agent)).not.toContain('received: You said: secret')
    expect(namesOf(told)).not.toContain('messagesRecovered')
    await agent.destroy()
    expect(clock.pendingTimers).toBe(0)
  })

  it.each([
    ['transcriptUpdate', 0],
    ['agentMessage', 1],
    ['messagesRecovered', 2],
  ] as const)(
    '[REL-98] nothing more of it is told once a listener of %s has signed the user out',
    async (name, answers) => {
      const { agent, clock, told, sendAndCut } = await setUpTranscripts()
      let handled = 0
      class Counting extends AgentMessageHandler {
        override handle(message: Message): AgentMessageResult {
          handled++
          return super.handle(message)
        }
      }
      agent.getMessageProcessor().addHandler(new Counting(), 0)
      await agent.send('one')
      await sendAndCut('two')
      told.length = 0
      const said: Message[] = []
      const reading = (async () => {
        for await (const message of agent.messages()) said.push(message)
      })()
      let left: Promise<void> | undefined
      agent.on(name, ({ payload }) => {
        if (name === 'messagesRecovered' || 'recovered' in payload) left ??= agent.logout()
      })
      await clock.advance(SETTLED_MS)
      await passing(clock, left ?? Promise.reject(new Error('Nothing was recovered.')))
      expect([handled, payloadsOf(told, 'agentMessage').length]).toEqual([answers, answers])
      const recorded = payloadsOf(told, 'transcriptUpdate').filter(({ recovered }) => recovered)
      expect(recorded).toHaveLength(Math.max(1, answers))
      expect(payloadsOf(told, 'messagesRecovered')).toHaveLength(name === 'messagesRecovered' ? 1 : 0)
      expect(linesOf(agent)).toEqual([])
      await agent.destroy()
      await reading
      // The first one was read at once; the other goes with the conversation.
      expect(said).toHaveLength(name === 'messagesRecovered' ? 1 : 0)
    },
  )

  it('[REL-98] a history that arrives during sign-out is dropped', async () => {
    const { agent, clock, emulator, told, sendAndCut } = await setUpTranscripts()
    await sendAndCut('secret')
    emulator.faults.add({ kind: 'delay-frames', direction: 'to-client', ms: 50 })
    await eventually(async () => {
      await clock.advance(100)
      return agent.isConnected()
    })
    await passing(clock, agent.logout())
    await clock.advance(SETTLED_MS)
    expect([linesOf(agent), namesOf(told).filter(name => name === 'chatHistory')]).toEqual([[], []])
    await agent.destroy()
  })

  it('[REL-98] a question of it rejects instead of taking a recovered answer', async () => {
    const { agent, clock, emulator } = await setUpTranscripts()
    const asked = rejection(agent.ask('one'))
    await clock.advance(100)
    emulator.control.dropSockets()
    await clock.advance(0)
    await passing(clock, agent.restartConnection())
    expect(await asked).toMatchObject({ code: 'MESSAGE_ERROR' })
    await agent.destroy()
  })
})

describe('whether the agent is working', () => {
  const setUpWorking = async (settings: { replyDelayMs: number; heartbeatIntervalMs?: number }) => {
    const parts = setUp({ settings })
    const { agent, told } = parts.make()
    await agent.initialize()
    await agent.connect()
    await agent.send('one')
    await parts.clock.advance(0)
    return { ...parts, agent, changes: () => payloadsOf(told, 'workingChanged').map(({ isWorking }) => isWorking) }
  }

  it('[REL-97] is true from a heartbeat to the answer', async () => {
    const { agent, clock, changes } = await setUpWorking({ replyDelayMs: 100_000, heartbeatIntervalMs: 20_000 })
    expect(agent.status.working).toBe(true)
    await clock.advance(99_999)
    expect([agent.status.working, changes()]).toEqual([true, [true]])
    await clock.advance(1)
    expect([agent.status.working, changes()]).toEqual([false, [true, false]])
    await agent.destroy()
    expect(clock.pendingTimers).toBe(0)
  })

  it('[REL-97] ends after 30 s without a heartbeat', async () => {
    const { agent, clock, changes } = await setUpWorking({ replyDelayMs: 100_000, heartbeatIntervalMs: 100_000 })
    await clock.advance(29_999)
    expect(agent.status.working).toBe(true)
    await clock.advance(1)
    expect([agent.status.working, changes()]).toEqual([false, [true, false]])
    await agent.destroy()
  })

  it.each<[string, (parts: Awaited<ReturnType<typeof setUpWorking>>) => unknown]>([
    [
      'an error of the service',
      ({ emulator }) =>
        emulator.control.pushFrame(lastSession(emulator), { persona: 'metadata', role: 'error', content: 'no' }),
    ],
    ['a close', ({ emulator }) => emulator.control.dropSockets()],
    ['disconnect()', ({ agent }) => agent.disconnect()],
    ['destroy()', ({ agent }) => agent.destroy()],
  ])('[REL-97] ends with %s', async (_name, end) => {
    const parts = await setUpWorking({ replyDelayMs: 20_000 })
    expect(parts.agent.status.working).toBe(true)
    void end(parts)
    await parts.clock.advance(200)
    expect(parts.agent.status.working).toBe(false)
    await parts.agent.destroy()
    // The service answers into the void.
    await parts.clock.advance(20_000)
    expect(parts.clock.pendingTimers).toBe(0)
  })
})
