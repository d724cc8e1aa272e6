import {
  createAgentMessage,
  createContextMessage,
  createEscalationMessage,
  createFeedbackMessage,
  createGracefulDisconnectMessage,
  createTokenMessage,
  handOverAddress,
  LogLevel,
  type Message,
} from '@aiagent/client'
import type { ClientMessage, ServerMessage } from '@aiagent/protocol'
import clientFixtures from '@aiagent/protocol/fixtures/client-messages.json' with { type: 'json' }
import malformedFixtures from '@aiagent/protocol/fixtures/malformed-frames.json' with { type: 'json' }
import serverFixtures from '@aiagent/protocol/fixtures/server-messages.json' with { type: 'json' }
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { verifiesOnEachWire } from '../verifies.ts'
import { differsIn, WITH_REFUSED_CHATS } from '../weathers.ts'

/** The typed event of each kind of service frame, beside `message`. */
function ownEvent({ persona, role }: ServerMessage): string | undefined {
  if (persona === 'agent') return 'agentMessage'
  const events: Record<string, string> = {
    'metadata error': 'errorMessage',
    'system context validation': 'contextValidation',
    'system chat history': 'chatHistory',
    'system heartbeat': 'heartbeat',
  }
  return events[`${persona} ${role}`]
}

verifiesOnEachWire('WS-04', 'every client frame arrives in its documented form', async service => {
  const agent = await service.connectedAgent()
  const frames = clientFixtures.map(({ frame }) => frame as ClientMessage)
  // The graceful disconnect ends the connection, so it comes last.
  const goodbye = frames.filter(({ role }) => role === 'graceful disconnect')
  const ordered = [...frames.filter(frame => !goodbye.includes(frame)), ...goodbye]
  expect(goodbye).toHaveLength(1)
  // A user message without content is the frame of an empty text.
  for (const frame of ordered) await agent.send(frame.role === 'human' ? { content: '', ...frame } : frame)
  await eventually(() => service.frames().length === ordered.length)
  const expected = ordered.map(({ content, ...frame }) => (content ? { ...frame, content } : frame))
  expect(service.control.frames(service.session).map(({ data }) => JSON.parse(String(data)))).toEqual(expected)
})

verifiesOnEachWire(
  'WS-04',
  'every service frame is understood',
  async service => {
    const agent = await service.connectedAgent()
    const journal = new Journal(agent)
    const frames = serverFixtures.map(({ frame }) => frame as unknown as ServerMessage)
    for (const frame of frames) service.control.pushFrame(service.session, frame)
    await eventually(() => journal.of('message').length === frames.length)

    const read = journal.of('message').map(({ data }) => data as Message)
    expect(
      read.map(({ persona, role, content, messageId, messageData }) => ({
        persona,
        role,
        content,
        messageId,
        messageData,
      })),
    ).toEqual(
      frames.map(({ persona, role, content, messageId, messageData }) => ({
        persona,
        role,
        content: content ?? '',
        messageId: messageId ?? undefined,
        messageData: messageData ?? undefined,
      })),
    )
    const typed = journal.types.filter(type =>
      ['agentMessage', 'errorMessage', 'contextValidation', 'chatHistory', 'heartbeat'].includes(type),
    )
    expect(typed).toEqual(frames.flatMap(frame => ownEvent(frame) ?? []))
    expect(new Set(typed).size).toBe(5)
    expect(journal.of('closed')).toEqual([])

    // Each event has the data of its type.
    expect(journal.of('agentMessage').filter(({ message }) => message.showOptions)[0]?.message.options).toEqual([
      'Model A',
      'Model B',
    ])
    expect(journal.of('agentMessage').filter(({ message }) => message.sources)[0]?.message.sources).toMatchObject([
      { title: 'Resetting a router' },
    ])
    expect(new Set(journal.of('agentMessage').map(({ message }) => message.escalationType))).toEqual(
      new Set([undefined, 'live', 'alternate']),
    )
    expect(journal.of('chatHistory')[0]?.message.chatHistory.length).toBeGreaterThan(0)
    expect(journal.of('errorMessage').map(({ error }) => error.message)).toEqual(
      frames.filter(({ role }) => role === 'error').map(({ content }) => content),
    )
  },
  { differs: differsIn(WITH_REFUSED_CHATS, 'after an attempt, a history brings what was missed') },
)

verifiesOnEachWire(
  'WS-04',
  'a stale or expired token error of any code is answered with a new token',
  async service => {
    const requests = serverFixtures
      .map(({ frame }) => frame as ServerMessage)
      .filter(({ role }) => role.endsWith('_token'))
    expect(requests).toHaveLength(3)
    let issued = 0
    const fresh = () => service.control.issueToken({ lifeSeconds: 3600 + ++issued })
    const agent = service.newAgent({
      id: 'account',
      auth: { type: 'pre-auth', accessToken: fresh(), refreshTokenFn: fresh },
    })
    await agent.initialize()
    await agent.connect()
    const tokens = () =>
      service.frames().flatMap(({ role, messageData }) => (role === 'token' ? [messageData?.['token']] : []))
    await eventually(() => tokens().length === 1)
    for (const [index, request] of requests.entries()) {
      service.control.pushFrame(service.session, request)
      await eventually(() => tokens().length === index + 2)
    }
    expect(new Set(tokens()).size).toBe(4)
  },
)

verifiesOnEachWire('WS-04', 'an unknown or malformed frame never breaks the next one', async service => {
  const agent = await service.connectedAgent({ logLevel: LogLevel.FATAL })
  const journal = new Journal(agent)
  let unreadable = 0
  for (const { name, text, readsAs } of malformedFixtures as { name: string; text: string; readsAs?: object }[]) {
    const { length } = journal.of('message')
    service.control.pushFrame(service.session, text)
    await agent.send(`after ${name}`)
    await eventually(() => journal.answers.includes(`You said: after ${name}`), `an answer after ${name}`)
    const [{ data } = { data: undefined }] = journal.of('message').slice(length)
    if (readsAs === undefined) {
      unreadable++
      expect(data, name).toBe(text)
    } else expect(data, name).toMatchObject(readsAs)
  }
  expect(unreadable).toBeGreaterThan(10)
  // One error for each unreadable frame, and none of them in the transcript.
  expect(journal.of('error').map(({ error }) => error)).toEqual(
    Array(unreadable).fill(expect.objectContaining({ code: 'MESSAGE_ERROR', reason: 'unreadable' })),
  )
  expect(agent.getTranscript().filter(({ message }) => !message.persona || !message.role)).toEqual([])

  service.control.pushFrame(service.session, {
    persona: 'observer',
    role: 'note',
    content: 'unknown',
    seq: 1,
  } as ServerMessage)
  service.control.pushFrame(service.session, { persona: 'agent', role: 'customer support agent', content: 'the next' })
  await eventually(() => journal.answers.includes('the next'))
  expect(journal.of('message').at(-2)).toMatchObject({
    data: { persona: 'observer', role: 'note', content: 'unknown' },
  })
  expect(journal.of('closed')).toEqual([])
  expect(service.openings).toHaveLength(1)
})

verifiesOnEachWire('WS-05', 'an escalation carries escalationData with liveDomain and entrypointUrl', async service => {
  const agent = await service.connectedAgent()
  const journal = new Journal(agent)
  await agent.send('I want to talk to a human')
  await eventually(() => journal.answers.length)
  const message = journal.of('agentMessage')[0]?.message
  const escalationData = {
    live: true,
    liveDomain: expect.stringMatching(/\w+\.\w+/),
    entrypointUrl: expect.stringMatching(/^https:\/\/.+\/.+/),
  }
  expect(message).toMatchObject({ escalationType: 'live', escalationData, raw: { escalation: true, escalationData } })
  expect(journal.of('message').at(-1)).toMatchObject({ data: { messageData: { escalation: true, escalationData } } })
})

verifiesOnEachWire('OWN-20', 'an escalation is emitted after its agentMessage', async service => {
  const agent = await service.connectedAgent()
  const journal = new Journal(agent)
  await agent.send('I want to talk to a human')
  await eventually(() => journal.of('escalation').length)
  const [escalation] = journal.of('escalation')
  expect(journal.types.filter(type => type !== 'workingChanged').slice(-2)).toEqual(['agentMessage', 'escalation'])
  expect(escalation).toEqual({
    escalationType: 'live',
    escalationData: journal.of('agentMessage')[0]?.message.escalationData,
    messageId: journal.of('agentMessage')[0]?.messageId,
    message: journal.of('agentMessage')[0]?.message,
  })
  expect(handOverAddress(escalation?.escalationData ?? {})?.href).toBe(escalation?.escalationData.entrypointUrl)

  service.control.pushFrame(service.session, {
    persona: 'agent',
    role: 'customer support agent',
    content: 'Call us.',
    messageData: { escalation: true, escalationData: { live: false, phone: true, phoneNumber: '+1 555 0100' } },
  })
  await eventually(() => journal.of('escalation').length === 2)
  expect(journal.of('escalation')[1]).toMatchObject({
    escalationType: 'alternate',
    escalationData: { options: [{ label: 'CALL', type: 'phone', value: '+1 555 0100' }] },
  })
  await agent.send('Thanks')
  await eventually(() => journal.answers.at(-1) === 'You said: Thanks')
  expect(journal.of('escalation')).toHaveLength(2)
})

verifiesOnEachWire('OPS-06', 'the message helpers create frames that the service understands', async service => {
  const agent = await service.connectedAgent({ transcriptConfig: {} })
  const journal = new Journal(agent)
  await agent.send(createAgentMessage({ content: 'hello' }))
  await eventually(() => journal.answers.length)
  const answerMessageId = journal.of('agentMessage')[0]?.messageId ?? ''
  await agent.send(createAgentMessage({ content: 'psst', persona: 'customer', role: 'supervisor' }))
  await agent.send(createContextMessage({ context: { plan: 'gold', age: { value: 41, type: 'integer' } } }))
  await agent.send(createFeedbackMessage({ rating: 'up', answerMessageId }))
  await agent.send(createEscalationMessage({ escalationEvent: { type: 'live', state: 'opened' } }))
  await agent.send(createTokenMessage({ token: 'a.b.c' }))
  // Ids and sender names are local and not sent.
  await agent.send(createAgentMessage({ content: 'What do you know of me?', messageId: 'mine', from: 'me', to: 'you' }))
  await eventually(() => journal.answers.length === 2)
  await agent.send(createGracefulDisconnectMessage())
  await eventually(() => journal.of('closed').length)

  expect(service.control.frames(service.session).map(({ data }) => JSON.parse(String(data)))).toEqual([
    { persona: 'customer', role: 'human', content: 'hello' },
    { persona: 'customer', role: 'supervisor', content: 'psst' },
    {
      persona: 'system',
      role: 'context',
      messageData: { context: { plan: 'gold', age: { value: 41, type: 'integer' } } },
    },
    { persona: 'system', role: 'feedback', messageData: { feedback: { rating: 'up', answerMessageId } } },
    { persona: 'system', role: 'escalation', messageData: { escalationEvent: { type: 'live', state: 'opened' } } },
    { persona: 'metadata', role: 'token', messageData: { token: 'a.b.c' } },
    { persona: 'customer', role: 'human', content: 'What do you know of me?' },
    { persona: 'system', role: 'graceful disconnect' },
  ])
  expect(JSON.parse(journal.answers[1] ?? '')).toEqual({ plan: 'gold', age: { value: 41, type: 'integer' } })
  expect(agent.getContext()).toEqual({ plan: 'gold', age: { value: 41, type: 'integer' } })
  // The graceful disconnect is the intended end.
  expect(journal.of('closed')).toMatchObject([{ code: 1000, willReconnect: false }])
})

verifiesOnEachWire('OPS-06', 'the message helpers return plain objects with the given ids and names', () => {
  const ids = { messageId: 'mine', from: 'me', to: 'you' }
  expect(createAgentMessage({ content: 'hello', ...ids })).toEqual({
    ...ids,
    persona: 'customer',
    role: 'human',
    content: 'hello',
  })
  for (const message of [
    createContextMessage({ context: {}, ...ids }),
    createFeedbackMessage({ rating: 'down', answerMessageId: 'm-1', ...ids }),
    createEscalationMessage({ escalationEvent: 'closed', ...ids }),
    createGracefulDisconnectMessage(ids),
    createTokenMessage({ token: 'a.b.c', ...ids }),
  ]) {
    expect(message).toMatchObject(ids)
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype)
    expect(message).not.toHaveProperty('content')
  }
})
