import { createFeedbackMessage } from '@aiagent/client'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { verifies } from '../verifies.ts'

verifies('FLOW-24', 'the transcript records every message sent and received, with session and agent', async service => {
  const agent = service.newAgent()
  const journal = new Journal(agent)
  await agent.initialize()
  const before = service.clock.now()
  await agent.send('waits for the connection')
  // A queued message counts as sent when it is accepted.
  expect(agent.getTranscript().map(({ direction, message }) => [direction, message.content])).toEqual([
    ['sent', 'waits for the connection'],
  ])
  await agent.connect()
  await eventually(() => journal.answers.length === 1)
  await agent.send(
    createFeedbackMessage({ rating: 'up', answerMessageId: journal.of('agentMessage')[0]?.messageId ?? '' }),
  )
  await agent.setContext({ plan: 'gold' }, { sendImmediately: true })
  await agent.send('open')
  await eventually(() => journal.answers.length === 2)

  const entries = agent.getTranscript()
  expect(entries.map(({ direction, message }) => [direction, message.role, message.content])).toEqual([
    ['sent', 'human', 'waits for the connection'],
    ['received', 'heartbeat', ''],
    ['received', 'customer support agent', 'You said: waits for the connection'],
    ['sent', 'feedback', undefined],
    ['sent', 'context', undefined],
    ['sent', 'human', 'open'],
    ['received', 'heartbeat', ''],
    ['received', 'customer support agent', 'You said: open'],
  ])
  for (const { timestamp, sessionId, agentId } of entries) {
    expect({ sessionId, agentId }).toEqual({ sessionId: service.session, agentId: 'help' })
    expect(timestamp).toBeGreaterThanOrEqual(before)
    expect(timestamp).toBeLessThanOrEqual(service.clock.now())
  }
})

verifies('FLOW-24', 'token frames are never recorded, in either direction', async service => {
  const tokens = [service.control.issueToken({ lifeSeconds: 4000 }), service.control.issueToken({ lifeSeconds: 5000 })]
  const agent = service.newAgent({
    id: 'account',
    auth: { type: 'pre-auth', accessToken: tokens[0] ?? '', refreshTokenFn: () => tokens[1] ?? '' },
  })
  const journal = new Journal(agent)
  await agent.initialize()
  await agent.connect()
  service.control.pushFrame(service.session, {
    persona: 'metadata',
    role: 'stale_token',
    messageData: { error_code: '401-012' },
  })
  service.control.pushFrame(service.session, { persona: 'metadata', role: 'token', messageData: { token: 'echoed' } })
  await eventually(() => service.frames().filter(({ role }) => role === 'token').length === 2)
  await agent.send('hello')
  await eventually(() => journal.answers.length)
  expect(service.frames().map(({ role }) => role)).toEqual(['token', 'token', 'human'])
  expect(journal.of('message').map(({ data }) => (data as { role: string }).role)).toContain('token')
  const roles = agent.getTranscript().map(({ message }) => message.role)
  expect(roles).toEqual(expect.arrayContaining(['human', 'heartbeat', 'customer support agent']))
  expect(roles).not.toContain('token')
  expect(journal.of('transcriptUpdate').map(({ message }) => message.role)).toEqual(roles)
  for (const token of [...tokens, 'echoed']) expect(JSON.stringify(agent.getTranscriptAsJSON())).not.toContain(token)
})

verifies('FLOW-24', 'a message that was refused is not recorded', async service => {
  const agent = service.newAgent({ maxQueueSize: 0 })
  await agent.initialize()
  await expect(agent.send('no room')).rejects.toMatchObject({ reason: 'queue_full' })
  await expect(agent.send({ content: 7 as never })).rejects.toMatchObject({ reason: 'invalid' })
  expect(agent.getTranscript()).toEqual([])
})

verifies('FLOW-20', 'an empty message content is left out of the payload', async service => {
  const agent = await service.connectedAgent()
  const journal = new Journal(agent)
  await agent.send('')
  await agent.send({ persona: 'customer', role: 'human', content: '', messageData: { optionOf: 'm-1' } })
  await agent.send('words')
  await eventually(() => journal.answers.length === 3)
  expect(service.control.frames(service.session).map(({ data }) => JSON.parse(String(data)))).toEqual([
    { persona: 'customer', role: 'human' },
    { persona: 'customer', role: 'human', messageData: { optionOf: 'm-1' } },
    { persona: 'customer', role: 'human', content: 'words' },
  ])
})

verifies(
  'EVT-04',
  'transcriptUpdate is emitted for each message sent or received, with the entry as payload',
  async service => {
    const agent = await service.connectedAgent()
    const journal = new Journal(agent)
    await agent.send('hello')
    await eventually(() => journal.answers.length)
    const updates = journal.of('transcriptUpdate')
    expect(updates.map(({ entry }) => entry)).toEqual(agent.getTranscript())
    for (const { entry, ...fields } of updates) expect(fields).toEqual({ ...entry })
    expect(updates.map(({ direction, message }) => [direction, message.role])).toEqual([
      ['sent', 'human'],
      ['received', 'heartbeat'],
      ['received', 'customer support agent'],
    ])
  },
)

verifies('EVT-04', 'transcriptUpdate follows the filters, and is emitted also when storing is off', async service => {
  for (const [transcriptConfig, roles] of [
    [{ enabled: false }, ['human', 'heartbeat', 'customer support agent']],
    [{ enabled: false, excludeRoles: ['heartbeat'] }, ['human', 'customer support agent']],
    [{ excludePersonas: ['system'] }, ['human', 'customer support agent']],
    [{ includeMessageTypes: ['agent_message'] as 'agent_message'[] }, ['customer support agent']],
  ] as const) {
    const agent = await service.connectedAgent({ transcriptConfig: transcriptConfig as object })
    const journal = new Journal(agent)
    await agent.send('hello')
    await eventually(() => journal.answers.length)
    expect(journal.of('transcriptUpdate').map(({ message }) => message.role)).toEqual(roles)
  }
})
