import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { ServiceCaller } from '../../test/chat-client.ts'
import type { EmulatorOptions } from '../index.ts'

const echo: EmulatorOptions = { reply: ({ text }) => ({ content: `You said: ${text}` }) }

const start = (options: EmulatorOptions = {}) => {
  const clock = new ManualClock()
  return { clock, service: new ServiceCaller({ clock, ...echo, ...options }) }
}

describe('a conversation', () => {
  it('answers after a heartbeat, with numbered ids', async () => {
    const { service } = start()
    const chat = await service.chat(await service.session())
    await chat.say('one')
    await chat.say('two')
    expect(chat.roles).toEqual(['heartbeat', 'customer support agent', 'heartbeat', 'customer support agent'])
    expect(chat.frames.flatMap(frame => frame.messageId ?? [])).toEqual(['m-1', 'm-2'])
    expect(chat.answers).toEqual(['You said: one', 'You said: two'])
  })

  it('passes on several answers, their roles and their data in order', async () => {
    const { service } = start({
      reply: () => [
        { content: 'Reset it.', messageData: { sources: [{ title: 'Reset', url: 'https://kb.test/reset' }] } },
        { content: 'What next?', role: 'follow up question agent', messageData: { options: ['Lights'] } },
      ],
    })
    const chat = await service.chat(await service.session())
    await chat.say('How?')
    expect(chat.frames.slice(1)).toMatchObject([
      { role: 'customer support agent', messageData: { sources: [{ title: 'Reset' }] } },
      { role: 'follow up question agent', messageData: { options: ['Lights'] } },
    ])
  })

  it('passes the context and the earlier messages to the agent', async () => {
    const seen: unknown[] = []
    const { service } = start({
      reply: ({ text, context, history, escalation }) => {
        seen.push({ text, context, history, liveDomain: escalation.liveDomain })
        return { content: 'Noted.' }
      },
    })
    const chat = await service.chat(await service.session('help', { plan: 'gold' }))
    await chat.say('one')
    await chat.send({ persona: 'system', role: 'context', messageData: { context: { city: 'Ulm' } } })
    await chat.say('two')
    expect(seen).toEqual([
      { text: 'one', context: { plan: 'gold' }, history: [], liveDomain: 'live.agent.local.test' },
      {
        text: 'two',
        context: { plan: 'gold', city: 'Ulm' },
        history: [
          { from: 'customer', content: 'one' },
          { from: 'agent', content: 'Noted.' },
        ],
        liveDomain: 'live.agent.local.test',
      },
    ])
  })

  it('sends heartbeats while a slow agent works, and answers one message after the other', async () => {
    const { clock, service } = start({ settings: { replyDelayMs: 12_000, heartbeatIntervalMs: 5000 } })
    const chat = await service.chat(await service.session())
    await chat.say('one')
    await chat.say('two')
    await clock.advance(11_999)
    expect(chat.roles).toEqual(['heartbeat', 'heartbeat', 'heartbeat'])
    await clock.advance(1)
    expect(chat.answers).toEqual(['You said: one'])
    await clock.advance(12_000)
    expect(chat.answers).toEqual(['You said: one', 'You said: two'])
  })

  it('waits for an agent that answers with a promise', async () => {
    const { promise, resolve } = withResolver<{ content: string }>()
    const { service } = start({ reply: () => promise })
    const chat = await service.chat(await service.session())
    await chat.say('one')
    expect(chat.answers).toEqual([])
    resolve({ content: 'At last.' })
    await turnEventLoop()
    expect(chat.answers).toEqual(['At last.'])
  })

  it('reports a failing agent, and continues', async () => {
    let calls = 0
    const { service } = start({
      reply: () => {
        if (++calls === 1) throw new Error('out of words')
        return calls === 2 ? Promise.reject(new Error('still out of words')) : { content: 'Here I am.' }
      },
    })
    const chat = await service.chat(await service.session())
    await chat.say('one')
    await chat.say('two')
    await chat.say('three')
    expect(chat.codes).toEqual(['500-001', '500-001'])
    expect(chat.answers).toEqual(['Here I am.'])
  })

  it('stores feedback and escalation events', async () => {
    const { service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    const feedback = { rating: 'up', answerMessageId: 'm-1' }
    await chat.send({ persona: 'system', role: 'feedback', content: '', messageData: { feedback } })
    await chat.send({
      persona: 'system',
      role: 'escalation',
      content: '',
      messageData: { escalationEvent: { step: 1 } },
    })
    const record = service.emulator.world.sessions.get(id)
    expect(record?.feedback).toEqual([feedback])
    expect(record?.escalationEvents).toEqual([{ step: 1 }])
  })

  it('ignores unknown personas and roles', async () => {
    const { service } = start()
    const chat = await service.chat(await service.session())
    await chat.send({ persona: 'parrot', role: 'squawk', content: 'hello' })
    await chat.send({ persona: 'customer', role: 'token', messageData: {} })
    expect(chat.frames).toEqual([])
    expect(chat.closing).toBeUndefined()
  })
})

describe('context validation', () => {
  it('reports the problems of the session context right after the open, once', async () => {
    const { service } = start()
    const id = await service.session('help', { count: { value: '3', type: 'integer' }, name: 'Ann' })
    const chat = await service.chat(id)
    expect(chat.frames).toMatchObject([
      {
        persona: 'system',
        role: 'context validation',
        messageData: {
          contextValidationErrors: [
            { name: 'count', reason: 'type_mismatch', expectedType: 'integer', providedType: 'string' },
          ],
        },
      },
    ])
    expect(service.emulator.world.sessions.get(id)?.context).toEqual({ name: 'Ann' })
    expect((await service.chat(id)).frames).toEqual([])
  })

  it('reports an invalid context frame at once and keeps its valid part', async () => {
    const { service } = start({ settings: { contextValueLimit: 5 } })
    const id = await service.session()
    const chat = await service.chat(id)
    await chat.send({ persona: 'system', role: 'context', messageData: { context: { long: 'too long', short: 'ok' } } })
    expect(chat.frames[0]?.messageData?.contextValidationErrors).toEqual([{ name: 'long', reason: 'value_too_long' }])
    expect(service.emulator.world.sessions.get(id)?.context).toEqual({ short: 'ok' })
  })
})

describe('opening again', () => {
  it('sends the history, and closes the older connection with 1000', async () => {
    const { service } = start()
    const id = await service.session()
    const first = await service.chat(id)
    expect(first.frames).toEqual([])
    await first.say('one')
    const second = await service.chat(id)
    expect(first.closing).toMatchObject({ code: 1000, wasClean: true })
    expect(second.frames).toMatchObject([
      {
        persona: 'system',
        role: 'chat history',
        messageData: {
          chat_history: [
            { persona: 'customer', role: 'human', content: 'one' },
            { persona: 'agent', content: 'You said: one', messageId: 'm-1' },
          ],
        },
      },
    ])
    await second.say('two')
    expect(second.answers).toEqual(['You said: two'])
  })

  it('delivers an answer that was in progress when the connection broke', async () => {
    const { clock, service } = start({ settings: { replyDelayMs: 1000 } })
    const id = await service.session()
    const first = await service.chat(id)
    await first.say('one')
    service.emulator.control.dropSockets()
    await turnEventLoop()
    const second = await service.chat(id)
    await clock.advance(1000)
    expect(first.answers).toEqual([])
    expect(second.answers).toEqual(['You said: one'])
  })
})

describe('the end', () => {
  const goodbye = { persona: 'system', role: 'graceful disconnect' } as const

  it('closes with 1000 on a graceful disconnect and keeps the session', async () => {
    const { service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    await chat.send(goodbye)
    expect(chat.closing).toMatchObject({ code: 1000, wasClean: true })
    expect((await service.chat(id)).events).toEqual(['open'])
  })

  it('ends the session on a graceful disconnect if configured', async () => {
    const { service } = start({ settings: { endSessionOnGracefulDisconnect: true } })
    const id = await service.session()
    await (await service.chat(id)).send(goodbye)
    expect((await service.chat(id)).closing).toMatchObject({ code: 1006, httpStatus: 410 })
  })

  it('ends a session after half an hour without activity', async () => {
    const { clock, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    await clock.advance(20 * 60_000)
    await chat.say('one')
    await clock.advance(30 * 60_000 - 1)
    expect(chat.closing).toBeUndefined()
    await clock.advance(1)
    expect(chat.closing?.code).toBe(1000)
    expect((await service.chat(id)).closing?.httpStatus).toBe(410)
  })

  it('ends it also if no client was connected meanwhile', async () => {
    const { clock, service } = start()
    const id = await service.session()
    ;(await service.chat(id)).socket.close(1000)
    await clock.advance(30 * 60_000)
    expect((await service.chat(id)).closing?.httpStatus).toBe(410)
  })

  it('leaves no timer behind', async () => {
    const { clock, service } = start({ settings: { replyDelayMs: 1000 } })
    const chat = await service.chat(await service.session('account'))
    await chat.present(service.emulator.control.issueToken())
    await chat.say('one')
    expect(clock.pendingTimers).toBeGreaterThan(0)
    service.emulator.close()
    await turnEventLoop()
    expect(chat.closing).toMatchObject({ code: 1001, wasClean: true })
    expect(clock.pendingTimers).toBe(0)
  })
})

function withResolver<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}
