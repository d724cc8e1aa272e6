import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { verifies } from '../verifies.ts'

const answer = { persona: 'agent', role: 'customer support agent' } as const

verifies('OWN-21', 'ask() answers questions in order, also those asked before the chat is open', async service => {
  const agent = service.newAgent()
  const early = [agent.ask('one'), agent.ask('two')]
  await agent.initialize()
  await agent.connect()
  const asked = [...early, agent.ask('three')]
  expect((await service.through(Promise.all(asked))).map(({ content }) => content)).toEqual([
    'You said: one',
    'You said: two',
    'You said: three',
  ])
  expect(service.frames().map(({ content }) => content)).toEqual(['one', 'two', 'three'])
})

verifies('OWN-21', 'a message of the agent from before the question does not answer it', async service => {
  const agent = await service.connectedAgent()
  const heard: unknown[] = []
  agent.on('agentMessage', ({ payload }) => heard.push(payload.message.content))
  service.control.pushFrame(service.session, { ...answer, content: 'Good day.' })
  await eventually(() => heard.length)
  expect((await service.through(agent.ask('one'))).content).toBe('You said: one')
})

verifies(
  'OWN-21',
  'ask() rejects every question when the chat ends, and a later one is sent in the next chat',
  async service => {
    const agent = await service.connectedAgent()
    service.faults.add({ kind: 'lose-frames', direction: 'to-service', times: 1 })
    const asked = ['one', 'two'].map(text => agent.ask(text).catch(error => error))
    await service.through(agent.disconnect())
    expect(await Promise.all(asked)).toMatchObject([{ reason: 'closed' }, { reason: 'closed' }])
    const third = agent.ask('three')
    expect(agent.getQueueSize()).toBe(1)
    await agent.connect()
    expect((await service.through(third)).content).toBe('You said: three')
  },
)

verifies('OWN-21', 'the further messages of an answer do not answer the next question', async service => {
  const agent = await service.connectedAgent()
  service.faults.add({ kind: 'lose-frames', direction: 'to-service', times: 1 })
  const first = agent.ask('one')
  const second = agent.ask('two')
  for (const content of ['1', '1, continued', 'and more'])
    service.control.pushFrame(service.session, { ...answer, content })
  expect((await service.through(first)).content).toBe('1')
  expect((await service.through(second)).content).toBe('You said: two')
})

verifies('OWN-22', 'messages() yields every message of the agent from the call on', async service => {
  const agent = await service.connectedAgent()
  const controller = new AbortController()
  const all: (string | undefined)[] = []
  const first: (string | undefined)[] = []
  const readAll = async () => {
    for await (const { content } of agent.messages({ signal: controller.signal })) all.push(content)
  }
  const readFirst = async () => {
    for await (const { content } of agent.messages()) {
      first.push(content)
      break
    }
  }
  const reading = [readAll(), readFirst()]
  for (const content of ['one', 'two', 'three']) service.control.pushFrame(service.session, { ...answer, content })
  await eventually(() => all.length === 3)
  controller.abort()
  await Promise.all(reading)
  expect([all, first]).toEqual([['one', 'two', 'three'], ['one']])
})

verifies(
  'OWN-24',
  'a large message logs one warning with its size; a refused one rejects its question',
  async service => {
    const agent = await service.connectedAgent()
    const warnings = () => service.printed.filter(line => line.includes('64 KiB'))
    await service.through(agent.ask('short'))
    expect(warnings()).toEqual([])
    const large = 'x'.repeat(70 * 1024)
    expect((await service.through(agent.ask(large))).content).toBe(`You said: ${large}`)
    expect(warnings()).toHaveLength(1)

    const sizes: unknown[] = []
    agent.logger.on('log', ({ context }) => sizes.push(context?.['bytes']))
    const refused = await service.through(agent.ask('x'.repeat(129 * 1024)).catch(error => error))
    expect(refused).toMatchObject({ name: 'MessageError', reason: 'refused' })
    expect(sizes.filter(size => size !== undefined)).toEqual([
      JSON.stringify({ persona: 'customer', role: 'human', content: '' }).length + 129 * 1024,
    ])
    expect((await service.through(agent.ask('again'))).content).toBe('You said: again')
  },
)
