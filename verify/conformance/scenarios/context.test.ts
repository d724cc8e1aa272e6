import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { newProcess, newTab, reloaded } from '../tab.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

/** Contexts sent over the chat in a session. */
const contextFrames = (service: Service, sessionId?: string) =>
  service.frames(sessionId).flatMap(({ role, messageData }) => (role === 'context' ? [messageData?.['context']] : []))

/** Bodies of the session calls, oldest first. */
const sessionBodies = (service: Service): unknown[] =>
  service.requestsTo(paths.session('help'), 'POST').map(({ body }) => JSON.parse(body ?? ''))

verifies(
  'FLOW-07',
  'setContext() merges by name, and with sendImmediately sends only changed attributes',
  async service => {
    const agent = await service.connectedAgent()
    const journal = new Journal(agent)
    await agent.setContext({ plan: 'gold', address: { city: 'Bonn', zip: '53111' } })
    expect(contextFrames(service)).toEqual([])
    await agent.setContext({ plan: 'silver', age: 41 }, { sendImmediately: true })
    await agent.setContext(
      { age: 41, address: { zip: '53111', city: 'Bonn' }, city: 'Bonn' },
      { sendImmediately: true },
    )
    await agent.setContext({ plan: 'silver' }, { sendImmediately: true })
    await agent.setContext({}, { sendImmediately: true })
    await agent.setContext({ address: { city: 'Köln' } }, { sendImmediately: true })
    expect(agent.getContext()).toEqual({ plan: 'silver', age: 41, city: 'Bonn', address: { city: 'Köln' } })
    await agent.send('the end')
    await eventually(() => journal.answers.length)
    expect(contextFrames(service)).toEqual([
      { plan: 'silver', age: 41 },
      { city: 'Bonn' },
      { address: { city: 'Köln' } },
    ])
  },
)

verifies('FLOW-07', 'the service knows what was sent at once', async service => {
  const agent = await service.connectedAgent({ context: { plan: 'gold' } })
  const journal = new Journal(agent)
  await agent.setContext({ age: 41 }, { sendImmediately: true })
  await agent.send('What do you know of me?')
  await eventually(() => journal.answers.length)
  expect(JSON.parse(journal.answers[0] ?? '')).toEqual({ plan: 'gold', age: 41 })
})

verifies('FLOW-08', 'the context survives a reload and is sent with the next session POST', async service => {
  const tab = newTab()
  const before = await service.connectedAgent({ context: { plan: 'gold' } }, service.environment(tab))
  await before.setContext({ age: 41 })
  await before.destroy()

  const after = service.newAgent({}, service.environment(reloaded(tab)))
  await eventually(() => after.getContext())
  expect(after.getContext()).toEqual({ plan: 'gold', age: 41 })
  const journal = new Journal(after)
  await after.initialize()
  await after.connect()
  expect(sessionBodies(service)).toEqual([{ context: { plan: 'gold' } }, { context: { plan: 'gold', age: 41 } }])
  await after.send('What do you know of me?')
  await eventually(() => journal.answers.length)
  expect(JSON.parse(journal.answers[0] ?? '')).toEqual({ plan: 'gold', age: 41 })
  expect(contextFrames(service)).toEqual([])

  // Another tab has its own context.
  expect(service.newAgent({}, service.environment(newTab())).getContext()).toBeNull()
})

verifies('FLOW-08', 'an ordinary reconnect sends no context: the session has it', async service => {
  const agent = await service.connectedAgent({ context: { plan: 'gold' }, baseReconnectDelay: 1, maxReconnectDelay: 1 })
  const journal = new Journal(agent)
  service.control.dropSockets()
  await eventually(() => !agent.isConnected())
  await service.until(() => agent.isConnected())
  await agent.send('What do you know of me?')
  await eventually(() => journal.answers.length)
  expect(JSON.parse(journal.answers[0] ?? '')).toEqual({ plan: 'gold' })
  expect(service.frames().map(({ role }) => role)).toEqual(['human'])
  expect(sessionBodies(service)).toHaveLength(1)
})

verifies(
  'FLOW-08',
  'removeContext() deletes the context, here and for later pages, and sends nothing',
  async service => {
    const tab = newTab()
    const agent = await service.connectedAgent({ context: { plan: 'gold' } }, service.environment(tab))
    await agent.removeContext()
    expect(agent.getContext()).toBeNull()
    await service.through(agent.restartConnection())
    expect(sessionBodies(service).at(-1)).toEqual({})
    expect(contextFrames(service)).toEqual([])
    const later = service.newAgent({}, service.environment(reloaded(tab)))
    await later.initialize()
    expect(later.getContext()).toBeNull()
    expect(sessionBodies(service).at(-1)).toEqual({})
  },
)

verifies(
  'FLOW-09',
  'restartConnection() creates a new session, with the context in the session POST',
  async service => {
    const agent = await service.connectedAgent({ context: { plan: 'gold' } })
    const journal = new Journal(agent)
    const first = service.session
    await agent.setContext({ age: 41 })
    await service.through(agent.restartConnection())
    expect(agent.isConnected()).toBe(true)
    expect(service.openings).toHaveLength(2)
    expect(service.session).not.toBe(first)
    expect(sessionBodies(service)).toEqual([{ context: { plan: 'gold' } }, { context: { plan: 'gold', age: 41 } }])
    await agent.send('What do you know of me?')
    await eventually(() => journal.answers.length)
    expect(JSON.parse(journal.answers[0] ?? '')).toEqual({ plan: 'gold', age: 41 })
    expect(contextFrames(service)).toEqual([])
    expect(service.frames(first).map(({ role }) => role)).toEqual(['graceful disconnect'])
  },
)

verifies('FLOW-09', 'with a session of the caller the stored context is sent over the chat, once', async service => {
  const other = await service.connectedAgent()
  const supplied = service.session
  await service.through(other.disconnect())

  const agent = await service.connectedAgent({
    context: { plan: 'gold' },
    baseReconnectDelay: 1,
    maxReconnectDelay: 1,
  })
  const journal = new Journal(agent)
  const posts = sessionBodies(service).length
  await agent.setContext({ age: 41 })
  await service.through(agent.restartConnection({ sessionId: supplied }))
  expect(service.session).toBe(supplied)
  expect(sessionBodies(service)).toHaveLength(posts)
  await eventually(() => contextFrames(service, supplied).length)
  service.control.dropSockets()
  await eventually(() => !agent.isConnected())
  await service.until(() => agent.isConnected())
  await agent.send('What do you know of me?')
  await eventually(() => journal.answers.length)
  expect(JSON.parse(journal.answers[0] ?? '')).toEqual({ plan: 'gold', age: 41 })
  expect(contextFrames(service, supplied)).toEqual([{ plan: 'gold', age: 41 }])
})

verifies(
  ['WS-06', 'EVT-07'],
  'rejected attributes emit contextValidation, and the session continues',
  async service => {
    const agent = service.newAgent({ id: 'strict', context: { age: 'old', plan: 'gold' } })
    const journal = new Journal(agent)
    await agent.initialize()
    await agent.connect()
    await eventually(() => journal.of('contextValidation').length === 1)
    await agent.setContext({ shoe: 43, plan: 'silver' }, { sendImmediately: true })
    await eventually(() => journal.of('contextValidation').length === 2)
    expect(journal.of('contextValidation').map(({ issues }) => issues)).toEqual([
      [{ name: 'age', reason: 'type_mismatch', expectedType: 'integer', providedType: 'string' }],
      [{ name: 'shoe', reason: 'unknown_attribute' }],
    ])
    const [told] = journal.of('contextValidation')
    expect(told?.message).toMatchObject({ persona: 'system', role: 'context validation' })
    expect(told?.message.messageData?.contextValidationErrors).toEqual(told?.issues)

    // Not terminal: no error, no close, and the same session answers with the valid attributes.
    await agent.send('What do you know of me?')
    await eventually(() => journal.answers.length)
    expect(JSON.parse(journal.answers[0] ?? '')).toEqual({ plan: 'silver' })
    expect(journal.types).not.toEqual(expect.arrayContaining(['errorMessage']))
    expect(journal.of('error')).toEqual([])
    expect(journal.of('closed')).toEqual([])
    expect(service.openings).toHaveLength(1)
  },
)

verifies(
  'OWN-05',
  'a second agent in the same process requests only its session, and shares no context',
  async service => {
    const process = newProcess()
    await service.connectedAgent({ context: { plan: 'gold' } }, service.environment(process))
    const before = service.control.requests().length
    const second = await service.connectedAgent({}, service.environment(process))
    const asked = service.control.requests().slice(before)
    expect(asked.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      `POST ${paths.session('help')} 200`,
      'GET / 101',
    ])
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({})
    expect(second.getContext()).toBeNull()
  },
)
